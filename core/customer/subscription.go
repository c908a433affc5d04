package customer

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// Unsubscribe stops coupon e-mails to a customer. They still get vouchers. Unsubscribing again does
// nothing.
func (s *Service) Unsubscribe(ctx context.Context, by core.Actor, id core.ID) (Customer, error) {
	return s.subscribe(ctx, by, id, "customer.unsubscribe", true)
}

// Subscribe resumes coupon e-mails to a customer. Subscribing again does nothing.
func (s *Service) Subscribe(ctx context.Context, by core.Actor, id core.ID) (Customer, error) {
	return s.subscribe(ctx, by, id, "customer.subscribe", false)
}

func (s *Service) subscribe(ctx context.Context, by core.Actor, id core.ID, action string, unsubscribed bool) (Customer, error) {
	if err := by.Require(core.Manager); err != nil {
		return Customer{}, err
	}
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Customer, error) {
		var at *time.Time
		if unsubscribed {
			at = &tx.Now
		}
		changed, err := db.One[Customer](ctx, tx, subscribeSQL, db.Args{"id": id, "unsubscribed_at": at, "now": tx.Now})
		if errors.Is(err, core.ErrNotFound) {
			// They are already so, erased, or don't exist.
			return db.One[Customer](ctx, tx, findSQL, db.Args{"id": id})
		}
		if err != nil {
			return Customer{}, err
		}
		return changed, audit.Write(tx, by, audit.Entry{
			Action: action, Subject: "customer", ID: id.String(),
			Old: map[string]any{"unsubscribed": !unsubscribed}, New: map[string]any{"unsubscribed": unsubscribed},
		})
	})
}
