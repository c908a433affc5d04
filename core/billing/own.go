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
	Plan          Plan
	BillingCycle  Cycle
	PaymentMethod string
	Details       Party      // as the next invoice names the business
	NextInvoiceOn *time.Time // a day in the tenant's zone; nil: nothing will be billed
	NextCents     int64      // before tax: the price of the next period and what waits
	WaitingCents  int64      // prorations that go on the next invoice; below zero: a credit
	TaxName       string
	TaxRate       int64  // hundredths of a percent
	Contact       string // where to ask about invoices; "" where the platform names no address
}

// DetailsInput are what invoices say of the business.
type DetailsInput struct {
	Name      *string // of the company; nil: the business's own name
	Address   *string
	TaxNumber *string

	Malformed core.Fields // what the front end could not read
}

type accountRow struct {
	PlanID         int64
	PlanName       string
	MonthlyCents   int64
	YearlyCents    int64
	Currency       string
	CustomersLimit *int64
	StaffLimit     *int64
	SendsLimit     *int64
	Retired        bool
	BillingCycle   Cycle
	PaymentMethod  string
	TenantName     string
	TenantEmail    string
	Name           string
	Address        string
	TaxNumber      string
	BilledThrough  time.Time
	WaitingCents   int64
	TaxName        string
	TaxRate        int64
	IssuerEmail    string
}

func (r accountRow) account() Account {
	a := Account{
		Plan: Plan{
			ID: r.PlanID, Name: r.PlanName, MonthlyCents: r.MonthlyCents, YearlyCents: r.YearlyCents, Currency: r.Currency,
			CustomersLimit: r.CustomersLimit, StaffLimit: r.StaffLimit, SendsLimit: r.SendsLimit, Retired: r.Retired,
		},
		BillingCycle: r.BillingCycle, PaymentMethod: r.PaymentMethod,
		Details:      Party{Name: r.Name, Address: r.Address, TaxNumber: r.TaxNumber, Email: r.TenantEmail},
		WaitingCents: r.WaitingCents, TaxName: r.TaxName, TaxRate: r.TaxRate, Contact: r.IssuerEmail,
	}
	if a.Details.Name == "" {
		a.Details.Name = r.TenantName
	}
	price := r.MonthlyCents
	if r.BillingCycle == Yearly {
		price = r.YearlyCents
	}
	if price > 0 {
		a.NextInvoiceOn = new(r.BilledThrough.AddDate(0, 0, 1))
		a.NextCents = max(price+r.WaitingCents, 0)
	}
	return a
}

// Account tells how the actor's business is billed, to its owners. One round trip.
func (s *Service) Account(ctx context.Context, by core.Actor) (Account, error) {
	if err := by.Require(core.Owner); err != nil {
		return Account{}, err
	}
	r, err := db.ReadOne[accountRow](ctx, s.db, by, ownAccountSQL, nil)
	return r.account(), err
}

// EditDetails changes what the next invoices say of the actor's business, for its owners.
// Invoices that were issued stay as they are.
func (s *Service) EditDetails(ctx context.Context, by core.Actor, in DetailsInput) (Account, error) {
	if err := by.Require(core.Owner); err != nil {
		return Account{}, err
	}
	check := core.NewCheck(in.Malformed)
	optional := func(field string, v *string, limit int) string {
		if text := check.OptionalText(field, v, limit); text != nil {
			return *text
		}
		return ""
	}
	edited := Party{
		Name: optional("name", in.Name, maxName), Address: withUnixLines(optional("address", in.Address, maxAddress)), TaxNumber: optional("tax_number", in.TaxNumber, maxName),
	}
	if err := check.Err(); err != nil {
		return Account{}, err
	}
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Account, error) {
		if err := db.Queue(tx, openAccountSQL, nil); err != nil {
			return Account{}, err
		}
		old, err := db.One[Party](ctx, tx, lockDetailsSQL, nil)
		if err != nil {
			return Account{}, err
		}
		was, is := changedFacts(old.facts(), edited.facts())
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
		r, err := db.One[accountRow](ctx, tx, ownAccountSQL, nil)
		return r.account(), err
	})
}

func (p Party) facts() map[string]any {
	return map[string]any{"name": p.Name, "address": p.Address, "tax_number": p.TaxNumber}
}

// ListOwn returns a page of the invoices that were issued to the actor's business, newest first,
// to its owners. One round trip.
func (s *Service) ListOwn(ctx context.Context, by core.Actor, p core.Page) (core.List[Invoice], error) {
	if err := by.Require(core.Owner); err != nil {
		return core.List[Invoice]{}, err
	}
	if err := p.Err(); err != nil {
		return core.List[Invoice]{}, err
	}
	statement, args := ownList.Statement(p, db.Args{"now": s.db.Now()})
	rows, err := db.ReadAll[invoiceRow](ctx, s.db, by, statement, args)
	return listed(p, rows), err
}

// FindOwn returns an invoice that was issued to the actor's business, or core.ErrNotFound, to
// its owners. One round trip.
func (s *Service) FindOwn(ctx context.Context, by core.Actor, id int64) (Invoice, error) {
	if err := by.Require(core.Owner); err != nil {
		return Invoice{}, err
	}
	r, err := db.ReadOne[invoiceRow](ctx, s.db, by, ownFindSQL, db.Args{"id": id, "now": s.db.Now()})
	return r.invoice(), err
}
