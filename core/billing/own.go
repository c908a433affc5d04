package billing

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// Account is how a business is billed, as its owners see it.
type Account struct {
	Plan
	BillingCycle  Cycle
	PaymentMethod string
	Details       Party      // the recipient of the next invoice
	NextInvoiceOn *time.Time // a day in the tenant's zone; nil: nothing will be billed
	NextCents     int64      // before tax: the price of the next period and WaitingCents
	WaitingCents  int64      // prorations that go on the next invoice; negative for a credit
	TaxName       string
	TaxRate       int64  // hundredths of a percent
	Contact       string // e-mail address for questions about invoices; "": none
}

// DetailsInput describes the recipient on the business's invoices.
type DetailsInput struct {
	Name      string // of the company; "": the business's own name
	Address   string
	TaxNumber string

	Malformed core.Fields // what the front end could not read
}

// Account returns how the actor's business is billed, for its owners.
func (s *Service) Account(ctx context.Context, by core.Actor) (Account, error) {
	if err := by.Require(core.Owner); err != nil {
		return Account{}, err
	}
	return db.One[Account](ctx, s.db.Tenant(by), ownAccountSQL, nil)
}

// EditDetails changes the recipient on the next invoices of the actor's business, for its owners.
// Issued invoices don't change.
func (s *Service) EditDetails(ctx context.Context, by core.Actor, in DetailsInput) (Account, error) {
	if err := by.Require(core.Owner); err != nil {
		return Account{}, err
	}
	check := core.NewCheck(in.Malformed)
	edited := Party{
		Name:      check.TextOrEmpty("name", &in.Name, maxName),
		Address:   withUnixLines(check.TextOrEmpty("address", &in.Address, maxAddress)),
		TaxNumber: check.TextOrEmpty("tax_number", &in.TaxNumber, maxName),
	}
	if err := check.Err(); err != nil {
		return Account{}, err
	}
	return db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (Account, error) {
		if err := db.Queue(tx, openAccountSQL, nil); err != nil {
			return Account{}, err
		}
		old, err := db.One[Party](ctx, tx, lockDetailsSQL, nil)
		if err != nil {
			return Account{}, err
		}
		was, is := audit.Changed(old.facts(), edited.facts())
		if len(is) > 0 {
			err := db.Queue(tx, updateDetailsSQL, db.Args{"name": edited.Name, "address": edited.Address, "tax_number": edited.TaxNumber})
			if err != nil {
				return Account{}, err
			}
			err = audit.Write(tx, by, audit.Entry{Action: "billing.edit_details", Subject: "billing", Old: was, New: is})
			if err != nil {
				return Account{}, err
			}
		}
		return db.One[Account](ctx, tx, ownAccountSQL, nil)
	})
}

func (p Party) facts() map[string]any {
	return map[string]any{"name": p.Name, "address": p.Address, "tax_number": p.TaxNumber}
}

// ListOwn returns a page of the invoices issued to the actor's business, newest first, for its
// owners.
func (s *Service) ListOwn(ctx context.Context, by core.Actor, p core.Page) (core.List[Invoice], error) {
	if err := by.Require(core.Owner); err != nil {
		return core.List[Invoice]{}, err
	}
	return db.ListPage(ctx, s.db, by, ownList, db.Args{"now": s.db.Now()}, p, Invoice.position)
}

// FindOwn returns an invoice issued to the actor's business, or core.ErrNotFound, for its owners.
func (s *Service) FindOwn(ctx context.Context, by core.Actor, id int64) (Invoice, error) {
	if err := by.Require(core.Owner); err != nil {
		return Invoice{}, err
	}
	return db.One[Invoice](ctx, s.db.Tenant(by), ownFindSQL, db.Args{"id": id, "now": s.db.Now()})
}
