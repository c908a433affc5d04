package portal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/picture"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/forms"
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
	justNow   = time.Second // for an address of a branding that the cached one doesn't have
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

// get returns the cached value of a business if it is younger than age, or loads it.
func (b *cache[T]) get(slug string, now time.Time, age time.Duration, load func() (T, error)) (T, error) {
	b.mu.Lock()
	entry, found := b.entries[slug]
	b.mu.Unlock()
	if found && now.Sub(entry.at) < age {
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
func (p *Portal) findFront(c echo.Context) (front, error) { return p.frontSince(c, cacheTime) }

// frontSince is findFront with a cached front that is younger than age.
func (p *Portal) frontSince(c echo.Context, age time.Duration) (front, error) {
	slug, _ := p.Names.Slug(c.Request().Host)
	ctx := c.Request().Context()
	return p.fronts.get(slug, p.Now(), age, func() (front, error) {
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

// stylePath is the address of the stylesheet of a colour.
func stylePath(colour string) string {
	sheet, err := styleOf(colour)
	if err != nil {
		return ""
	}
	return links.WithQuery("/brand/"+strings.TrimPrefix(colour, "#")+".css", "v", sheet.Version)
}

// style answers with the stylesheet of the business's own colour.
func (p *Portal) style(c echo.Context, f front) error {
	hex, found := strings.CutSuffix(c.Param("colour"), ".css")
	if !found {
		return core.ErrNotFound
	}
	f, err := p.owning(c, f, hex)
	if err != nil {
		return err
	}
	sheet, err := styleOf(f.colour())
	if err != nil {
		return err
	}
	return sheet.Serve(c, "public")
}

func logoPath(hash string) string { return "/brand/logo/" + hash }

// logo answers with the logo. A new one has a new address.
func (p *Portal) logo(c echo.Context, f front) error {
	hash := c.Param("hash")
	f, err := p.owning(c, f, hash)
	if err != nil {
		return err
	}
	logo, err := p.drawings.stored(c, f, logoPath(hash), func(ctx context.Context, by core.Actor) (picture.Picture, error) {
		return p.Tenants.Logo(ctx, by, hash)
	})
	if err != nil {
		return err
	}
	cacheForever(c)
	return forms.Picture(c, logo)
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
	return forms.Picture(c, shown)
}

// icon answers with the icon for home screens: /brand/icon/165c47-192.png, or with the hash of the logo
// instead of the colour.
func (p *Portal) icon(c echo.Context, f front) error {
	name, isPNG := strings.CutSuffix(c.Param("name"), ".png")
	key, size, _ := strings.Cut(name, "-")
	side, err := strconv.Atoi(size)
	if !isPNG || err != nil || !slices.Contains(tenant.IconSides, side) || size != strconv.Itoa(side) {
		return core.ErrNotFound
	}
	f, err = p.owning(c, f, key)
	if err != nil {
		return err
	}
	icon, err := p.iconOf(c, f, key, side)
	if err != nil {
		return err
	}
	cacheForever(c)
	return forms.Picture(c, icon)
}

// iconOf returns the icon that was drawn of the logo when it was saved, or draws one in the colour.
func (p *Portal) iconOf(c echo.Context, f front, key string, side int) (picture.Picture, error) {
	if f.LogoHash != nil && key == *f.LogoHash {
		return p.drawings.stored(c, f, f.iconPath(side), func(ctx context.Context, by core.Actor) (picture.Picture, error) {
			return p.Tenants.Icon(ctx, by, key, side)
		})
	}
	drawn, err := p.drawings.get(c.Request().Context(), f.ID, fmt.Sprint("icon ", f.colour(), side), func() (drawing, error) {
		icon, err := drawIcon(side, f.colour())
		return drawing{bytes: icon}, err
	})
	return picture.Picture{Type: "image/png", Bytes: drawn.bytes}, err
}

// owning returns the front if the key of an address is its colour or the hash of its logo, or
// core.ErrNotFound: strangers can't have a business's pictures drawn in other colours. A front that was read
// before a change of the branding is read again.
func (p *Portal) owning(c echo.Context, f front, key string) (front, error) {
	if f.has(key) {
		return f, nil
	}
	f, err := p.frontSince(c, justNow)
	if err == nil && !f.has(key) {
		err = core.ErrNotFound
	}
	return f, err
}

// has reports whether the key of an address is the front's colour or the hash of its logo.
func (f front) has(key string) bool {
	return "#"+key == f.colour() || f.LogoHash != nil && key == *f.LogoHash
}

func (f front) iconPath(side int) string {
	return page.IconPath(f.colour(), f.LogoHash, side)
}

// cacheForever lets browsers cache a response whose address changes with its content.
func cacheForever(c echo.Context) {
	h := c.Response().Header()
	h.Set(echo.HeaderCacheControl, "public, max-age=31536000, immutable")
	h.Set(echo.HeaderVary, echo.HeaderAcceptEncoding)
}
