package panel

import (
	"slices"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/loyalty"
	"example.com/loyalty/static"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/auth"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

// Platform is what the features of the platform panel share.
type Platform struct {
	Panel
	*loyalty.Services
}

// FirstPlatformPage is shown after sign-in.
const FirstPlatformPage = links.Tenants

// PlatformAssets are the files that every page loads.
var PlatformAssets = ui.Assets{
	Icon:        static.Path("img/icon.svg"),
	Font:        static.Path("vendor/inter/inter-latin.woff2"),
	Stylesheets: []string{static.Path("vendor/tabler/tabler.css"), static.Path("css/panel.css"), static.Path("css/platform.css")},
	Theme:       static.Path("js/theme.js"),
	Scripts:     []string{static.Path("vendor/htmx/htmx.js"), static.Path("js/form.js"), static.Path("js/panel.js")},

	ChartStyle:   Assets.ChartStyle,
	ChartScripts: Assets.ChartScripts,
}

// The entries of the bar, of its menu, and of the person's own menu.
var (
	platformBar = []views.NavItem{
		{Label: "Tenants", Path: links.Tenants, Icon: "building-store"},
		{Label: "Plans", Path: links.Plans, Icon: "package"},
		{Label: "Invoices", Path: links.Invoices, Icon: "receipt"},
		{Label: "Jobs", Path: links.Jobs, Icon: "list-check"},
		{Label: "Audit log", Path: links.PlatformAudit, Icon: "history"},
	}
	platformMenu = []views.NavItem{
		{Label: "Health", Path: links.Health, Icon: "heartbeat"},
		{Label: "API tokens", Path: links.PlatformTokens, Icon: "key"},
		{Label: "Deprecations", Path: links.Deprecations, Icon: "hourglass"},
		{Label: "Settings", Path: links.PlatformSettings, Icon: "settings"},
	}
	platformAccount = []views.NavItem{
		{Label: auth.AccountTitle, Path: links.PlatformAccount, Icon: "shield-lock"},
	}
)

func (p *Platform) FrameRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Platform, route.SuperAdmins, func(c echo.Context) error { return p.Redirect(c, FirstPlatformPage) }),
		route.Post(links.PlatformTheme, route.Everyone, p.SwitchTheme(links.Platform)).Within(page.SwitchingThemes),
	}
}

// Frame is the frame of a page. section is the path of its entry in the navigation.
func (p *Platform) Frame(c echo.Context, title, section string, crumbs ...ui.Crumb) views.Frame {
	f := views.Frame{
		Reader: p.Reader(c),
		Title:  title, Business: "Platform", Crumbs: crumbs, Theme: page.Theme(c), Assets: PlatformAssets, Flashes: p.Flashes(c), Bar: &views.Bar{},
	}
	if page.Actor(c).RequireAdmin() != nil {
		return f
	}
	f.Person.Name = page.Actor(c).Name
	f.Bar = &views.Bar{
		Nav: markCurrent(platformBar, section), More: markCurrent(platformMenu, section), Account: markCurrent(platformAccount, section),
		SignOut: links.Platform + "/sign-out", Search: links.Tenants,
	}
	return f
}

// markCurrent marks the entry of the current section.
func markCurrent(all []views.NavItem, section string) []views.NavItem {
	list := slices.Clone(all)
	for i := range list {
		list[i].Current = list[i].Path == section
	}
	return list
}
