package picture_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"example.com/loyalty/core/picture"
)

// A picture is scaled down to fit, keeps its shape, and becomes a JPEG unless it is transparent.
func TestFit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size image.Point
		fill color.Color
		want image.Point
		kind string
	}{
		"wide":        {image.Pt(800, 200), color.Black, image.Pt(320, 80), "image/jpeg"},
		"tall":        {image.Pt(100, 640), color.Black, image.Pt(50, 320), "image/jpeg"},
		"small":       {image.Pt(40, 30), color.Black, image.Pt(40, 30), "image/jpeg"},
		"a line":      {image.Pt(2000, 1), color.Black, image.Pt(320, 1), "image/jpeg"},
		"transparent": {image.Pt(640, 640), color.Transparent, image.Pt(320, 320), "image/png"},
	} {
		drawn := image.NewNRGBA(image.Rectangle{Max: c.size})
		for y := range c.size.Y {
			for x := range c.size.X {
				drawn.Set(x, y, c.fill)
			}
		}
		var file bytes.Buffer
		if err := png.Encode(&file, drawn); err != nil {
			t.Fatal(err)
		}
		fitted, err := (&picture.Picture{Type: "image/png", Bytes: file.Bytes()}).Fit(320)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := image.Decode(bytes.NewReader(fitted.Bytes))
		if err != nil || got.Bounds().Size() != c.want || fitted.Type != c.kind {
			t.Errorf("%s: %v, %s, %v, want %v, %s", name, got.Bounds().Size(), fitted.Type, err, c.want, c.kind)
		}
	}
	if _, err := (&picture.Picture{Bytes: []byte("no picture")}).Fit(320); err == nil {
		t.Error("a text was fitted")
	}
}
