// Package till serves the point of sale at /till on the host of a business: find the customer or let
// them scan, record the sale, show the receipt.
//
// Its surprising rule: every step is a form that works without JavaScript and carries what the other
// steps entered. For the script (page.IsFragment), the same handler answers with the part of the page
// that changed.
package till

import (
	"errors"
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

// requestTime limits how long a page may take.
const requestTime = 15 * time.Second

// New returns the handler of the paths below /till.
func New(kit *page.Kit, services Services) http.Handler {
	t := &Till{Kit: kit, Services: services}
	e := echo.New()
	e.HTTPErrorHandler = t.showError
	e.Use(security.Headers, page.Private, page.SameOrigin(), t.Session)
	for _, r := range t.routes() {
		if r.stream {
			e.Add(r.method, r.path, t.requireCashier(r))
			continue
		}
		e.Add(r.method, r.path, t.requireCashier(r), page.Compressed(), page.WithTimeout(requestTime))
	}
	return e
}

// The camera scans codes. Browsers that can't read QR codes do it in WebAssembly.
var security = page.Security{
	Policy: "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
		"connect-src 'self'; media-src 'self' blob:; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
	Permissions: "camera=(self), geolocation=(), microphone=()",
}

const (
	get  = http.MethodGet
	post = http.MethodPost
)

// route is a page or an action for cashiers and above.
type route struct {
	method, path string
	handle       echo.HandlerFunc
	public       bool // needs no sign-in
	stream       bool // of events: not compressed and without a time limit
}

func (t *Till) routes() []route {
	type handler = func(echo.Context, draft) error
	form := func(handle handler) echo.HandlerFunc { return page.WithRecord(readDraft, handle) }
	query := func(handle handler) echo.HandlerFunc { return page.WithRecord(queryDraft, handle) }
	id := func(handle func(echo.Context, core.ID) error) echo.HandlerFunc {
		return page.WithRecord(pathID, handle)
	}
	pin := func(handle func(echo.Context, walkin.Progress) error) echo.HandlerFunc {
		return page.WithRecord(t.pinProgress, handle)
	}
	return []route{
		{method: get, path: page.TillPath, handle: query(t.showDesk)},
		{method: get, path: manifestPath, handle: t.manifest, public: true},

		{method: post, path: takePath, handle: form(t.take)},
		{method: get, path: page.TillPath + "/c/:code", handle: t.askTake},
		{method: post, path: page.TillPath + "/find", handle: form(t.find)},
		{method: post, path: page.TillPath + "/choose", handle: form(t.choose)},
		{method: post, path: page.TillPath + "/leave", handle: form(t.removeCustomer)},
		{method: get, path: page.TillPath + "/recent", handle: query(t.removeCustomer)},
		{method: get, path: customersPath + ":ulid", handle: id(t.showCustomer)},
		{method: get, path: customersPath + ":ulid/card", handle: id(t.showCard)},
		{method: post, path: customersPath + ":ulid/card/mail", handle: id(t.mailCard)},
		{method: get, path: customersPath + ":ulid/card/replace", handle: id(t.askReplaceCard)},
		{method: post, path: customersPath + ":ulid/card/replace", handle: id(t.replaceCard)},
		{method: get, path: page.TillPath + "/earns", handle: query(t.preview)},

		{method: post, path: page.TillPath + "/sale", handle: form(t.sell)},
		{method: get, path: page.TillPath + "/last", handle: t.showLast},
		{method: get, path: receiptsPath + ":ulid", handle: id(t.showReceipt)},
		{method: post, path: receiptsPath + ":ulid/undo", handle: id(t.undo)},

		{method: post, path: page.TillPath + "/show", handle: form(t.show)},
		{method: get, path: pinsPath + ":ulid", handle: pin(t.showPIN)},
		{method: get, path: pinsPath + ":ulid/events", handle: pin(t.events), stream: true},
		{method: post, path: pinsPath + ":ulid/cancel", handle: pin(t.cancelPIN)},
		{method: post, path: pinsPath + ":ulid/renew", handle: pin(t.renewPIN)},

		{method: post, path: page.TillPath + "/location", handle: t.chooseLocation},
	}
}

// OpenPosts lists the paths that take a POST without a sign-in.
func OpenPosts() (paths []string) {
	for _, r := range (&Till{}).routes() {
		if r.method == post && r.public {
			paths = append(paths, r.path)
		}
	}
	return paths
}

// requireCashier returns the handler of a route, which requires a sign-in unless the route is public.
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

// session identifies this till: its PINs are its own.
func session(c echo.Context) string { return page.Person(c).Session }

// showError answers an error with a page or, to a script, with its message alone.
func (t *Till) showError(err error, c echo.Context) {
	t.ShowError(c, err, page.TillPath, func(f page.Failure) error {
		if page.FromScript(c) {
			message := f.Message
			if f.Request != "" {
				message = page.FailedMessage
			}
			return c.String(f.Status, message)
		}
		frame := views.Frame{Title: f.Title, Theme: page.Theme(c), Assets: t.assets(c), Business: page.Visit(c).Tenant.Name}
		if person := page.Person(c); person != nil {
			frame.Person = person.Name
		}
		n := views.Notice{Frame: frame, Message: f.Message, Request: f.Request, Back: page.TillPath, BackLabel: "Back to point of sale"}
		switch {
		case errors.Is(err, core.ErrSuspended):
			n.Back = ""
		case errors.Is(err, page.ErrNoBusiness):
			n.Back, n.BackLabel = t.Start, "Go to start page"
		}
		return t.Render(c, f.Status, views.NoticePage(n), nil)
	})
}

func (t *Till) assets(c echo.Context) views.Assets {
	return views.Assets{
		Icon:        static.Path("img/icon.svg"),
		Font:        static.Path("vendor/inter/inter-latin.woff2"),
		Stylesheets: []string{static.Path("css/pin.css"), static.Path("css/till.css")},
		Plain:       static.Path("css/till-plain.css"),
		Branding:    page.BrandingURL(c),
		Theme:       static.Path("js/theme.js"),
		Scripts:     []string{static.Path("js/pin.js"), static.Path("js/scan.js"), static.Path("js/handheld.js"), static.Path("js/till.js")},
		Manifest:    manifestPath,
		Detector:    static.Path("vendor/barcode-detector/barcode-detector.js"),
		Engine:      static.Path("vendor/barcode-detector/zxing_reader.wasm"),
	}
}

func (t *Till) frame(c echo.Context, title string) (views.Frame, error) {
	by := page.Actor(c)
	places, err := t.openLocations(c)
	return views.Frame{
		Title: title, Business: by.Tenant.Name, Person: by.Name, Places: places,
		Theme: page.Theme(c), Assets: t.assets(c),
	}, err
}

// pathID returns the id in the path, or core.ErrNotFound.
func pathID(c echo.Context) (core.ID, error) { return core.ParseID(c.Param("ulid")) }
