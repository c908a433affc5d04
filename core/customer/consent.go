package customer

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// ConsentKind is what a customer agreed to.
type ConsentKind string

// The kinds.
const (
	Terms  ConsentKind = "terms"  // storing their details
	Offers ConsentKind = "offers" // e-mails with offers
)

// ConsentSource is where a customer agreed.
type ConsentSource string

// The sources.
const (
	FromJoin  ConsentSource = "join"  // the page to join
	FromClaim ConsentSource = "claim" // the page to collect a sale at the till
)

// Consent is what a customer agrees to when they join, in the words they were shown.
type Consent struct {
	Terms  string
	Offers string // "": not agreed
	Source ConsentSource
}

// RecordConsent stores what a new customer agreed to, in the transaction that created them. Without
// consent to offers they are unsubscribed.
func RecordConsent(tx *db.Tx, by core.Actor, id core.ID, c Consent) error {
	for kind, text := range map[ConsentKind]string{Terms: c.Terms, Offers: c.Offers} {
		if text == "" && kind == Offers {
			continue
		}
		err := db.Queue(tx, agreeSQL, db.Args{"customer": id, "kind": kind, "text": text, "source": c.Source, "now": tx.Now})
		if err != nil {
			return err
		}
	}
	if c.Offers == "" {
		if err := db.Queue(tx, subscribeSQL, db.Args{"id": id, "unsubscribed_at": tx.Now, "now": tx.Now}); err != nil {
			return err
		}
	}
	return audit.Write(tx, by, audit.Entry{
		Action: "customer.consent", Subject: "customer", ID: id.String(),
		New: map[string]any{"terms": c.Terms, "offers": c.Offers != "", "source": c.Source},
	})
}

const agreeSQL = `
	insert into loyalty.consent (tenant_id, customer_id, kind, text, source, given_at)
	values (@tenant_id, @customer, @kind, @text, @source, @now)`

const deleteConsentSQL = `
	delete from loyalty.consent
	where tenant_id = @tenant_id
		and customer_id = @id`

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
	return db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (Customer, error) {
		var at *time.Time
		if unsubscribed {
			at = &tx.Now
		}
		changed, err := db.One[Customer](ctx, tx, subscribeSQL, db.Args{"id": id, "unsubscribed_at": at, "now": tx.Now})
		if errors.Is(err, core.ErrNotFound) {
			// They had chosen that before, are erased, or don't exist.
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
