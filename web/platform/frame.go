package platform

import (
	"net/http"
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

// navigation are the parts of the panel: the bar, and its menu for what is needed less
// often. One that has no page yet is not shown.
var (
	navigation = []views.NavItem{
		{Label: "Tenants", Path: home + "/tenants", Icon: "building-store"},
		{Label: "Plans", Path: home + "/plans", Icon: "package"},
		{Label: "Invoices", Path: home + "/invoices", Icon: "receipt"},
		{Label: "Jobs", Path: jobsPath, Icon: "list-check"},
		{Label: "Audit log", Path: home + "/audit", Icon: "history"},
	}
	more = []views.NavItem{
		{Label: "Health", Path: home + "/health", Icon: "heartbeat"},
		{Label: "API tokens", Path: home + "/tokens", Icon: "key"},
		{Label: "Deprecations", Path: home + "/deprecations", Icon: "hourglass"},
		{Label: "Settings", Path: home + "/settings", Icon: "settings"},
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
	f.Nav, f.More, f.Account = p.entries(navigation, section), p.entries(more, section), p.entries(account, section)
	if p.pages[signOutPath] {
		f.SignOut = signOutPath
	}
	if p.pages[home+"/tenants"] {
		f.Search = home + "/tenants"
	}
	return f
}

// entries are those that have a page.
func (p *Platform) entries(all []views.NavItem, section string) (list []views.NavItem) {
	for _, i := range all {
		if p.pages[i.Path] {
			i.Current = i.Path == section
			list = append(list, i)
		}
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
