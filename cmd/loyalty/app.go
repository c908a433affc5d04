package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/localpg"
	"example.com/loyalty/core/loyalty"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/vault"
	"example.com/loyalty/web/email"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/mailbox"
	"example.com/loyalty/web/page"
)

// app is the product without its front ends: the database and the services.
type app struct {
	*config
	log     *slog.Logger
	cluster *localpg.Cluster // nil with DATABASE_URL
	urls    databaseURLs

	stopping    atomic.Bool // the process is shutting down
	wrongSecret atomic.Bool // detected after the start

	mailbox *mailbox.Pages // nil if e-mails are sent
	scratch *page.Scratch  // temporary files of exports
	acme    *host.ACME     // nil in other TLS modes

	redis  *limit.Redis // nil: each process limits requests for itself
	db     *db.DB
	direct *db.DB // for the job queue and live updates, without a transaction pooler
	jobs   *job.Queue

	readiness *readinessCheck
	keys      vault.Keys
	mails     email.Mails
	*loyalty.Services
}

// databaseURLs are the URLs of the database, each with its login.
type databaseURLs struct {
	serve  string // for requests; maybe through a transaction pooler
	direct string // without the pooler, for jobs and live updates
	owner  string // of the login that owns the tables, for migrations, verify and psql
}

// database returns the URLs of the configured database, or those of the private one, which
// it starts and migrates first.
func (c *config) database(ctx context.Context, log *slog.Logger) (databaseURLs, *localpg.Cluster, error) {
	if !c.private() {
		direct := cmp.Or(c.DatabaseDirectURL, c.DatabaseURL)
		return databaseURLs{serve: c.DatabaseURL, direct: direct, owner: cmp.Or(c.DatabaseOwnerURL, direct)}, nil, nil
	}
	if _, err := localpg.Find(c.DataDir); err != nil && !c.creates {
		// The shell of an operator's machine doesn't have the settings of its service. An empty database isn't what was meant.
		return databaseURLs{}, nil, fmt.Errorf("DATABASE_URL is not set, and there is no private installation in %s: run the command with the settings of your installation", absolute(c.DataDir))
	}
	cluster, err := localpg.Start(ctx, c.DataDir, log)
	if err != nil {
		return databaseURLs{}, nil, err
	}
	if _, err := db.Migrate(ctx, cluster.URL()); err != nil {
		return databaseURLs{}, nil, stopCluster(ctx, cluster, err)
	}
	return databaseURLs{serve: cluster.ServingURL(), direct: cluster.ServingURL(), owner: cluster.URL()}, cluster, nil
}

// open connects to the database and creates the services.
func open(ctx context.Context, c *config, log *slog.Logger) (*app, error) {
	urls, cluster, err := c.database(ctx, log)
	if err != nil {
		return nil, err
	}
	a := &app{config: c, log: log, cluster: cluster, urls: urls}
	if err := a.connect(ctx); err != nil {
		a.close(ctx)
		return nil, err
	}
	return a, nil
}

func (a *app) connect(ctx context.Context) (err error) {
	if a.RedisURL != "" {
		if a.redis, err = limit.OpenRedis(ctx, a.RedisURL, a.log); err != nil {
			return err
		}
	}
	if err := a.checkDatabase(ctx); err != nil {
		return err
	}
	if a.db, err = db.Open(ctx, a.urls.serve, db.Options{Pooler: a.DatabaseDirectURL != "", OwnerURL: a.urls.owner}); err != nil {
		return err
	}
	if !a.serves {
		if err := a.db.Ready(ctx); err != nil {
			return err
		}
	}
	if a.private() {
		if err := a.findSecret(ctx); err != nil {
			return err
		}
	}
	if a.keys, err = vault.New(a.Secret); err != nil {
		return err
	}
	if !a.anySecret {
		if err := a.checkSecret(ctx); err != nil {
			return err
		}
	}
	a.readiness = newReadiness(a.db)
	if a.direct, err = db.Open(ctx, a.urls.direct, db.Options{MaxConns: 7, Listens: true, OwnerURL: a.urls.owner}); err != nil {
		return err
	}
	// The queue logs a lot: warnings are enough.
	if a.jobs, err = job.New(a.direct, a.loggerAt(slog.LevelWarn)); err != nil {
		return err
	}
	a.mails = email.New(mail.New(a.db, a.jobs, a.sender, a.log), a.names)
	a.Services = loyalty.New(a.db, a.jobs, a.mails, a.keys, loyalty.Options{
		Direct: a.direct, Host: a.names.Host(), AddressKey: host.LimitKey, Redis: a.redis, Log: a.log,
	})
	a.scheduleUpkeep()
	return nil
}

// scheduleUpkeep registers the periodic jobs that no service registers by itself.
func (a *app) scheduleUpkeep() {
	job.Handle(a.jobs, job.Upkeep, a.deleteOldResponses)
	job.Every(a.jobs, time.Hour, deleteOldResponses{})
	job.Handle(a.jobs, job.Upkeep, a.renewKeys)
	job.Every(a.jobs, 10*time.Minute, renewKeys{})
	audit.RegisterRetention(a.db, a.jobs, a.entries)
	a.Notifications.CheckEvery(a.jobs)
	a.Tenants.CountEvery(a.jobs)
	a.Tenants.RenewLogosEvery(a.jobs)
}

// checkDatabase waits for the database, and refuses one that no command can use.
func (a *app) checkDatabase(ctx context.Context) error {
	for _, url := range slices.Compact([]string{a.urls.serve, a.urls.direct}) {
		if err := db.Await(ctx, url, a.patience(), a.log); err != nil {
			return err
		}
	}
	return nil
}

// deleteOldResponses is the job that deletes stored idempotent responses after a day.
type deleteOldResponses struct{}

// Kind names the job in the queue.
func (deleteOldResponses) Kind() string { return "delete_old_responses" }

// KindAliases has the name that earlier builds queue it under.
func (deleteOldResponses) KindAliases() []string { return []string{"forget_answers"} }

func (a *app) deleteOldResponses(ctx context.Context, _ deleteOldResponses) error {
	return job.Drain(ctx, a.db, func(ctx context.Context, tx *db.Tx) (int64, error) {
		return db.DeleteOldResponses(ctx, tx, job.Batch)
	})
}

// renewKeys is the job that computes the keys again that an earlier build wrote, by which customers and people are found.
type renewKeys struct{}

// Kind names the job in the queue.
func (renewKeys) Kind() string { return "renew_keys" }

func (a *app) renewKeys(ctx context.Context, _ renewKeys) error {
	for what, renew := range map[string]func(context.Context, *db.Tx) (done, same int64, err error){
		"customers": customer.RenewKeys, "staff": staff.RenewKeys,
	} {
		err := job.Drain(ctx, a.db, func(ctx context.Context, tx *db.Tx) (int64, error) {
			done, same, err := renew(ctx, tx)
			if same > 0 {
				a.log.WarnContext(ctx, "the same phone number or e-mail address twice", slog.String("of", what), slog.Int64("count", same))
			}
			return done, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// close releases everything that open opened. It works with a cancelled context, too.
func (a *app) close(ctx context.Context) {
	if a.redis != nil {
		a.redis.Close() //nolint:errcheck // nothing to save
	}
	if a.acme != nil {
		a.acme.Close()
	}
	if a.direct != nil {
		a.direct.Close()
	}
	if a.db != nil {
		a.db.Close()
	}
	if a.cluster != nil {
		if err := stopCluster(ctx, a.cluster, nil); err != nil {
			a.log.ErrorContext(ctx, "stopping the private PostgreSQL failed", slog.Any("error", err))
		}
	}
}

// stopCluster stops the private PostgreSQL, and returns cause if there is one.
func stopCluster(ctx context.Context, cluster *localpg.Cluster, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := cluster.Stop(ctx); cause == nil {
		return err
	}
	return cause
}
