package platform

import (
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	views "example.com/loyalty/views/platform"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/auth"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

const (
	home        = page.PlatformPath
	themePath   = home + "/theme"
	signOutPath = home + "/sign-out"
	accountPath = home + "/account"

	firstPage = tenantsPath
)

// The entries of the bar, of its menu, and of the person's own menu.
var (
	navigation = []views.NavItem{
		{Label: "Tenants", Path: tenantsPath, Icon: "building-store"},
		{Label: "Plans", Path: plansPath, Icon: "package"},
		{Label: "Invoices", Path: invoicesPath, Icon: "receipt"},
		{Label: "Jobs", Path: jobsPath, Icon: "list-check"},
		{Label: "Audit log", Path: auditPath, Icon: "history"},
	}
	more = []views.NavItem{
		{Label: "Health", Path: healthPath, Icon: "heartbeat"},
		{Label: "API tokens", Path: tokensPath, Icon: "key"},
		{Label: "Deprecations", Path: deprecationsPath, Icon: "hourglass"},
		{Label: "Settings", Path: settingsPath, Icon: "settings"},
	}
	account = []views.NavItem{
		{Label: auth.AccountTitle, Path: accountPath, Icon: "shield-lock"},
	}
)

func (p *Platform) frameRoutes() []route.Route {
	return []route.Route{
		route.Get(home, route.SuperAdmins, func(c echo.Context) error { return p.Redirect(c, firstPage) }),
		route.Post(themePath, route.Everyone, p.SwitchTheme(home)).Within(page.SwitchingThemes),
	}
}

// frame is the frame of a page. section is the path of its entry in the navigation.
func (p *Platform) frame(c echo.Context, title, section string, crumbs ...ui.Crumb) views.Frame {
	f := views.Frame{Title: title, Crumbs: crumbs, Theme: page.Theme(c), Assets: assets, Flashes: p.Flashes(c)}
	if page.Actor(c).RequireAdmin() != nil {
		return f
	}
	f.Person = page.Actor(c).Name
	f.Nav, f.More, f.Account = markCurrent(navigation, section), markCurrent(more, section), markCurrent(account, section)
	f.SignOut, f.Search = signOutPath, tenantsPath
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

// moment is the view of an instant that text describes.
func moment(text string, at time.Time) views.Moment {
	return views.Moment{Text: text, Exact: at.In(zone).Format("2 Jan 2006, 15:04:05 MST"), Machine: at.UTC().Format(time.RFC3339)}
}
