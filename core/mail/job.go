package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Delivery is the job that delivers a mail.
type Delivery struct {
	Tenant core.TenantID `json:"tenant"` // 0: the platform's, or queued before this was noted
	Mail   core.ID       `json:"mail"`
}

// Kind names the job in the queue.
func (Delivery) Kind() string { return "mail_delivery" }

// ForTenant is the tenant whose share of the workers it uses.
func (d Delivery) ForTenant() core.TenantID { return d.Tenant }

var system = core.System(core.Tenant{}, "mail")

// Somebody who waits for a mail has given up by then, and what it links to has ended.
// Mail servers, too, try for some five days.
const giveUpAfter = 5 * 24 * time.Hour

func (s *Service) deliver(ctx context.Context, d Delivery) error {
	m, err := db.PlatformOne[Mail](ctx, s.db, findQueuedSQL, db.Args{"id": d.Mail})
	if errors.Is(err, core.ErrNotFound) {
		return nil // delivered by an earlier run of this job
	}
	if err != nil {
		return err
	}
	if s.sender == nil {
		return s.keep(ctx, m)
	}
	err = s.send(ctx, m)
	if err == nil {
		return s.end(ctx, m, "sent", Sent, nil)
	}
	outcome := Deferred
	if errors.Is(err, ErrRefused) {
		outcome = Refused
	} else if s.db.Now().Sub(m.CreatedAt) > giveUpAfter {
		outcome = GivenUp
	}
	if outcome != Deferred {
		s.log.ErrorContext(ctx, "mail not delivered, and given up", slog.String("mail", m.ID.String()), slog.Any("error", err))
		return s.end(ctx, m, "failed", outcome, err)
	}
	s.db.Count(Counted(Deferred), 1)
	return fmt.Errorf("mail %s: %w", m.ID, err) // the queue logs it, once
}

// send delivers one mail over a connection of its own.
func (s *Service) send(ctx context.Context, m Mail) error {
	conn, err := s.sender.Dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // the server has the mail: how they part doesn't matter
	return conn.Send(ctx, m)
}

// keep leaves a mail in the database, where there is no server for it.
func (s *Service) keep(ctx context.Context, m Mail) error {
	_, err := db.Platform(ctx, s.db, system, func(tx *db.Tx) (int64, error) {
		db.Count(tx, Counted(Kept), 1)
		return db.Exec(ctx, tx, keepSQL, db.Args{"id": m.ID, "now": tx.Now})
	})
	return err
}

// end notes what became of a mail, and why.
func (s *Service) end(ctx context.Context, m Mail, status, outcome string, cause error) error {
	var reason *string
	if cause != nil {
		reason = new(cause.Error())
	}
	_, err := db.Platform(ctx, s.db, system, func(tx *db.Tx) (int, error) {
		db.Count(tx, Counted(outcome), 1)
		return 0, db.Queue(tx, endSQL, db.Args{"id": m.ID, "status": status, "error": reason, "now": tx.Now}) // one round trip: less time to be killed in
	})
	return err
}

// round is the job that gives up mails whose delivery was cancelled, or failed for good:
// they will not be sent, and their words may hold secrets.
type round struct{}

// Kind names the job in the queue.
func (round) Kind() string { return "mail_round" }

// abandonedAfter is when no delivery of a mail can be left: the last one, an hour after
// giveUpAfter at the latest, gives it up itself.
const abandonedAfter = giveUpAfter + 24*time.Hour

func (s *Service) giveUpAbandoned(ctx context.Context, _ round) error {
	_, err := db.Platform(ctx, s.db, system, func(tx *db.Tx) (int64, error) {
		return db.Exec(ctx, tx, giveUpAbandonedSQL, db.Args{"before": tx.Now.Add(-abandonedAfter), "now": tx.Now})
	})
	return err
}
