// Package till serves the point of sale, at /till on a business's own host: find the customer
// or let them scan, record the sale, show the receipt.
//
// Its surprising rule: every step is a form that works without JavaScript, and carries what
// the other steps entered. Asked by the script (page.IsFragment), the same handler answers
// with the part of the page that changed.
package till

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/live"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/static"
	views "example.com/loyalty/views/till"
	"example.com/loyalty/web/page"
)

// Services are the use cases that the point of sale calls.
type Services struct {
	Walkins      *walkin.Service
	Transactions *transaction.Service
	Coupons      *coupon.Service
	Locations    *location.Service
	Tenants      *tenant.Service
	Live         *live.Hub
}

// Till is the point of sale.
type Till struct {
	*page.Kit
	Services
}

// requestTime is how long a page may take.
const requestTime = 15 * time.Second

// New makes the handler of the paths below /till on the hosts of tenants.
func New(kit *page.Kit, services Services) http.Handler {
	t := &Till{Kit: kit, Services: services}
	e := echo.New()
	e.HTTPErrorHandler = t.showError
	e.Use(headers, page.Private, page.SameOrigin(), t.Session)
	for _, r := range t.routes() {
		if r.stream {
			e.Add(r.method, r.path, t.requireCashier(r))
			continue
		}
		e.Add(r.method, r.path, t.requireCashier(r), page.Compressed(), page.WithTimeout(requestTime))
	}
	return e
}

// The camera is for scanning; reading a QR code without the browser's help takes WebAssembly.
const (
	policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
		"connect-src 'self'; media-src 'self' blob:; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
	permissions = "camera=(self), geolocation=(), microphone=()"
)

func headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		core.SetLogRoute(c.Request().Context(), c.Path())
		h := c.Response().Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Permissions-Policy", permissions)
		return next(c)
	}
}

const (
	get  = http.MethodGet
	post = http.MethodPost
)

// route is a page or an action. Cashiers and up have it, unless it is public.
type route struct {
	method, path string
	handle       echo.HandlerFunc
	public       bool
	stream       bool // of events: not compressed, and as long as the client stays
}

func (t *Till) routes() []route {
	return []route{
		{method: get, path: page.TillPath, handle: t.showDesk},
		{method: get, path: manifestPath, handle: t.manifest, public: true},

		{method: post, path: takePath, handle: t.take},
		{method: get, path: page.TillPath + "/c/:code", handle: t.askTake},
		{method: post, path: page.TillPath + "/find", handle: t.find},
		{method: post, path: page.TillPath + "/choose", handle: t.choose},
		{method: post, path: page.TillPath + "/leave", handle: t.leave},
		{method: get, path: page.TillPath + "/recent", handle: t.recent},
		{method: get, path: customersPath + ":ulid", handle: t.showCustomer},
		{method: get, path: customersPath + ":ulid/card", handle: t.showCard},
		{method: post, path: customersPath + ":ulid/card/mail", handle: t.mailCard},
		{method: get, path: page.TillPath + "/earns", handle: t.preview},

		{method: post, path: page.TillPath + "/sale", handle: t.sell},
		{method: get, path: page.TillPath + "/last", handle: t.showLast},
		{method: get, path: receiptsPath + ":ulid", handle: t.showReceipt},
		{method: post, path: receiptsPath + ":ulid/undo", handle: t.undo},
		{method: get, path: redeemedPath + ":ulid", handle: t.showRedeemed},

		{method: post, path: page.TillPath + "/show", handle: t.show},
		{method: get, path: pinsPath + ":ulid", handle: t.showPIN},
		{method: get, path: pinsPath + ":ulid/events", handle: t.events, stream: true},
		{method: post, path: pinsPath + ":ulid/cancel", handle: t.cancelPIN},
		{method: post, path: pinsPath + ":ulid/renew", handle: t.renewPIN},

		{method: post, path: page.TillPath + "/location", handle: t.chooseLocation},
	}
}

// Page is a page or a part of one that can be asked for.
type Page struct {
	Path   string // with a :name where a record's id goes
	Public bool
}

// Pages are all of the point of sale's.
func Pages() (list []Page) {
	for _, r := range (&Till{}).routes() {
		if r.method == get {
			list = append(list, Page{Path: r.path, Public: r.public})
		}
	}
	return list
}

// requireCashier is the handler behind the sign-in.
func (t *Till) requireCashier(r route) echo.HandlerFunc {
	return func(c echo.Context) error {
		if r.public {
			return r.handle(c)
		}
		person := page.Person(c)
		if person == nil {
			return t.ToSignIn(c)
		}
		if err := person.Require(core.Cashier); err != nil {
			return err
		}
		return r.handle(c)
	}
}

// session names this till: what it has taken and shows is its own.
func session(c echo.Context) string { return page.Person(c).Session }

// showError answers an error with a page that says so in words, and leads back.
func (t *Till) showError(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	f := t.Explain(c, err)
	if f.Status == http.StatusMethodNotAllowed && c.Request().Method == get {
		// The address of a form that was refused, loaded again.
		if t.Redirect(c, page.TillPath) == nil {
			return
		}
	}
	if page.IsFragment(c) {
		words := f.Message
		if f.Request != "" {
			words = "Something went wrong on our side. Try again in a moment."
		}
		err = c.String(f.Status, words)
	} else {
		frame := views.Frame{Title: f.Title, Theme: page.Theme(c), Assets: t.assets(c), Business: page.Visit(c).Tenant.Name}
		if person := page.Person(c); person != nil {
			frame.Person = views.Person{Name: person.Name}
		}
		n := views.Notice{Frame: frame, Message: f.Message, Request: f.Request, Back: page.TillPath, BackLabel: "Back to the point of sale"}
		if errors.Is(err, page.ErrSuspended) {
			n.Back = ""
		}
		err = t.Render(c, f.Status, views.NoticePage(n), nil)
	}
	if err != nil {
		t.Log.ErrorContext(c.Request().Context(), "error page failed", slog.Any("error", err))
		_ = c.String(http.StatusInternalServerError, "Something went wrong on our side. Please try again in a moment.")
	}
}

func (t *Till) assets(c echo.Context) views.Assets {
	return views.Assets{
		Icon:        static.Path("img/icon.svg"),
		Font:        static.Path("vendor/inter/inter-latin.woff2"),
		Stylesheets: []string{static.Path("css/pin.css"), static.Path("css/till.css")},
		Plain:       static.Path("css/till-plain.css"),
		Branding:    t.BrandingURL(c),
		Theme:       static.Path("js/theme.js"),
		Scripts:     []string{static.Path("js/pin.js"), static.Path("js/scan.js"), static.Path("js/till.js")},
		Manifest:    manifestPath,
		Detector:    static.Path("vendor/barcode-detector/barcode-detector.js"),
		Engine:      static.Path("vendor/barcode-detector/zxing_reader.wasm"),
	}
}

// frame is what a page has around its content.
func (t *Till) frame(c echo.Context, title string) (views.Frame, error) {
	by := page.Actor(c)
	places, err := t.openLocations(c)
	return views.Frame{
		Title: title, Business: by.Tenant.Name, Person: views.Person{Name: by.Name}, Places: places,
		Theme: page.Theme(c), Assets: t.assets(c),
	}, err
}

// pathID is the record that a path names.
func pathID(c echo.Context) (core.ID, error) {
	id, err := core.ParseID(c.Param("ulid"))
	if err != nil {
		return core.ID{}, core.ErrNotFound
	}
	return id, nil
}
