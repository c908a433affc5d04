// Package auth serves signing in for every panel: the sign-in pages, the links of invitations and
// resets, and the account page with the password, two-step verification and sessions. A panel mounts
// the routes under its own paths and puts the account page into its own frame.
//
// Its surprising rule: on the platform, two-step verification is required. Until it is set up, a person
// who signed in gets only the pages to set it up.
package auth

import (
	"net/http"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/staff"
	views "example.com/loyalty/views/auth"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

// Area is a panel that people sign in to.
type Area struct {
	Path    string // of the panel
	Account string // of the account page

	// Brand is the name of the platform's panel. "": the panel is that of the business of the host.
	Brand  string
	Assets ui.Assets
	// Frame puts content into the panel's own frame.
	Frame func(c echo.Context, title string, content templ.Component, crumbs ...ui.Crumb) templ.Component
	// Card is a card of the panel's own on the account page. Nil: none; it may also return nil.
	Card func(c echo.Context) (templ.Component, error)
	// FirstPage is the first page for a role. Nil: Path.
	FirstPage func(core.Role) string
	// Welcome is the first page after accepting an invitation. Nil: FirstPage.
	Welcome func(core.Role) string
}

// platform reports whether super-admins sign in here.
func (a Area) platform() bool { return a.Brand != "" }

// Pages are the pages of one panel.
type Pages struct {
	*page.Kit
	Area
	Auth  *auth.Service
	Staff *staff.Service
}

// Route is a page or an action.
type Route struct {
	Method string
	Path   string
	Public bool // needs no sign-in
	Setup  bool // part of setting up two-step verification
	Handle echo.HandlerFunc
}

// Routes are the routes for the panel to mount.
func (p *Pages) Routes() []Route {
	const get, post = http.MethodGet, http.MethodPost
	routes := []Route{
		{Method: get, Path: p.signInPath(), Public: true, Handle: p.showSignIn},
		{Method: post, Path: p.signInPath(), Public: true, Handle: p.signIn},
		{Method: get, Path: p.codePath(), Public: true, Handle: p.showCode},
		{Method: post, Path: p.codePath(), Public: true, Handle: p.giveCode},
		{Method: post, Path: p.signOutPath(), Public: true, Handle: p.signOut},
		{Method: get, Path: p.Account, Handle: p.showAccount},
		{Method: post, Path: p.Account + "/name", Handle: p.rename},
		{Method: post, Path: p.Account + "/password", Handle: p.changePassword},
		{Method: get, Path: p.twoFactorPath() + "/begin", Handle: p.askTwoFactor},
		{Method: post, Path: p.twoFactorPath() + "/begin", Handle: p.beginTwoFactor},
		{Method: get, Path: p.twoFactorPath(), Setup: true, Handle: p.showSetup},
		{Method: post, Path: p.twoFactorPath(), Setup: true, Handle: p.confirmTwoFactor},
		{Method: get, Path: p.twoFactorPath() + "/renew", Handle: p.askRenewal},
		{Method: post, Path: p.twoFactorPath() + "/renew", Handle: p.renewTwoFactor},
		{Method: get, Path: p.codesPath(), Handle: p.askCodes},
		{Method: post, Path: p.codesPath(), Handle: p.renewCodes},
		{Method: post, Path: p.sessionsPath() + "/others", Handle: p.endOthers},
		{Method: post, Path: p.sessionsPath() + "/:id/end", Handle: p.endSession},
	}
	if p.platform() {
		return routes
	}
	return append(
		routes,
		Route{Method: get, Path: p.forgotPath(), Public: true, Handle: p.showForgot},
		Route{Method: post, Path: p.forgotPath(), Public: true, Handle: p.forgot},
		Route{Method: get, Path: p.Path + "/reset/:secret", Public: true, Handle: p.showReset},
		Route{Method: post, Path: p.Path + "/reset/:secret", Public: true, Handle: p.reset},
		Route{Method: get, Path: p.Path + "/invitation/:secret", Public: true, Handle: p.showInvitation},
		Route{Method: post, Path: p.Path + "/invitation/:secret", Public: true, Handle: p.acceptInvitation},
		Route{Method: get, Path: p.twoFactorPath() + "/off", Handle: p.askTwoFactorOff},
		Route{Method: post, Path: p.twoFactorPath() + "/off", Handle: p.turnTwoFactorOff},
	)
}

func (a Area) signInPath() string    { return a.Path + "/sign-in" }
func (a Area) codePath() string      { return a.signInPath() + "/code" }
func (a Area) signOutPath() string   { return a.Path + "/sign-out" }
func (a Area) forgotPath() string    { return a.Path + "/forgot" }
func (a Area) twoFactorPath() string { return a.Account + "/two-step" }
func (a Area) codesPath() string     { return a.Account + "/codes" }
func (a Area) sessionsPath() string  { return a.Account + "/sessions" }

// MustSetUp reports whether the person has to set up two-step verification before anything else.
func (p *Pages) MustSetUp(c echo.Context) bool {
	person := page.Person(c)
	return p.platform() && person != nil && !person.TwoFactor
}

// ToSetup leads to the setup of two-step verification.
func (p *Pages) ToSetup(c echo.Context) error { return p.Redirect(c, p.twoFactorPath()) }

// tenant is the business of the panel, or the zero Tenant on the platform. It returns
// core.ErrSuspended for a suspended one.
func (p *Pages) tenant(c echo.Context) (core.Tenant, error) {
	if p.platform() {
		return core.Tenant{}, nil
	}
	t, err := p.Tenant(c)
	if err == nil && t.Suspended {
		return t, core.ErrSuspended
	}
	return t, err
}

// visitor describes a client without a sign-in.
func (p *Pages) visitor(c echo.Context) (auth.Visitor, error) {
	t, err := p.tenant(c)
	visit := page.Visit(c)
	return auth.Visitor{Tenant: t, Address: visit.Address, RequestID: visit.RequestID, Device: deviceOf(c)}, err
}

// Bare is the frame of a page for people who aren't signed in. business is the name of the business,
// "" on the platform.
func (p *Pages) Bare(c echo.Context, title, business string) views.Frame {
	f := views.Frame{Title: title, Brand: business, Icon: "heart-star", Theme: page.Theme(c), Assets: p.Assets, Flashes: p.Flashes(c)}
	if p.platform() {
		f.Brand, f.Icon, f.Class = p.Brand, "layout-dashboard", "platform"
	} else {
		f.Assets.Branding = page.BrandingURL(c)
	}
	if p.MustSetUp(c) {
		f.SignOut = p.signOutPath()
	}
	return f
}

// framed renders content in the panel's own frame.
func (p *Pages) framed(c echo.Context, status int, title string, content templ.Component, crumbs ...ui.Crumb) error {
	return p.Render(c, status, p.Frame(c, title, content, crumbs...), nil)
}

// accountCrumb links to the account page.
func (p *Pages) accountCrumb() ui.Crumb { return ui.Crumb{Label: AccountTitle, Path: p.Account} }

// zone is the time zone of the business, or UTC on the platform.
func (p *Pages) zone(by core.Actor) *time.Location {
	if by.Tenant.TimeZone == nil {
		return time.UTC
	}
	return by.Tenant.TimeZone
}

// AccountTitle is the title of the account page.
const AccountTitle = "Your account"
