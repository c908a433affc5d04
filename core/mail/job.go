package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// Delivery is the job that delivers a mail.
type Delivery struct {
	Tenant core.TenantID `json:"tenant"` // whose mail it is; 0: the platform's
	Mail   core.ID       `json:"mail"`

	ToCustomer bool `json:"to_customer,omitempty"` // of the tenant: it waits while the tenant is suspended
}

// Kind names the job in the queue.
func (Delivery) Kind() string { return "mail_delivery" }

// ForTenant returns the tenant whose share of the workers the job uses.
func (d Delivery) ForTenant() core.TenantID { return d.Tenant }

// giveUpAfter is how long delivery is tried. Mail servers also try for about five days, and the links in
// a mail have expired by then.
const giveUpAfter = 5 * 24 * time.Hour

func (s *Service) deliver(ctx context.Context, d Delivery) error {
	m, err := db.One[queuedMail](ctx, s.db.Platform(), findQueuedSQL, db.Args{"id": d.Mail, "tenant": d.Tenant})
	if errors.Is(err, core.ErrNotFound) {
		return nil // delivered by an earlier run of this job
	}
	if err != nil {
		return err
	}
	if d.ToCustomer && m.Suspended {
		return core.ErrSuspended
	}
	courier := &Courier{service: s}
	defer courier.Close()
	tried := courier.Deliver(ctx, m.Mail, s.db.Now().Sub(m.CreatedAt) > giveUpAfter)
	switch tried.Outcome {
	case Deferred:
		s.db.Count(Metric(Deferred), 1)
		err = fmt.Errorf("mail %s: %w", m.ID, tried.Err) // the queue logs it
		if errors.Is(err, ErrMailboxBusy) {
			return job.Postponed(err)
		}
		return err
	case Sent:
		s.log.InfoContext(ctx, "mail sent", slog.String("mail", m.ID.String())) // by which the mail server's log has it, too
	case Refused, GivenUp:
		s.log.ErrorContext(ctx, "mail given up", slog.String("mail", m.ID.String()), slog.Any("error", tried.Err))
	}
	return s.storeResult(ctx, m.ID, tried)
}

// storeResult stores how the last attempt to deliver a mail ended, and why.
func (s *Service) storeResult(ctx context.Context, id core.ID, tried Attempt) error {
	return db.Run(ctx, s.db.Platform(), func(tx *db.Tx) error {
		db.Count(tx, Metric(tried.Outcome), 1)
		if tried.Outcome == Kept {
			return db.Queue(tx, keepSQL, db.Args{"id": id, "now": tx.Now})
		}
		args := db.Args{"id": id, "status": "sent", "error": nil, "now": tx.Now}
		if tried.Err != nil {
			args["status"], args["error"] = "failed", tried.Err.Error()
		}
		return db.Queue(tx, endSQL, args) // with the commit, so that a kill rarely comes between
	})
}

// upkeep is the job that gives up mails whose delivery job was cancelled or failed for good, because
// their text may contain secrets. It also deletes old mails.
type upkeep struct{}

// Kind names the job in the queue.
func (upkeep) Kind() string { return "mail_upkeep" }

// KindAliases has the name that earlier builds queue it under.
func (upkeep) KindAliases() []string { return []string{"mail_round"} }

const (
	// abandonedAfter is the age at which a queued mail has no delivery job: the last one, at most an
	// hour after giveUpAfter, gives the mail up itself.
	abandonedAfter = giveUpAfter + 24*time.Hour
	textKept       = 7 * 24 * time.Hour  // of mails without a mail server
	mailsKept      = 90 * 24 * time.Hour // recipient, subject and outcome
)

func (s *Service) runUpkeep(ctx context.Context, _ upkeep) error {
	return job.Drain(ctx, s.db, func(ctx context.Context, tx *db.Tx) (done int64, err error) {
		for statement, age := range map[string]time.Duration{
			giveUpAbandonedSQL: abandonedAfter, blankKeptSQL: textKept, deleteEndedSQL: mailsKept,
		} {
			args := db.Args{"before": tx.Now.Add(-age), "up_to": job.Batch}
			if statement == giveUpAbandonedSQL {
				args["now"] = tx.Now
			}
			n, err := db.Exec(ctx, tx, statement, args)
			if err != nil {
				return 0, err
			}
			done += n
		}
		return done, nil
	})
}
