package admin

import (
	"context"
	"io"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/admin/setup"
	"example.com/loyalty/web/auth"
	"example.com/loyalty/web/panel"
)

// signInPages returns the panel's pages for signing in and for people's own accounts.
func (a *Admin) signInPages() *auth.Pages {
	area := auth.Area{Path: links.Panel, Account: links.Account, Assets: panel.Assets, Frame: a.accountFrame, Card: a.settings.WeeklyCard, FirstPage: panel.FirstPage, Welcome: setup.Welcome}
	return &auth.Pages{Kit: a.Kit, Area: area, Auth: a.Auth, Staff: a.Staff}
}

// accountFrame puts a page of a person's account into the settings.
func (a *Admin) accountFrame(c echo.Context, title string, content templ.Component, crumbs ...ui.Crumb) templ.Component {
	frame := a.Settings(c, title, links.Account, crumbs...)
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return panelviews.SettingsPage(frame, templ.NopComponent).Render(templ.WithChildren(ctx, content), w)
	})
}
