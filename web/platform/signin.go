package platform

import (
	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	views "example.com/loyalty/views/platform"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/auth"
)

// signInPages are the pages for signing in and for the super-admin's own account.
func (p *Platform) signInPages() *auth.Pages {
	area := auth.Area{Path: home, Account: accountPath, Brand: "Platform", Assets: assets, Frame: p.accountFrame}
	return &auth.Pages{Kit: p.Kit, Area: area, Auth: p.Auth, Staff: p.Staff}
}

// accountFrame puts a page of the account into the panel's frame.
func (p *Platform) accountFrame(c echo.Context, title string, content templ.Component, crumbs ...ui.Crumb) templ.Component {
	frame := p.frame(c, title, accountPath, crumbs...)
	return views.AccountPage(frame, content)
}
