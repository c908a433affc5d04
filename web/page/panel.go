package page

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/route"
)

// Unsent is in the query of the sign-in page when a session had ended before its form was sent.
const Unsent = "unsent"

// SignedOut is the answer to a form that the page keeps (form.js) when the session had ended.
const SignedOut = "You were signed out. Your input is still here. Sign in in another tab, then try again."

// ToSignIn leads to the sign-in page, and from there back to the page that was asked for. A person
// who sent a form is told that it wasn't saved. It returns core.ErrSuspended if the business is suspended.
func (k *Kit) ToSignIn(c echo.Context) error {
	if Visit(c).Tenant.Suspended {
		return core.ErrSuspended
	}
	r, q := c.Request(), url.Values{}
	if r.Method != http.MethodGet && FromScript(c) && !IsFragment(c) {
		return c.String(http.StatusUnauthorized, SignedOut)
	}
	to := r.URL.RequestURI()
	if r.Method != http.MethodGet || FromScript(c) {
		to = Back(c, "")
	}
	if to != "" {
		q.Set("to", to)
	}
	if r.Method != http.MethodGet {
		q.Set(Unsent, "1")
	}
	return k.Redirect(c, (&url.URL{Path: k.Panel + "/sign-in", RawQuery: q.Encode()}).String())
}

// Back returns the page that a request came from, if people sign in to it, else otherwise.
func Back(c echo.Context, otherwise string) string {
	from, err := url.Parse(c.Request().Referer())
	if err != nil || from.Host != c.Request().Host || !signedIn(from.Path) {
		return otherwise
	}
	return from.RequestURI()
}

// SafePath returns to if it is a path that people sign in to, else otherwise. It never returns an
// address of another site.
func SafePath(to, otherwise string) string {
	u, err := url.Parse(to)
	if err != nil || u.Host != "" || u.Scheme != "" || !signedIn(u.Path) || strings.HasPrefix(to, "//") || strings.Contains(to, "\\") {
		return otherwise
	}
	return to
}

// signedIn reports whether people sign in to a path.
func signedIn(path string) bool {
	return strings.HasPrefix(path, links.Panel) || within(path, links.Till) || within(path, links.Platform)
}

func within(path, area string) bool { return path == area || strings.HasPrefix(path, area+"/") }

// PathNumber reads a number in the path. Anything else is core.ErrNotFound.
func PathNumber(c echo.Context, name string) (int64, error) {
	n, err := strconv.ParseInt(c.Param(name), 10, 64)
	if err != nil {
		return 0, core.ErrNotFound
	}
	return n, nil
}

// Theme is the chosen theme, or "" for the device's.
func Theme(c echo.Context) string {
	if cookie, err := c.Cookie("theme"); err == nil && (cookie.Value == "dark" || cookie.Value == "light") {
		return cookie.Value
	}
	return ""
}

// SwitchingThemes costs the server nothing.
var SwitchingThemes = route.Budget{
	What: "light or dark", Counted: "the browser: it is a cookie", Allowed: "nothing is read or written",
	Beyond: "–", Test: "`TestEveryOpenPostHasABudget`",
}

// SwitchTheme returns a handler that toggles light and dark in browsers without scripts, and goes back, or to home.
func (k *Kit) SwitchTheme(home string) echo.HandlerFunc {
	return func(c echo.Context) error {
		next := "dark"
		if Theme(c) == "dark" {
			next = "light"
		}
		c.SetCookie(&http.Cookie{Name: "theme", Value: next, Path: "/", MaxAge: 365 * 24 * 3600, Secure: true, SameSite: http.SameSiteLaxMode})
		return k.Redirect(c, Back(c, home))
	}
}
