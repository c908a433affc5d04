package customer

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// What is held about a customer, as they are given it. Of the people who served them it
// says what they are, not their names: those are about somebody else.
type (
	heldCustomer struct {
		ID        core.ID   `json:"ulid"`
		FirstName string    `json:"first_name"`
		LastName  string    `json:"last_name"`
		Phone     string    `json:"phone"`
		Email     *string   `json:"email"`
		Status    Status    `json:"status"`
		Points    int64     `json:"points_balance"`
		Stamps    int64     `json:"stamps_balance"`
		CreatedAt time.Time `json:"created_at"`
		UpdatedAt time.Time `json:"updated_at"`

		UnsubscribedAt *time.Time `json:"unsubscribed_at"`
	}
	heldEntry struct {
		ID           core.ID        `json:"ulid"`
		CreatedAt    time.Time      `json:"created_at"`
		Kind         ledger.Kind    `json:"kind"`
		Unit         ledger.Unit    `json:"unit"`
		Amount       int64          `json:"amount"`
		BalanceAfter int64          `json:"balance_after"`
		Cause        *core.ID       `json:"cause"`
		Reason       *string        `json:"reason"`
		By           core.ActorKind `json:"by"`
	}
	heldSale struct {
		ID                core.ID        `json:"ulid"`
		CreatedAt         time.Time      `json:"created_at"`
		Status            string         `json:"status"`
		VoidedAt          *time.Time     `json:"voided_at"`
		TypeName          string         `json:"transaction_type"`
		LocationName      *string        `json:"location"`
		SpendAmountCents  int64          `json:"spend_amount_cents"`
		PointsAwarded     *int64         `json:"points_awarded"`
		StampsAwarded     *int64         `json:"stamps_awarded"`
		Source            string         `json:"source"`
		ExternalReference *string        `json:"external_reference"`
		ActorKind         core.ActorKind `json:"by"`
	}
	heldRedemption struct {
		ID          core.ID        `json:"ulid"`
		CreatedAt   time.Time      `json:"created_at"`
		Status      string         `json:"status"`
		FulfilledAt *time.Time     `json:"fulfilled_at"`
		VoidedAt    *time.Time     `json:"voided_at"`
		RewardName  string         `json:"reward"`
		PointsSpent int64          `json:"points_spent"`
		StampsSpent int64          `json:"stamps_spent"`
		ActorKind   core.ActorKind `json:"by"`
	}
	heldVoucher struct {
		ID          core.ID    `json:"ulid"`
		CreatedAt   time.Time  `json:"created_at"`
		CouponName  string     `json:"coupon"`
		Description *string    `json:"description"`
		Status      string     `json:"status"`
		ExpiresAt   *time.Time `json:"expires_at"`
		RedeemedAt  *time.Time `json:"redeemed_at"`
		MailStatus  *string    `json:"mail_status"`
		MailedAt    *time.Time `json:"mailed_at"`
	}
	heldMail struct {
		ID        core.ID   `json:"ulid"`
		CreatedAt time.Time `json:"created_at"`
		Recipient string    `json:"recipient"`
		Subject   string    `json:"subject"`
	}
	heldLine struct {
		ID        core.ID         `json:"ulid"`
		CreatedAt time.Time       `json:"created_at"`
		Action    string          `json:"action"`
		Old       json.RawMessage `json:"old"`
		New       json.RawMessage `json:"new"`
		ActorKind core.ActorKind  `json:"by"`
	}
)

// subject is whose data is asked for.
type subject struct {
	Customer
	addresses []string
}

// WriteData writes everything that is held about a customer as one JSON document, for
// whoever asks what that is (Articles 15 and 20 of the GDPR), and notes in the log that
// it was given out. Nothing is written for a customer who does not exist. However much
// it is, little of it is in memory at a time; every part is read as of its own moment.
func (s *Service) WriteData(ctx context.Context, by core.Actor, id core.ID, w io.Writer) error {
	if err := by.Require(core.Manager); err != nil {
		return err
	}
	of, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (subject, error) {
		c, err := db.One[Customer](ctx, tx, findSQL, db.Args{"id": id})
		if err != nil {
			return subject{}, err
		}
		had, err := addresses(ctx, tx, id)
		if err != nil {
			return subject{}, err
		}
		return subject{c, had}, audit.Write(tx, by, audit.Entry{Action: "customer.download", Subject: "customer", ID: id.String()})
	})
	if err != nil {
		return err
	}
	d := &document{out: bufio.NewWriter(w)}
	d.customer(of.Customer)
	whose := db.Args{"customer": id}
	part(ctx, d, s.db, by, "ledger_entries", heldEntriesSQL, whose, int64(0), func(e Entry) int64 { return e.Seq }, newHeldEntry)
	part(ctx, d, s.db, by, "transactions", heldSalesSQL, whose, core.ID{}, func(t heldSale) core.ID { return t.ID }, same)
	part(ctx, d, s.db, by, "redemptions", heldRedemptionsSQL, whose, core.ID{}, func(r heldRedemption) core.ID { return r.ID }, same)
	part(ctx, d, s.db, by, "vouchers", heldVouchersSQL, db.Args{"customer": id, "now": s.db.Now()}, core.ID{},
		func(v heldVoucher) core.ID { return v.ID }, same)
	part(ctx, d, s.db, by, "mails", heldMailsSQL, db.Args{"addresses": of.addresses}, core.ID{},
		func(m heldMail) core.ID { return m.ID }, same)
	part(ctx, d, s.db, by, "consents", heldConsentsSQL, db.Args{"customer": id}, ConsentKind(""),
		func(c heldConsent) ConsentKind { return c.Kind }, same)
	part(ctx, d, s.db, by, "log", heldLogSQL, db.Args{"ulid": id.String()}, core.ID{}, func(l heldLine) core.ID { return l.ID }, same)
	return d.end()
}

func newHeldEntry(e Entry) heldEntry {
	return heldEntry{e.ID, e.CreatedAt, e.Kind, e.Unit, e.Amount, e.BalanceAfter, e.Cause, e.Reason, e.ActorKind}
}

func same[T any](v T) T { return v }

// document writes one JSON object, and remembers the first thing that went wrong.
type document struct {
	out *bufio.Writer
	err error
}

func (d *document) text(s string) {
	if d.err == nil {
		_, d.err = d.out.WriteString(s)
	}
}

func (d *document) value(v any) {
	text, err := json.Marshal(v)
	if d.err == nil {
		d.err = err
	}
	d.text(string(text))
}

func (d *document) customer(c Customer) {
	d.text("{\n\"customer\": ")
	d.value(heldCustomer{
		c.ID, c.FirstName, c.LastName, c.Phone, c.Email, c.Status, c.PointsBalance, c.StampsBalance, c.CreatedAt, c.UpdatedAt,
		c.UnsubscribedAt,
	})
}

func (d *document) end() error {
	d.text("\n}\n")
	if d.err != nil {
		return d.err
	}
	return d.out.Flush()
}

const partSize = 1_000

// part writes an array of what a statement finds after one place and the next.
func part[R, T, P any](
	ctx context.Context, d *document, from *db.DB, by core.Actor, name, sql string, args db.Args, after P, place func(R) P, as func(R) T,
) {
	d.text(fmt.Sprintf(",\n%q: [", name))
	separator := "\n"
	for more := true; more && d.err == nil; {
		args["after"], args["limit"] = after, partSize
		var some []R
		some, d.err = db.ReadAll[R](ctx, from, by, sql, args)
		for _, r := range some {
			d.text(separator)
			d.value(as(r))
			after, separator = place(r), ",\n"
		}
		more = len(some) == partSize
	}
	d.text("]")
}
