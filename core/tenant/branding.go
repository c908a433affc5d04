package tenant

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/picture"
)

// Branding is a business's colour and logo, for its e-mails. Nil: the product's own.
type Branding struct {
	Colour *string
	Logo   *picture.Picture // as e-mails show it
	Shape  core.LogoShape   // of the logo
}

type storedBranding struct {
	core.Theme
	Drawn bool
	PNG   []byte // null: no logo, or one that can't be decoded
}

// BrandingOf returns the branding of the actor's tenant. It first draws from a logo that an earlier build stored.
func BrandingOf(ctx context.Context, d *db.DB, by core.Actor) (Branding, error) {
	stored, err := readBranding(ctx, d, by)
	if err == nil && stored.LogoHash != nil && !stored.Drawn {
		if err := renewLogo(ctx, d, by.Tenant); err != nil {
			return Branding{}, err
		}
		stored, err = readBranding(ctx, d, by)
	}
	b := Branding{Colour: stored.Colour, Shape: stored.Logo()}
	if stored.PNG != nil {
		b.Logo = &picture.Picture{Type: "image/png", Bytes: stored.PNG}
	}
	return b, err
}

func readBranding(ctx context.Context, d *db.DB, by core.Actor) (storedBranding, error) {
	return db.One[storedBranding](ctx, d.Tenant(by), brandingSQL, db.Args{"name": mailLogo})
}

// ThemeIn returns the theme of the transaction's tenant.
func ThemeIn(ctx context.Context, tx *db.Tx) (core.Theme, error) {
	return db.One[core.Theme](ctx, tx, themeSQL, nil)
}
