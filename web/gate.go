package web

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/portal"
)

// How many requests for pages are worked on at once; others wait in order. A page takes milliseconds, so a
// business whose tills and customers share an address doesn't notice.
const (
	placesPerAddress = 16
	// addressPace keeps a place of an address for at least so long, and then for as long as a longer page took.
	// Requests that each take milliseconds would otherwise keep all cores busy, one after the other.
	addressPace     = 100 * time.Millisecond
	placesPerTenant = 24 // for its staff, and as many for its customers
	// placesPerConnection is for each connection to the database, which core/db divides. It is more than one
	// because pages are also computed.
	placesPerConnection = 4

	// openPerAddress includes the requests that wait, or that are still being sent.
	openPerAddress = 1024

	gatePatience = 5 * time.Second
)

// Gate limits how many requests for pages are worked on at once: for an address, for a tenant, and in total.
type Gate struct {
	open      *limit.Lines[string]     // by address
	addresses *limit.KeyedGate[string] // by address
	tenants   *limit.KeyedGate[string] // by the name of the tenant's staff or customers
}

// NewGate returns a gate for a process with this many connections to the database.
func NewGate(connections int) *Gate {
	most := placesPerConnection * connections
	return &Gate{
		open:      limit.NewLines[string](openPerAddress),
		addresses: limit.NewKeyedGate[string](4*most, placesPerAddress, gatePatience, portal.BusyMessage).Paced(addressPace).Resting(),
		tenants:   limit.NewKeyedGate[string](most, placesPerTenant, gatePatience, portal.BusyMessage),
	}
}

// enter waits for a place of the address, so that one address can't fill the line of a tenant, and then for
// one of the tenant.
func (g *Gate) enter(ctx context.Context, address, name string) (leave func(), err error) {
	leaveAddress, err := g.addresses.Enter(ctx, address)
	if err != nil {
		return nil, err
	}
	leaveTenant, err := g.tenants.Enter(ctx, name)
	if err != nil {
		leaveAddress()
		return nil, err
	}
	return func() { leaveTenant(); leaveAddress() }, nil
}

// gated serves requests that have a place. If it takes too long to get one, the response says when to try
// again. The place is given back when the response begins: a page is then complete, and a slow client or an
// event stream holds nothing.
func (c Config) gated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address, name := host.LimitKey(c.Address(r)), c.placeName(r)
		leave, entered := c.Gate.open.TryEnter(address)
		if !entered {
			c.refuse(w, r, core.Busy(portal.BusyMessage, gatePatience))
			return
		}
		defer leave()
		place := limit.NewPlace(func(ctx context.Context) (func(), error) { return c.Gate.enter(ctx, address, name) })
		if err := place.Take(r.Context()); err != nil {
			c.refuse(w, r, err)
			return
		}
		defer place.End()
		placed := r.WithContext(core.CountAs(limit.WithPlace(r.Context(), place), name))
		if r.Body != nil && r.Body != http.NoBody {
			placed.Body = &sentBody{ReadCloser: r.Body, ctx: r.Context(), place: place}
		}
		next.ServeHTTP(&placedResponse{w, place}, placed)
	})
}

// placeName is the name by which the places of a request are counted. The staff of a business have other
// places than its customers, whose pages strangers may request. The base host counts as one business.
func (c Config) placeName(r *http.Request) string {
	slug, _ := c.Names.Slug(r.Host)
	switch {
	case slug == "":
		return "platform." // no slug has a dot
	case slices.Contains(portal.Areas, area(r.URL.Path)):
		return "customers." + slug
	}
	return "staff." + slug
}

// refuse answers a request without a place. A client that left gets no answer.
func (c Config) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var refusal *core.Error
	if !errors.As(err, &refusal) {
		return
	}
	c.Log.WarnContext(r.Context(), "too many requests for pages at once", slog.String("host", r.Host), slog.String("address", c.Address(r)))
	answer := echo.New().NewContext(r, w)
	page.RetryAfter(answer, refusal.Wait)
	answer.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	isForReading := strings.Contains(r.Header.Get(echo.HeaderAccept), echo.MIMETextHTML) && !page.IsFragment(answer)
	if !isForReading || portal.ShowBusy(w, r) != nil {
		_ = answer.String(http.StatusServiceUnavailable, refusal.Message)
	}
}

// placedResponse gives the place back with its first byte.
type placedResponse struct {
	http.ResponseWriter
	place *limit.Place
}

func (w *placedResponse) WriteHeader(status int) {
	w.place.End()
	w.ResponseWriter.WriteHeader(status)
}

func (w *placedResponse) Write(b []byte) (int, error) {
	w.place.End()
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the writer itself.
func (w *placedResponse) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// sentBody is a body that is still being sent. Meanwhile its request has no place, or clients that send
// slowly would hold all places.
type sentBody struct {
	io.ReadCloser
	ctx   context.Context //nolint:containedctx // Read has no parameter for it
	place *limit.Place
}

func (b *sentBody) Read(p []byte) (int, error) {
	b.place.Leave()
	n, err := b.ReadCloser.Read(p)
	if err != nil { // mostly io.EOF: the body has arrived, so the work begins
		if refusal := b.place.Take(b.ctx); refusal != nil {
			return n, refusal
		}
	}
	return n, err
}
