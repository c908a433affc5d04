package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"

	"github.com/bep/imagemeta"
	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // can be uploaded

	"example.com/loyalty/core"
)

// rewrite decodes a file and writes what it shows, upright and no larger than side pixels.
func rewrite(file []byte, side int) (*Picture, error) {
	if bytes.Count(file, []byte{0xff, 0xda}) > maxScans && bytes.HasPrefix(file, []byte{0xff, 0xd8}) {
		return nil, fmt.Errorf("%w: more than %d scans", ErrBroken, maxScans)
	}
	original, format, err := image.Decode(bytes.NewReader(file))
	if err != nil || original.Bounds().Empty() {
		return nil, errors.Join(ErrBroken, err)
	}
	shown := upright(fitted(original, side), orientation(file, format))
	for {
		written, err := encode(shown)
		if err != nil || len(written.Bytes) <= MaxBytes {
			return written, err
		}
		// Written anew, a picture may have more bytes than the uploaded file had.
		size := shown.Bounds().Size()
		shown = fitted(shown, max(size.X, size.Y)*3/4)
	}
}

// fitted returns the picture with no side longer than side pixels.
func fitted(original image.Image, side int) *image.RGBA {
	size := original.Bounds().Size()
	width, height := size.X, size.Y
	if longest := max(width, height); longest > side {
		width, height = max(1, width*side/longest), max(1, height*side/longest)
	}
	place := image.NewRGBA(image.Rect(0, 0, width, height))
	if size == place.Bounds().Size() {
		draw.Draw(place, place.Bounds(), original, original.Bounds().Min, draw.Src)
	} else {
		draw.CatmullRom.Scale(place, place.Bounds(), original, original.Bounds(), draw.Src, nil)
	}
	return place
}

// encode writes a picture as PNG or, if that is shorter and no part is transparent, as JPEG: a customer's
// card shows dozens of them, on a phone.
func encode(shown *image.RGBA) (*Picture, error) {
	var lossless, photo bytes.Buffer
	if err := png.Encode(&lossless, shown); err != nil {
		return nil, fmt.Errorf("picture: %w", err)
	}
	if shown.Opaque() {
		if err := jpeg.Encode(&photo, shown, &jpeg.Options{Quality: 85}); err != nil {
			return nil, fmt.Errorf("picture: %w", err)
		}
		if photo.Len() < lossless.Len() {
			return &Picture{Type: "image/jpeg", Bytes: photo.Bytes()}, nil
		}
	}
	return &Picture{Type: "image/png", Bytes: lossless.Bytes()}, nil
}

var metaFormats = map[string]imagemeta.ImageFormat{"jpeg": imagemeta.JPEG, "png": imagemeta.PNG, "webp": imagemeta.WebP}

// orientation is how a camera was held, as EXIF numbers it: 1 for upright, which is also said by none.
func orientation(file []byte, format string) (turn int) {
	turn = 1
	// A file whose EXIF can't be read is shown as it is, as browsers do.
	_, _ = imagemeta.Decode(imagemeta.Options{
		R: bytes.NewReader(file), ImageFormat: metaFormats[format], Sources: imagemeta.EXIF,
		ShouldHandleTag: func(tag imagemeta.TagInfo) bool { return tag.Tag == "Orientation" && tag.Namespace == "IFD0" },
		HandleTag: func(tag imagemeta.TagInfo) error {
			if v, ok := tag.Value.(uint16); ok {
				turn = int(v)
			}
			return imagemeta.ErrStopWalking
		},
	})
	return turn
}

// upright turns and mirrors a picture by its orientation.
func upright(shown *image.RGBA, orientation int) *image.RGBA {
	right, bottom := shown.Bounds().Dx()-1, shown.Bounds().Dy()-1
	var from func(x, y int) (int, int) // where a pixel comes from
	switch orientation {
	case 2:
		from = func(x, y int) (int, int) { return right - x, y }
	case 3:
		from = func(x, y int) (int, int) { return right - x, bottom - y }
	case 4:
		from = func(x, y int) (int, int) { return x, bottom - y }
	case 5:
		from = func(x, y int) (int, int) { return y, x }
	case 6:
		from = func(x, y int) (int, int) { return y, bottom - x }
	case 7:
		from = func(x, y int) (int, int) { return right - y, bottom - x }
	case 8:
		from = func(x, y int) (int, int) { return right - y, x }
	default:
		return shown
	}
	width, height := right+1, bottom+1
	if orientation >= 5 {
		width, height = height, width
	}
	turned := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			turned.SetRGBA(x, y, shown.RGBAAt(from(x, y)))
		}
	}
	return turned
}

// Place is where a logo is drawn: in the middle of a white area.
type Place struct {
	Width, Height int // of the area, in pixels
	MaxX, MaxY    int // of the drawing
}

// OnWhite draws the picture into each of these places, and returns them as PNGs.
func (p *Picture) OnWhite(ctx context.Context, t core.TenantID, places []Place) ([][]byte, error) {
	leave, err := drawing.Compute(ctx, t)
	if err != nil {
		return nil, err
	}
	defer leave()
	original, _, err := image.Decode(bytes.NewReader(p.Bytes))
	if err != nil {
		return nil, fmt.Errorf("picture: %w", err)
	}
	size := original.Bounds().Size()
	drawn := make([][]byte, len(places))
	for i, place := range places {
		width, height := place.MaxX, max(1, place.MaxX*size.Y/size.X)
		if height > place.MaxY {
			width, height = max(1, place.MaxY*size.X/size.Y), place.MaxY
		}
		area := image.NewRGBA(image.Rect(0, 0, place.Width, place.Height))
		draw.Draw(area, area.Bounds(), image.White, image.Point{}, draw.Src)
		left, top := (place.Width-width)/2, (place.Height-height)/2
		draw.CatmullRom.Scale(area, image.Rect(left, top, left+width, top+height), original, original.Bounds(), draw.Over, nil)
		var file bytes.Buffer
		if err := png.Encode(&file, area); err != nil {
			return nil, fmt.Errorf("picture: %w", err)
		}
		drawn[i] = file.Bytes()
	}
	return drawn, nil
}
