package page

import (
	"fmt"
	"strings"

	"github.com/skip2/go-qrcode"

	"example.com/loyalty/views/ui"
)

// QR draws a text as a QR code. It fails for texts that are too long for one.
func QR(text, label string) (ui.QR, error) {
	code, err := qrcode.New(text, qrcode.Medium)
	if err != nil {
		return ui.QR{}, err
	}
	rows := code.Bitmap()
	var path strings.Builder
	for y, row := range rows {
		for x := 0; x < len(row); x++ {
			from := x
			for x < len(row) && row[x] {
				x++
			}
			if x > from {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", from, y, x-from, x-from)
			}
		}
	}
	return ui.QR{Label: label, Size: len(rows), Path: path.String()}, nil
}
