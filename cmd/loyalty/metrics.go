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

// metrics are the figures of the process, for Prometheus, on a listener of their own:
// they are the operator's, not the tenants'. docs/operations.md explains them.
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
		poolFigures{map[string]*db.DB{"requests": requests, "jobs": jobs}},
		countedFigures{requests, jobs},
		newBacklogFigures(backlog, time.Now, log),
		local,
	)
	auto := promauto.With(m.registry)
	m.seconds = auto.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "loyalty_request_seconds",
		Help:    "How long requests took, by the first part of their path, their route and method.",
		Buckets: []float64{.001, .0025, .005, .01, .02, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"area", "route", "method"})
	m.requests = auto.NewCounterVec(prometheus.CounterOpts{
		Name: "loyalty_requests_total", Help: "Requests that were answered: 499 is a client that left before, 401 and 429 of the area api are refused tokens and limits.",
	}, []string{"area", "route", "method", "status"})
	m.replays = auto.NewCounterVec(prometheus.CounterOpts{
		Name: "loyalty_idempotent_replays_total", Help: "Requests that were sent again and got their first answer.",
	}, []string{"route"})
	auto.NewGauge(prometheus.GaugeOpts{
		Name: "loyalty_build_info", Help: "The build that runs: always 1.",
		ConstLabels: prometheus.Labels{"version": buildVersion(), "go": runtime.Version()},
	}).Set(1)
	return m
}

// observe counts a request. Methods that nobody serves share a name, or a stranger could
// make up any number of them. An answer that is streamed lasts as long as its page, which
// is no measure of anything.
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

// metricsDoor is who may ask the metrics listener, and for what.
type metricsDoor struct {
	addr  string   // "off": there is no listener
	hosts []string // names by which it may be called, besides those of this machine
	pprof bool     // whether profiles are served
}

func (c *config) metricsDoor() metricsDoor {
	return metricsDoor{c.MetricsAddr, c.MetricsHosts, c.Pprof}
}

// serve answers /metrics until ctx ends. The product runs without it as well: an
// address that is taken is a warning.
func (m *metrics) serve(ctx context.Context, door metricsDoor, log *slog.Logger) {
	if door.addr == "off" {
		return
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", door.addr)
	if err != nil {
		log.WarnContext(ctx, "no metrics: set LOYALTY_METRICS_ADDR to a free address, or to off", slog.Any("error", err))
		return
	}
	server := &http.Server{Handler: door.handler(m, log), ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.WarnContext(ctx, "metrics ended", slog.Any("error", err))
		}
	}()
}

func (d metricsDoor) handler(m *metrics, log *slog.Logger) http.Handler {
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
				slog.String("hint", "the metrics listener answers to names of this machine and those of LOYALTY_METRICS_HOSTS"))
			http.Error(w, "This host name is not served here. See LOYALTY_METRICS_HOSTS.", http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// knows reports whether a request names the listener by one of its own names. A web page whose
// name was pointed at this machine (DNS rebinding) has the visitor's browser ask by that name.
func (d metricsDoor) knows(r *http.Request) bool {
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
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr) // where the request came in
	if local == nil {
		return false
	}
	own, err := netip.ParseAddrPort(local.String())
	return err == nil && own.Addr().Unmap().WithZone("") == addr.Unmap()
}
