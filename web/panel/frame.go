package panel

import (
	"log/slog"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/notification"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

var RoleNames = map[core.Role]string{core.Owner: "Owner", core.Manager: "Manager", core.Cashier: "Cashier"}

// section is an entry of the navigation, with the role that it requires.
type section struct {
	label, path, icon string
	least             core.Role
}

var navigation = []struct {
	title   string
	entries []section
}{
	{"", []section{
		{"Point of sale", page.TillPath, "cash-register", core.Cashier},
		{"Dashboard", "/admin", "layout-dashboard", core.Manager},
		{"Customers", "/admin/customers", "users", core.Cashier},
		{"Transactions", "/admin/transactions", "receipt", core.Cashier},
		{"Redemptions", "/admin/redemptions", "list-check", core.Cashier},
		{"Rewards", "/admin/rewards", "gift", core.Cashier},
		{"Coupons", "/admin/coupons", "ticket", core.Cashier},
		{"Reports", "/admin/reports", "chart-bar", core.Manager},
	}},
	{"Operations", []section{
		{"Transaction types", "/admin/types", "category", core.Manager},
		{"Locations", "/admin/locations", "map-pin", core.Manager},
		{"Poster", links.Poster, "printer", core.Manager},
		{"Audit log", "/admin/audit", "history", core.Manager},
		{"Settings", "/admin/settings", "settings", core.Owner},
	}},
}

func (p *Panel) FrameRoutes() []route.Route {
	return []route.Route{
		route.Post("/admin/theme", route.Everyone, p.SwitchTheme(page.PanelPath)).Within(page.SwitchingThemes),
	}
}

// Frame returns the frame of a signed-in person's page. current is the path of its entry in the
// navigation.
func (p *Panel) Frame(c echo.Context, title, current string, crumbs ...ui.Crumb) views.Frame {
	who := page.Actor(c)
	f := views.Frame{
		Title: title, Crumbs: crumbs, Business: who.Tenant.Name,
		Person: views.Person{Name: who.Name, Role: RoleNames[who.Role]},
		Theme:  page.Theme(c), Assets: Assets, Flashes: p.Flashes(c),
	}
	f.Assets.Branding = page.BrandingURL(c)
	counts := p.counts(c, who)
	if who.Role.Includes(core.Manager) {
		f.Bell = bell(counts.Unread, current)
	}
	for _, group := range navigation {
		if items := navItems(group.entries, who.Role, current); len(items) > 0 {
			for i := range items {
				if items[i].Path == links.Redemptions {
					items[i].Badge = badge(counts.Pending, "pending")
				}
			}
			f.Nav = append(f.Nav, views.NavGroup{Title: group.title, Items: items})
		}
	}
	return f
}

// counts returns the figures beside the navigation. A page is shown without them rather than not at all. Parts
// of a page have no frame.
func (p *Panel) counts(c echo.Context, who core.Actor) notification.Counts {
	if page.IsFragment(c) || page.Person(c) == nil {
		return notification.Counts{}
	}
	counts, err := p.Notifications.Counts(c.Request().Context(), who)
	if err != nil && c.Request().Context().Err() == nil {
		p.Log.WarnContext(c.Request().Context(), "counting notifications failed", slog.Any("error", err))
	}
	return counts
}

// badge is a figure with what it counts, or nil for none. It is exact up to notification.CountLimit.
func badge(n int64, what string) *views.Badge {
	if n == 0 {
		return nil
	}
	shown := format.Number(min(n, notification.CountLimit))
	if n > notification.CountLimit {
		return &views.Badge{Shown: shown + "+", Label: "more than " + shown + " " + what}
	}
	return &views.Badge{Shown: shown, Label: shown + " " + what}
}

// bell links to the notifications. On their own page none are new any more.
func bell(unread int64, current string) *views.Bell {
	b := &views.Bell{Label: "Notifications", Current: current == links.Notifications}
	if b.Badge = badge(unread, "new"); b.Badge != nil {
		b.Label += ", " + b.Badge.Label
	}
	return b
}

// navItems returns the sections that a role may see.
func navItems(sections []section, role core.Role, current string) (items []views.NavItem) {
	for _, s := range sections {
		if role.Includes(s.least) {
			items = append(items, views.NavItem{Label: s.label, Path: s.path, Icon: s.icon, Current: s.path == current})
		}
	}
	return items
}
