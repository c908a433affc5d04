// Package web is the front door of the process: it gives every request its id, its
// log line and its headers, and sends it to the area that answers: the API by its
// path, everything else by its host.
package web

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/static"
	"example.com/loyalty/web/docs"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/mailbox"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/portal"
)

// Config is what the front door leads to.
type Config struct {
	Names    host.Names
	Portal   http.Handler   // customers' own pages, on the hosts of tenants
	Till     http.Handler   // the point of sale, there
	Tenants  http.Handler   // every other page there
	API      http.Handler   // everything under /api/
	Mailbox  *mailbox.Pages // nil: mails are sent, or are not for this machine to read
	Platform http.Handler   // everything under /platform on the base host
	Address  func(*http.Request) string
	// Ready says whether requests can be answered, and if so, what is unusual all the same.
	Ready   func(context.Context) (notice string, err error)
	Observe func(Answered) // counts a request
	Now     func() time.Time
	Log     *slog.Logger
}

// Answered tells of an answered request what is counted.
type Answered struct {
	Area     string // the first part of its path, where that is a known one
	Route    string // the template of its path; the area where no route took it
	Method   string
	Status   int
	Took     time.Duration
	Streamed bool // the answer lasts as long as the page that reads it
	Replayed bool // it was the stored answer to a request that was sent again
}

// New makes the handler of the whole product.
func New(c Config) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", healthz)
	mux.HandleFunc("/readyz", c.readyz)
	mux.Handle("/static/", static.Handler())
	mux.Handle("/", c.byHost(pages(c), missing(c)))
	return host.HSTS(c.Names, c.traced(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Past the mux: what it does to a path like /api//v1 is a redirection in HTML.
		if area(r.URL.Path) == "api" {
			c.API.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})))
}

// Plain gives the refusals of plain HTTP an id and a log line as well.
func Plain(c Config, refusals http.Handler) http.Handler { return c.traced(refusals) }

// byHost separates the pages of tenants from those of the base host. On a host that is
// none of ours, as after a DNS name was pointed here, there is no page.
func (c Config) byHost(base, missing http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		slug, known := c.Names.Slug(r.Host)
		switch {
		case !known:
			missing.ServeHTTP(w, r)
		case slug == "" && area(r.URL.Path) == "platform":
			c.Platform.ServeHTTP(w, r)
		case slug == "":
			base.ServeHTTP(w, r)
		case slices.Contains(portal.Areas, area(r.URL.Path)):
			c.Portal.ServeHTTP(w, r)
		case area(r.URL.Path) == "till":
			c.Till.ServeHTTP(w, r)
		default:
			c.Tenants.ServeHTTP(w, r)
		}
	})
}

// pages are what people read on the base host.
func pages(c Config) http.Handler {
	e := echo.New()
	e.HTTPErrorHandler = func(err error, ctx echo.Context) { c.failed(err, ctx) }
	e.Use(pageHeaders, page.Compressed())
	docs.New(c.Names.Base()).Mount(e)
	if c.Mailbox != nil {
		c.Mailbox.Mount(e)
	}
	return e
}

// missing answers that there is no page, whatever is asked for.
func missing(c Config) http.Handler {
	e := echo.New()
	e.HTTPErrorHandler = func(err error, ctx echo.Context) { c.failed(err, ctx) }
	e.Use(pageHeaders, page.Compressed())
	return e
}

func pageHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		core.SetLogRoute(c.Request().Context(), c.Path())
		h := c.Response().Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		return next(c)
	}
}

func (c Config) failed(err error, ctx echo.Context) {
	if ctx.Response().Committed {
		return
	}
	if fault, ok := err.(*echo.HTTPError); ok && fault.Code < http.StatusInternalServerError { //nolint:errorlint // Echo never wraps it
		err = docs.NotFound(ctx)
	}
	if err != nil {
		c.Log.ErrorContext(ctx.Request().Context(), "page failed", slog.Any("error", err))
		_ = ctx.String(http.StatusInternalServerError, "Something went wrong on our side. Please try again in a moment.")
	}
}

// traced gives a request its id, headers and log line. The line names no query and,
// outside the API, no path: links hold secrets.
func (c Config) traced(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := c.Now()
		id := core.NewID(began).String()
		w.Header().Set("X-Request-Id", id)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		ctx, trail := core.WithRequestLog(r.Context())
		seen := &recorder{ResponseWriter: w, status: statusClientGone}
		defer func() {
			cause := recover()
			brokenOff := cause == any(http.ErrAbortHandler) // the handler has said why
			if cause != nil && !brokenOff {
				c.Log.ErrorContext(ctx, "panic", slog.String("request", id), slog.Any("cause", cause), slog.String("stack", string(debug.Stack())))
				if seen.status == statusClientGone { // nothing was answered yet
					http.Error(seen, "Something went wrong on our side. Please try again in a moment.", http.StatusInternalServerError)
				}
			}
			took, path := c.Now().Sub(began), r.URL.Path
			if area(path) != "api" {
				path = "/" + area(path)
			}
			c.Observe(answered(r, seen, trail.Route, took))
			c.security(ctx, r, seen.status, id, path, trail)
			c.Log.LogAttrs(ctx, slog.LevelInfo, "request", append([]slog.Attr{
				slog.String("request", id),
				slog.String("method", r.Method),
				slog.String("host", r.Host),
				slog.String("path", path),
				slog.Int("status", seen.status),
				slog.Int64("bytes", seen.bytes),
				slog.Float64("ms", float64(took.Microseconds())/1000),
				slog.String("address", c.Address(r)),
			}, trail.Attrs...)...)
			if brokenOff {
				panic(cause) // an answer that ended here would pass for a whole one
			}
		}()
		next.ServeHTTP(seen, r.WithContext(ctx))
	})
}

// security leaves a line for whoever looks for attacks: what was refused to whom. The request's
// own line has the rest.
func (c Config) security(ctx context.Context, r *http.Request, status int, id, path string, trail *core.RequestLog) {
	what := trail.Refused
	if what == "" && status == http.StatusForbidden {
		what = "access"
	}
	if what == "" {
		return
	}
	c.Log.LogAttrs(ctx, slog.LevelWarn, "refused", append([]slog.Attr{
		slog.String("what", what),
		slog.String("request", id),
		slog.String("method", r.Method),
		slog.String("host", r.Host),
		slog.String("path", path),
		slog.Int("status", status),
		slog.String("address", c.Address(r)),
	}, trail.Attrs...)...)
}

func answered(r *http.Request, seen *recorder, route string, took time.Duration) Answered {
	a := Answered{Area: area(r.URL.Path), Route: route, Method: r.Method, Status: seen.status, Took: took}
	if a.Route == "" {
		a.Route = "/" + a.Area
	}
	a.Streamed = strings.HasPrefix(seen.Header().Get("Content-Type"), "text/event-stream")
	a.Replayed = seen.Header().Get("Idempotent-Replayed") == "true"
	return a
}

// areas are the first parts of paths that are named in logs and figures; a stranger
// can make up any number of others.
var areas = append([]string{"admin", "api", "docs", "mail", "platform", "static", "till", "problems", "healthz", "readyz"}, portal.Areas...)

// area is the first part of a path.
func area(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if first == "" || slices.Contains(areas, first) {
		return first
	}
	return "other"
}

// statusClientGone stands in the log where nothing was answered: the client had left.
const statusClientGone = 499

// recorder remembers what was answered.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == statusClientGone {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the writer itself.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// healthz says that the process is up.
func healthz(w http.ResponseWriter, _ *http.Request) { status(w, http.StatusOK, "ok", "") }

// readyz says whether the database can be reached and has every migration, and if
// not, what is wrong. A database with migrations of a newer build can be used: while the
// product is upgraded, both serve.
func (c Config) readyz(w http.ResponseWriter, r *http.Request) {
	notice, err := c.Ready(r.Context())
	if err != nil {
		c.Log.WarnContext(r.Context(), "not ready", slog.Any("error", err))
		w.Header().Set("Retry-After", "2")
		status(w, http.StatusServiceUnavailable, "unavailable", cause(err))
		return
	}
	status(w, http.StatusOK, "ok", notice)
}

// cause is what an error says by itself: the one that it wraps may name hosts, users
// and files, and anybody may ask.
func cause(err error) string {
	if wrapped := errors.Unwrap(err); wrapped != nil {
		return strings.TrimSuffix(err.Error(), ": "+wrapped.Error())
	}
	return err.Error()
}

func status(w http.ResponseWriter, code int, word, reason string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(struct {
		Status string `json:"status"`
		Reason string `json:"reason,omitempty"`
	}{word, reason}) // a probe that hung up needs no answer
}
