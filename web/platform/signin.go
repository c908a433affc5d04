package platform

import (
	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/auth"
	"example.com/loyalty/web/panel"
)

// signInPages are the pages for signing in and for the super-admin's own account.
func (p *Platform) signInPages() *auth.Pages {
	area := auth.Area{Path: links.Platform, Account: links.PlatformAccount, Brand: "Platform", Assets: panel.PlatformAssets, Frame: p.accountFrame}
	return &auth.Pages{Kit: p.Kit, Area: area, Auth: p.Auth, Staff: p.Staff}
}

// accountFrame puts a page of the account into the panel's frame.
func (p *Platform) accountFrame(c echo.Context, title string, content templ.Component, crumbs ...ui.Crumb) templ.Component {
	frame := p.Frame(c, title, links.PlatformAccount, crumbs...)
	return panelviews.PlatformAccountPage(frame, content)
}
