// Package picture reads pictures that people upload: logos and pictures of rewards.
package picture

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // can be uploaded

	"example.com/loyalty/core"
)

// Picture is an uploaded picture.
type Picture struct {
	Type  string // image/png, image/jpeg or image/webp
	Bytes []byte
}

// The limits of an upload.
const (
	MaxBytes = 256 << 10
	maxSide  = 2000 // pixels
)

// Read reads the picture in a field; nil: none. Its type comes from its contents, not from the request.
// SVG is refused because it can contain scripts.
func Read(check *core.Check, field string, file *[]byte) *Picture {
	if file == nil {
		return nil
	}
	if len(*file) > MaxBytes {
		check.Add(field, core.Violation{Rule: "max_kilobytes", Limit: MaxBytes >> 10})
		return nil
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(*file))
	switch {
	case err != nil || format != "png" && format != "jpeg" && format != "webp":
		check.Add(field, core.Violation{Rule: "picture_type"})
	case config.Width > maxSide || config.Height > maxSide:
		check.Add(field, core.Violation{Rule: "max_pixels", Limit: maxSide})
	default:
		// Decoded as a whole: browsers don't show a truncated picture.
		if _, _, err := image.Decode(bytes.NewReader(*file)); err != nil {
			check.Add(field, core.Violation{Rule: "broken_picture"})
		}
	}
	return &Picture{Type: "image/" + format, Bytes: *file}
}

// Hash returns the SHA-256 of the file.
func (p *Picture) Hash() []byte {
	sum := sha256.Sum256(p.Bytes)
	return sum[:]
}

// HexHash returns the hash in hex, which is part of a picture's address; nil for no picture.
func (p *Picture) HexHash() *string {
	if p == nil {
		return nil
	}
	return new(hex.EncodeToString(p.Hash()))
}

// Size returns the picture's width and height in pixels; nil for no picture.
func (p *Picture) Size() (width, height *int) {
	if p == nil {
		return nil, nil
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(p.Bytes))
	if err != nil {
		return nil, nil
	}
	return &config.Width, &config.Height
}

// Fit returns the picture with no side longer than side pixels: as JPEG, or as PNG if it has transparent
// parts. A customer's card shows dozens of pictures, on a phone.
func (p *Picture) Fit(side int) (*Picture, error) {
	original, _, err := image.Decode(bytes.NewReader(p.Bytes))
	if err != nil {
		return nil, fmt.Errorf("picture: %w", err)
	}
	size := original.Bounds().Size()
	width, height := size.X, size.Y
	if longest := max(width, height); longest > side {
		width, height = max(1, width*side/longest), max(1, height*side/longest)
	}
	scaled := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.CatmullRom.Scale(scaled, scaled.Bounds(), original, original.Bounds(), draw.Src, nil)
	var file bytes.Buffer
	if scaled.Opaque() {
		err = jpeg.Encode(&file, scaled, &jpeg.Options{Quality: 85})
		return &Picture{Type: "image/jpeg", Bytes: file.Bytes()}, err
	}
	err = png.Encode(&file, scaled)
	return &Picture{Type: "image/png", Bytes: file.Bytes()}, err
}
