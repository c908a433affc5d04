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

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/loyalty"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/static"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/till"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

// Till is the point of sale.
type Till struct {
	*page.Kit
	*loyalty.Services
}

// New returns the handler of the paths below /till.
func New(kit *page.Kit, services *loyalty.Services) http.Handler {
	t := &Till{Kit: kit, Services: services}
	e := echo.New()
	e.HTTPErrorHandler = t.showError
	routes := t.routes()
	e.Use(security.Headers, page.Private, page.Compressed(routes...), page.SameOrigin(), t.Session)
	page.Mount(e, routes, kit.Guard())
	return e
}

// The camera scans codes. Browsers that can't read QR codes do it in WebAssembly.
var security = page.Security{
	Policy: "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
		"connect-src 'self'; media-src 'self' blob:; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
	Permissions: "camera=(self), geolocation=(), microphone=()",
}

// Routes lists the routes of the point of sale, for tools that visit them all.
func Routes() []route.Route { return new(Till).routes() }

func (t *Till) routes() []route.Route {
	type handler = func(echo.Context, draft) error
	form := func(handle handler) echo.HandlerFunc { return page.WithRecord(readDraft, handle) }
	query := func(handle handler) echo.HandlerFunc { return page.WithRecord(queryDraft, handle) }
	id := func(handle func(echo.Context, core.ID) error) echo.HandlerFunc {
		return page.WithRecord(pathID, handle)
	}
	pin := func(handle func(echo.Context, walkin.Progress) error) echo.HandlerFunc {
		return page.WithRecord(t.pinProgress, handle)
	}
	return []route.Route{
		route.Get(links.Till, route.Cashiers, query(t.showDesk)),
		route.Get(links.TillManifest, route.Everyone, t.manifest),

		route.Post(links.TillTake, route.Cashiers, form(t.take)),
		route.Get(links.TillCodes+":code", route.Cashiers, t.askTake),
		route.Post(links.TillFind, route.Cashiers, form(t.find)),
		route.Post(links.TillChoose, route.Cashiers, form(t.choose)),
		route.Post(links.TillLeave, route.Cashiers, form(t.removeCustomer)),
		route.Get(links.TillRecent, route.Cashiers, query(t.removeCustomer)),
		route.Get(links.TillCustomers+"/:ulid", route.Cashiers, id(t.showCustomer)),
		route.Get(links.TillCustomers+"/:ulid/card", route.Cashiers, id(t.showCard)),
		route.Post(links.TillCustomers+"/:ulid/card/mail", route.Cashiers, id(t.mailCard)),
		route.Get(links.TillCustomers+"/:ulid/card/replace", route.Cashiers, id(t.askReplaceCard)),
		route.Post(links.TillCustomers+"/:ulid/card/replace", route.Cashiers, id(t.replaceCard)),
		route.Get(links.TillEarns, route.Cashiers, query(t.preview)),

		route.Post(links.TillSale, route.Cashiers, form(t.sell)),
		route.Get(links.TillLast, route.Cashiers, t.showLast),
		route.Get(links.TillReceipts+"/:ulid", route.Cashiers, id(t.showReceipt)),
		route.Post(links.TillReceipts+"/:ulid/undo", route.Cashiers, id(t.undo)),

		route.Post(links.TillShow, route.Cashiers, form(t.show)),
		route.Get(links.TillPINs+"/:ulid", route.Cashiers, pin(t.showPIN)),
		route.Get(links.TillPINs+"/:ulid/events", route.Cashiers, pin(t.events)).AsStream(),
		route.Post(links.TillPINs+"/:ulid/cancel", route.Cashiers, pin(t.cancelPIN)),
		route.Post(links.TillPINs+"/:ulid/renew", route.Cashiers, pin(t.renewPIN)),

		route.Post(links.TillLocation, route.Cashiers, t.chooseLocation),
	}
}

// session identifies this till: its PINs are its own.
func session(c echo.Context) string { return page.Person(c).Session }

// showError answers an error with a page or, to a script, with its message alone.
func (t *Till) showError(err error, c echo.Context) {
	t.ShowError(c, err, links.Till, func(f page.Failure) error {
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
		n := views.Notice{Frame: frame, Message: f.Message, Request: f.Request, Back: links.Till, BackLabel: "Back to point of sale"}
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
		Manifest:    links.TillManifest,
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
