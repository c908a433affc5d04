package picture_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/picture"
)

// read reads a file, which must be accepted.
func read(t *testing.T, file []byte, side int) (*picture.Picture, image.Image) {
	t.Helper()
	check := core.NewCheck(nil)
	p, err := picture.Read(t.Context(), 1, check, "picture", &file, side)
	if err = errors.Join(err, check.Err()); err != nil {
		t.Fatal(err)
	}
	shown, _, err := image.Decode(bytes.NewReader(p.Bytes))
	if err != nil {
		t.Fatal(err)
	}
	return p, shown
}

func asPNG(t *testing.T, m image.Image) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, m); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func asJPEG(t *testing.T, m image.Image) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := jpeg.Encode(&file, m, nil); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func filled(size image.Point, fill func(x, y int) color.Color) image.Image {
	drawn := image.NewNRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			drawn.Set(x, y, fill(x, y))
		}
	}
	return drawn
}

func plain(c color.Color) func(x, y int) color.Color { return func(int, int) color.Color { return c } }

// A picture is scaled down to fit and keeps its shape; a photo becomes a JPEG, a drawing or what is
// transparent a PNG.
func TestPicturesFit(t *testing.T) {
	t.Parallel()
	noise := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // any numbers do
	grain := func(x, y int) color.Color {
		return color.NRGBA{R: uint8(128 + x/8 + int(noise.UintN(9))), G: uint8(y / 4), B: uint8(noise.UintN(20)), A: 0xff} //nolint:gosec // wraps as it likes
	}
	for name, c := range map[string]struct {
		size image.Point
		fill func(x, y int) color.Color
		want image.Point
		kind string
	}{
		"wide":        {image.Pt(800, 200), plain(color.Black), image.Pt(320, 80), "image/png"},
		"tall":        {image.Pt(100, 640), plain(color.Black), image.Pt(50, 320), "image/png"},
		"small":       {image.Pt(40, 30), plain(color.Black), image.Pt(40, 30), "image/png"},
		"a line":      {image.Pt(2000, 1), plain(color.Black), image.Pt(320, 1), "image/png"},
		"transparent": {image.Pt(640, 640), plain(color.Transparent), image.Pt(320, 320), "image/png"},
		"a photo":     {image.Pt(300, 200), grain, image.Pt(300, 200), "image/jpeg"},
	} {
		p, shown := read(t, asPNG(t, filled(c.size, c.fill)), 320)
		if got := shown.Bounds().Size(); got != c.want || p.Type != c.kind {
			t.Errorf("%s: %v, %s, want %v, %s", name, got, p.Type, c.want, c.kind)
		}
	}
}

// Nothing of an uploaded file is stored but its pixels: no EXIF, no comment, nothing behind its end.
func TestOnlyPixelsAreStored(t *testing.T) {
	t.Parallel()
	const secret = "59.3293 N, 18.0686 E"
	drawn := filled(image.Pt(20, 10), plain(color.Black))
	marked := func(file []byte) []byte { return append(file, secret+"<script>"...) }
	text := append([]byte("tEXt"), "Comment\x00"+secret...)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(text)-4)) //nolint:gosec // short
	chunk = binary.BigEndian.AppendUint32(append(chunk, text...), crc32.ChecksumIEEE(text))
	const head = 8 + 25 // the signature and IHDR
	for name, file := range map[string][]byte{
		"a PNG with a trailer":  marked(asPNG(t, drawn)),
		"a JPEG with a trailer": marked(asJPEG(t, drawn)),
		"a PNG with a comment":  slices.Insert(asPNG(t, drawn), head, chunk...),
		"a JPEG with EXIF":      turned(asJPEG(t, drawn), 1, secret),
	} {
		p, shown := read(t, file, 1024)
		if bytes.Contains(p.Bytes, []byte(secret)) || bytes.Contains(p.Bytes, []byte("Exif")) || shown.Bounds().Size() != image.Pt(20, 10) {
			t.Errorf("%s is stored as %q", name, p.Bytes)
		}
	}
}

// turned adds EXIF with an orientation and a description to a JPEG.
func turned(file []byte, orientation uint16, description string) []byte {
	b := binary.BigEndian
	tiff := []byte("MM\x00\x2a\x00\x00\x00\x08\x00\x02")                                                  // a directory of two entries
	tiff = b.AppendUint32(b.AppendUint32(append(tiff, 0x01, 0x0e, 0, 2), uint32(len(description)+1)), 38) //nolint:gosec // short
	tiff = b.AppendUint16(append(tiff, 0x01, 0x12, 0, 3, 0, 0, 0, 1), orientation)
	tiff = append(tiff, 0, 0, 0, 0, 0, 0)
	tiff = append(append(tiff, description...), 0)
	segment := append([]byte("Exif\x00\x00"), tiff...)
	segment = append(b.AppendUint16([]byte{0xff, 0xe1}, uint16(len(segment)+2)), segment...) //nolint:gosec // short
	return slices.Insert(slices.Clone(file), 2, segment...)
}

// A photo that a phone took sideways is stored upright: its EXIF, which said so, is dropped.
func TestPhotosAreUpright(t *testing.T) {
	t.Parallel()
	// Upright, the first quarter is red, the one to its right green, the one below blue.
	red, green, blue, white := color.NRGBA{R: 0xff, A: 0xff}, color.NRGBA{G: 0xff, A: 0xff}, color.NRGBA{B: 0xff, A: 0xff}, color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}
	for orientation, seen := range map[uint16][4]color.NRGBA{ // as the camera stored them, row by row
		1: {red, green, blue, white}, 2: {green, red, white, blue}, 3: {white, blue, green, red}, 4: {blue, white, red, green},
		5: {red, blue, green, white}, 6: {green, white, red, blue}, 7: {white, green, blue, red}, 8: {blue, red, white, green},
		0: {red, green, blue, white}, 9: {red, green, blue, white}, // no orientations
	} {
		size, upright := image.Pt(64, 32), image.Pt(64, 32)
		if orientation >= 5 && orientation <= 8 {
			size = image.Pt(32, 64)
		}
		stored := filled(size, func(x, y int) color.Color { return seen[y*2/size.Y*2+x*2/size.X] })
		_, shown := read(t, turned(asJPEG(t, stored), orientation, "x"), 1024)
		if got := shown.Bounds().Size(); got != upright {
			t.Errorf("orientation %d: %v, want %v", orientation, got, upright)
			continue
		}
		for i, want := range [4]color.NRGBA{red, green, blue, white} {
			r, g, b, _ := shown.At(16+i%2*32, 8+i/2*16).RGBA()
			if r>>15 != uint32(want.R)>>7 || g>>15 != uint32(want.G)>>7 || b>>15 != uint32(want.B)>>7 {
				t.Errorf("orientation %d: quarter %d is %d, %d, %d", orientation, i, r>>8, g>>8, b>>8)
			}
		}
	}
}

// A file that would decode to too much is refused before it is decoded; one that is large once it is written
// anew is scaled down until it may be stored.
func TestPicturesAreBounded(t *testing.T) {
	t.Parallel()
	huge := asPNG(t, image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.Black}))
	binary.BigEndian.PutUint32(huge[16:], 30_000)
	binary.BigEndian.PutUint32(huge[20:], 30_000)
	binary.BigEndian.PutUint32(huge[29:], crc32.ChecksumIEEE(huge[12:29]))
	scans := asJPEG(t, filled(image.Pt(8, 8), plain(color.Black)))
	scans = append(scans[:len(scans)-2], bytes.Repeat([]byte{0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0}, 1000)...)
	for name, c := range map[string]struct {
		file []byte
		rule string
	}{"30,000 pixels a side": {huge, "max_pixels"}, "a thousand scans": {scans, "broken_picture"}, "no picture": {[]byte("text"), "picture_type"}} {
		check := core.NewCheck(nil)
		if p, err := picture.Read(t.Context(), 1, check, "picture", &c.file, 1024); p != nil || err != nil {
			t.Errorf("%s: %v, %v", name, p, err)
		}
		var refusal *core.Error
		if !errors.As(check.Err(), &refusal) || len(refusal.Fields["picture"]) != 1 || refusal.Fields["picture"][0].Rule != c.rule {
			t.Errorf("%s: %v, want %s", name, check.Err(), c.rule)
		}
	}
	// 2,000 pixels a side in two colours are a few bytes, and may be uploaded.
	if _, shown := read(t, asPNG(t, image.NewPaletted(image.Rect(0, 0, 2000, 2000), color.Palette{color.Black, color.White})), 1024); shown.Bounds().Dx() != 1024 {
		t.Errorf("a large drawing is %v", shown.Bounds())
	}
	// Noise in 16 shades, half transparent: as colours with opacity, it takes far more than it took.
	noise := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // any numbers do
	shades := color.Palette{}
	for i := range 4 {
		shades = append(shades, color.NRGBA{R: uint8(i * 60), G: uint8(255 - i*50), B: uint8(i * i * 20), A: uint8(100 + i*50)}) //nolint:gosec // below 256
	}
	noisy := image.NewPaletted(image.Rect(0, 0, 1000, 1000), shades)
	for i := range noisy.Pix {
		noisy.Pix[i] = uint8(noise.UintN(4))
	}
	file := asPNG(t, noisy)
	if len(file) > picture.MaxBytes {
		t.Fatalf("the file has %d bytes", len(file))
	}
	if p, shown := read(t, file, 1024); len(p.Bytes) > picture.MaxBytes || shown.Bounds().Dx() < 200 {
		t.Errorf("noise is stored with %d bytes, %v", len(p.Bytes), shown.Bounds())
	}
}

// What is drawn from a logo shows all of it, in the middle of white.
func TestDrawnOnWhite(t *testing.T) {
	t.Parallel()
	p, _ := read(t, asPNG(t, filled(image.Pt(100, 50), plain(color.Black))), 1024)
	files, err := p.OnWhite(t.Context(), 1, []picture.Place{{Width: 60, Height: 60, MaxX: 40, MaxY: 40}, {Width: 30, Height: 10, MaxX: 30, MaxY: 10}})
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	for i, black := range []image.Rectangle{image.Rect(10, 20, 50, 40), image.Rect(5, 0, 25, 10)} {
		drawn, err := png.Decode(bytes.NewReader(files[i]))
		if err != nil {
			t.Fatal(err)
		}
		for y := range drawn.Bounds().Dy() {
			for x := range drawn.Bounds().Dx() {
				if r, _, _, _ := drawn.At(x, y).RGBA(); (r < 0x8000) != image.Pt(x, y).In(black) {
					t.Fatalf("drawing %d has the wrong colour at %d, %d", i, x, y)
				}
			}
		}
	}
	if _, err := (&picture.Picture{Bytes: []byte("no picture")}).OnWhite(t.Context(), 1, nil); err == nil {
		t.Error("a text was drawn")
	}
}
