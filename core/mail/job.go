package mail

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Delivery is the job that delivers a mail.
type Delivery struct {
	Mail core.ID `json:"mail"`
}

// Kind names the job in the queue.
func (Delivery) Kind() string { return "mail_delivery" }

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
	about := slog.String("mail", m.ID.String())
	err = s.sender.Send(ctx, m)
	switch {
	case err == nil:
		return s.end(ctx, m, "sent", nil)
	case errors.Is(err, ErrRefused), s.db.Now().Sub(m.CreatedAt) > giveUpAfter:
		s.log.ErrorContext(ctx, "mail not delivered, and given up", about, slog.Any("error", err))
		return s.end(ctx, m, "failed", err)
	}
	s.log.WarnContext(ctx, "mail not delivered yet", about, slog.Any("error", err))
	return err
}

// keep leaves a mail in the database, where there is no server for it.
func (s *Service) keep(ctx context.Context, m Mail) error {
	_, err := db.Platform(ctx, s.db, system, func(tx *db.Tx) (int64, error) {
		return db.Exec(ctx, tx, keepSQL, db.Args{"id": m.ID, "now": tx.Now})
	})
	return err
}

// end notes what became of a mail, and why.
func (s *Service) end(ctx context.Context, m Mail, status string, cause error) error {
	var reason *string
	if cause != nil {
		reason = new(cause.Error())
	}
	_, err := db.Platform(ctx, s.db, system, func(tx *db.Tx) (int64, error) {
		return db.Exec(ctx, tx, endSQL, db.Args{"id": m.ID, "status": status, "error": reason, "now": tx.Now})
	})
	return err
}
