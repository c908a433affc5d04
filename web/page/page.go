// Package page is shared by all pages that people sign in to: sessions, rendering, submitting forms, messages, error
// pages and downloads.
//
// Its surprising rule: a page is rendered completely, and its session stored, before the first
// byte is sent. A failure on the way is answered as an error, never as half a page.
package page

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"log/slog"
	"net/http"
	"slices"
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
	"example.com/loyalty/web/route"
)

// Config configures a Kit.
type Config struct {
	Sessions *auth.Store
	// Panel is the path of the panel that people sign in to: links.Panel or links.Platform.
	Panel string
	// Tenant finds the business of a host.
	Tenant func(ctx context.Context, slug string) (core.Tenant, error)
	// Suspension returns details for the page of a suspended business. Nil: no details.
	Suspension func(ctx context.Context, slug string) (tenant.Suspension, error)
	// Start is the URL of the platform's start page, for visitors of a host without a business.
	Start string
	// Slug returns the slug of the business at a host.
	Slug    func(host string) string
	Address func(*http.Request) string
	// SignInViews limits how often an address may open the sign-in page, by AddressKey: each view
	// reads the database. Nil: no limit.
	SignInViews *limit.Window
	AddressKey  func(address string) string
	Now         func() time.Time
	Log         *slog.Logger
	// Scratch is the directory for exports. Nil: the system's directory for temporary files.
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
		workbooks: limit.NewGate(workbooksAtOnce, workbooksPerTenant, workbookPatience, workbooksBusy),
	}
}

func init() { gob.Register([]ui.Flash{}) } // scs keeps values by gob

const visitKey = "visit"

// Session loads the session of a request and the person who is signed in. Render and Redirect
// store it.
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

// sessionLoaded reports whether the session was loaded. Error pages are also shown where an earlier
// middleware refused the request, or where loading failed.
func sessionLoaded(c echo.Context) bool { return c.Get(visitKey) != nil }

// Visit is the session and host of a request.
func Visit(c echo.Context) *auth.Visit {
	visit, _ := c.Get(visitKey).(*auth.Visit)
	if visit == nil {
		return &auth.Visit{} // not loaded: no one is signed in
	}
	return visit
}

// ErrNoBusiness refuses a request to a host that could be a business's, but is none's.
var ErrNoBusiness = &core.Error{Kind: core.KindNotFound, Message: "No business has this address. Check how it is spelled."}

// Tenant is the business of the requested host, or ErrNoBusiness. It needs no sign-in.
func (k *Kit) Tenant(c echo.Context) (core.Tenant, error) {
	visit := Visit(c)
	if visit.Tenant.ID != 0 {
		return visit.Tenant, nil
	}
	t, err := k.Config.Tenant(c.Request().Context(), visit.Slug)
	if errors.Is(err, core.ErrNotFound) {
		return t, ErrNoBusiness
	}
	visit.Tenant = t
	return t, err
}

// Person is the person who is signed in, or nil.
func Person(c echo.Context) *auth.Identity { return Visit(c).Person }

// Actor is the actor of the person who is signed in, or the zero Actor. Routes that require a role
// always have one.
func Actor(c echo.Context) core.Actor {
	if p := Person(c); p != nil {
		return p.Actor
	}
	return core.Actor{}
}

// SignIn signs the person in: it writes the session, under a new token, and sets its cookie.
func (k *Kit) SignIn(c echo.Context, p auth.Proof) error {
	ctx := auth.WithProof(c.Request().Context(), p)
	if err := k.sessions.RenewToken(ctx); err != nil {
		return err
	}
	return k.commitSession(ctx, c)
}

// SignOut ends the session.
func (k *Kit) SignOut(c echo.Context) error { return k.sessions.Destroy(c.Request().Context()) }

// SetSessionText stores a text in the session.
func (k *Kit) SetSessionText(c echo.Context, key, value string) {
	k.sessions.Put(c.Request().Context(), key, value)
}

// SessionText returns a text of the session, or "".
func (k *Kit) SessionText(c echo.Context, key string) string {
	return k.sessions.GetString(c.Request().Context(), key)
}

// Forget removes a text from the session and returns it.
func (k *Kit) Forget(c echo.Context, key string) string {
	return k.sessions.PopString(c.Request().Context(), key)
}

const flashKey = "flashes"

// Flash adds a message to the next page.
func (k *Kit) Flash(c echo.Context, kind ui.FlashKind, message string) {
	k.FlashUndo(c, kind, message, nil)
}

// FlashUndo is Flash with a button that undoes what the message says.
func (k *Kit) FlashUndo(c echo.Context, kind ui.FlashKind, message string, undo *ui.Undo) {
	ctx := c.Request().Context()
	flashes, _ := k.sessions.Get(ctx, flashKey).([]ui.Flash)
	k.sessions.Put(ctx, flashKey, append(flashes, ui.Flash{Kind: kind, Message: message, Undo: undo}))
}

// Flashes takes the messages out of the session. A fragment leaves them to the next page.
func (k *Kit) Flashes(c echo.Context) []ui.Flash {
	if IsFragment(c) || !sessionLoaded(c) {
		return nil
	}
	flashes, _ := k.sessions.Pop(c.Request().Context(), flashKey).([]ui.Flash)
	return flashes
}

// saveSession stores the session if it changed, and sets its cookie.
func (k *Kit) saveSession(c echo.Context) error {
	if !sessionLoaded(c) {
		return nil
	}
	ctx, w := c.Request().Context(), c.Response()
	switch k.sessions.Status(ctx) {
	case scs.Modified:
		return k.commitSession(ctx, c)
	case scs.Destroyed:
		k.sessions.WriteSessionCookie(ctx, w, "", time.Time{})
		noStore(w.Header()) // scs sets a Cache-Control of its own
	case scs.Unmodified:
	}
	return nil
}

// commitSession writes the session and sets its cookie.
func (k *Kit) commitSession(ctx context.Context, c echo.Context) error {
	token, expiry, err := k.sessions.Commit(ctx)
	if err != nil {
		return err
	}
	k.sessions.WriteSessionCookie(ctx, c.Response(), token, expiry)
	noStore(c.Response().Header()) // scs sets a Cache-Control of its own
	return nil
}

func noStore(h http.Header) { h.Set(echo.HeaderCacheControl, "no-store") }

// FromScript reports whether htmx or a script sent the request, and shows the response in the page.
func FromScript(c echo.Context) bool {
	h := c.Request().Header
	return h.Get("Hx-Request") == "true" && h.Get("Hx-History-Restore-Request") != "true"
}

// IsFragment reports whether htmx or a script asks for a part of the page. form.js sends plain forms as
// boosted: they are answered with a whole page.
func IsFragment(c echo.Context) bool {
	return FromScript(c) && c.Request().Header.Get("Hx-Boosted") != "true"
}

// Render answers with a page, or with its fragment if htmx asks for one. A nil fragment: the page
// has none.
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
	return c.HTMLBlob(status, Isolated(html.Bytes()))
}

// Redirect leads to another page.
func (k *Kit) Redirect(c echo.Context, path string) error {
	if err := k.saveSession(c); err != nil {
		return err
	}
	return Redirect(c, path)
}

// Redirect leads to another page, where there is no session to save.
func Redirect(c echo.Context, path string) error {
	if FromScript(c) {
		// A script's request would follow a 303 by itself and take the other page for its answer.
		c.Response().Header().Set("Hx-Redirect", path)
		return c.NoContent(http.StatusNoContent)
	}
	return c.Redirect(http.StatusSeeOther, path)
}

// Private keeps pages out of every cache.
func Private(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		noStore(h)
		h.Add(echo.HeaderVary, "Cookie")
		h.Add(echo.HeaderVary, "Hx-Request")
		return next(c)
	}
}

// minCompressed is the size from which a response is compressed, in bytes. A shorter one fits into
// one packet anyway.
const minCompressed = 1024

// Compressed compresses pages. It answers errors itself, since Echo's error handler would run after
// the compressor was closed. The library allocates its compressor, almost a megabyte, at the first
// byte, so requests that wait for the database hold none. Streams among the routes aren't compressed.
func Compressed(routes ...route.Route) echo.MiddlewareFunc {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(minCompressed), gzhttp.CompressionLevel(5), gzhttp.EnableZstd(false))
	if err != nil {
		panic(err) // the options are constants
	}
	compressed := echo.WrapMiddleware(func(h http.Handler) http.Handler { return wrap(h) })
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		answer := compressed(func(c echo.Context) error {
			if err := next(c); err != nil {
				c.Error(err)
			}
			return nil
		})
		return func(c echo.Context) error {
			if slices.ContainsFunc(routes, func(r route.Route) bool { return r.Kind == route.Stream && r.Path == c.Path() }) {
				return next(c)
			}
			return answer(c)
		}
	}
}

// WithTimeout limits how long a request may take. Streams and downloads are routed without it.
func WithTimeout(limit time.Duration) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			ctx, cancel := context.WithTimeout(r.Context(), limit)
			defer cancel()
			defer c.SetRequest(r) // an error page is rendered after the deadline
			c.SetRequest(r.WithContext(ctx))
			return next(c)
		}
	}
}

// SameOrigin refuses changing requests from other sites, including those of other tenants.
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

var errOtherSite = echo.NewHTTPError(http.StatusForbidden, "The form was sent from another site. Open this page again, then send it.")
