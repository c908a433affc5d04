package portal

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/picture"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/web/page"
)

// front is the part of a business that all its pages show.
type front struct{ core.Tenant }

// colour returns the business's colour, or the product's.
func (f front) colour() string {
	if f.Colour != nil {
		return *f.Colour
	}
	return tenant.ProductColour
}

const (
	cacheTime = 10 * time.Second
	cacheSize = 1000
)

// cache keeps data of businesses for a short time: the customers of a send open their vouchers at
// about the same time.
type cache[T any] struct {
	mu      sync.Mutex
	entries map[string]cacheEntry[T] // by slug
}

type cacheEntry[T any] struct {
	value T
	at    time.Time
}

// get returns the cached value of a business, or loads it.
func (b *cache[T]) get(slug string, now time.Time, load func() (T, error)) (T, error) {
	b.mu.Lock()
	entry, found := b.entries[slug]
	b.mu.Unlock()
	if found && now.Sub(entry.at) < cacheTime {
		return entry.value, nil
	}
	value, err := load()
	if err != nil {
		return value, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.entries == nil || len(b.entries) >= cacheSize {
		b.entries = map[string]cacheEntry[T]{}
	}
	b.entries[slug] = cacheEntry[T]{value, now}
	return value, nil
}

// findFront returns the business of the host, even a suspended one, or page.ErrNoBusiness.
func (p *Portal) findFront(c echo.Context) (front, error) {
	slug, _ := p.Names.Slug(c.Request().Host)
	ctx := c.Request().Context()
	return p.fronts.get(slug, p.Now(), func() (front, error) {
		t, err := p.Tenant(ctx, slug)
		if errors.Is(err, core.ErrNotFound) {
			err = page.ErrNoBusiness
		}
		return front{t}, err
	})
}

var styles page.Stylesheets

// styleOf returns the stylesheet of a colour. Codes and balances are on white in both themes, so Mark is
// the light one's.
func styleOf(colour string) (page.Stylesheet, error) {
	return styles.Get(colour, func() (string, error) {
		p, err := tenant.PaletteOf(colour)
		return fmt.Sprintf(`:root { --brand: %s; --brand-ink: %s; --tint: %s; --mark: %s; }
@media screen and (prefers-color-scheme: dark) { :root { --tint: %s; } }
@media print { :root { --tint: #000; } }
`, p.Fill, p.OnFill, p.Light.Link, p.Light.Mark, p.Dark.Link), err
	})
}

// stylePath is the address of the stylesheet of a colour. Serving it doesn't read the database.
func stylePath(colour string) string {
	sheet, err := styleOf(colour)
	if err != nil {
		return ""
	}
	return page.WithQuery("/brand/"+strings.TrimPrefix(colour, "#")+".css", "v", sheet.Version)
}

func (p *Portal) style(c echo.Context) error {
	hex, found := strings.CutSuffix(c.Param("colour"), ".css")
	sheet, err := styleOf("#" + hex)
	if err != nil || !found {
		return core.ErrNotFound
	}
	return sheet.Serve(c, "public")
}

func logoPath(hash string) string { return "/brand/logo/" + hash }

// logo answers with the logo. A new one has a new address.
func (p *Portal) logo(c echo.Context, f front) error {
	logo, err := p.Tenants.Logo(c.Request().Context(), core.System(f.Tenant, "customer pages"), c.Param("hash"))
	if err != nil {
		return err
	}
	cacheForever(c)
	return page.Picture(c, logo)
}

// rewardPicturePath is the address of a reward's picture, or "". A new picture has a new address.
func rewardPicturePath(o walkin.Offered) string {
	if o.Picture == nil {
		return ""
	}
	return "/brand/reward/" + o.ID.String() + "/" + *o.Picture
}

func (p *Portal) rewardPicture(c echo.Context, f front) error {
	id, err := core.ParseID(c.Param("ulid"))
	if err != nil {
		return err
	}
	shown, err := p.Rewards.Picture(c.Request().Context(), core.System(f.Tenant, "customer pages"), id, c.Param("hash"))
	if err != nil {
		return err
	}
	cacheForever(c)
	return page.Picture(c, shown)
}

// icon answers with the icon for home screens: /brand/icon/165c47-192.png, or with the hash of a logo
// instead of the colour.
func (p *Portal) icon(c echo.Context, f front) error {
	name, isPNG := strings.CutSuffix(c.Param("name"), ".png")
	key, size, _ := strings.Cut(name, "-")
	side, known := iconSides[size]
	if !isPNG || !known {
		return core.ErrNotFound
	}
	colour := f.colour()
	var logo *picture.Picture
	if len(key) == len("165c47") {
		colour = "#" + key
	} else {
		found, err := p.Tenants.Logo(c.Request().Context(), core.System(f.Tenant, "customer pages"), key)
		if err != nil {
			return err
		}
		logo = &found
	}
	palette, err := tenant.PaletteOf(colour)
	if err != nil {
		return core.ErrNotFound
	}
	drawn, err := drawIcon(side, palette, logo)
	if err != nil {
		return err
	}
	cacheForever(c)
	return page.Picture(c, picture.Picture{Type: "image/png", Bytes: drawn})
}

var iconSides = map[string]int{"180": 180, "192": 192, "512": 512}

func (f front) iconPath(side string) string {
	return page.IconPath(f.colour(), f.LogoHash, side)
}

// cacheForever lets browsers cache a response whose address changes with its content.
func cacheForever(c echo.Context) {
	h := c.Response().Header()
	h.Set(echo.HeaderCacheControl, "public, max-age=31536000, immutable")
	h.Set(echo.HeaderVary, echo.HeaderAcceptEncoding)
}
