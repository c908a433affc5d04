package tenant

import (
	"context"
	"encoding/hex"
	_ "image/jpeg" // logos
	_ "image/png"  // logos

	_ "golang.org/x/image/webp" // logos

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/picture"
)

// Branding is a business's colour and logo, for its e-mails. Nil: the product's own.
type Branding struct {
	Colour *string
	Logo   *picture.Picture
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
		b.Logo = &picture.Picture{Type: *stored.Type, Bytes: stored.Bytes}
	}
	return b, err
}

// ThemeIn returns the theme of the transaction's tenant.
func ThemeIn(ctx context.Context, tx *db.Tx) (core.Theme, error) {
	return db.One[core.Theme](ctx, tx, themeSQL, nil)
}

// Logo returns the logo with a hash, or core.ErrNotFound.
func (s *Service) Logo(ctx context.Context, by core.Actor, hash string) (picture.Picture, error) {
	sum, err := hex.DecodeString(hash)
	if err != nil {
		return picture.Picture{}, core.ErrNotFound
	}
	return db.ReadOne[picture.Picture](ctx, s.db, by, logoSQL, db.Args{"hash": sum})
}
