package panel

import (
	"log/slog"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/loyalty"
	"example.com/loyalty/core/notification"
	"example.com/loyalty/static"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/auth"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

// Business is what the features of a business's panel share.
type Business struct {
	Panel
	*loyalty.Services
}

// Assets are the files that every page loads.
var Assets = ui.Assets{
	Icon:         static.Path("img/icon.svg"),
	Font:         static.Path("vendor/inter/inter-latin.woff2"),
	Stylesheets:  []string{static.Path("vendor/tabler/tabler.css"), static.Path("css/panel.css")},
	Theme:        static.Path("js/theme.js"),
	Scripts:      []string{static.Path("vendor/htmx/htmx.js"), static.Path("js/form.js"), static.Path("js/panel.js"), static.Path("js/search.js")},
	ChartStyle:   static.Path("vendor/uplot/uplot.css"),
	ChartScripts: []string{static.Path("vendor/uplot/uplot.js"), static.Path("js/chart.js")},
}

// FirstPage returns the page shown after sign-in: the point of sale for cashiers, the dashboard for
// everyone else.
func FirstPage(role core.Role) string {
	if role == core.Cashier {
		return links.Till
	}
	return links.Panel
}

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
		{"Point of sale", links.Till, "cash-register", core.Cashier},
		{"Dashboard", links.Dashboard, "layout-dashboard", core.Manager},
		{"Customers", links.Customers, "users", core.Cashier},
		{"Transactions", links.Transactions, "receipt", core.Cashier},
		{"Redemptions", links.Redemptions, "list-check", core.Cashier},
		{"Rewards", links.Rewards, "gift", core.Cashier},
		{"Coupons", links.Coupons, "ticket", core.Cashier},
		{"Reports", links.Reports, "chart-bar", core.Manager},
	}},
	{"Operations", []section{
		{"Transaction types", links.Types, "category", core.Manager},
		{"Earning", links.Earning, "coins", core.Manager},
		{"Locations", links.Locations, "map-pin", core.Manager},
		{"Poster", links.Poster, "printer", core.Manager},
		{"Audit log", links.Audit, "history", core.Manager},
		{"Settings", links.Settings, "settings", core.Owner},
	}},
}

func (b *Business) FrameRoutes() []route.Route {
	return []route.Route{
		route.Post(links.PanelTheme, route.Everyone, b.SwitchTheme(links.Panel)).Within(page.SwitchingThemes),
	}
}

// Frame returns the frame of a signed-in person's page. current is the path of its entry in the
// navigation.
func (b *Business) Frame(c echo.Context, title, current string, crumbs ...ui.Crumb) views.Frame {
	who := page.Actor(c)
	f := views.Frame{
		Reader: b.Reader(c),
		Title:  title, Crumbs: crumbs, Business: who.Tenant.Name, Test: who.Tenant.Test,
		Person: views.Person{Name: who.Name, Role: format.Role(who.Role)},
		Theme:  page.Theme(c), Assets: Assets, Flashes: b.Flashes(c),
	}
	f.Assets.Branding = page.BrandingURL(c)
	counts := b.counts(c, who)
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
func (b *Business) counts(c echo.Context, who core.Actor) notification.Counts {
	if page.IsFragment(c) || page.Person(c) == nil {
		return notification.Counts{}
	}
	counts, err := b.Notifications.Counts(c.Request().Context(), who)
	if err != nil && c.Request().Context().Err() == nil {
		b.Log.WarnContext(c.Request().Context(), "counting notifications failed", slog.Any("error", err))
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

var settingsSections = []section{
	{"Business", links.Business, "building-store", core.Owner},
	{"Programme", links.Programme, "hourglass", core.Owner},
	{"Levels", links.Levels, "trending-up", core.Owner},
	{"Staff", links.Staff, "users", core.Owner},
	{"Billing", links.Billing, "receipt", core.Owner},
	{"Notifications", links.NotificationSettings, "bell", core.Owner},
	{"API tokens", links.Tokens, "key", core.Owner},
	{auth.AccountTitle, links.Account, "shield-lock", core.Cashier},
}

func (b *Business) SettingsRoutes() []route.Route {
	return []route.Route{route.Get(links.Settings, route.Cashiers, b.showSettings)}
}

// showSettings redirects to the first section that the person may see.
func (b *Business) showSettings(c echo.Context) error {
	return b.Redirect(c, navItems(settingsSections, page.Actor(c).Role, "")[0].Path)
}

// Settings returns the frame of a settings page. current is the path of its section.
func (b *Business) Settings(c echo.Context, title, current string, crumbs ...ui.Crumb) views.Settings {
	return views.Settings{Frame: b.Frame(c, title, links.Settings, crumbs...), Sections: navItems(settingsSections, page.Actor(c).Role, current)}
}
