package mail

import (
	"context"
	"errors"
	"log/slog"

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

func (s *Service) deliver(ctx context.Context, d Delivery) error {
	m, err := db.PlatformOne[Mail](ctx, s.db, findQueuedSQL, db.Args{"id": d.Mail})
	if errors.Is(err, core.ErrNotFound) {
		return nil // delivered by an earlier run of this job
	}
	if err != nil {
		return err
	}
	status := "kept"
	if s.sender != nil {
		if err := s.sender.Send(ctx, m); err != nil {
			s.log.WarnContext(ctx, "mail not delivered yet", slog.String("mail", m.ID.String()), slog.Any("error", err))
			return err
		}
		status = "sent"
	}
	_, err = db.Platform(ctx, s.db, system, func(tx *db.Tx) (int64, error) {
		return db.Exec(ctx, tx, markSQL, db.Args{"id": m.ID, "status": status, "now": tx.Now})
	})
	return err
}
