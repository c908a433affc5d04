package platform

import (
	"context"
	"io"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	views "example.com/loyalty/views/platform"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/auth"
	"example.com/loyalty/web/page"
)

// actor is the super-admin who acts: the one place that every page takes it from. It is the zero
// actor, who may do nothing, where no one is signed in.
func actor(c echo.Context) core.Actor { return page.Actor(c) }

// signInPages are the panel's pages of signing in, and of super-admins' own accounts.
func (p *Platform) signInPages() *auth.Pages {
	area := auth.Area{Path: home, Account: accountPath, Brand: "Platform", Assets: assets, Frame: p.accountFrame}
	return &auth.Pages{Kit: p.Kit, Area: area, Auth: p.Auth, Staff: p.Staff}
}

func (p *Platform) signInRoutes() (list []route) {
	for _, r := range p.signInPages().Routes() {
		list = append(list, route{method: r.Method, path: r.Path, public: r.Public, setup: r.Setup, handle: r.Handle})
	}
	return list
}

// accountFrame frames a page of a super-admin's account.
func (p *Platform) accountFrame(c echo.Context, title string, content templ.Component, crumbs ...ui.Crumb) templ.Component {
	frame := p.frame(c, title, accountPath, crumbs...)
	stacked := templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return views.Stacked().Render(templ.WithChildren(ctx, content), w)
	})
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return views.Page(frame, templ.NopComponent).Render(templ.WithChildren(ctx, stacked), w)
	})
}
