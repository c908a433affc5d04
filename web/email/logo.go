package email

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // logos
	"image/png"
	"sync"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // logos

	"example.com/loyalty/core/picture"
)

const (
	logoSide  = 120 // pixels: shown 40 wide, so it is sharp on phones
	keptLogos = 200
)

// logos caches scaled logos: scaling takes longer than the rest of an e-mail, and all
// e-mails of a send have the same logo.
type logos struct {
	mu     sync.Mutex
	scaled map[[sha256.Size]byte][]byte // PNG, by the hash of the original
}

// small returns a logo as a PNG of logoSide pixels a side, on white as on pages. PNG,
// because many mail programs can't show WebP.
func (l *logos) small(original *picture.Picture) ([]byte, error) {
	hash := sha256.Sum256(original.Bytes)
	l.mu.Lock()
	known := l.scaled[hash]
	l.mu.Unlock()
	if known != nil {
		return known, nil
	}
	picture, _, err := image.Decode(bytes.NewReader(original.Bytes))
	if err != nil {
		return nil, fmt.Errorf("logo of an e-mail: %w", err)
	}
	var file bytes.Buffer
	if err := png.Encode(&file, fitted(picture)); err != nil {
		return nil, fmt.Errorf("logo of an e-mail: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.scaled == nil || len(l.scaled) >= keptLogos {
		l.scaled = map[[sha256.Size]byte][]byte{}
	}
	l.scaled[hash] = file.Bytes()
	return file.Bytes(), nil
}

// fitted returns the whole picture, centred in a white square.
func fitted(picture image.Image) image.Image {
	square := image.NewRGBA(image.Rect(0, 0, logoSide, logoSide))
	draw.Draw(square, square.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	size := picture.Bounds().Size()
	width, height := logoSide, logoSide
	if size.X > size.Y {
		height = max(1, logoSide*size.Y/size.X)
	} else {
		width = max(1, logoSide*size.X/size.Y)
	}
	left, top := (logoSide-width)/2, (logoSide-height)/2
	draw.CatmullRom.Scale(square, image.Rect(left, top, left+width, top+height), picture, picture.Bounds(), draw.Over, nil)
	return square
}
