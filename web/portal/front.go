package portal

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/web/page"
)

// front is what all pages of a business share.
type front struct {
	core.Tenant
	tenant.Theme
}

// palette is the colours of its pages.
func (f front) palette() tenant.Palette {
	if f.Colour != nil {
		if p, err := tenant.PaletteOf(*f.Colour); err == nil {
			return p
		}
	}
	return tenant.Palette{Fill: "#5746d6", OnFill: "#ffffff"} // as css/portal.css has them
}

const (
	briefTime = 10 * time.Second // for which what pages share is not read again
	keptBrief = 1000
)

// brief keeps what pages share for a short while: the customers of a send open their
// vouchers at about the same time.
type brief[T any] struct {
	mu   sync.Mutex
	kept map[string]timed[T] // by slug
}

type timed[T any] struct {
	value T
	read  time.Time
}

// get returns what is kept of a business, or reads it.
func (b *brief[T]) get(slug string, now time.Time, read func() (T, error)) (T, error) {
	b.mu.Lock()
	known, found := b.kept[slug]
	b.mu.Unlock()
	if found && now.Sub(known.read) < briefTime {
		return known.value, nil
	}
	value, err := read()
	if err != nil {
		return value, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kept == nil || len(b.kept) >= keptBrief {
		b.kept = map[string]timed[T]{}
	}
	b.kept[slug] = timed[T]{value, now}
	return value, nil
}

// front returns the business of the host that was called, also a suspended one, or
// core.ErrNotFound.
func (p *Portal) front(c echo.Context) (front, error) {
	slug, _ := p.Names.Slug(c.Request().Host)
	ctx := c.Request().Context()
	return p.fronts.get(slug, p.Now(), func() (front, error) {
		t, err := p.Tenant(ctx, slug)
		if err != nil {
			return front{}, err
		}
		look, err := p.Tenants.Theme(ctx, core.System(t, "customer pages"))
		return front{Tenant: t, Theme: look}, err
	})
}

const forever = "public, max-age=31536000, immutable"

// stylePath is the address of a colour's style sheet, which needs no database.
func stylePath(colour string) string { return "/brand/" + strings.TrimPrefix(colour, "#") + ".css" }

func (p *Portal) style(c echo.Context) error {
	hex, found := strings.CutSuffix(c.Param("colour"), ".css")
	palette, err := tenant.PaletteOf("#" + hex)
	if err != nil || !found {
		return core.ErrNotFound
	}
	keep(c)
	css := fmt.Sprintf(":root { --brand: %s; --brand-ink: %s; }\n", palette.Fill, palette.OnFill)
	return c.Blob(http.StatusOK, "text/css; charset=utf-8", []byte(css))
}

func logoPath(hash string) string { return "/brand/logo/" + hash }

// logo answers with the picture. A new logo has a new address.
func (p *Portal) logo(c echo.Context) error {
	front, err := p.front(c)
	if err != nil {
		return err
	}
	picture, err := p.Tenants.Logo(c.Request().Context(), core.System(front.Tenant, "customer pages"), c.Param("hash"))
	if err != nil {
		return err
	}
	keep(c)
	return page.Picture(c, picture)
}

// icon answers with the sign for a home screen: /brand/icon/165c47-192.png, or the hash of
// a logo in place of the colour.
func (p *Portal) icon(c echo.Context) error {
	name, isPNG := strings.CutSuffix(c.Param("name"), ".png")
	key, size, _ := strings.Cut(name, "-")
	side, known := iconSides[size]
	if !isPNG || !known {
		return core.ErrNotFound
	}
	front, err := p.front(c)
	if err != nil {
		return err
	}
	palette := front.palette()
	var logo *tenant.Picture
	if len(key) == len("165c47") {
		if palette, err = tenant.PaletteOf("#" + key); err != nil {
			return core.ErrNotFound
		}
	} else {
		found, err := p.Tenants.Logo(c.Request().Context(), core.System(front.Tenant, "customer pages"), key)
		if err != nil {
			return err
		}
		logo = &found
	}
	picture, err := icon(side, palette, logo)
	if err != nil {
		return err
	}
	keep(c)
	return page.Picture(c, tenant.Picture{Type: "image/png", Bytes: picture})
}

var iconSides = map[string]int{"180": 180, "192": 192, "512": 512}

func (f front) iconPath(side string) string {
	return page.IconPath(f.palette().Fill, f.LogoHash, side)
}

// keep lets browsers cache an answer for good: the content of its address never changes.
func keep(c echo.Context) {
	h := c.Response().Header()
	h.Set(echo.HeaderCacheControl, forever)
	h.Set(echo.HeaderVary, echo.HeaderAcceptEncoding)
}
