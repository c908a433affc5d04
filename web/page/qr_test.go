package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/skip2/go-qrcode"

	"example.com/loyalty/web/page"
)

// A drawing has exactly the dark modules of the code, and the light margin that phones need.
func TestQR(t *testing.T) {
	t.Parallel()
	const text = "otpauth://totp/Caf%C3%A9%20%C3%85ro:maja@cafearo.example?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Caf%C3%A9%20%C3%85ro"
	drawn, err := page.QR(text, "A key")
	if err != nil {
		t.Fatal(err)
	}
	code, err := qrcode.New(text, qrcode.Medium)
	if err != nil {
		t.Fatal(err)
	}
	want := code.Bitmap()
	got := make([][]bool, drawn.Size)
	for y := range got {
		got[y] = make([]bool, drawn.Size)
	}
	for _, run := range strings.SplitAfter(strings.TrimSuffix(drawn.Path, "z"), "z") {
		var x, y, width, back int
		if _, err := fmt.Sscanf(run, "M%d %dh%dv1h-%d", &x, &y, &width, &back); err != nil || width != back {
			t.Fatalf("%q: %v", run, err)
		}
		for i := range width {
			got[y][x+i] = true
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("modules (-want +got):\n%s", diff)
	}
	if drawn.Label != "A key" || got[3][3] || !got[4][4] {
		t.Errorf("%q, a margin of four modules: %t", drawn.Label, !got[3][3] && got[4][4])
	}
	if _, err := page.QR(strings.Repeat("x", 3000), "Too long"); err == nil {
		t.Error("3000 letters are drawn")
	}
}
