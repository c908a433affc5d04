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
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/live"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/operation"
	checks "example.com/loyalty/core/verify"
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// undescribed is part of collectors whose metrics Prometheus checks when it collects them.
type undescribed struct{}

// Describe names no metric.
func (undescribed) Describe(chan<- *prometheus.Desc) {}

func gaugeMetric(d *prometheus.Desc, v float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func counterMetric(d *prometheus.Desc, v float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
}

// poolFigures are the metrics of this process's pools, by their names.
type poolFigures struct {
	undescribed
	pools map[string]*db.DB
}

var (
	poolConns   = describe("loyalty_database_connections", "Connections of this process to the database.", "pool")
	poolBusy    = describe("loyalty_database_connections_busy", "Connections in use.", "pool")
	poolMax     = describe("loyalty_database_connections_max", "The most connections that the pool opens.", "pool")
	poolWaits   = describe("loyalty_database_waits_total", "Waits for a free connection.", "pool")
	poolSeconds = describe("loyalty_database_wait_seconds_total", "Time spent waiting for a free connection.", "pool")
)

// Collect reads them.
func (f poolFigures) Collect(to chan<- prometheus.Metric) {
	for name, d := range f.pools {
		s := d.Stat()
		to <- gaugeMetric(poolConns, float64(s.TotalConns()), name)
		to <- gaugeMetric(poolBusy, float64(s.AcquiredConns()), name)
		to <- gaugeMetric(poolMax, float64(s.MaxConns()), name)
		to <- counterMetric(poolWaits, float64(s.EmptyAcquireCount()), name)
		to <- counterMetric(poolSeconds, s.EmptyAcquireWaitTime().Seconds(), name)
	}
}

// countedFigures are what core counted at commits in this process.
type countedFigures struct {
	undescribed
	databases []*db.DB
}

var (
	pinEvents      = describe("loyalty_pins_total", "Walk-in PINs, by event: issue is a PIN shown, refuse a wrong, used or expired one.", "event")
	signInsDone    = describe("loyalty_sign_ins_total", "Completed sign-ins.")
	signInsRefused = describe("loyalty_sign_ins_refused_total", "Refused sign-ins, by reason.", "reason")
	sendEvents     = describe("loyalty_sends_total", "Coupon sends: confirmed, cancelled, failed at their time.", "event")
	vouchersMade   = describe("loyalty_vouchers_created_total", "Vouchers created by sends.")
	mailOutcomes   = describe("loyalty_mails_total", "Attempts to deliver an e-mail, by outcome.", "outcome")
	verifyRuns     = describe("loyalty_verify_runs_total", "Finished runs of verify, by result: wrong found differences.", "result")
	actionsLogged  = describe("loyalty_actions_total", "Entries written to the audit log, by action.", "action")
)

// counters start at zero, so that their first increase is visible.
var counters = []struct {
	desc  *prometheus.Desc
	label string // "": without a label
	count db.Metric
}{
	{pinEvents, "issue", audit.Metric("pin.issue", "")},
	{pinEvents, "take", audit.Metric("pin.take", "")},
	{pinEvents, "use", audit.Metric("pin.use", "")},
	{pinEvents, "refuse", audit.Metric("pin.refuse", "")},
	{pinEvents, "cancel", audit.Metric("pin.cancel", "")},
	{sendEvents, "confirmed", audit.Metric("coupon.send", "")},
	{sendEvents, "cancelled", audit.Metric("coupon.cancel_send", "")},
	{sendEvents, "failed", audit.Metric("coupon.fail_send", "")},
	{vouchersMade, "", coupon.CountedVouchers},
	{mailOutcomes, mail.Sent, mail.Metric(mail.Sent)},
	{mailOutcomes, mail.Refused, mail.Metric(mail.Refused)},
	{mailOutcomes, mail.Deferred, mail.Metric(mail.Deferred)},
	{mailOutcomes, mail.GivenUp, mail.Metric(mail.GivenUp)},
	{mailOutcomes, mail.Dropped, mail.Metric(mail.Dropped)},
	{mailOutcomes, mail.Kept, mail.Metric(mail.Kept)},
	{verifyRuns, checks.Clean, checks.Metric(checks.Clean)},
	{verifyRuns, checks.Wrong, checks.Metric(checks.Wrong)},
	{verifyRuns, checks.Failed, checks.Metric(checks.Failed)},
}

// Collect reads them.
func (f countedFigures) Collect(to chan<- prometheus.Metric) {
	all := map[db.Metric]int64{}
	for _, d := range f.databases {
		for what, n := range d.Counts() {
			all[what] += n
		}
	}
	for _, c := range counters {
		if c.label == "" {
			to <- counterMetric(c.desc, float64(all[c.count]))
		} else {
			to <- counterMetric(c.desc, float64(all[c.count]), c.label)
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
	to <- counterMetric(signInsDone, float64(signedIn))
	for action, n := range written {
		to <- counterMetric(actionsLogged, float64(n), action)
	}
	for reason, n := range refused {
		to <- counterMetric(signInsRefused, float64(n), reason)
	}
}

// backlogFigures are the metrics of the whole installation, read from the database on a
// scrape: every process reports the same ones.
type backlogFigures struct {
	undescribed

	read func(context.Context) (operation.Backlog, error)
	now  func() time.Time
	log  *slog.Logger

	mu    sync.Mutex
	at    time.Time
	known operation.Backlog
	err   error
}

const (
	backlogFresh  = 5 * time.Second // several scrapers share one reading
	scrapeTimeout = 2 * time.Second
)

var (
	databaseUp   = describe("loyalty_database_up", "1 if this process could read the metrics of the installation from the database.")
	jobsIn       = describe("loyalty_jobs", "Jobs in a queue: waiting, running, failed (retried ones included), cancelled.", "queue", "state")
	jobsOldest   = describe("loyalty_jobs_oldest_seconds", "How long the oldest job has been waiting since it was first due, however often it was tried; 0: none.", "queue")
	jobsPaused   = describe("loyalty_jobs_paused", "1 for a paused queue.", "queue")
	mailsWaiting = describe("loyalty_mails_waiting", "E-mails waiting for delivery: single ones, and vouchers of sends.", "kind")
	mailsFailed  = describe("loyalty_mails_failed_24h", "E-mails that failed: single ones in the last 24 hours, vouchers of sends that started in them.", "kind")
	sendsOldest  = describe("loyalty_sends_oldest_seconds", "How long the e-mails of a send have been waiting at most; 0: none.")
	verifyAt     = describe("loyalty_verify_timestamp_seconds", "End of the last complete run of verify, as Unix time; absent before the first.")
	verifyClean  = describe("loyalty_verify_clean", "1 if it found no difference.")

	backupExpected = describe("loyalty_backup_expected", "1 if the database is set up for the backups of docs/operations.md.")
	backupAt       = describe("loyalty_backup_timestamp_seconds", "When the last backup was recorded, as Unix time; absent before the first.")
	walUnarchived  = describe("loyalty_wal_unarchived_segments", "Finished WAL segments that are not in the archive; absent without archiving.")
	walArchivedAt  = describe("loyalty_wal_archived_timestamp_seconds", "When the last WAL segment was archived, as Unix time; 0: none since PostgreSQL counts. Absent without archiving.")
)

// Collect reads them. If that fails it reports only databaseUp: old metrics would hide it.
func (f *backlogFigures) Collect(to chan<- prometheus.Metric) {
	b, err := f.current()
	if err != nil {
		to <- gaugeMetric(databaseUp, 0)
		return
	}
	to <- gaugeMetric(databaseUp, 1)
	for _, l := range b.Queues {
		f.queue(to, l)
	}
	to <- gaugeMetric(mailsWaiting, float64(b.Mails.Single.Waiting), "single")
	to <- gaugeMetric(mailsWaiting, float64(b.Mails.Sends.Waiting), "send")
	to <- gaugeMetric(mailsFailed, float64(b.Mails.Single.Failed), "single")
	to <- gaugeMetric(mailsFailed, float64(b.Mails.Sends.Failed), "send")
	to <- gaugeMetric(sendsOldest, f.age(b.Sends.QueuedSince))
	if v := b.Verify; v != nil {
		to <- gaugeMetric(verifyAt, unixSeconds(v.FinishedAt))
		to <- gaugeMetric(verifyClean, boolGauge(*v.Clean))
	}
	backups(to, b.Backups)
}

func backups(to chan<- prometheus.Metric, b operation.Backups) {
	to <- gaugeMetric(backupExpected, boolGauge(b.Expected))
	if b.FinishedAt != nil {
		to <- gaugeMetric(backupAt, unixSeconds(b.FinishedAt))
	}
	if b.Archives {
		to <- gaugeMetric(walUnarchived, float64(b.Unarchived))
		to <- gaugeMetric(walArchivedAt, unixSeconds(b.ArchivedAt))
	}
}

// unixSeconds returns an instant as Unix time; 0: none.
func unixSeconds(at *time.Time) float64 {
	if at == nil {
		return 0
	}
	return float64(at.UnixMilli()) / 1000
}

// age returns the seconds since an instant; 0: none.
func (f *backlogFigures) age(since *time.Time) float64 {
	if since == nil {
		return 0
	}
	return max(0, f.now().Sub(*since).Seconds())
}

func (f *backlogFigures) queue(to chan<- prometheus.Metric, l job.Load) {
	lane := string(l.Lane)
	to <- gaugeMetric(jobsIn, float64(l.Queued), lane, "waiting")
	to <- gaugeMetric(jobsIn, float64(l.Running), lane, "running")
	to <- gaugeMetric(jobsIn, float64(l.Failed), lane, "failed")
	to <- gaugeMetric(jobsIn, float64(l.Cancelled), lane, "cancelled")
	to <- gaugeMetric(jobsOldest, f.age(l.DueSince), lane)
	to <- gaugeMetric(jobsPaused, boolGauge(l.PausedBy != nil), lane)
}

func (f *backlogFigures) current() (operation.Backlog, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.now(); f.at.IsZero() || now.Sub(f.at) >= backlogFresh {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout) // collectors get no context
		defer cancel()
		f.known, f.err = f.read(ctx)
		f.at = now
		if f.err != nil {
			f.log.WarnContext(ctx, "metrics of the installation not read", slog.Any("error", f.err))
		}
	}
	return f.known, f.err
}

func boolGauge(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// localFigures are the metrics of this process and its machine.
type localFigures struct {
	undescribed
	ready func(context.Context) (notice string, err error)
	disks map[string]string // directories, by their use
	redis *limit.Redis      // nil: none
	live  *live.Hub
	mail  func() (trouble string) // "": none
}

var (
	readyNow       = describe("loyalty_ready", "1 if /readyz is 200: the database is reachable and writable, and has every migration.")
	redisReachable = describe("loyalty_redis_reachable", "0 if LOYALTY_REDIS_URL is set and Redis can't be reached, so that this process counts limits for itself.")
	mailFailing    = describe("loyalty_mail_server_failing", "1 from a failed attempt of this process to use the mail server until one succeeds.")
	diskFree       = describe("loyalty_disk_free_bytes", "Free space on the disk of a directory of this process.", "directory")
	streamsOpen    = describe("loyalty_streams_open", "Event streams to pages that show a PIN. Pages beyond the limits of docs/security.md poll.")
	diskSize       = describe("loyalty_disk_size_bytes", "Size of that disk.", "directory")
)

// Collect reads them, except of disks that can't be read.
func (f localFigures) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout) // collectors get no context
	defer cancel()
	_, err := f.ready(ctx)
	to <- gaugeMetric(readyNow, boolGauge(err == nil))
	to <- gaugeMetric(redisReachable, boolGauge(f.redis.Trouble() == ""))
	to <- gaugeMetric(mailFailing, boolGauge(f.mail() != ""))
	to <- gaugeMetric(streamsOpen, float64(f.live.Watchers()))
	for what, dir := range f.disks {
		if size, free, err := diskOf(dir); err == nil {
			to <- gaugeMetric(diskFree, float64(free), what)
			to <- gaugeMetric(diskSize, float64(size), what)
		}
	}
}

// disks returns the directories that the product writes to on this machine, by their use.
func (a *app) disks() map[string]string {
	disks := map[string]string{"data": a.DataDir, "temporary": os.TempDir()}
	if a.cluster != nil {
		disks["database"] = a.cluster.Dir()
	}
	return disks
}
