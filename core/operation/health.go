package operation

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/verify"
)

// Health is how the installation is. Each part is there or says why not: a database that
// answers half of the questions is when they matter most.
type Health struct {
	Database Part[Database]
	Steps    Part[db.Steps]
	Queues   Part[[]job.Load]
	Mails    Part[Mails]
	Verify   Part[[]verify.PastRun] // empty: it has never run
}

// Part is a part of Health, or why it is unknown.
type Part[T any] struct {
	Value T
	Err   error
}

// Database is what PostgreSQL says of itself.
type Database struct {
	Version     string // "15.18"
	Bytes       int64
	Connections int64 // to this database, from all processes
	MaxConns    int64 // of the whole server
}

// Mails are the e-mails that wait, and those that failed in the last 24 hours: single ones
// and those of sends that began in that time.
type Mails struct{ Single, Sends mail.Backlog }

const databaseSQL = `
	select current_setting('server_version') as version, pg_database_size(current_database()) as bytes,
		(select count(*) from pg_stat_activity where datname = current_database()) as connections,
		current_setting('max_connections')::bigint as max_conns`

const mailingSQL = `
	select waiting, failed
	from loyalty.mailing_progress(@after)`

// patience is how long a part of Health may take.
const patience = 3 * time.Second

// Health asks how the installation is. Five round trips, at once, each with a time limit.
func (s *Service) Health(ctx context.Context, by core.Actor) (Health, error) {
	if err := by.RequireAdmin(); err != nil {
		return Health{}, err
	}
	var h Health
	parts := []func(context.Context) error{
		func(ctx context.Context) (err error) {
			h.Database.Value, err = db.PlatformOne[Database](ctx, s.db, databaseSQL, nil)
			return set(&h.Database.Err, err)
		},
		func(ctx context.Context) error {
			return set(&h.Steps.Err, db.PlatformTogether(ctx, s.db, db.ReadSteps(&h.Steps.Value)))
		},
		func(ctx context.Context) (err error) {
			h.Queues.Value, err = s.jobs.Load(ctx)
			return set(&h.Queues.Err, err)
		},
		func(ctx context.Context) (err error) {
			h.Mails.Value, err = s.mailsOf(ctx)
			return set(&h.Mails.Err, err)
		},
		func(ctx context.Context) error {
			return set(&h.Verify.Err, db.PlatformTogether(ctx, s.db, verify.ReadLast(&h.Verify.Value)))
		},
	}
	done := make(chan struct{})
	for _, part := range parts {
		go func() {
			defer func() { done <- struct{}{} }()
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			_ = part(ctx) // kept in its part
		}()
	}
	for range parts {
		<-done
	}
	return h, ctx.Err()
}

func set(to *error, err error) error {
	*to = err
	return err
}

func (s *Service) mailsOf(ctx context.Context) (Mails, error) {
	var m Mails
	after := s.db.Now().Add(-24 * time.Hour)
	err := db.PlatformTogether(ctx, s.db, mail.ReadBacklog(&m.Single, after), db.OneInto(&m.Sends, mailingSQL, db.Args{"after": after}))
	return m, err
}

// Backlog is what the figures for monitoring are made of.
type Backlog struct {
	Queues []job.Load
	Mails  Mails
	Verify *verify.PastRun // the last run that ended; nil: none has
}

// Backlog reads it, for the process itself. Three round trips.
func (s *Service) Backlog(ctx context.Context) (b Backlog, err error) {
	if b.Queues, err = s.jobs.Load(ctx); err != nil {
		return Backlog{}, err
	}
	if b.Mails, err = s.mailsOf(ctx); err != nil {
		return Backlog{}, err
	}
	var past []verify.PastRun
	if err := db.PlatformTogether(ctx, s.db, verify.ReadEnded(&past)); err != nil {
		return Backlog{}, err
	}
	if len(past) > 0 {
		b.Verify = &past[0]
	}
	return b, nil
}
