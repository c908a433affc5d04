// Package web receives every request of the process. It adds the id, the log line and the headers,
// and routes the request: to the API by its path, to everything else by its host.
package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"path"
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

// Config has the handlers of the areas.
type Config struct {
	Names    host.Names
	Portal   http.Handler   // customers' own pages, on the hosts of tenants
	Till     http.Handler   // the point of sale, on the hosts of tenants
	Tenants  http.Handler   // all other pages on the hosts of tenants
	API      http.Handler   // everything under /api/
	Gate     *Gate          // of all requests except those of the API
	Mailbox  *mailbox.Pages // nil if mails are sent, or may not be read on this machine
	Platform http.Handler   // everything under /platform on the base host
	// Description is openapi.json of this installation, from which the reference is made.
	Description []byte
	OwnCA       bool // clients need the installation's own certificate authority
	Address     func(*http.Request) string
	// RequestID finds the id that a trusted proxy has given a request, or "".
	RequestID func(*http.Request) string
	// Exists reports whether a business has this slug.
	Exists func(ctx context.Context, slug string) (bool, error)
	// Ready reports why requests can't be answered, or else a notice about an unusual state.
	Ready   func(context.Context) (notice string, err error)
	Observe func(Answered) // counts a request
	Now     func() time.Time
	Log     *slog.Logger

	readiness *readiness // set by New
}

// Answered describes an answered request for metrics.
type Answered struct {
	Area     string // the first segment of its path, if it is a known one
	Route    string // the template of its path; the area if no route matched
	Method   string
	Status   int
	Took     time.Duration
	Streamed bool // the response lasts as long as the page is open
	Replayed bool // the stored response to a repeated request
}

// New returns the handler of the whole product.
func New(c Config) http.Handler {
	c.readiness = &readiness{}
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", healthz)
	mux.HandleFunc("/readyz", c.readyz)
	mux.Handle("/static/", static.Handler())
	mux.Handle("/", c.gated(c.byHost(pages(c), notFound(c))))
	return host.HSTS(c.Names, c.logged(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Not through the mux: it would answer a path like /api//v1 or //api with a redirect in HTML.
		if isForAPI(r.URL.Path) {
			c.API.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})))
}

// Unread adds the id, the log line and the headers to answers to what can't be read as a request.
func Unread(c Config, refusals http.Handler) http.Handler {
	return host.HSTS(c.Names, c.logged(refusals))
}

// Plain adds the id and the log line to refusals of plain HTTP.
func Plain(c Config, refusals http.Handler) http.Handler { return c.logged(refusals) }

// isForAPI reports whether a path is one of the API's, or is misspelled and meant to be.
func isForAPI(p string) bool {
	return area(p) == "api" || strings.HasPrefix(strings.ToLower(path.Clean("/"+p))+"/", "/api/")
}

// byHost routes by host: tenants, the base host, or neither, as when an unrelated DNS name points here.
func (c Config) byHost(base, missing http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		slug, known := c.Names.Slug(r.Host)
		if slug != "" || area(r.URL.Path) == "platform" {
			r = page.AsMeant(r)
		}
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

// pages serves the pages of the base host.
func pages(c Config) http.Handler {
	e := echo.New()
	e.HTTPErrorHandler = c.showError
	e.Use(security.Headers, page.Compressed())
	docs.New(docs.Config{
		Names: c.Names, OwnCA: c.OwnCA, Description: c.Description, Exists: c.Exists, Ready: c.Ready,
	}).Mount(e)
	if c.Mailbox != nil {
		c.Mailbox.Mount(e)
	}
	return e
}

// notFound answers every request with 404.
func notFound(c Config) http.Handler {
	e := echo.New()
	e.HTTPErrorHandler = c.showError
	e.Use(security.Headers, page.Compressed())
	return e
}

var security = page.Security{Policy: "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"}

func (c Config) showError(err error, ctx echo.Context) {
	page.AnswerError(ctx, c.Log, func() error {
		if fault, ok := err.(*echo.HTTPError); ok && fault.Code < http.StatusInternalServerError { //nolint:errorlint // Echo never wraps it
			return docs.NotFound(ctx)
		}
		return err
	})
}

// logged adds the id, headers and log line to a request. The line has no query and, outside the API,
// only the first segment of the path, because links contain secrets; its route is the router's template.
func (c Config) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := c.Now()
		id := cmp.Or(c.RequestID(r), core.NewID(began).String())
		w.Header().Set("X-Request-Id", id)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		ctx, entry := core.WithRequestLog(r.Context(), id)
		seen := &recorder{ResponseWriter: w, status: statusClientGone}
		defer func() {
			panicked := recover()
			aborted := panicked == any(http.ErrAbortHandler) // the handler has logged why
			if panicked != nil && !aborted {
				c.Log.ErrorContext(ctx, "panic", slog.String("request", id), slog.Any("cause", panicked), slog.String("stack", string(debug.Stack())))
				if seen.status == statusClientGone { // nothing was sent yet
					http.Error(seen, page.FailedMessage, http.StatusInternalServerError)
				}
			}
			ended, path := c.Now(), r.URL.Path
			took := ended.Sub(began)
			if area(path) != "api" {
				path = "/" + area(path)
			}
			c.Observe(answered(r, seen, entry.Route, took))
			c.logRefusal(ctx, r, seen.status, id, path, entry)
			if c.Log.Enabled(ctx, slog.LevelInfo) && !isProbe(r.URL.Path, seen.status) {
				// Not by the logger's own functions: they look up the calling line, which isn't logged.
				line := slog.NewRecord(ended, slog.LevelInfo, "request", 0)
				about := c.about(r, id, path, entry.Route, seen.status)
				line.AddAttrs(about[:]...)
				line.AddAttrs(slog.Int64("bytes", seen.bytes), slog.Float64("ms", float64(took.Microseconds())/1000))
				line.AddAttrs(entry.Attrs...)
				_ = c.Log.Handler().Handle(ctx, line)
			}
			if aborted {
				panic(panicked) // or the client would take the response for complete
			}
		}()
		next.ServeHTTP(seen, r.WithContext(ctx))
	})
}

// logRefusal logs a refused request, for those who look for attacks.
func (c Config) logRefusal(ctx context.Context, r *http.Request, code int, id, path string, entry *core.RequestLog) {
	what := entry.Refused
	if what == "" && code == http.StatusForbidden {
		what = "access"
	}
	if what == "" {
		return
	}
	about := c.about(r, id, path, entry.Route, code)
	c.Log.LogAttrs(ctx, slog.LevelWarn, "refused", slices.Concat([]slog.Attr{slog.String("what", what)}, about[:], entry.Attrs)...)
}

// about returns what the lines about a request have in common. An empty attribute, in place of the route, isn't written.
func (c Config) about(r *http.Request, id, path, route string, status int) (about [7]slog.Attr) {
	about = [...]slog.Attr{
		slog.String("request", id),
		slog.String("method", r.Method),
		slog.String("host", r.Host),
		slog.String("path", path),
		slog.Int("status", status),
		slog.String("address", c.Address(r)),
		{},
	}
	if route != "" {
		about[6] = slog.String("route", route)
	}
	return about
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

// areas are the first segments of paths that logs and metrics show. Clients can send any number of
// others.
var areas = append([]string{"admin", "api", "docs", "mail", "platform", "static", "till", "problems", "healthz", "readyz"}, portal.Areas...)

// area is the first segment of a path, or "other".
func area(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if first == "" || slices.Contains(areas, first) {
		return first
	}
	return "other"
}

// statusClientGone is logged if the client left before the response.
const statusClientGone = 499

// recorder records the status and size of a response.
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

// healthz answers that the process is up.
func healthz(w http.ResponseWriter, _ *http.Request) { writeStatus(w, http.StatusOK, "ok", "") }

// readyz answers whether the database can be used and has every migration. Migrations of a newer build
// don't matter: during an upgrade, both builds serve.
func (c Config) readyz(w http.ResponseWriter, r *http.Request) {
	notice, err := c.Ready(r.Context())
	if err != nil {
		c.readiness.refused(r.Context(), c.Log, c.Now(), err)
		w.Header().Set("Retry-After", "2")
		writeStatus(w, http.StatusServiceUnavailable, "unavailable", publicMessage(err))
		return
	}
	c.readiness.ready(r.Context(), c.Log, c.Now)
	writeStatus(w, http.StatusOK, "ok", notice)
}

// publicMessage is an error's message without that of the wrapped error, which can contain hosts, users
// and files.
func publicMessage(err error) string {
	if wrapped := errors.Unwrap(err); wrapped != nil {
		return strings.TrimSuffix(err.Error(), ": "+wrapped.Error())
	}
	return err.Error()
}

func writeStatus(w http.ResponseWriter, code int, word, reason string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(struct {
		Status string `json:"status"`
		Reason string `json:"reason,omitempty"`
	}{word, reason})
}
