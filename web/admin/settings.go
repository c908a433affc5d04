package admin

import (
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/auth"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

const settingsPath = "/admin/settings"

var settingsSections = []section{
	{"Business", businessPath, "building-store", core.Owner},
	{"Staff", staffPath, "users", core.Owner},
	{"Billing", billingPath, "receipt", core.Owner},
	{"Notifications", notificationSettingsPath, "bell", core.Owner},
	{"API tokens", tokensPath, "key", core.Owner},
	{auth.AccountTitle, accountPath, "shield-lock", core.Cashier},
}

func (a *Admin) settingsRoutes() []route.Route {
	return []route.Route{route.Get(settingsPath, route.Cashiers, a.showSettings)}
}

// showSettings redirects to the first section that the person may see.
func (a *Admin) showSettings(c echo.Context) error {
	return a.Redirect(c, navItems(settingsSections, page.Actor(c).Role, "")[0].Path)
}

// settings returns the frame of a settings page. current is the path of its section.
func (a *Admin) settings(c echo.Context, title, current string, crumbs ...ui.Crumb) views.Settings {
	return views.Settings{Frame: a.frame(c, title, settingsPath, crumbs...), Sections: navItems(settingsSections, page.Actor(c).Role, current)}
}
