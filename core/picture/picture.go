// Package picture reads pictures that people upload: logos and pictures of rewards.
//
// Its surprising rule: no uploaded file is stored. Each is decoded, and what is stored is written anew, so
// that it has nothing but its pixels: no position of a phone's camera, and nothing hidden behind its end.
package picture

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	"runtime"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/limit"
)

// Picture is a picture as it is stored.
type Picture struct {
	Type  string // image/png or image/jpeg; image/webp if an earlier build stored it
	Bytes []byte
}

// The limits of an upload.
const (
	MaxBytes = 256 << 10 // of the file, and of what is stored
	maxSide  = 2000      // pixels: decoded, no picture takes more than 32 MB
	maxScans = 100       // of a progressive JPEG, each of which goes through all pixels; programs write ten
)

// Decoding and drawing keep a core busy, some 0.1 s for a large picture. One tenant draws one at a time.
var drawing = limit.NewGate(max(1, runtime.GOMAXPROCS(0)/2), 1, 10*time.Second, "Too many pictures are being saved right now. Try again in a few seconds.")

// Read reads the picture in a field, and writes it anew with no side longer than side pixels; nil: none. Its
// type comes from its contents, not from the request. SVG is refused because it can contain scripts. What is
// wrong with the file is added to the check; the error is that of a wait for others' pictures.
func Read(ctx context.Context, t core.TenantID, check *core.Check, field string, file *[]byte, side int) (read *Picture, err error) {
	if file == nil || !isPicture(check, field, *file) {
		return read, nil
	}
	leave, err := drawing.Compute(ctx, t)
	if err != nil {
		return read, err
	}
	defer leave()
	read, err = rewrite(*file, side)
	if errors.Is(err, ErrBroken) {
		check.Add(field, core.Violation{Rule: "broken_picture"})
		return read, nil
	}
	return read, err
}

// isPicture reports whether a file says that it is a picture of a size that may be decoded. The size comes
// first: a file of a few bytes can decode to billions of pixels.
func isPicture(check *core.Check, field string, file []byte) bool {
	config, format, err := image.DecodeConfig(bytes.NewReader(file))
	switch {
	case len(file) > MaxBytes:
		check.Add(field, core.Violation{Rule: "max_kilobytes", Limit: MaxBytes >> 10})
	case err != nil || format != "png" && format != "jpeg" && format != "webp":
		check.Add(field, core.Violation{Rule: "picture_type"})
	case config.Width > maxSide || config.Height > maxSide:
		check.Add(field, core.Violation{Rule: "max_pixels", Limit: maxSide})
	default:
		return true
	}
	return false
}

// ErrBroken refuses a file that can't be decoded to its end: browsers wouldn't show it either.
var ErrBroken = errors.New("the picture can't be decoded")

// Rewrite writes a picture anew that an earlier build stored as it was uploaded, or returns ErrBroken.
func (p *Picture) Rewrite(ctx context.Context, t core.TenantID, side int) (*Picture, error) {
	leave, err := drawing.Compute(ctx, t)
	if err != nil {
		return nil, err
	}
	defer leave()
	return rewrite(p.Bytes, side)
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
