package portal

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"sync"

	"github.com/skip2/go-qrcode"
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
func drawCard(link, business, colour string) ([]byte, error) {
	code, err := qrcode.New(link, qrcode.Medium)
	if err != nil {
		return nil, fmt.Errorf("QR code of a card: %w", err)
	}
	modules := code.Bitmap() // with the margin of four modules
	module := min(pictureModule, (pictureWidth-2*pictureMargin)/len(modules))
	side := module * len(modules)
	shades, err := shadesOf(colour)
	if err != nil {
		return nil, err
	}
	name := image.NewAlpha(image.Rect(0, 0, pictureWidth, pictureHead))
	if err := drawName(name, business); err != nil {
		return nil, err
	}
	picture := image.NewPaletted(image.Rect(0, 0, pictureWidth, pictureHead+side+2*pictureMargin), shades)
	shade(picture, name)
	for i := len(name.Pix); i < len(picture.Pix); i++ {
		picture.Pix[i] = whiteShade
	}
	left, top := (pictureWidth-side)/2, pictureHead+pictureMargin
	for y, row := range modules {
		for x, dark := range row {
			if !dark {
				continue
			}
			for line := range module {
				from := picture.PixOffset(left+x*module, top+y*module+line)
				for i := range module {
					picture.Pix[from+i] = blackShade
				}
			}
		}
	}
	return encodePNG(picture)
}

// Entries of a palette by shadesOf: from the fill to the ink of a colour, and the colours of a QR code. A
// picture in few colours is drawn and written in a tenth of the time that one with any colour takes.
const (
	inkShade   = 253
	whiteShade = 254
	blackShade = 255
)

func shadesOf(colour string) (color.Palette, error) {
	p, err := tenant.PaletteOf(colour)
	if err != nil {
		return nil, err
	}
	fill, ink, err := colours(p)
	if err != nil {
		return nil, err
	}
	list := make(color.Palette, blackShade+1)
	for i := range whiteShade {
		mixed := func(from, to uint8) uint8 { return uint8((int(from)*(inkShade-i) + int(to)*i) / inkShade) } //nolint:gosec // between the two
		list[i] = color.RGBA{mixed(fill.R, ink.R), mixed(fill.G, ink.G), mixed(fill.B, ink.B), 0xff}
	}
	list[whiteShade], list[blackShade] = color.White, color.Black
	return list, nil
}

// shade draws a shape in ink on the fill, at the top of a picture that is as wide.
func shade(picture *image.Paletted, shape *image.Alpha) {
	for i, opacity := range shape.Pix {
		picture.Pix[i] = uint8(int(opacity) * inkShade / 0xff) //nolint:gosec // at most inkShade
	}
}

// drawName writes a name into the head of the picture, as large as it fits. A name in a script that the
// font lacks is left out: it would be drawn as boxes.
func drawName(on *image.Alpha, name string) error {
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
		d := font.Drawer{Dst: on, Src: image.Opaque, Face: face}
		d.Dot = fixed.P(max(pictureMargin, (pictureWidth-width)/2), pictureHead/2+int(size)*36/100)
		d.DrawString(name)
		return nil
	}
	return nil
}

// drawIcon draws the icon for home screens of a business without a logo: a heart on its colour. It keeps to
// the middle, since devices cut off the corners.
func drawIcon(side int, colour string) ([]byte, error) {
	shades, err := shadesOf(colour)
	if err != nil {
		return nil, err
	}
	heart := image.NewAlpha(image.Rect(0, 0, side, side))
	drawHeart(heart)
	square := image.NewPaletted(heart.Bounds(), shades)
	shade(square, heart)
	return encodePNG(square)
}

// drawHeart draws the heart of static/img/icon.svg, filled.
func drawHeart(on *image.Alpha) {
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
	r.Draw(on, on.Bounds(), image.Opaque, image.Point{})
}

// colours parses the colours of a palette.
func colours(p tenant.Palette) (fill, ink color.RGBA, err error) {
	list := [2]color.RGBA{}
	for i, text := range []string{p.Fill, p.OnFill} {
		if _, err := fmt.Sscanf(text, "#%02x%02x%02x", &list[i].R, &list[i].G, &list[i].B); err != nil {
			return fill, ink, fmt.Errorf("colour %q: %w", text, err)
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
