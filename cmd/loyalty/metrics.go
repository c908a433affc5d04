package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"example.com/loyalty/core/db"
	"example.com/loyalty/core/operation"
	"example.com/loyalty/web"
	"example.com/loyalty/web/host"
)

// metrics are the metrics of the process for Prometheus, on their own listener, because they
// are for operators and not for tenants. docs/operations.md explains them.
type metrics struct {
	registry *prometheus.Registry
	seconds  *prometheus.HistogramVec
	requests *prometheus.CounterVec
	replays  *prometheus.CounterVec
}

func newMetrics(requests, jobs *db.DB, backlog func(context.Context) (operation.Backlog, error), local localFigures, log *slog.Logger) *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		poolFigures{pools: map[string]*db.DB{"requests": requests, "jobs": jobs}},
		countedFigures{databases: []*db.DB{requests, jobs}},
		&backlogFigures{read: backlog, now: time.Now, log: log},
		local,
	)
	auto := promauto.With(m.registry)
	m.seconds = auto.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "loyalty_request_seconds",
		Help:    "Duration of requests, by the first part of their path, their route and method.",
		Buckets: []float64{.001, .0025, .005, .01, .02, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"area", "route", "method"})
	m.requests = auto.NewCounterVec(prometheus.CounterOpts{
		Name: "loyalty_requests_total", Help: "Requests. Status 499 is a client that disconnected; in the area api, 401 is an invalid token and 429 a rate limit.",
	}, []string{"area", "route", "method", "status"})
	m.replays = auto.NewCounterVec(prometheus.CounterOpts{
		Name: "loyalty_idempotent_replays_total", Help: "Retried requests that got the stored response.",
	}, []string{"route"})
	auto.NewGauge(prometheus.GaugeOpts{
		Name: "loyalty_build_info", Help: "The running build: always 1.",
		ConstLabels: prometheus.Labels{"version": buildVersion(), "go": runtime.Version()},
	}).Set(1)
	return m
}

// observe counts a request. Unknown methods share a label, because strangers can invent any
// number of them. The duration of a stream is not measured: it is that of its page.
func (m *metrics) observe(a web.Answered) {
	switch a.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete, http.MethodPut, http.MethodOptions:
	default:
		a.Method = "other"
	}
	m.requests.WithLabelValues(a.Area, a.Route, a.Method, strconv.Itoa(a.Status)).Inc()
	if !a.Streamed {
		m.seconds.WithLabelValues(a.Area, a.Route, a.Method).Observe(a.Took.Seconds())
	}
	if a.Replayed {
		m.replays.WithLabelValues(a.Route).Inc()
	}
}

// metricsAccess says how the metrics listener can be called.
type metricsAccess struct {
	addr  string   // "off": no listener
	hosts []string // accepted host names, besides those of this machine
	pprof bool     // profiles are served
}

func (c *config) metricsAccess() metricsAccess {
	return metricsAccess{c.MetricsAddr, c.MetricsHosts, c.Pprof}
}

// serve serves /metrics until ctx is done. An address in use is only a warning, because the
// product runs without it, too.
func (m *metrics) serve(ctx context.Context, access metricsAccess, log *slog.Logger) {
	if access.addr == "off" {
		return
	}
	listener, err := listen(ctx, "LOYALTY_METRICS_ADDR", access.addr, "choose another port in LOYALTY_METRICS_ADDR, or off")
	if err != nil {
		log.WarnContext(ctx, "no metrics", slog.Any("error", err))
		return
	}
	server := &http.Server{Handler: access.handler(m, log), ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.WarnContext(ctx, "metrics listener stopped", slog.Any("error", err))
		}
	}()
}

func (d metricsAccess) handler(m *metrics, log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	if d.pprof {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !d.knows(r) {
			log.WarnContext(r.Context(), "refused", slog.String("what", "metrics"), slog.String("host", r.Host), slog.String("address", r.RemoteAddr),
				slog.String("hint", "the metrics listener accepts this machine's names and those in LOYALTY_METRICS_HOSTS"))
			http.Error(w, "Unknown host name. See LOYALTY_METRICS_HOSTS.", http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// knows reports whether the request's host name is accepted. It stops DNS rebinding: a web
// page whose host name points to this machine makes a visitor's browser send that name.
func (d metricsAccess) knows(r *http.Request) bool {
	name := strings.ToLower(strings.TrimSuffix(host.WithoutPort(r.Host), "."))
	listens, _, err := net.SplitHostPort(d.addr)
	if name == "localhost" || err == nil && listens != "" && strings.EqualFold(name, listens) || slices.ContainsFunc(d.hosts, func(h string) bool { return strings.EqualFold(h, name) }) {
		return true
	}
	addr, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	if addr.Unmap().IsLoopback() {
		return true
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr) // where the request arrived
	if local == nil {
		return false
	}
	own, err := netip.ParseAddrPort(local.String())
	return err == nil && own.Addr().Unmap().WithZone("") == addr.Unmap()
}
