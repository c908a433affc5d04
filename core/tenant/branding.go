package tenant

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"image"
	_ "image/jpeg" // logos
	_ "image/png"  // logos

	_ "golang.org/x/image/webp" // logos

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Theme is the branding of a business's pages. Nil: the product's own.
type Theme struct {
	Colour   *string // "#5746d6"
	LogoHash *string // SHA-256 in hex, part of the logo's address
}

// Picture is a logo.
type Picture struct {
	Type  string // image/png, image/jpeg or image/webp
	Bytes []byte
}

// Branding is a business's colour and logo, for its e-mails. Nil: the product's own.
type Branding struct {
	Colour *string
	Logo   *Picture
}

type storedBranding struct {
	Colour *string
	Type   *string
	Bytes  []byte
}

// BrandingOf returns the branding of the actor's tenant.
func BrandingOf(ctx context.Context, d *db.DB, by core.Actor) (Branding, error) {
	stored, err := db.ReadOne[storedBranding](ctx, d, by, brandingSQL, nil)
	b := Branding{Colour: stored.Colour}
	if stored.Type != nil {
		b.Logo = &Picture{Type: *stored.Type, Bytes: stored.Bytes}
	}
	return b, err
}

// The limits of a logo.
const (
	maxLogoBytes = 256 << 10
	maxLogoSide  = 2000
)

// Theme returns the theme of the actor's tenant, for everyone: it is on customers' pages, too.
func (s *Service) Theme(ctx context.Context, by core.Actor) (Theme, error) {
	return db.ReadOne[Theme](ctx, s.db, by, themeSQL, nil)
}

// ThemeIn is Theme in the caller's transaction.
func ThemeIn(ctx context.Context, tx *db.Tx) (Theme, error) {
	return db.One[Theme](ctx, tx, themeSQL, nil)
}

// Logo returns the logo with a hash, or core.ErrNotFound.
func (s *Service) Logo(ctx context.Context, by core.Actor, hash string) (Picture, error) {
	sum, err := hex.DecodeString(hash)
	if err != nil {
		return Picture{}, core.ErrNotFound
	}
	return db.ReadOne[Picture](ctx, s.db, by, logoSQL, db.Args{"hash": sum})
}

// readLogo reads a logo; nil: none. Its type comes from its contents, not from the request. SVG is
// refused because it can contain scripts.
func readLogo(check *core.Check, file *[]byte) *Picture {
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
		// Decoded as a whole: browsers don't show a truncated picture.
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

// hash returns Theme.LogoHash of a logo; nil: none.
func (p *Picture) hash() *string {
	if p == nil {
		return nil
	}
	return new(hex.EncodeToString(p.contentHash()))
}
