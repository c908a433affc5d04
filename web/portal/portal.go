// Package portal serves customers' own pages on the host of their business: their card, a
// voucher, joining, collecting a sale that a till shows, and the choice whether to get
// e-mails.
//
// Its surprising rule: customers don't sign in; the token in a link is all they need. So
// pages stay out of caches, search engines and Referer headers. They write no session: one
// is read only to offer the panel to the business's own staff. The one cookie binds a sale
// to the browser that took it, for ten minutes.
package portal

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/live"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/static"
	views "example.com/loyalty/views/portal"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/page"
)

// Config is what the pages need.
type Config struct {
	Tenants   *tenant.Service
	Customers *customer.Service
	Coupons   *coupon.Service
	Auth      *auth.Service
	Walkins   *walkin.Service
	Sales     *transaction.Service
	Rewards   *reward.Service
	Links     link.Maker
	Live      *live.Hub

	// PerAddress limits how often an address may join, or ask for the link to a card.
	PerAddress *limit.Window
	AddressKey func(address string) string

	Names host.Names
	// Tenant finds the business of a host.
	Tenant  func(ctx context.Context, slug string) (core.Tenant, error)
	Address func(*http.Request) string
	Now     func() time.Time
	Log     *slog.Logger
}

// Portal is the pages of all businesses.
type Portal struct {
	Config
	fronts      brief[front]
	invitations brief[invitation]
}

// requestTime is how long a page may take.
const requestTime = 15 * time.Second

// New makes the handler of the paths of Areas, on the hosts of tenants.
func New(c Config) http.Handler {
	p := &Portal{Config: c}
	e := echo.New()
	e.HTTPErrorHandler = p.failed
	e.Use(headers, ended(page.Compressed()), ended(page.WithTimeout(requestTime)))
	for path, show := range map[string]echo.HandlerFunc{
		"/v/:token":                         p.showVoucher,
		"/unsubscribe/:token":               p.askUnsubscribe,
		"/brand/:colour":                    p.style,
		"/brand/logo/:hash":                 p.logo,
		"/brand/icon/:name":                 p.icon,
		"/card/:token":                      p.showCard,
		"/card/:token/pin":                  p.backToCard,
		"/card/:token/pin/:id":              p.showCodeState,
		"/card/:token/print":                p.printCard,
		"/card/:token/picture.png":          p.cardPicture,
		"/card/:token/manifest.webmanifest": p.cardManifest,
		"/join":                             p.open(p.showJoin),
		"/join/find":                        p.open(p.showFind),
		"/w":                                p.open(p.showTypePIN),
		"/w/:code":                          p.open(p.showScanned),
		"/w/claim":                          p.showClaim,
		"/w/claimed":                        p.showClaimed,
	} {
		e.Match([]string{http.MethodGet, http.MethodHead}, path, show)
	}
	e.GET(eventsPath, p.codeEvents)
	for path, act := range map[string]echo.HandlerFunc{
		"/card/:token/pin": p.showCode,
		"/join":            p.join,
		"/join/find":       p.find,
		"/w":               p.takeTyped,
		"/w/:code":         p.takeScanned,
		"/w/claim":         p.claim,
	} {
		e.POST(path, p.open(act), page.SameOrigin())
	}
	// From any site: mail programs post here without opening the page (RFC 8058), and the
	// token is all the permission that it needs.
	e.POST("/unsubscribe/:token", p.unsubscribe)
	return e
}

// errSuspended refuses what would change something at a suspended business. What customers have
// stays readable, and unsubscribing works.
var errSuspended = &core.Error{Kind: core.KindRule, Message: "This isn't possible at this business right now. What you have is safe, and you can still see it."}

// open is a handler for businesses that are not suspended. No round trip where the business was
// read a moment ago.
func (p *Portal) open(handle echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		front, err := p.front(c)
		if err != nil {
			return err
		}
		if front.Suspended {
			return errSuspended
		}
		return handle(c)
	}
}

// eventsPath streams for as long as the customer looks.
const eventsPath = "/card/:token/pin/:id/events"

// ended is a middleware for answers that end: not for a stream, which has no time limit and
// is not gathered before it is sent.
func ended(m echo.MiddlewareFunc) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		handle := m(next)
		return func(c echo.Context) error {
			if c.Path() == eventsPath {
				return next(c)
			}
			return handle(c)
		}
	}
}

// Areas are the first parts of the paths that the pages have.
var Areas = []string{"brand", "card", "join", "unsubscribe", "v", "w"}

// What a page may load. Most have no script, and are allowed none.
const (
	plainPolicy  = "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
	scriptPolicy = plainPolicy + "; script-src 'self'; connect-src 'self'; manifest-src 'self'"
)

// headers allow the page's own styles and pictures, and no script at all.
func headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		core.SetLogRoute(c.Request().Context(), c.Path())
		h := c.Response().Header()
		h.Set("Content-Security-Policy", plainPolicy)
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Robots-Tag", "noindex, nofollow")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		h.Set(echo.HeaderCacheControl, "no-store")
		h.Add(echo.HeaderVary, "Cookie")
		return next(c)
	}
}

func (p *Portal) frame(f front, title string) views.Frame {
	v := views.Frame{Title: title, Business: f.Name, Assets: views.Assets{
		Icon:        static.Path("img/icon.svg"),
		Font:        static.Path("vendor/inter/inter-latin.woff2"),
		Stylesheets: []string{static.Path("css/portal.css")},
	}}
	if f.Name != "" {
		v.Colour = f.palette().Fill
		v.Assets.TouchIcon = f.iconPath("180")
	}
	if f.Colour != nil {
		v.Assets.Stylesheets = append(v.Assets.Stylesheets, stylePath(*f.Colour))
	}
	if f.LogoHash != nil {
		v.LogoPath = logoPath(*f.LogoHash)
	}
	return v
}

// scripted lets a page run the scripts of that name.
func (p *Portal) scripted(c echo.Context, v *views.Frame, names ...string) {
	c.Response().Header().Set("Content-Security-Policy", scriptPolicy)
	for _, name := range names {
		v.Assets.Scripts = append(v.Assets.Scripts, static.Path("js/"+name+".js"))
	}
}

// render answers with a whole page, or with an error.
func render(c echo.Context, status int, component templ.Component) error {
	var html bytes.Buffer
	if err := component.Render(c.Request().Context(), &html); err != nil {
		return err
	}
	return c.HTMLBlob(status, html.Bytes())
}

// failed answers an error in words. Every kind of invalid link gets the same answer.
func (p *Portal) failed(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	ctx := c.Request().Context()
	front, _ := p.front(c) // if that failed, the page names no business
	status, n := p.explain(c, err)
	n.Frame = p.frame(front, n.Title)
	if err := render(c, status, views.NoticePage(n)); err != nil {
		p.Log.ErrorContext(ctx, "error page failed", slog.Any("error", err))
		_ = c.String(http.StatusInternalServerError, "Something went wrong on our side. Please try again in a moment.")
	}
}

func (p *Portal) explain(c echo.Context, err error) (status int, n views.Notice) {
	ctx := c.Request().Context()
	var fault *echo.HTTPError
	var refusal *core.Error
	switch {
	case errors.Is(err, core.ErrNotFound), errors.As(err, &fault) && fault.Code == http.StatusNotFound:
		n.Title = "This link doesn't work"
		n.Words = "It may be incomplete, or it is no longer valid. Open the link in your e-mail again, or ask at the till."
		return http.StatusNotFound, n
	case fault != nil && fault.Code < http.StatusInternalServerError:
		n.Title = "This isn't possible"
		n.Words = "Open the link in your e-mail again."
		if words, ok := fault.Message.(string); ok && fault.Code == http.StatusForbidden {
			n.Words = words
		}
		return fault.Code, n
	case errors.As(err, &refusal) && refusal.Kind == core.KindThrottled:
		n.Title, n.Words = "Too many attempts", refusal.Message
		page.RetryAfter(c, refusal.Wait)
		return http.StatusTooManyRequests, n
	case refusal != nil && refusal.Kind == core.KindRule:
		n.Title, n.Words = "This isn't possible", refusal.Message
		return http.StatusUnprocessableEntity, n
	case core.IsKind(err, core.KindUnavailable):
		p.Log.WarnContext(ctx, "page unavailable", slog.Any("error", err))
		n.Title, n.Words = "Not available right now", "Try again in a moment."
		return http.StatusServiceUnavailable, n
	}
	p.Log.ErrorContext(ctx, "page failed", slog.Any("error", err))
	n.Title = "Something went wrong"
	n.Words = "Try again in a moment. If it persists, quote this ID."
	n.Request = c.Response().Header().Get(echo.HeaderXRequestID)
	return http.StatusInternalServerError, n
}

// visitor is a customer whom nothing tells from others.
func (p *Portal) visitor(c echo.Context, f front) core.Actor {
	return core.Actor{
		Kind: core.ByCustomer, Tenant: f.Tenant,
		Address: p.Address(c.Request()), RequestID: c.Response().Header().Get(echo.HeaderXRequestID),
	}
}
