package platform

import (
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	views "example.com/loyalty/views/platform"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/auth"
	"example.com/loyalty/web/page"
)

const (
	home        = page.PlatformPath
	themePath   = home + "/theme"
	signOutPath = home + "/sign-out"
	accountPath = home + "/account"

	firstPage = tenantsPath
)

// navigation are the parts of the panel: the bar, and its menu for what is needed less often.
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

func (p *Platform) frameRoutes() []route {
	return []route{
		{method: get, path: home, handle: func(c echo.Context) error { return p.Redirect(c, firstPage) }},
		{method: post, path: themePath, public: true, handle: p.switchTheme},
	}
}

// frame is what a page has around its content. section is the path of the navigation's
// entry that it belongs to.
func (p *Platform) frame(c echo.Context, title, section string, crumbs ...ui.Crumb) views.Frame {
	f := views.Frame{Title: title, Crumbs: crumbs, Theme: page.Theme(c), Assets: assets, Flashes: p.Flashes(c)}
	if actor(c).RequireAdmin() != nil {
		return f
	}
	f.Person = actor(c).Name
	f.Nav, f.More, f.Account = entries(navigation, section), entries(more, section), entries(account, section)
	f.SignOut, f.Search = signOutPath, tenantsPath
	return f
}

// entries are a part of the navigation, with the section that is open marked.
func entries(all []views.NavItem, section string) []views.NavItem {
	list := slices.Clone(all)
	for i := range list {
		list[i].Current = list[i].Path == section
	}
	return list
}

// switchTheme turns light and dark around, for those without scripts.
func (p *Platform) switchTheme(c echo.Context) error {
	next := "dark"
	if page.Theme(c) == "dark" {
		next = "light"
	}
	c.SetCookie(&http.Cookie{Name: "theme", Value: next, Path: "/", MaxAge: 365 * 24 * 3600, Secure: true, SameSite: http.SameSiteLaxMode})
	return p.Redirect(c, page.Back(c, home))
}

// moment is an instant, in words, exactly and for machines.
func moment(text string, at time.Time) views.Moment {
	return views.Moment{Text: text, Exact: at.In(zone).Format("2 Jan 2006, 15:04:05 MST"), Machine: at.UTC().Format(time.RFC3339)}
}
