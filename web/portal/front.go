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
	tenant.Look
	read time.Time
}

const (
	frontTime  = 10 * time.Second // for which a front is not read again
	keptFronts = 1000
)

// fronts caches them for a short while: the customers of a send open their vouchers at about
// the same time.
type fronts struct {
	mu   sync.Mutex
	kept map[string]front // by slug
}

// front returns the business of the host that was called, also a suspended one, or
// core.ErrNotFound.
func (p *Portal) front(c echo.Context) (front, error) {
	slug, _ := p.Names.Slug(c.Request().Host)
	now := p.Now()
	p.fronts.mu.Lock()
	known, found := p.fronts.kept[slug]
	p.fronts.mu.Unlock()
	if found && now.Sub(known.read) < frontTime {
		return known, nil
	}
	ctx := c.Request().Context()
	t, err := p.Tenant(ctx, slug)
	if err != nil {
		return front{}, err
	}
	look, err := p.Tenants.Look(ctx, core.System(t, "customer pages"))
	if err != nil {
		return front{}, err
	}
	read := front{Tenant: t, Look: look, read: now}
	p.fronts.mu.Lock()
	defer p.fronts.mu.Unlock()
	if p.fronts.kept == nil || len(p.fronts.kept) >= keptFronts {
		p.fronts.kept = map[string]front{}
	}
	p.fronts.kept[slug] = read
	return read, nil
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

// keep lets browsers cache an answer for good: the content of its address never changes.
func keep(c echo.Context) {
	h := c.Response().Header()
	h.Set(echo.HeaderCacheControl, forever)
	h.Set(echo.HeaderVary, echo.HeaderAcceptEncoding)
}
