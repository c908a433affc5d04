// Package page is what all pages that people sign in to share: the session and who is
// signed in, forms and what is wrong with them, rendering, messages, errors, and how
// numbers, money and times are written.
//
// Its surprising rule: a page is rendered as a whole before its first byte is sent, and
// its session written before that. Whatever fails on the way is answered as an error,
// never as half a page.
package page

import (
	"bytes"
	"context"
	"encoding/gob"
	"log/slog"
	"mime"
	"net/http"
	"time"

	"github.com/a-h/templ"
	"github.com/alexedwards/scs/v2"
	"github.com/klauspost/compress/gzhttp"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/views/ui"
)

// Config is what the kit of an area needs.
type Config struct {
	Sessions *auth.Store
	// Panel is the path of the panel that people sign in to: PanelPath or PlatformPath.
	Panel string
	// Tenant finds the business of a host.
	Tenant func(ctx context.Context, slug string) (core.Tenant, error)
	// Suspension tells what to say of a suspended business; nil: no more than that it is.
	Suspension func(ctx context.Context, slug string) (tenant.Suspension, error)
	// Slug says whose host was called.
	Slug    func(host string) string
	Address func(*http.Request) string
	// SignInViews limits how often an address may open the sign-in page, by AddressKey: it is read
	// from the database for everyone who asks. Nil: no limit.
	SignInViews *limit.Window
	AddressKey  func(address string) string
	Now         func() time.Time
	Log         *slog.Logger
	// Scratch is where files are put together; nil: among the system's temporary files.
	Scratch *Scratch
}

// Kit serves the pages of an area.
type Kit struct {
	Config
	sessions  *scs.SessionManager
	workbooks *limit.Gate
}

// New makes a kit.
func New(c Config) *Kit {
	manager := scs.New()
	manager.Store = c.Sessions
	manager.Lifetime = auth.SessionLifetime
	manager.Cookie.Name = auth.SessionCookie
	manager.Cookie.Secure = true
	manager.Cookie.HttpOnly = true
	manager.Cookie.SameSite = http.SameSiteLaxMode
	manager.Cookie.Path = "/"
	return &Kit{
		Config: c, sessions: manager,
		workbooks: limit.NewGate(workbooksAtOnce, workbooksOfTenant, workbookPatience, workbooksBusy),
	}
}

func init() { gob.Register([]ui.Flash{}) } // scs keeps values by gob

const visitKey = "visit"

// Session reads the session of a request, and who is signed in. Render and Redirect write it.
func (k *Kit) Session(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		token := ""
		if cookie, err := r.Cookie(auth.SessionCookie); err == nil {
			token = cookie.Value
		}
		visit, err := k.Sessions.Load(r.Context(), auth.Visit{
			Slug: k.Slug(r.Host), Address: k.Address(r), UserAgent: r.UserAgent(),
			RequestID: c.Response().Header().Get(echo.HeaderXRequestID),
		}, token)
		if err != nil {
			return err
		}
		ctx, err := k.sessions.Load(auth.WithVisit(r.Context(), visit), token)
		if err != nil {
			return err
		}
		if p := visit.Person; p != nil {
			core.AddLogAttrs(ctx, slog.String(string(p.Kind), p.ID), slog.Int64("tenant", int64(p.Tenant.ID)))
		}
		c.Set(visitKey, visit)
		c.SetRequest(r.WithContext(ctx))
		return next(c)
	}
}

// loaded reports whether the session was read. It is not where the request was refused
// before, nor where reading failed: error pages are shown all the same.
func loaded(c echo.Context) bool { return c.Get(visitKey) != nil }

// Visit is the request's session and host.
func Visit(c echo.Context) *auth.Visit {
	visit, _ := c.Get(visitKey).(*auth.Visit)
	if visit == nil {
		return &auth.Visit{} // the session could not be read: nobody is signed in
	}
	return visit
}

// Tenant is the business of the host that was called, also for strangers, or
// core.ErrNotFound. One round trip, and none where the session told already.
func (k *Kit) Tenant(c echo.Context) (core.Tenant, error) {
	visit := Visit(c)
	if visit.Tenant.ID != 0 {
		return visit.Tenant, nil
	}
	t, err := k.Config.Tenant(c.Request().Context(), visit.Slug)
	visit.Tenant = t
	return t, err
}

// Person is who is signed in, or nil.
func Person(c echo.Context) *auth.Identity { return Visit(c).Person }

// Actor is who is signed in. Routes that need a role have made sure that somebody is.
func Actor(c echo.Context) core.Actor {
	if p := Person(c); p != nil {
		return p.Actor
	}
	return core.Actor{}
}

// SignIn makes the session that is written with the answer the person's, under a new token.
func (k *Kit) SignIn(c echo.Context, p auth.Proof) error {
	Visit(c).SignIn(p)
	return k.sessions.RenewToken(c.Request().Context())
}

// SignOut ends the session.
func (k *Kit) SignOut(c echo.Context) error { return k.sessions.Destroy(c.Request().Context()) }

// SetSessionText stores a text in the session.
func (k *Kit) SetSessionText(c echo.Context, key, value string) {
	k.sessions.Put(c.Request().Context(), key, value)
}

// SessionText is a text of the session, or "".
func (k *Kit) SessionText(c echo.Context, key string) string {
	return k.sessions.GetString(c.Request().Context(), key)
}

// Forget removes a text from the session and returns it.
func (k *Kit) Forget(c echo.Context, key string) string {
	return k.sessions.PopString(c.Request().Context(), key)
}

const flashKey = "flashes"

// Flash has the next page say what was done.
func (k *Kit) Flash(c echo.Context, kind ui.FlashKind, message string) {
	ctx := c.Request().Context()
	flashes, _ := k.sessions.Get(ctx, flashKey).([]ui.Flash)
	k.sessions.Put(ctx, flashKey, append(flashes, ui.Flash{Kind: kind, Message: message}))
}

// Flashes takes what is to be said. A fragment leaves it to the next page.
func (k *Kit) Flashes(c echo.Context) []ui.Flash {
	if IsFragment(c) || !loaded(c) {
		return nil
	}
	flashes, _ := k.sessions.Pop(c.Request().Context(), flashKey).([]ui.Flash)
	return flashes
}

// saveSession writes the session where it changed, and its cookie.
func (k *Kit) saveSession(c echo.Context) error {
	if !loaded(c) {
		return nil
	}
	ctx, w := c.Request().Context(), c.Response()
	switch k.sessions.Status(ctx) {
	case scs.Modified:
		token, expiry, err := k.sessions.Commit(ctx)
		if err != nil {
			return err
		}
		k.sessions.WriteSessionCookie(ctx, w, token, expiry)
	case scs.Destroyed:
		k.sessions.WriteSessionCookie(ctx, w, "", time.Time{})
	case scs.Unmodified:
		return nil
	}
	private(w.Header()) // scs adds words of its own
	return nil
}

func private(h http.Header) { h.Set(echo.HeaderCacheControl, "no-store") }

// IsFragment reports whether htmx asks for a part of the page.
func IsFragment(c echo.Context) bool {
	h := c.Request().Header
	return h.Get("Hx-Request") == "true" && h.Get("Hx-History-Restore-Request") != "true"
}

// Render answers with a page, or with its fragment where htmx asks for that. nil: the
// page has none.
func (k *Kit) Render(c echo.Context, status int, page, fragment templ.Component) error {
	if IsFragment(c) && fragment != nil {
		page = fragment
	}
	var html bytes.Buffer
	if err := page.Render(c.Request().Context(), &html); err != nil {
		return err
	}
	if err := k.saveSession(c); err != nil {
		return err
	}
	return c.HTMLBlob(status, html.Bytes())
}

// Redirect leads on, after something was done, or to where it can be.
func (k *Kit) Redirect(c echo.Context, path string) error {
	if err := k.saveSession(c); err != nil {
		return err
	}
	if IsFragment(c) {
		// A 303 would be followed unseen, and the page put into the fragment's place.
		c.Response().Header().Set("Hx-Redirect", path)
		return c.NoContent(http.StatusNoContent)
	}
	return c.Redirect(http.StatusSeeOther, path)
}

// Private keeps pages out of every cache, and apart for each session.
func Private(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		private(h)
		h.Add(echo.HeaderVary, "Cookie")
		h.Add(echo.HeaderVary, "Hx-Request")
		return next(c)
	}
}

// compressible is from how many bytes on less is sent: a shorter text fits into one packet
// as it is.
const compressible = 1024

// Compressed sends pages in fewer bytes. Errors are answered within it: the handler of
// errors itself comes after everything that compresses. The library takes a compressor, which
// is most of a megabyte, when there is something to write: requests that wait hold none.
func Compressed() echo.MiddlewareFunc {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(compressible), gzhttp.CompressionLevel(5), gzhttp.EnableZstd(false))
	if err != nil {
		panic(err) // the options are constants
	}
	compressed := echo.WrapMiddleware(func(h http.Handler) http.Handler { return wrap(h) })
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return compressed(func(c echo.Context) error {
			if err := next(c); err != nil {
				c.Error(err)
			}
			return nil
		})
	}
}

// WithTimeout gives a request so long. What takes longer on purpose is routed past it.
func WithTimeout(limit time.Duration) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			ctx, cancel := context.WithTimeout(r.Context(), limit)
			defer cancel()
			defer c.SetRequest(r) // an error page comes after that time
			c.SetRequest(r.WithContext(ctx))
			return next(c)
		}
	}
}

// SameOrigin refuses requests that change something and come from another site, a
// tenant's neighbour included.
func SameOrigin() echo.MiddlewareFunc {
	protection := http.NewCrossOriginProtection()
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if err := protection.Check(c.Request()); err != nil {
				return errOtherSite
			}
			return next(c)
		}
	}
}

// maxForm is as much as a form may hold. Uploads have limits of their own.
const maxForm = 1 << 20

var (
	errOtherSite = echo.NewHTTPError(http.StatusForbidden, "This form was sent from another site. Open the page here and send it again.")
	errTooLarge  = echo.NewHTTPError(http.StatusRequestEntityTooLarge, "This is more than the form can take. Go back and send less, or a smaller file.")
	errBroken    = echo.NewHTTPError(http.StatusBadRequest, "The form did not arrive whole. Go back and send it again.")
)

// Read reads the form that was sent. What is sent as anything else holds no fields, and is
// not taken for a form that was left empty.
func Read(c echo.Context) (*Form, error) {
	r := c.Request()
	kind, _, _ := mime.ParseMediaType(r.Header.Get(echo.HeaderContentType))
	if kind != echo.MIMEApplicationForm && r.ContentLength != 0 {
		return nil, errBroken
	}
	r.Body = http.MaxBytesReader(c.Response(), r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return nil, uploadError(err)
	}
	return sent(r.PostForm), nil
}
