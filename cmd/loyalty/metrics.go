package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"example.com/loyalty/core/db"
)

// metrics are the figures of the process, for Prometheus, on a listener of their own:
// they are the operator's, not the tenants'.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
}

func newMetrics(d *db.DB) *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	auto := promauto.With(m.registry)
	m.requests = auto.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "loyalty_request_seconds",
		Help:    "How long requests took, by the first part of their path, method and status.",
		Buckets: []float64{.001, .0025, .005, .01, .02, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"area", "method", "status"})
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "loyalty_database_connections", Help: "Connections to the database.",
	}, func() float64 { return float64(d.Pool().Stat().TotalConns()) })
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "loyalty_database_connections_busy", Help: "Connections to the database that are in use.",
	}, func() float64 { return float64(d.Pool().Stat().AcquiredConns()) })
	auto.NewCounterFunc(prometheus.CounterOpts{
		Name: "loyalty_database_wait_seconds_total", Help: "How long requests waited for a connection.",
	}, func() float64 { return d.Pool().Stat().EmptyAcquireWaitTime().Seconds() })
	return m
}

// observe counts a request. Methods that nobody serves share a name, or a stranger
// could make up any number of them.
func (m *metrics) observe(area, method string, status int, took time.Duration) {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete, http.MethodPut, http.MethodOptions:
	default:
		method = "other"
	}
	m.requests.WithLabelValues(area, method, strconv.Itoa(status)).Observe(took.Seconds())
}

// serve answers /metrics until ctx ends. The product runs without it as well: an
// address that is taken is a warning.
func (m *metrics) serve(ctx context.Context, addr string, log *slog.Logger) {
	if addr == "off" {
		return
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		log.WarnContext(ctx, "no metrics: set LOYALTY_METRICS_ADDR to a free address, or to off", slog.Any("error", err))
		return
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	// Where the time goes, for whoever may reach this listener.
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.WarnContext(ctx, "metrics ended", slog.Any("error", err))
		}
	}()
}
