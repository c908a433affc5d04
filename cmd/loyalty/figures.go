package main

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/operation"
	checks "example.com/loyalty/core/verify"
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

func level(d *prometheus.Desc, v float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func total(d *prometheus.Desc, v float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
}

// poolFigures are those of the pools of this process, by their names.
type poolFigures struct{ pools map[string]*db.DB }

var (
	poolConns   = describe("loyalty_database_connections", "Connections of this process to the database.", "pool")
	poolBusy    = describe("loyalty_database_connections_busy", "Connections that are in use.", "pool")
	poolMax     = describe("loyalty_database_connections_max", "The most connections that the pool opens.", "pool")
	poolWaits   = describe("loyalty_database_waits_total", "How often a connection had to be waited for.", "pool")
	poolSeconds = describe("loyalty_database_wait_seconds_total", "How long connections were waited for.", "pool")
)

// Describe names the figures.
func (f poolFigures) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{poolConns, poolBusy, poolMax, poolWaits, poolSeconds} {
		to <- d
	}
}

// Collect reads them.
func (f poolFigures) Collect(to chan<- prometheus.Metric) {
	for name, d := range f.pools {
		s := d.Stat()
		to <- level(poolConns, float64(s.TotalConns()), name)
		to <- level(poolBusy, float64(s.AcquiredConns()), name)
		to <- level(poolMax, float64(s.MaxConns()), name)
		to <- total(poolWaits, float64(s.EmptyAcquireCount()), name)
		to <- total(poolSeconds, s.EmptyAcquireWaitTime().Seconds(), name)
	}
}

// countedFigures are what committed in this process, as core counts it.
type countedFigures []*db.DB

var (
	pinEvents      = describe("loyalty_pins_total", "PINs by what happened to them: issue is shown, refuse is a wrong, used or expired one.", "event")
	signInsDone    = describe("loyalty_sign_ins_total", "Completed sign-ins.")
	signInsRefused = describe("loyalty_sign_ins_refused_total", "Sign-ins that were refused, by reason.", "reason")
	sendEvents     = describe("loyalty_sends_total", "Coupon sends: confirmed, cancelled, failed at their time.", "event")
	vouchersMade   = describe("loyalty_vouchers_created_total", "Vouchers that sends created.")
	mailsOf        = describe("loyalty_mails_total", "Attempts to deliver an e-mail, by how they ended.", "outcome")
	verifyRuns     = describe("loyalty_verify_runs_total", "Runs of verify that ended, by result: wrong is one that found differences.", "result")
	actions        = describe("loyalty_actions_total", "Entries written to the audit log, by action.", "action")
)

// countedAs are the figures that begin at zero, so that their first increase is seen.
var countedAs = []struct {
	of     *prometheus.Desc
	label  string // "": the figure has none
	counts []db.Metric
}{
	{pinEvents, "issue", []db.Metric{audit.Metric("pin.issue", "")}},
	{pinEvents, "take", []db.Metric{audit.Metric("pin.take", "")}},
	{pinEvents, "use", []db.Metric{audit.Metric("pin.use", "")}},
	{pinEvents, "refuse", []db.Metric{audit.Metric("pin.refuse", "")}},
	{pinEvents, "cancel", []db.Metric{audit.Metric("pin.cancel", "")}},
	{sendEvents, "confirmed", []db.Metric{audit.Metric("coupon.send", "")}},
	{sendEvents, "cancelled", []db.Metric{audit.Metric("coupon.cancel_send", "")}},
	{sendEvents, "failed", []db.Metric{audit.Metric("coupon.fail_send", "")}},
	{vouchersMade, "", []db.Metric{coupon.CountedVouchers}},
	{mailsOf, mail.Sent, []db.Metric{mail.Metric(mail.Sent)}},
	{mailsOf, mail.Refused, []db.Metric{mail.Metric(mail.Refused)}},
	{mailsOf, mail.Deferred, []db.Metric{mail.Metric(mail.Deferred)}},
	{mailsOf, mail.GivenUp, []db.Metric{mail.Metric(mail.GivenUp)}},
	{mailsOf, mail.Dropped, []db.Metric{mail.Metric(mail.Dropped)}},
	{mailsOf, mail.Kept, []db.Metric{mail.Metric(mail.Kept)}},
	{verifyRuns, checks.Clean, []db.Metric{checks.Metric(checks.Clean)}},
	{verifyRuns, checks.Wrong, []db.Metric{checks.Metric(checks.Wrong)}},
	{verifyRuns, checks.Failed, []db.Metric{checks.Metric(checks.Failed)}},
}

// Describe names the figures.
func (f countedFigures) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{pinEvents, signInsDone, signInsRefused, sendEvents, vouchersMade, mailsOf, verifyRuns, actions} {
		to <- d
	}
}

// Collect reads them.
func (f countedFigures) Collect(to chan<- prometheus.Metric) {
	all := map[db.Metric]int64{}
	for _, d := range f {
		for what, n := range d.Counts() {
			all[what] += n
		}
	}
	for _, c := range countedAs {
		var n int64
		for _, what := range c.counts {
			n += all[what]
		}
		if c.label == "" {
			to <- total(c.of, float64(n))
		} else {
			to <- total(c.of, float64(n), c.label)
		}
	}
	written, refused, signedIn := map[string]int64{}, map[string]int64{}, int64(0)
	for what, n := range all {
		_, verb, isAction := strings.Cut(what.Thing, ".")
		if !isAction {
			continue
		}
		written[what.Thing] += n
		switch verb {
		case "sign_in":
			signedIn += n
		case "sign_in_refused":
			refused[what.Kind] += n
		}
	}
	to <- total(signInsDone, float64(signedIn))
	for action, n := range written {
		to <- total(actions, float64(n), action)
	}
	for reason, n := range refused {
		to <- total(signInsRefused, float64(n), reason)
	}
}

// backlogFigures are those of the whole installation, read from the database when they are
// asked for: every process tells the same ones.
type backlogFigures struct {
	read func(context.Context) (operation.Backlog, error)
	now  func() time.Time
	log  *slog.Logger

	mu    sync.Mutex
	at    time.Time
	known operation.Backlog
	err   error
}

func newBacklogFigures(read func(context.Context) (operation.Backlog, error), now func() time.Time, log *slog.Logger) *backlogFigures {
	return &backlogFigures{read: read, now: now, log: log}
}

const (
	backlogFresh = 5 * time.Second // several scrapers cost the database one reading
	backlogTakes = 2 * time.Second
)

var (
	databaseUp   = describe("loyalty_database_up", "1 when this process could read the figures of the installation from the database.")
	jobsIn       = describe("loyalty_jobs", "Jobs in a queue: waiting, running, failed (also those that are tried again), cancelled.", "queue", "state")
	jobsLate     = describe("loyalty_jobs_oldest_due_seconds", "How long the oldest job that could run has been waiting; 0: none waits.", "queue")
	jobsPaused   = describe("loyalty_jobs_paused", "1 for a queue that was paused.", "queue")
	mailsWaiting = describe("loyalty_mails_waiting", "E-mails to be delivered: single ones, and vouchers of sends.", "kind")
	mailsFailed  = describe("loyalty_mails_failed_24h", "E-mails that failed for good: single ones in the last 24 hours, vouchers of sends that began in them.", "kind")
	verifyAt     = describe("loyalty_verify_timestamp_seconds", "When the last complete run of verify ended, Unix time; absent before the first one.")
	verifyClean  = describe("loyalty_verify_clean", "1 when it found no difference.")
)

// Describe names the figures.
func (f *backlogFigures) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{databaseUp, jobsIn, jobsLate, jobsPaused, mailsWaiting, mailsFailed, verifyAt, verifyClean} {
		to <- d
	}
}

// Collect reads them. Where that fails, only databaseUp is told: old figures would hide it.
func (f *backlogFigures) Collect(to chan<- prometheus.Metric) {
	b, err := f.current()
	if err != nil {
		to <- level(databaseUp, 0)
		return
	}
	to <- level(databaseUp, 1)
	for _, l := range b.Queues {
		f.queue(to, l)
	}
	to <- level(mailsWaiting, float64(b.Mails.Single.Waiting), "single")
	to <- level(mailsWaiting, float64(b.Mails.Sends.Waiting), "send")
	to <- level(mailsFailed, float64(b.Mails.Single.Failed), "single")
	to <- level(mailsFailed, float64(b.Mails.Sends.Failed), "send")
	if v := b.Verify; v != nil {
		to <- level(verifyAt, float64(v.FinishedAt.UnixMilli())/1000)
		to <- level(verifyClean, number(*v.Clean))
	}
}

func (f *backlogFigures) queue(to chan<- prometheus.Metric, l job.Load) {
	lane := string(l.Lane)
	to <- level(jobsIn, float64(l.Queued), lane, "waiting")
	to <- level(jobsIn, float64(l.Running), lane, "running")
	to <- level(jobsIn, float64(l.Failed), lane, "failed")
	to <- level(jobsIn, float64(l.Cancelled), lane, "cancelled")
	late := 0.0
	if l.DueSince != nil {
		late = max(0, f.now().Sub(*l.DueSince).Seconds())
	}
	to <- level(jobsLate, late, lane)
	to <- level(jobsPaused, number(l.Paused != nil), lane)
}

func (f *backlogFigures) current() (operation.Backlog, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.now(); f.at.IsZero() || now.Sub(f.at) >= backlogFresh {
		ctx, cancel := context.WithTimeout(context.Background(), backlogTakes) // the collector's interface has none
		defer cancel()
		f.known, f.err = f.read(ctx)
		f.at = now
		if f.err != nil {
			f.log.WarnContext(ctx, "figures of the installation not read", slog.Any("error", f.err))
		}
	}
	return f.known, f.err
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// localFigures are those of this process and its machine.
type localFigures struct {
	ready func(context.Context) (notice string, err error)
	disks map[string]string // directories, by what lies there
}

var (
	readyNow = describe("loyalty_ready", "1 when /readyz answers 200: the database can be reached and written, and has every migration.")
	diskFree = describe("loyalty_disk_free_bytes", "Space left on the disk of a directory of this process.", "directory")
	diskSize = describe("loyalty_disk_size_bytes", "Size of that disk.", "directory")
)

// Describe names the figures.
func (f localFigures) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{readyNow, diskFree, diskSize} {
		to <- d
	}
}

// Collect reads them. A disk that can't be asked has none.
func (f localFigures) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), backlogTakes) // the collector's interface has none
	defer cancel()
	_, err := f.ready(ctx)
	to <- level(readyNow, number(err == nil))
	for what, dir := range f.disks {
		if size, free, err := diskOf(dir); err == nil {
			to <- level(diskFree, float64(free), what)
			to <- level(diskSize, float64(size), what)
		}
	}
}

// disks are the directories that the product writes to on this machine.
func (a *app) disks() map[string]string {
	disks := map[string]string{"data": a.DataDir, "temporary": os.TempDir()}
	if a.cluster != nil {
		disks["database"] = a.cluster.Dir()
	}
	return disks
}
