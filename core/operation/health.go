package operation

import (
	"context"
	"sync"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/verify"
)

// Health is the state of the installation. Each part has its own error, so that the others can be shown
// while the database works only partly.
type Health struct {
	Database Part[Database]
	Steps    Part[db.Steps]
	Queues   Part[[]job.Load]
	Mails    Part[Mails]
	Verify   Part[[]verify.PastRun] // empty: never run
	Backups  Part[Backups]
}

// Part is a part of Health, or why it is unknown.
type Part[T any] struct {
	Value T
	Err   error
}

// Database is the state of PostgreSQL.
type Database struct {
	Version     string // "15.18"
	Bytes       int64
	Connections int64 // to this database, from all processes
	MaxConns    int64 // of the whole server
}

// Mails are the waiting e-mails and those that failed in the last 24 hours: single ones, and those of
// sends started in that time.
type Mails struct{ Single, Sends mail.Backlog }

const databaseSQL = `
	select current_setting('server_version') as version, pg_database_size(current_database()) as bytes,
		(select count(*) from pg_stat_activity where datname = current_database()) as connections,
		current_setting('max_connections')::bigint as max_conns`

const mailingSQL = `
	select waiting, failed
	from loyalty.mailing_progress(@after)`

// patience is the time limit of a part of Health.
const patience = 3 * time.Second

// Health returns the state of the installation. Its parts are read at the same time, each with a time
// limit.
func (s *Service) Health(ctx context.Context, by core.Actor) (Health, error) {
	if err := by.RequireAdmin(); err != nil {
		return Health{}, err
	}
	var h Health
	var parts sync.WaitGroup
	readPart(ctx, &parts, &h.Database.Err, func(ctx context.Context) (err error) {
		h.Database.Value, err = db.One[Database](ctx, s.db.Platform(), databaseSQL, nil)
		return err
	})
	readPart(ctx, &parts, &h.Steps.Err, func(ctx context.Context) error {
		return db.Together(ctx, s.db.Platform(), db.ReadSteps(&h.Steps.Value))
	})
	readPart(ctx, &parts, &h.Queues.Err, func(ctx context.Context) (err error) {
		h.Queues.Value, err = s.jobs.Load(ctx)
		return err
	})
	readPart(ctx, &parts, &h.Mails.Err, func(ctx context.Context) error {
		return db.Together(ctx, s.db.Platform(), s.readMails(&h.Mails.Value)...)
	})
	readPart(ctx, &parts, &h.Verify.Err, func(ctx context.Context) error {
		return db.Together(ctx, s.db.Platform(), verify.ReadLast(&h.Verify.Value))
	})
	readPart(ctx, &parts, &h.Backups.Err, func(ctx context.Context) error {
		return db.Together(ctx, s.db.Platform(), readBackups(&h.Backups.Value))
	})
	parts.Wait()
	return h, ctx.Err()
}

func readPart(ctx context.Context, parts *sync.WaitGroup, failed *error, read func(context.Context) error) {
	parts.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		*failed = read(ctx)
	})
}

func (s *Service) readMails(to *Mails) []db.Reading {
	after := s.db.Now().Add(-24 * time.Hour)
	return []db.Reading{
		mail.ReadBacklog(&to.Single, after),
		db.OneInto(&to.Sends, mailingSQL, db.Args{"after": after}),
	}
}

// Backlog is the waiting work, for monitoring.
type Backlog struct {
	Queues  []job.Load
	Mails   Mails
	Sends   Sends
	Verify  *verify.PastRun // the last run that ended; nil: none
	Backups Backups
}

// Sends are the sends whose vouchers are being e-mailed.
type Sends struct {
	QueuedSince *time.Time // when the e-mails were queued that have waited longest; nil: none wait
}

// The job that e-mails a send's vouchers lasts until all are sent.
const mailedSendsSQL = `
	select min(created_at) as queued_since
	from river.river_job
	where kind = 'coupon_delivery'
		and state in ('available', 'scheduled', 'retryable', 'running')`

// Backlog returns the waiting work, for the process itself, in one round trip.
func (s *Service) Backlog(ctx context.Context) (b Backlog, err error) {
	var past []verify.PastRun
	err = db.Together(ctx, s.db.Platform(), append(s.readMails(&b.Mails),
		s.jobs.ReadLoad(&b.Queues),
		db.OneInto(&b.Sends, mailedSendsSQL, nil),
		verify.ReadEnded(&past),
		readBackups(&b.Backups),
	)...)
	if err != nil {
		return Backlog{}, err
	}
	if len(past) > 0 {
		b.Verify = &past[0]
	}
	return b, nil
}
