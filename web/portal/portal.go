// Package portal serves customers' own pages on the host of their business: their card, vouchers,
// joining, collecting a sale, and unsubscribing.
//
// Its surprising rule: customers don't sign in; the token in a link is all they need. So pages stay
// out of caches, search engines and Referer headers, and write no session. A session is only read to
// link staff to the panel. The only cookie binds a sale to a browser for ten minutes.
package portal

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/loyalty"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/static"
	views "example.com/loyalty/views/portal"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

// Config configures the portal.
type Config struct {
	*loyalty.Services

	Limits
	AddressKey func(address string) string

	Names host.Names
	// Tenant finds the business of a host.
	Tenant  func(ctx context.Context, slug string) (core.Tenant, error)
	Address func(*http.Request) string
	Now     func() time.Time
	Log     *slog.Logger
}

// Portal serves the pages of all businesses.
type Portal struct {
	Config
	fronts      cache[front]
	invitations cache[invitation]
	drawings    *drawings
}

// New returns the handler of the paths of Areas.
func New(c Config) http.Handler { return newWith(c, newDrawings()) }

func newWith(c Config, d *drawings) http.Handler {
	e := (&Portal{Config: c, drawings: d}).router()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { e.ServeHTTP(w, page.AsMeant(r)) })
}

func (p *Portal) router() *echo.Echo {
	e, routes := echo.New(), page.WithHead(p.routes())
	e.HTTPErrorHandler = p.showError
	e.Use(security.Headers, page.Private, hidden, page.Compressed(routes...))
	page.Mount(e, routes, route.Guard{})
	return e
}

// Routes lists the routes of customers' pages, for tools that visit them all.
func Routes() []route.Route { return new(Portal).routes() }

// routes need no sign-in. Other sites may post to those that unsubscribe: mail programs do so without opening the
// page (RFC 8058).
func (p *Portal) routes() []route.Route {
	withFront := func(handle func(echo.Context, front) error) echo.HandlerFunc {
		return page.WithRecord(p.findFront, handle)
	}
	withOpen := func(handle func(echo.Context, front) error) echo.HandlerFunc {
		return page.WithRecord(p.findOpen, handle)
	}
	withCard := func(handle func(echo.Context, card) error) echo.HandlerFunc {
		return page.WithRecord(p.findCard, handle)
	}
	get := func(path string, show echo.HandlerFunc) route.Route { return route.Get(path, route.Everyone, show) }
	post := func(path string, act echo.HandlerFunc, budgets ...route.Budget) route.Route {
		return route.Post(path, route.Everyone, page.SameOrigin()(act)).Within(budgets...)
	}
	fromAnySite := func(path string, act echo.HandlerFunc, budgets ...route.Budget) route.Route {
		return route.Post(path, route.Everyone, act).Within(budgets...)
	}
	return []route.Route{
		get("/", withOpen(p.showStart)),
		get("/brand/:colour", withFront(p.style)),
		get("/brand/logo/:hash", withFront(p.logo)),
		get("/brand/icon/:name", withFront(p.icon)),
		get("/brand/reward/:ulid/:hash", withFront(p.rewardPicture)),

		get("/v/:token", withFront(p.showVoucher)),
		get("/unsubscribe/:token", page.WithRecord(p.findSubscriber, p.askUnsubscribe)),
		fromAnySite("/unsubscribe/:token", page.WithRecord(p.findSubscriber, p.unsubscribe), changingByLink),
		get("/unsubscribe/weekly/:token", page.WithRecord(p.findReader, p.askWeekly)),
		fromAnySite("/unsubscribe/weekly/:token", page.WithRecord(p.findReader, p.turnWeekly), changingByLink),

		get("/card/:token", withCard(p.showCard)),
		get("/card/:token/history", withCard(p.showHistory)),
		get("/card/:token/print", withCard(p.printCard)),
		get("/card/:token/picture.png", withCard(p.cardPicture)),
		get("/card/:token/manifest.webmanifest", withCard(p.cardManifest)),
		get("/card/:token/pin", p.backToCard),
		post("/card/:token/pin", withCard(p.showCode), showingPINs),
		get("/card/:token/pin/:id", withCard(p.showCodeState)),
		get("/card/:token/pin/:id/events", withCard(p.codeEvents)).AsStream(),

		get("/join", withOpen(p.showJoin)),
		post("/join", withOpen(p.join), joining, mailsOfJoins),
		get("/join/find", withOpen(p.showFind)),
		post("/join/find", withFront(p.find), findingCards),

		get("/w", withOpen(p.showTypePIN)),
		post("/w", withFront(p.takeTyped), guessing),
		get("/w/:code", withOpen(p.showScanned)),
		post("/w/:code", withFront(p.takeScanned), guessing),
		get("/w/claim", withFront(p.showClaim)),
		post("/w/claim", withFront(p.claim), claiming),
		get("/w/claimed", withFront(p.showClaimed)),
		post("/w/claimed", withFront(p.mailClaimed), mailsOfClaims),
	}
}

// suspendedWords say that nothing can be changed at a suspended business. Customers can still see what they
// have, and unsubscribe.
const suspendedWords = "Not available at this business right now. Your points and vouchers are safe."

// findOpen is findFront for the forms of businesses that aren't suspended. What the forms send is refused by the
// transaction that would write, because a front may be some seconds old.
func (p *Portal) findOpen(c echo.Context) (front, error) {
	f, err := p.findFront(c)
	if err == nil && f.Suspended {
		err = core.ErrSuspended
	}
	return f, err
}

// Areas are the first segments of the paths of the pages; "" is the start page.
var Areas = []string{"", "brand", "card", "join", "unsubscribe", "v", "w"}

// What a page may load. Most pages may run no script.
const (
	plainPolicy  = "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
	scriptPolicy = plainPolicy + "; script-src 'self'; connect-src 'self'; manifest-src 'self'"
)

var security = page.Security{Policy: plainPolicy, Referrer: "no-referrer"}

// hidden keeps pages out of search engines.
func hidden(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Set("X-Robots-Tag", "noindex, nofollow")
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
		v.Colour = f.colour()
		v.Assets.TouchIcon = f.iconPath(tenant.TouchIcon)
	}
	if f.Colour != nil {
		v.Assets.Stylesheets = append(v.Assets.Stylesheets, stylePath(*f.Colour))
	}
	if f.LogoHash != nil {
		v.LogoPath, v.WideLogo = logoPath(*f.LogoHash), f.Logo().HasName()
		v.LogoWidth = int(36 * f.Logo())
	}
	return v
}

// addScripts lets a page run the scripts with these names.
func (p *Portal) addScripts(c echo.Context, v *views.Frame, names ...string) {
	c.Response().Header().Set("Content-Security-Policy", scriptPolicy)
	for _, name := range names {
		v.Assets.Scripts = append(v.Assets.Scripts, static.Path("js/"+name+".js"))
	}
}

// render answers with a complete page or returns an error.
func render(c echo.Context, status int, component templ.Component) error {
	var html bytes.Buffer
	if err := component.Render(c.Request().Context(), &html); err != nil {
		return err
	}
	return c.HTMLBlob(status, page.Isolated(html.Bytes()))
}

// showError answers an error with a page. Every kind of invalid link gets the same page.
func (p *Portal) showError(err error, c echo.Context) {
	page.AnswerError(c, p.Log, func() error {
		f, _ := p.findFront(c) // if that failed, the page names no business
		status, n := p.explain(c, err)
		n.Frame = p.frame(f, n.Title)
		return render(c, status, views.NoticePage(n))
	})
}

func (p *Portal) explain(c echo.Context, err error) (status int, n views.Notice) {
	ctx := c.Request().Context()
	var fault *echo.HTTPError
	var refusal *core.Error
	switch {
	case errors.Is(err, page.ErrNoBusiness):
		n.Title, n.Words = "Business not found", page.ErrNoBusiness.Message
		n.Path, n.Link = p.Names.Base(), "Go to start page"
		return http.StatusNotFound, n
	case errors.Is(err, core.ErrSuspended):
		n.Title, n.Words = "Not possible", suspendedWords
		return http.StatusUnprocessableEntity, n
	case errors.Is(err, link.ErrReplaced) && strings.HasPrefix(c.Path(), "/v/"):
		n.Title, n.Words = "Link replaced", "This link was replaced. Your voucher is on your new card. Ask at the till."
		return http.StatusGone, n
	case errors.Is(err, link.ErrReplaced):
		n.Title, n.Words = "Card replaced", "This card was replaced. Ask at the till."
		return http.StatusGone, n
	case errors.Is(err, core.ErrNotFound), errors.As(err, &fault) && fault.Code == http.StatusNotFound:
		n.Title = "This link doesn't work"
		n.Words = "It is incomplete or no longer valid. Open the link in your e-mail again, or ask at the till."
		return http.StatusNotFound, n
	case fault != nil && fault.Code < http.StatusInternalServerError:
		n.Title = "Not possible"
		n.Words = "Open the link in your e-mail again."
		if words, ok := fault.Message.(string); ok && (fault.Code == http.StatusForbidden || fault.Code == http.StatusRequestTimeout) {
			n.Words = words
		}
		return fault.Code, n
	case errors.As(err, &refusal) && refusal.Kind == core.KindThrottled:
		n.Title, n.Words = "Too many attempts", refusal.Message
		page.RetryAfter(c, refusal.Wait)
		return http.StatusTooManyRequests, n
	case refusal != nil && refusal.Kind == core.KindRule:
		n.Title, n.Words = "Not possible", refusal.Message
		return http.StatusUnprocessableEntity, n
	case core.IsKind(err, core.KindUnavailable), errors.Is(err, context.DeadlineExceeded):
		p.Log.WarnContext(ctx, "page unavailable", slog.Any("error", err))
		n.Title, n.Words = "Temporarily unavailable", "Try again in a moment."
		if refusal != nil && refusal.Wait > 0 {
			n.Title, n.Words = "Too busy", refusal.Message
			page.RetryAfter(c, refusal.Wait)
		}
		return http.StatusServiceUnavailable, n
	}
	p.Log.ErrorContext(ctx, "page failed", slog.Any("error", err))
	n.Title = "Something went wrong"
	n.Words = "Try again in a moment. If it persists, quote this ID."
	n.Request = c.Response().Header().Get(echo.HeaderXRequestID)
	return http.StatusInternalServerError, n
}

// visitor is an unknown customer.
func (p *Portal) visitor(c echo.Context, f front) core.Actor {
	return core.Actor{
		Kind: core.ByCustomer, Tenant: f.Tenant,
		Address: p.Address(c.Request()), RequestID: c.Response().Header().Get(echo.HeaderXRequestID),
		NeedsActive: true,
	}
}
