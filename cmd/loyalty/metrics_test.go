package main

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/live"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/mail/smtptest"
	"example.com/loyalty/core/operation"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/web"
)

// monitored is a process with metrics.
type monitored struct {
	*metrics
	db   *db.DB
	jobs *job.Queue
}

func newMonitored(t *testing.T) monitored {
	t.Helper()
	d := dbtest.OwnDB(t)
	s := shoptest.Of(t, d, core.Actor{})
	return monitored{newMetrics(d, dbtest.OwnDB(t), s.Operations.Backlog, localFigures{ready: newReadiness(d).check, disks: map[string]string{"data": t.TempDir()}, live: live.NewHub(slog.New(slog.DiscardHandler)), mail: func() string { return "" }}, slog.New(slog.NewTextHandler(t.Output(), nil))), d, s.Jobs}
}

func (m monitored) read(t *testing.T) string {
	t.Helper()
	w := httptest.NewRecorder()
	promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("/metrics = %d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func wantFigures(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
}

// "Requests by route and status, latency histograms, pool, jobs, PINs, sends, sign-ins refused".
func TestMetrics(t *testing.T) {
	t.Parallel()
	m := newMonitored(t)
	for _, a := range []web.Answered{
		{Area: "api", Route: "/api/v1/customers/:ulid", Method: "GET", Status: 200, Took: 3 * time.Millisecond},
		{Area: "api", Route: "/api/v1/transactions", Method: "POST", Status: 201, Replayed: true},
		{Area: "api", Route: "/api", Method: "BREW", Status: 401},
		{Area: "till", Route: "/till/events", Method: "GET", Status: 200, Took: time.Hour, Streamed: true},
	} {
		m.observe(a)
	}
	by := dbtest.Tenant(t, m.db)
	for _, e := range []audit.Entry{
		{Action: "pin.issue", Subject: "pin"},
		{Action: "pin.refuse", Subject: "pin"},
		{Action: "staff.sign_in", Subject: "staff"},
		{Action: "staff.sign_in_refused", Subject: "staff", Reason: "wrong password"},
		{Action: "coupon.send", Subject: "coupon"},
	} {
		for _, end := range []error{nil, errors.New("rolled back")} {
			_, _ = db.In(t.Context(), m.db.Tenant(by), func(tx *db.Tx) (int, error) { return 0, errors.Join(audit.Write(tx, by, e), end) })
		}
	}
	if _, err := dbtest.Owner(m.db).Exec(t.Context(), `
		insert into loyalty.queue_pause values ('sends', 'Root', now());
		insert into loyalty.verify_run (started_at, finished_at, clean, results) values ('2026-06-01 02:00Z', '2026-06-01 02:05Z', false, '[]');
		insert into loyalty.mail (id, recipient, subject, text, html, created_at) values (gen_random_uuid(), 'a@example.com', '', '', '', now());
		insert into river.river_job (state, queue, kind, args, max_attempts, scheduled_at, priority) values ('available', 'mail', 'mail_delivery', '{}', 5, now() - interval '10 minutes', 1)`); err != nil {
		t.Fatal(err)
	}
	text := m.read(t)
	wantFigures(t, text,
		`loyalty_requests_total{area="api",method="GET",route="/api/v1/customers/:ulid",status="200"} 1`,
		`loyalty_request_seconds_bucket{area="api",method="GET",route="/api/v1/customers/:ulid",le="0.005"} 1`,
		`loyalty_requests_total{area="api",method="other",route="/api",status="401"} 1`,
		`loyalty_idempotent_replays_total{route="/api/v1/transactions"} 1`,
		`loyalty_requests_total{area="till",method="GET",route="/till/events",status="200"} 1`,
		`loyalty_pins_total{event="issue"} 1`, `loyalty_pins_total{event="refuse"} 1`, `loyalty_pins_total{event="use"} 0`,
		`loyalty_sign_ins_total 1`, `loyalty_sign_ins_refused_total{reason="wrong password"} 1`, `loyalty_sends_total{event="confirmed"} 1`,
		`loyalty_database_up 1`, `loyalty_jobs_paused{queue="sends"} 1`, `loyalty_jobs_paused{queue="mail"} 0`,
		`loyalty_jobs{queue="mail",state="waiting"} 1`, `loyalty_mails_waiting{kind="single"} 1`, `loyalty_verify_clean 0`,
		`loyalty_verify_timestamp_seconds 1.7802795e+09`, `loyalty_database_connections_max{pool="jobs"} 20`,
	)
	if strings.Contains(text, `loyalty_request_seconds_count{area="till"`) {
		t.Error("a stream counts as a slow page")
	}
	if !regexp.MustCompile(`loyalty_jobs_oldest_seconds\{queue="mail"\} 6\d\d`).MatchString(text) {
		t.Error("the oldest job has not waited for ten minutes")
	}
}

// Several scrapers share one reading, and an unreachable database is a metric.
func TestMetricsWithoutADatabase(t *testing.T) {
	t.Parallel()
	now, asked := time.Now(), 0
	d := dbtest.OwnDB(t)
	broken := errors.New("no route to host")
	m := newMetrics(d, d, func(context.Context) (operation.Backlog, error) { asked++; return operation.Backlog{}, broken },
		localFigures{ready: func(context.Context) (string, error) { return "", broken }, disks: map[string]string{"data": "/nowhere/at/all"}, live: live.NewHub(slog.New(slog.DiscardHandler)), mail: func() string { return "" }}, slog.New(slog.DiscardHandler))
	f := &backlogFigures{
		read: func(context.Context) (operation.Backlog, error) { asked++; return operation.Backlog{}, broken },
		now:  func() time.Time { return now }, log: slog.New(slog.DiscardHandler),
	}
	for range 3 {
		if _, err := f.current(); !errors.Is(err, broken) {
			t.Error(err)
		}
	}
	now = now.Add(backlogFresh)
	_, _ = f.current()
	if asked != 2 {
		t.Errorf("%d readings, want 2", asked)
	}
	text := monitored{metrics: m}.read(t)
	wantFigures(t, text, "loyalty_ready 0", "loyalty_database_up 0")
	if strings.Contains(text, "loyalty_jobs{") {
		t.Error("unknown metrics are reported")
	}
}

// A mail server that fails at the start is checked until it works, although no e-mail is due.
func TestAMailServerThatFailsIsWatched(t *testing.T) {
	t.Parallel()
	server := smtptest.New(t)
	server.Fails(true)
	client, err := mail.NewSMTP(server.URL, "Loyalty <loyalty@example.com>")
	if err != nil {
		t.Fatal(err)
	}
	var log output
	a := &app{config: &config{smtp: client}, log: slog.New(slog.NewTextHandler(&log, nil))}
	go a.watchMailServer(t.Context(), 10*time.Millisecond)
	await(t, "the mail server fails", func() bool { return a.mailTrouble() != "" })
	time.Sleep(100 * time.Millisecond) // some checks
	if a.mailTrouble() == "" {
		t.Error("the failure ended by itself")
	}
	server.Fails(false)
	await(t, "the mail server works", func() bool { return a.mailTrouble() == "" && log.has("the mail server works again") })
	if n := strings.Count(log.String(), "e-mails can't be sent"); n != 1 {
		t.Errorf("its failure is logged %d times", n)
	}
}

// "Check every metric named exists in /metrics", in the alerts and in the document.
func TestAlertsUseExistingMetrics(t *testing.T) {
	t.Parallel()
	m := newMonitored(t)
	m.observe(web.Answered{Area: "api", Route: "/api", Method: "GET", Status: 200, Replayed: true})
	_, _ = db.In(t.Context(), m.db.Platform(), func(tx *db.Tx) (int, error) {
		db.Count(tx, audit.Metric("staff.sign_in_refused", "wrong password"), 1)
		return 0, nil
	})
	if _, err := dbtest.Owner(m.db).Exec(t.Context(), `
		insert into loyalty.verify_run (started_at, finished_at, clean, results) values (now(), now(), true, '[]');
		select loyalty.record_backup('base', '20260501T020000Z')`); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{
		// The tests' PostgreSQL archives nothing: see TestMetricsOfBackups.
		"loyalty_wal_unarchived_segments": true, "loyalty_wal_archived_timestamp_seconds": true,
	}
	for _, line := range regexp.MustCompile(`(?m)^(?:loyalty|process)_\w+`).FindAllString(m.read(t), -1) {
		known[line] = true
	}
	source, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	document := string(source)
	roles := []string{"loyalty_app", "loyalty_backup"}
	for _, name := range metricNames.FindAllString(document, -1) {
		if !known[name] && !known[name+"_count"] && !slices.Contains(roles, name) && !strings.HasPrefix(name, "haproxy_") {
			t.Errorf("docs/operations.md names %s, which /metrics lacks", name)
		}
	}
	for _, group := range alertGroups(t) {
		for _, r := range group.Rules {
			found := metricNames.FindAllString(r.Expr, -1)
			if len(found) == 0 && !strings.HasPrefix(r.Expr, "up{") {
				t.Errorf("%s has no metric", r.Alert)
			}
			for _, name := range found {
				if !known[name] && !strings.HasPrefix(name, "haproxy_") {
					t.Errorf("%s uses %s, which /metrics lacks", r.Alert, name)
				}
			}
			if r.Annotations["summary"] == "" || !slices.Contains([]string{"page", "warn"}, r.Labels["severity"]) || strings.Count(r.Expr, "(") != strings.Count(r.Expr, ")") {
				t.Errorf("%s is not complete", r.Alert)
			}
			if !regexp.MustCompile("(?m)^\\|.*`" + r.Alert + "`.*\\| " + r.Labels["severity"] + " \\|").MatchString(document) {
				t.Errorf("the table of docs/operations.md does not explain %s (%s)", r.Alert, r.Labels["severity"])
			}
		}
	}
	if len(known) < 40 {
		t.Errorf("only these metrics: %v", slices.Sorted(maps.Keys(known)))
	}
}

// "Metrics and pprof answer any Host (DNS rebinding): check it, pprof off unless asked for."
func TestMetricsListenerChecksHostNames(t *testing.T) {
	t.Parallel()
	m := newMonitored(t)
	ask := func(access metricsAccess, host, path string) int {
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
		r.Host = host
		came := context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 9464})
		access.handler(m.metrics, slog.New(slog.DiscardHandler)).ServeHTTP(w, r.WithContext(came))
		return w.Code
	}
	for host, want := range map[string]int{
		"localhost:9464": 200, "127.0.0.1:9464": 200, "[::1]:9464": 200, "LOCALHOST": 200, "127.0.0.1": 200,
		"10.0.0.7:9464": 200, "app1:9464": 200, "APP1.": 200,
		"10.0.0.8:9464": 421, "app2:9464": 421, "evil.example": 421, "evil.example:9464": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421, "": 421,
	} {
		if got := ask(metricsAccess{addr: ":9464", hosts: []string{"app1"}}, host, "/metrics"); got != want {
			t.Errorf("%q: %d, want %d", host, got, want)
		}
	}
	if got := ask(metricsAccess{addr: "metrics.internal:9464"}, "metrics.internal:9464", "/metrics"); got != 200 {
		t.Errorf("by the name it listens on: %d", got)
	}
	for pprof, want := range map[bool]int{false: 404, true: 200} {
		if got := ask(metricsAccess{addr: ":9464", pprof: pprof}, "localhost:9464", "/debug/pprof/"); got != want {
			t.Errorf("pprof %v: %d, want %d", pprof, got, want)
		}
	}
	if got := ask(metricsAccess{addr: ":9464", pprof: true}, "evil.example", "/debug/pprof/"); got != 421 {
		t.Errorf("pprof by another name: %d", got)
	}
}
