package admin

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

// roleNames are the roles in words.
var roleNames = map[core.Role]string{core.Owner: "Owner", core.Manager: "Manager", core.Cashier: "Cashier"}

// entry is a part of the panel, for those who may see it.
type entry struct {
	label, path, icon string
	least             core.Role
}

var navigation = []struct {
	title   string
	entries []entry
}{
	{"", []entry{
		{"Point of sale", page.TillPath, "cash-register", core.Cashier},
		{"Dashboard", "/admin", "layout-dashboard", core.Manager},
		{"Customers", "/admin/customers", "users", core.Cashier},
		{"Transactions", "/admin/transactions", "receipt", core.Cashier},
		{"Redemptions", "/admin/redemptions", "list-check", core.Cashier},
		{"Rewards", "/admin/rewards", "gift", core.Cashier},
		{"Coupons", "/admin/coupons", "ticket", core.Cashier},
		{"Reports", "/admin/reports", "chart-bar", core.Manager},
	}},
	{"Operations", []entry{
		{"Transaction types", "/admin/types", "category", core.Manager},
		{"Locations", "/admin/locations", "map-pin", core.Manager},
		{"Poster", posterPath, "printer", core.Manager},
		{"Audit log", "/admin/audit", "history", core.Manager},
		{"Settings", "/admin/settings", "settings", core.Owner},
	}},
}

func (a *Admin) frameRoutes() []route {
	return []route{
		{method: post, path: "/admin/theme", handle: a.switchTheme},
	}
}

// frame is what the page of a signed-in person has around its content. section is the
// path of the navigation's entry that it belongs to.
func (a *Admin) frame(c echo.Context, title, section string, crumbs ...ui.Crumb) views.Frame {
	who := page.Actor(c)
	f := views.Frame{
		Title: title, Crumbs: crumbs, Business: who.Tenant.Name,
		Person: views.Person{Name: who.Name, Role: roleNames[who.Role]},
		Theme:  page.Theme(c), Assets: assets, Flashes: a.Flashes(c),
	}
	f.Assets.Branding = a.BrandingURL(c)
	for _, group := range navigation {
		g := views.NavGroup{Title: group.title}
		for _, e := range group.entries {
			if who.Role.Includes(e.least) {
				g.Items = append(g.Items, views.NavItem{Label: e.label, Path: e.path, Icon: e.icon, Current: e.path == section})
			}
		}
		if len(g.Items) > 0 {
			f.Nav = append(f.Nav, g)
		}
	}
	return f
}

// switchTheme turns light and dark around, for those without scripts.
func (a *Admin) switchTheme(c echo.Context) error {
	next := "dark"
	if page.Theme(c) == "dark" {
		next = "light"
	}
	c.SetCookie(&http.Cookie{Name: "theme", Value: next, Path: "/", MaxAge: 365 * 24 * 3600, Secure: true, SameSite: http.SameSiteLaxMode})
	return a.Redirect(c, page.Back(c, page.PanelPath))
}
