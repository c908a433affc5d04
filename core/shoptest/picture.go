package shoptest

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
)

// Picture returns a PNG of 16 by 16 green pixels.
func Picture() []byte {
	drawn := image.NewRGBA(image.Rect(0, 0, 16, 16))
	for i := range 16 * 16 {
		drawn.Set(i%16, i/16, color.RGBA{R: 0x16, G: 0x5c, B: 0x47, A: 0xff})
	}
	var file bytes.Buffer
	if err := png.Encode(&file, drawn); err != nil {
		panic(err) // a buffer takes everything
	}
	return file.Bytes()
}
