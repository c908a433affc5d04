package admin

import (
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/auth"
	"example.com/loyalty/web/page"
)

const settingsPath = "/admin/settings"

// sections are the pages of the settings, in the order of the page.
var sections = []entry{
	{"Business", businessPath, "building-store", core.Owner},
	{"People", staffPath, "users", core.Owner},
	{"Billing", billingPath, "receipt", core.Owner},
	{"API tokens", tokensPath, "key", core.Owner},
	{auth.AccountTitle, accountPath, "shield-lock", core.Cashier},
}

func (a *Admin) settingsRoutes() []route {
	return []route{{method: get, path: settingsPath, least: core.Cashier, handle: a.showSettings}}
}

// showSettings leads to the first section that the person may see.
func (a *Admin) showSettings(c echo.Context) error {
	return a.Redirect(c, ownSections(c, "")[0].Path)
}

// settings is what a page of the settings has around its content. section is the path of
// the section that it belongs to.
func (a *Admin) settings(c echo.Context, title, section string, crumbs ...ui.Crumb) views.Settings {
	return views.Settings{Frame: a.frame(c, title, settingsPath, crumbs...), Sections: ownSections(c, section)}
}

// ownSections are those that the person may see.
func ownSections(c echo.Context, section string) (own []views.NavItem) {
	for _, s := range sections {
		if page.Actor(c).Role.Includes(s.least) {
			own = append(own, views.NavItem{Label: s.label, Path: s.path, Icon: s.icon, Current: s.path == section})
		}
	}
	return own
}
