package main

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"

	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/deprecation"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/live"
	"example.com/loyalty/core/localpg"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/operation"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/vault"
	checks "example.com/loyalty/core/verify"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/web/email"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/mailbox"
	"example.com/loyalty/web/page"
)

// app is the product without its front ends: a database and the services on it.
type app struct {
	*config
	log     *slog.Logger
	cluster *localpg.Cluster // nil with DATABASE_URL
	logins  logins

	stopping    atomic.Bool // the process was told to stop
	wrongSecret atomic.Bool // found after the start

	mailbox *mailbox.Pages // nil: mails are sent
	scratch *page.Scratch  // temporary files of exports

	db     *db.DB
	probe  *db.DB // one connection, for /readyz
	direct *db.DB // the job queue's and the live updates': it listens, past a transaction pooler if there is one
	jobs   *job.Queue

	readiness    *readinessCheck
	keys         vault.Keys
	auth         *auth.Service
	staff        *staff.Service
	mails        *mail.Service
	tokens       *token.Service
	customers    *customer.Service
	imports      *importing.Service
	transactions *transaction.Service
	rewards      *reward.Service
	coupons      *coupon.Service
	locations    *location.Service
	walkins      *walkin.Service
	live         *live.Hub
	reports      *report.Service
	tenants      *tenant.Service
	invoices     *billing.Service
	deprecations *deprecation.Service
	checks       *checks.Service
	operations   *operation.Service
}

// logins are the URLs of the database. Serving is not owning.
type logins struct {
	serve  string // for requests; perhaps through a transaction pooler
	direct string // past the pooler: for jobs and live updates
	owner  string // owns the tables: for migrations, the check of everything and psql
}

// database finds the database: the one that is named, or the private one, started
// if need be and brought up to date.
func (c *config) database(ctx context.Context, log *slog.Logger) (logins, *localpg.Cluster, error) {
	if !c.private() {
		direct := cmp.Or(c.DatabaseDirectURL, c.DatabaseURL)
		return logins{serve: c.DatabaseURL, direct: direct, owner: cmp.Or(c.DatabaseOwnerURL, direct)}, nil, nil
	}
	cluster, err := localpg.Start(ctx, localpg.Config{Dir: c.DataDir, Log: log})
	if err != nil {
		return logins{}, nil, err
	}
	if _, err := db.Migrate(ctx, cluster.URL()); err != nil {
		return logins{}, nil, stopped(ctx, cluster, err)
	}
	return logins{serve: cluster.ServingURL(), direct: cluster.ServingURL(), owner: cluster.URL()}, cluster, nil
}

// open connects and makes the services.
func open(ctx context.Context, c *config, log *slog.Logger) (*app, error) {
	logins, cluster, err := c.database(ctx, log)
	if err != nil {
		return nil, err
	}
	a := &app{config: c, log: log, cluster: cluster, logins: logins}
	if err := a.connect(ctx); err != nil {
		a.close(ctx)
		return nil, err
	}
	return a, nil
}

func (a *app) connect(ctx context.Context) (err error) {
	if a.private() {
		a.secretFromFile = len(a.Secret) == 0
		if err := a.ensureSecret(); err != nil {
			return err
		}
	}
	if a.keys, err = vault.New(a.Secret); err != nil {
		return err
	}
	if a.db, err = db.Open(ctx, a.logins.serve, db.Options{Pooler: a.DatabaseDirectURL != "", OwnerURL: a.logins.owner}); err != nil {
		return err
	}
	if !a.anySecret {
		if err := a.checkSecret(ctx); err != nil {
			return err
		}
	}
	probing := db.Options{MaxConns: 1, Pooler: a.DatabaseDirectURL != "", OwnerURL: a.logins.owner}
	if a.probe, err = db.Open(ctx, a.logins.serve, probing); err != nil {
		return err
	}
	a.readiness = newReadiness(a.probe)
	if a.direct, err = db.Open(ctx, a.logins.direct, db.Options{MaxConns: 7, Listens: true, OwnerURL: a.logins.owner}); err != nil {
		return err
	}
	// The queue tells much of itself; what went wrong is enough.
	if a.jobs, err = job.New(a.direct, a.loggerFrom(slog.LevelWarn)); err != nil {
		return err
	}
	a.mails = mail.New(a.db, a.jobs, email.Render(a.names), a.sender, a.log)
	job.Handle(a.jobs, job.Upkeep, a.forgetAnswers)
	job.Every(a.jobs, river.PeriodicInterval(time.Hour), forgetAnswers{})
	audit.RegisterRetention(a.db, a.jobs, a.entries)
	a.auth = auth.NewService(a.db, a.jobs, a.mails, a.keys, host.LimitKey, a.log)
	a.staff = staff.NewService(a.db, a.mails, a.auth)
	a.tokens = token.NewService(a.db, a.jobs, a.mails)
	a.customers = customer.NewService(a.db)
	a.imports = importing.NewService(a.db, a.jobs)
	a.transactions = transaction.NewService(a.db)
	a.rewards = reward.NewService(a.db)
	a.coupons = coupon.NewService(a.db, a.jobs, a.mails, link.New(a.keys), a.log)
	a.locations = location.NewService(a.db)
	a.walkins = walkin.NewService(a.db, a.jobs, a.mails, a.keys, a.transactions, host.LimitKey)
	a.live = live.NewHub(a.log)
	a.reports = report.NewService(a.db)
	a.tenants = tenant.NewService(a.db, a.mails)
	a.tenants.CountEvery(a.jobs)
	a.invoices = billing.NewService(a.db, a.jobs, a.mails, a.log)
	a.deprecations = deprecation.NewService(a.db, a.jobs, a.mails, a.log)
	a.checks = checks.NewService(a.db, a.jobs, a.log)
	a.operations = operation.NewService(a.direct, a.jobs)
	return nil
}

// forgetAnswers is the job that deletes answers kept for idempotency keys after
// their day.
type forgetAnswers struct{}

// Kind names the job in the queue.
func (forgetAnswers) Kind() string { return "forget_answers" }

func (a *app) forgetAnswers(ctx context.Context, _ forgetAnswers) error {
	return job.Drain(ctx, a.db, "idempotency keys", func(ctx context.Context, tx *db.Tx) (int64, error) {
		return db.DeleteOldResponses(ctx, tx, job.Batch)
	})
}

// close ends what open began. The context may be over: a clean end gets time of its own.
func (a *app) close(ctx context.Context) {
	if a.direct != nil {
		a.direct.Close()
	}
	if a.probe != nil {
		a.probe.Close()
	}
	if a.db != nil {
		a.db.Close()
	}
	if a.cluster != nil {
		if err := stopped(ctx, a.cluster, nil); err != nil {
			a.log.ErrorContext(ctx, "private PostgreSQL", slog.Any("error", err))
		}
	}
}

func stopped(ctx context.Context, cluster *localpg.Cluster, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := cluster.Stop(ctx); cause == nil {
		return err
	}
	return cause
}
