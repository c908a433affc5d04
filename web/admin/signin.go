package admin

import (
	"context"
	"io"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/auth"
	"example.com/loyalty/web/page"
)

const accountPath = settingsPath + "/security"

// signInPages returns the panel's pages for signing in and for people's own accounts.
func (a *Admin) signInPages() *auth.Pages {
	area := auth.Area{Path: page.PanelPath, Account: accountPath, Assets: assets, Frame: a.accountFrame, Card: a.weeklyCard, FirstPage: firstPage, Welcome: welcome}
	return &auth.Pages{Kit: a.Kit, Area: area, Auth: a.Auth, Staff: a.Staff}
}

// accountFrame puts a page of a person's account into the settings.
func (a *Admin) accountFrame(c echo.Context, title string, content templ.Component, crumbs ...ui.Crumb) templ.Component {
	settings := a.settings(c, title, accountPath, crumbs...)
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return views.SettingsPage(settings, templ.NopComponent).Render(templ.WithChildren(ctx, content), w)
	})
}

// firstPage returns the page shown after sign-in: the point of sale for cashiers, the dashboard for
// everyone else.
func firstPage(role core.Role) string {
	if role == core.Cashier {
		return page.TillPath
	}
	return page.PanelPath
}
