// Package auth serves signing in for every panel: the sign-in pages, the links of invitations and
// resets, and the account page with the password, two-step verification and sessions. A panel mounts
// the routes under its own paths and puts the account page into its own frame.
//
// Its surprising rule: on the platform, two-step verification is required. Until it is set up, a person
// who signed in gets only the pages to set it up.
package auth

import (
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/staff"
	views "example.com/loyalty/views/auth"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
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

// Routes are the routes for the panel to mount.
func (p *Pages) Routes() []route.Route {
	people := p.people()
	setup := people
	setup.BeforeTwoStep = true
	routes := []route.Route{
		route.Get(p.signInPath(), route.Everyone, p.showSignIn),
		route.Post(p.signInPath(), route.Everyone, p.signIn).Within(signingIn),
		route.Get(p.codePath(), route.Everyone, p.showCode),
		route.Post(p.codePath(), route.Everyone, p.giveCode).Within(givingCodes),
		route.Post(p.signOutPath(), route.Everyone, p.signOut).Within(signingOut),
		route.Get(p.Account, people, p.showAccount),
		route.Post(p.Account+"/name", people, p.rename),
		route.Post(p.Account+"/password", people, p.changePassword),
		route.Get(p.twoFactorPath()+"/begin", people, p.askTwoFactor),
		route.Post(p.twoFactorPath()+"/begin", people, p.beginTwoFactor),
		route.Get(p.twoFactorPath(), setup, p.showSetup),
		route.Post(p.twoFactorPath(), setup, p.confirmTwoFactor),
		route.Get(p.twoFactorPath()+"/renew", people, p.askRenewal),
		route.Post(p.twoFactorPath()+"/renew", people, p.renewTwoFactor),
		route.Get(p.codesPath(), people, p.askCodes),
		route.Post(p.codesPath(), people, p.renewCodes),
		route.Post(p.sessionsPath()+"/others", people, p.endOthers),
		route.Post(p.sessionsPath()+"/:id/end", people, p.endSession),
	}
	if p.platform() {
		return routes
	}
	return append(
		routes,
		route.Get(p.forgotPath(), route.Everyone, p.showForgot),
		route.Post(p.forgotPath(), route.Everyone, p.forgot).Within(requestingResets),
		route.Get(p.Path+"/reset/:secret", route.Everyone, p.showReset),
		route.Post(p.Path+"/reset/:secret", route.Everyone, p.reset).Within(choosingPasswords),
		route.Get(p.Path+"/invitation/:secret", route.Everyone, p.showInvitation),
		route.Post(p.Path+"/invitation/:secret", route.Everyone, p.acceptInvitation).Within(choosingPasswords),
		route.Get(p.twoFactorPath()+"/off", people, p.askTwoFactorOff),
		route.Post(p.twoFactorPath()+"/off", people, p.turnTwoFactorOff),
	)
}

// people are those who have an account here.
func (a Area) people() route.Who {
	if a.platform() {
		return route.SuperAdmins
	}
	return route.Cashiers
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
