package customer

import (
	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// ConsentKind says what a customer agreed to.
type ConsentKind string

// The kinds.
const (
	Terms  ConsentKind = "terms"  // that the business keeps their details
	Offers ConsentKind = "offers" // to be e-mailed offers
)

// ConsentSource is where a customer agreed.
type ConsentSource string

// The sources.
const (
	FromJoin  ConsentSource = "join"  // the page to join on
	FromClaim ConsentSource = "claim" // the page of a sale that a till showed
)

// Consent is what a customer agrees to while they join, in the words they were shown.
type Consent struct {
	Terms  string
	Offers string // "": they don't want any
	Source ConsentSource
}

// RecordConsent notes what a new customer agreed to, in the transaction that made them. Without
// consent to offers they are unsubscribed from the start.
func RecordConsent(tx *db.Tx, by core.Actor, id core.ID, c Consent) error {
	given := map[ConsentKind]string{Terms: c.Terms}
	if c.Offers != "" {
		given[Offers] = c.Offers
	}
	for _, kind := range []ConsentKind{Terms, Offers} {
		text, agreed := given[kind]
		if !agreed {
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

const forgetConsentSQL = `
	delete from loyalty.consent
	where tenant_id = @tenant_id
		and customer_id = @id`
