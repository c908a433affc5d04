package page

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"
)

// The addresses of the panel that other areas lead to.
const (
	PanelPath    = "/admin"
	TillPath     = "/till"
	PlatformPath = "/platform"             // on the base host
	BrandingPath = PanelPath + "/look.css" // the business's own colour and logo
)

// Unsent is in the query of the sign-in page where a form came from a person who was no
// longer signed in.
const Unsent = "unsent"

// ToSignIn leads to the sign-in page of the kit's panel and afterwards back to the page that was asked for, or
// that asked. A person who sent a form is told that nothing came of it. Where the business is
// suspended it is ErrSuspended instead.
func (k *Kit) ToSignIn(c echo.Context) error {
	if Visit(c).Tenant.Suspended {
		return ErrSuspended
	}
	r, q := c.Request(), url.Values{}
	to := r.URL.RequestURI()
	if r.Method != http.MethodGet || IsFragment(c) {
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

// Back is the page that a request came from, if it is one that people sign in to.
func Back(c echo.Context, otherwise string) string {
	from, err := url.Parse(c.Request().Referer())
	if err != nil || from.Host != c.Request().Host || !signedIn(from.Path) {
		return otherwise
	}
	return from.RequestURI()
}

// SafePath is a path that people sign in to, for links that come from outside: never another
// site. Any other is otherwise.
func SafePath(to, otherwise string) string {
	u, err := url.Parse(to)
	if err != nil || u.Host != "" || u.Scheme != "" || !signedIn(u.Path) || strings.HasPrefix(to, "//") || strings.Contains(to, "\\") {
		return otherwise
	}
	return to
}

// signedIn reports whether a path is one that people sign in to.
func signedIn(path string) bool {
	return strings.HasPrefix(path, PanelPath) || within(path, TillPath) || within(path, PlatformPath)
}

func within(path, area string) bool { return path == area || strings.HasPrefix(path, area+"/") }

// Theme is the theme that was chosen, or "" for the device's.
func Theme(c echo.Context) string {
	if cookie, err := c.Cookie("theme"); err == nil && (cookie.Value == "dark" || cookie.Value == "light") {
		return cookie.Value
	}
	return ""
}

const brandingKey = "look" // what the session keeps of it

// BrandingURL is the address of the business's own colour and logo. It changes for a browser that
// changed them, which sees them at once.
func (k *Kit) BrandingURL(c echo.Context) string {
	return WithQuery(BrandingPath, "v", k.SessionText(c, brandingKey))
}

// BrandingChanged gives this browser another address for the look.
func (k *Kit) BrandingChanged(c echo.Context, version string) {
	k.SetSessionText(c, brandingKey, version)
}
