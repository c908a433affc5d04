package portal

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"sync"

	"github.com/skip2/go-qrcode"
	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"

	"example.com/loyalty/core/tenant"
)

// The picture of a card, in pixels.
const (
	pictureWidth  = 900
	pictureModule = 16 // maximum, of the QR code
	pictureHead   = 180
	pictureMargin = 48
)

var loadFont = sync.OnceValues(func() (*sfnt.Font, error) { return opentype.Parse(gobold.TTF) })

// drawCard draws a card: the name of the business above a QR code of the link.
func drawCard(link, business string, p tenant.Palette) ([]byte, error) {
	code, err := qrcode.New(link, qrcode.Medium)
	if err != nil {
		return nil, fmt.Errorf("QR code of a card: %w", err)
	}
	modules := code.Bitmap() // with the margin of four modules
	module := min(pictureModule, (pictureWidth-2*pictureMargin)/len(modules))
	side := module * len(modules)
	fill, ink, err := colours(p)
	if err != nil {
		return nil, err
	}
	picture := image.NewRGBA(image.Rect(0, 0, pictureWidth, pictureHead+side+2*pictureMargin))
	draw.Draw(picture, picture.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(picture, image.Rect(0, 0, pictureWidth, pictureHead), image.NewUniform(fill), image.Point{}, draw.Src)
	if err := drawName(picture, business, ink); err != nil {
		return nil, err
	}
	left, top := (pictureWidth-side)/2, pictureHead+pictureMargin
	for y, row := range modules {
		for x, dark := range row {
			if dark {
				at := image.Rect(left+x*module, top+y*module, left+(x+1)*module, top+(y+1)*module)
				draw.Draw(picture, at, image.Black, image.Point{}, draw.Src)
			}
		}
	}
	return encodePNG(picture)
}

// drawName writes a name into the head of the picture, as large as it fits. A name in a script that the
// font lacks is left out: it would be drawn as boxes.
func drawName(on draw.Image, name string, ink color.Color) error {
	typeface, err := loadFont()
	if err != nil {
		return err
	}
	for _, r := range name {
		if index, err := typeface.GlyphIndex(nil, r); err != nil || index == 0 {
			return nil //nolint:nilerr // the font has no such letter
		}
	}
	for size := 72.0; size >= 20; size -= 4 {
		face, err := opentype.NewFace(typeface, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingFull})
		if err != nil {
			return err
		}
		width := font.MeasureString(face, name).Round()
		if width > pictureWidth-2*pictureMargin && size > 20 {
			continue
		}
		d := font.Drawer{Dst: on, Src: image.NewUniform(ink), Face: face}
		d.Dot = fixed.P(max(pictureMargin, (pictureWidth-width)/2), pictureHead/2+int(size)*36/100)
		d.DrawString(name)
		return nil
	}
	return nil
}

// drawIcon draws the icon for home screens of a business without a logo: a heart on its colour. It keeps to
// the middle, since devices cut off the corners.
func drawIcon(side int, colour string) ([]byte, error) {
	p, err := tenant.PaletteOf(colour)
	if err != nil {
		return nil, err
	}
	fill, ink, err := colours(p)
	if err != nil {
		return nil, err
	}
	square := image.NewRGBA(image.Rect(0, 0, side, side))
	draw.Draw(square, square.Bounds(), image.NewUniform(fill), image.Point{}, draw.Src)
	drawHeart(square, ink)
	return encodePNG(square)
}

// drawHeart draws the heart of static/img/icon.svg, filled.
func drawHeart(on *image.RGBA, ink color.Color) {
	side := float32(on.Bounds().Dx())
	at := func(v float32) float32 { return v / 32 * side }
	r := vector.NewRasterizer(on.Bounds().Dx(), on.Bounds().Dy())
	r.MoveTo(at(16), at(24.6))
	r.LineTo(at(9), at(17.6))
	r.CubeTo(at(6.9), at(15.5), at(6.9), at(12.3), at(9), at(10.3))
	r.CubeTo(at(11), at(8.4), at(14.1), at(8.5), at(16), at(10.5))
	r.CubeTo(at(17.9), at(8.5), at(21), at(8.4), at(23), at(10.3))
	r.CubeTo(at(25.1), at(12.3), at(25.1), at(15.5), at(23), at(17.6))
	r.ClosePath()
	r.Draw(on, on.Bounds(), image.NewUniform(ink), image.Point{})
}

// colours parses the colours of a palette.
func colours(p tenant.Palette) (fill, ink color.Color, err error) {
	list := [2]color.RGBA{}
	for i, text := range []string{p.Fill, p.OnFill} {
		if _, err := fmt.Sscanf(text, "#%02x%02x%02x", &list[i].R, &list[i].G, &list[i].B); err != nil {
			return nil, nil, fmt.Errorf("colour %q: %w", text, err)
		}
		list[i].A = 0xff
	}
	return list[0], list[1], nil
}

func encodePNG(picture image.Image) ([]byte, error) {
	var file bytes.Buffer
	err := png.Encode(&file, picture)
	return file.Bytes(), err
}
