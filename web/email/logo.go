package email

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // logos
	"image/png"
	"math"
	"sync"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // logos

	"example.com/loyalty/core"
	"example.com/loyalty/core/picture"
)

const (
	logoSide  = 120 // pixels of a square one: shown 40 high, so it is sharp on phones
	keptLogos = 200
)

// logos caches scaled logos: scaling takes longer than the rest of an e-mail, and all
// e-mails of a send have the same logo.
type logos struct {
	mu     sync.Mutex
	scaled map[[sha256.Size]byte]logo // by the hash of the original
}

// logo is a scaled logo.
type logo struct {
	shape core.LogoShape
	png   []byte
}

// small returns a logo as a PNG, on white as on pages: many mail programs can't show WebP. A wide one has
// as many pixels as a square one, so that no e-mail gets too large.
func (l *logos) small(original *picture.Picture) (logo, error) {
	hash := sha256.Sum256(original.Bytes)
	l.mu.Lock()
	known, found := l.scaled[hash]
	l.mu.Unlock()
	if found {
		return known, nil
	}
	picture, _, err := image.Decode(bytes.NewReader(original.Bytes))
	if err != nil {
		return logo{}, fmt.Errorf("logo of an e-mail: %w", err)
	}
	var file bytes.Buffer
	size := picture.Bounds().Size()
	scaled := logo{shape: core.ShapeOf(size.X, size.Y)}
	if err := png.Encode(&file, fitted(picture, scaled.shape)); err != nil {
		return logo{}, fmt.Errorf("logo of an e-mail: %w", err)
	}
	scaled.png = file.Bytes()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.scaled == nil || len(l.scaled) >= keptLogos {
		l.scaled = map[[sha256.Size]byte]logo{}
	}
	l.scaled[hash] = scaled
	return scaled, nil
}

// fitted returns the whole picture, centred on white of a shape.
func fitted(picture image.Image, shape core.LogoShape) image.Image {
	root := math.Sqrt(float64(shape))
	place := image.NewRGBA(image.Rect(0, 0, int(logoSide*root), int(logoSide/root)))
	draw.Draw(place, place.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	size, room := picture.Bounds().Size(), place.Bounds().Size()
	width, height := room.X, max(1, room.X*size.Y/size.X)
	if height > room.Y {
		width, height = max(1, room.Y*size.X/size.Y), room.Y
	}
	left, top := (room.X-width)/2, (room.Y-height)/2
	draw.CatmullRom.Scale(place, image.Rect(left, top, left+width, top+height), picture, picture.Bounds(), draw.Over, nil)
	return place
}
