package panel

import (
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/auth"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

var settingsSections = []section{
	{"Business", links.Business, "building-store", core.Owner},
	{"Staff", links.Staff, "users", core.Owner},
	{"Billing", links.Billing, "receipt", core.Owner},
	{"Notifications", links.NotificationSettings, "bell", core.Owner},
	{"API tokens", links.Tokens, "key", core.Owner},
	{auth.AccountTitle, links.Account, "shield-lock", core.Cashier},
}

func (p *Panel) SettingsRoutes() []route.Route {
	return []route.Route{route.Get(links.Settings, route.Cashiers, p.showSettings)}
}

// showSettings redirects to the first section that the person may see.
func (p *Panel) showSettings(c echo.Context) error {
	return p.Redirect(c, navItems(settingsSections, page.Actor(c).Role, "")[0].Path)
}

// Settings returns the frame of a settings page. current is the path of its section.
func (p *Panel) Settings(c echo.Context, title, current string, crumbs ...ui.Crumb) views.Settings {
	return views.Settings{Frame: p.Frame(c, title, links.Settings, crumbs...), Sections: navItems(settingsSections, page.Actor(c).Role, current)}
}
