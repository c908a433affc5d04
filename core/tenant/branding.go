package tenant

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	_ "image/jpeg" // logos
	_ "image/png"  // logos

	_ "golang.org/x/image/webp" // logos

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Theme is how a business's pages look. Nil: the product's own way.
type Theme struct {
	Colour   *string // "#5746d6"
	LogoHash *string // SHA-256 in hex: the address of the picture, which another one does not have
}

// Picture is a logo.
type Picture struct {
	Type  string // image/png, image/jpeg or image/webp
	Bytes []byte
}

// Branding is a business's colour and logo together, for its e-mails. Nil: the product's own.
type Branding struct {
	Colour *string
	Logo   *Picture
}

type storedBranding struct {
	Colour *string
	Type   *string
	Bytes  []byte
}

// BrandingOf returns the branding of the actor's tenant. One round trip.
func BrandingOf(ctx context.Context, d *db.DB, by core.Actor) (Branding, error) {
	stored, err := db.ReadOne[storedBranding](ctx, d, by, brandingSQL, nil)
	if errors.Is(err, core.ErrNotFound) {
		return Branding{}, nil
	}
	if err != nil {
		return Branding{}, err
	}
	b := Branding{Colour: stored.Colour}
	if stored.Type != nil {
		b.Logo = &Picture{Type: *stored.Type, Bytes: stored.Bytes}
	}
	return b, nil
}

// ThemeIn is Look in the caller's transaction, of its tenant. One round trip.
func ThemeIn(ctx context.Context, tx *db.Tx) (Theme, error) {
	look, err := db.One[Theme](ctx, tx, lookSQL, nil)
	if errors.Is(err, core.ErrNotFound) {
		return Theme{}, nil
	}
	return look, err
}

// The limits of a logo.
const (
	maxLogoBytes = 256 << 10
	maxLogoSide  = 2000
)

// Theme returns how the pages of the actor's tenant look, to everybody: a customer's
// page has its shop's colour, too. One round trip.
func (s *Service) Theme(ctx context.Context, by core.Actor) (Theme, error) {
	look, err := db.ReadOne[Theme](ctx, s.db, by, lookSQL, nil)
	if errors.Is(err, core.ErrNotFound) {
		return Theme{}, nil
	}
	return look, err
}

// Logo returns the picture of that hash, or core.ErrNotFound. One round trip.
func (s *Service) Logo(ctx context.Context, by core.Actor, hash string) (Picture, error) {
	sum, err := hex.DecodeString(hash)
	if err != nil {
		return Picture{}, core.ErrNotFound
	}
	return db.ReadOne[Picture](ctx, s.db, by, logoSQL, db.Args{"hash": sum})
}

// picture reads a logo; nil: none. A browser is told what it is by what it is, and not
// by what its sender says. No SVG: those are programs.
func picture(check *core.Check, file *[]byte) *Picture {
	if file == nil {
		return nil
	}
	if len(*file) > maxLogoBytes {
		check.Add("logo", core.Violation{Rule: "max_kilobytes", Limit: maxLogoBytes >> 10})
		return nil
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(*file))
	switch {
	case err != nil || format != "png" && format != "jpeg" && format != "webp":
		check.Add("logo", core.Violation{Rule: "picture_type"})
	case config.Width > maxLogoSide || config.Height > maxLogoSide:
		check.Add("logo", core.Violation{Rule: "max_pixels", Limit: maxLogoSide})
	default:
		// Small enough to be read as a whole: no browser shows one that broke off.
		if _, _, err := image.Decode(bytes.NewReader(*file)); err != nil {
			check.Add("logo", core.Violation{Rule: "broken_picture"})
		}
	}
	return &Picture{Type: "image/" + format, Bytes: *file}
}

func (p *Picture) contentHash() []byte {
	sum := sha256.Sum256(p.Bytes)
	return sum[:]
}

// hash is the address; nil: there is no picture.
func (p *Picture) hash() *string {
	if p == nil {
		return nil
	}
	return new(hex.EncodeToString(p.contentHash()))
}
