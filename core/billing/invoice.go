package billing

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// Status of an invoice.
type Status string

// The five statuses. A draft is issued, then paid or overdue; it can be voided until it is paid.
const (
	Draft   Status = "draft"
	Issued  Status = "issued"
	Paid    Status = "paid"
	Overdue Status = "overdue"
	Void    Status = "void"
)

// Invoice is what a tenant is billed for a period (decisions §6).
type Invoice struct {
	ID          int64
	Number      *int64 // nil until it is issued
	TenantID    core.TenantID
	TenantName  string
	TenantSlug  string
	TenantEmail string // the owner's, where invoices are sent
	Timezone    string // the tenant's
	Status      Status
	Currency    string // the plan's
	Lines       []Line
	AmountCents int64 // sum of the lines, before tax
	TaxName     string
	TaxRate     int64 // hundredths of a percent
	TaxCents    int64
	TotalCents  int64
	PeriodStart time.Time // a day in the tenant's zone
	PeriodEnd   time.Time // likewise, included
	Issuer      Party     // when it was issued; for a draft, the current settings
	Recipient   Party     // likewise
	PaymentText string    // likewise
	CreatedAt   time.Time
	IssuedAt    *time.Time
	DueAt       *time.Time // the end of the last day on which it can be paid in time
	PaidAt      *time.Time
	VoidedAt    *time.Time
	VoidReason  string
	SentAt      *time.Time // last mailed
	SentTo      string
}

// Line is a line of an invoice, as it is stored.
type Line struct {
	Description string `json:"description"`
	Quantity    int64  `json:"quantity"`
	UnitCents   int64  `json:"unit_cents"`
	AmountCents int64  `json:"amount_cents"` // negative for a credit
}

// Name returns the year of issue and the number: 2026-0118. Numbers don't start again each year.
// A draft has no number yet.
func (i Invoice) Name() string {
	if i.Number == nil || i.IssuedAt == nil {
		return "Draft " + strconv.FormatInt(i.ID, 10)
	}
	return fmt.Sprintf("%d-%04d", i.IssuedAt.In(i.Zone()).Year(), *i.Number)
}

// Period returns the days it bills: 1–30 November 2026.
func (i Invoice) Period() string { return dateRange(i.PeriodStart, i.PeriodEnd) }

// Zone returns the tenant's time zone.
func (i Invoice) Zone() *time.Location {
	zone, err := core.Zone(i.Timezone)
	if err != nil {
		return time.UTC // the database holds known zones only
	}
	return zone
}

// Refusals of changes to an invoice.
var (
	ErrNotDraft = core.Refuse("invoice-not-draft", "This invoice is no longer a draft.")
	ErrNotOpen  = core.Refuse("invoice-not-open", "Only an issued or overdue invoice can be marked as paid.")
	ErrNoVoid   = core.Refuse("invoice-not-voidable", "A paid or voided invoice can't be voided.")
	ErrNoIssuer = core.Refuse("invoice-issuer-missing", "Enter the issuer's name and address in the platform settings first.")
	ErrNotSent  = core.Refuse("invoice-not-issued", "A draft or a voided invoice can't be sent.")
)

// Filter selects invoices. A nil field selects all.
type Filter struct {
	TenantID *int64
	Status   *string
	From     *time.Time // first day on which the period may begin
	To       *time.Time // last day on which it may begin
	Search   *string    // part of the tenant's name, or an invoice number
}

// List returns a page of the invoices that match the filter, newest first.
func (s *Service) List(ctx context.Context, by core.Actor, f Filter, p core.Page) (core.List[Invoice], error) {
	if err := by.RequireAdmin(); err != nil {
		return core.List[Invoice]{}, err
	}
	if err := f.check(core.NewCheck(p.Malformed)); err != nil {
		return core.List[Invoice]{}, err
	}
	return db.ListPage(ctx, s.db, core.Actor{}, invoiceList, f.args(s.db.Now()), p, Invoice.position)
}

func (f Filter) check(check *core.Check) error {
	if f.Status != nil {
		core.OneOf(check, "status", Status(*f.Status), Draft, Issued, Paid, Overdue, Void)
	}
	if f.From != nil && f.To != nil && f.To.Before(*f.From) && check.OK("to") {
		check.Add("to", core.AfterOrEqual("from"))
	}
	return check.Err()
}

func (f Filter) args(now time.Time) db.Args {
	args := db.Args{"tenant": f.TenantID, "status": f.Status, "from": f.From, "to": f.To, "now": now}
	if f.Search != nil {
		args["search"], args["typed"] = *f.Search, typedNumber(*f.Search)
	}
	return args
}

// typedNumber reads an invoice number: 118 or 2026-0118.
func typedNumber(search string) *int64 {
	digits := core.TypedNumber(search)
	if len(digits) > 5 && digits[4] == '-' {
		digits = digits[5:]
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

func (i Invoice) position() core.Cursor { return core.NumberCursor(i.CreatedAt, i.ID) }

// Count is the number of invoices with one status and currency, and their total.
type Count struct {
	Status     Status
	Currency   string
	Invoices   int64
	TotalCents int64 // a draft counts with the tax rate of its creation
}

// Counts counts the invoices that match the filter, by status and currency. The filter's own
// status is ignored.
func (s *Service) Counts(ctx context.Context, by core.Actor, f Filter) ([]Count, error) {
	if err := by.RequireAdmin(); err != nil {
		return nil, err
	}
	f.Status = nil
	if err := f.check(core.NewCheck(nil)); err != nil {
		return nil, err
	}
	statement, args := invoiceCounts.Statement(core.Page{}, f.args(s.db.Now()))
	return db.All[Count](ctx, s.db.Platform(), statement, args)
}

// Find returns an invoice, or core.ErrNotFound.
func (s *Service) Find(ctx context.Context, by core.Actor, id int64) (Invoice, error) {
	if err := by.RequireAdmin(); err != nil {
		return Invoice{}, err
	}
	return db.One[Invoice](ctx, s.db.Platform(), findSQL, db.Args{"id": id, "now": s.db.Now()})
}

// Issue gives a draft its number, its date and the current details of both sides, and mails it
// to the owner: ErrNotDraft, ErrNoIssuer. Invoices are issued one after the other, since each
// takes the next number.
func (s *Service) Issue(ctx context.Context, by core.Actor, id int64, once *core.Once[Invoice]) (core.Reply[Invoice], error) {
	return s.changeInvoice(ctx, by, id, once, func(tx *db.Tx, i *Invoice) error {
		if i.Status != Draft {
			return ErrNotDraft
		}
		if !i.Issuer.isIssuer() {
			return ErrNoIssuer
		}
		// Queued before the number is taken: the next issue waits from there to the commit.
		if err := s.jobs.Add(ctx, tx, Delivery{Tenant: i.TenantID, Invoice: id, AskedAt: tx.Now}); err != nil {
			return err
		}
		taken, err := db.One[struct{ Number, PaymentDays int64 }](ctx, tx, takeNumberSQL, nil)
		if err != nil {
			return err
		}
		i.Status, i.IssuedAt, i.Number = Issued, &tx.Now, &taken.Number
		i.DueAt = new(endOfDay(tx.Now, int(taken.PaymentDays), i.Zone()))
		err = db.Queue(tx, issueSQL, db.Args{
			"id": id, "number": taken.Number, "now": tx.Now, "due": i.DueAt, "tax_name": i.TaxName, "tax_rate": i.TaxRate, "tax": i.TaxCents, "total": i.TotalCents,
			"issuer": i.Issuer, "recipient": i.Recipient, "payment_text": i.PaymentText,
		})
		if err != nil {
			return err
		}
		return i.log(tx, by, "issue", nil)
	})
}

// endOfDay returns the last millisecond of the local day that is a number of days after an instant.
func endOfDay(at time.Time, days int, zone *time.Location) time.Time {
	year, month, day := at.In(zone).Date()
	return core.StartOfDay(year, month, day+days+1, zone).Add(-time.Millisecond).UTC()
}

// MarkPaid stores that an issued or overdue invoice was paid on a day in the tenant's zone, not
// before its issue and not in the future. Others are refused with ErrNotOpen.
func (s *Service) MarkPaid(ctx context.Context, by core.Actor, id int64, on time.Time, once *core.Once[Invoice]) (core.Reply[Invoice], error) {
	return s.changeInvoice(ctx, by, id, once, func(tx *db.Tx, i *Invoice) error {
		if i.Status != Issued && i.Status != Overdue {
			return ErrNotOpen
		}
		today, issued := localDay(tx.Now, i.Zone()), localDay(*i.IssuedAt, i.Zone())
		switch {
		case on.After(today):
			return core.Invalid(core.Fields{"paid_on": {core.MustBePast}})
		case on.Before(issued):
			return core.Invalid(core.Fields{"paid_on": {core.Violation{Rule: "not_before", Other: issued.Format(time.DateOnly)}}})
		}
		paid := tx.Now
		if !on.Equal(today) {
			paid = core.StartOfDate(on, i.Zone()).UTC()
		}
		i.Status, i.PaidAt = Paid, &paid
		return errors.Join(db.Queue(tx, paySQL, db.Args{"id": id, "paid": paid}), i.log(tx, by, "pay", map[string]any{"paid_on": on.Format(time.DateOnly)}))
	})
}

// Void voids an unpaid invoice, with a reason. Its number is not used again, and its period is not
// billed again. A paid or voided one is refused with ErrNoVoid.
func (s *Service) Void(ctx context.Context, by core.Actor, id int64, reason string, once *core.Once[Invoice]) (core.Reply[Invoice], error) {
	check := core.NewCheck(nil)
	why := check.Text("reason", &reason, maxText)
	if err := check.Err(); err != nil {
		return core.Reply[Invoice]{}, err
	}
	return s.changeInvoice(ctx, by, id, once, func(tx *db.Tx, i *Invoice) error {
		if i.Status == Paid || i.Status == Void {
			return ErrNoVoid
		}
		i.Status, i.VoidedAt, i.VoidReason = Void, &tx.Now, why
		return errors.Join(db.Queue(tx, voidSQL, db.Args{"id": id, "now": tx.Now, "reason": why}), i.log(tx, by, "void", map[string]any{"reason": why}))
	})
}

// Send mails an invoice to the owner again. Drafts and voided ones are refused with ErrNotSent.
func (s *Service) Send(ctx context.Context, by core.Actor, id int64, once *core.Once[Invoice]) (core.Reply[Invoice], error) {
	return s.changeInvoice(ctx, by, id, once, func(tx *db.Tx, i *Invoice) error {
		if i.Status == Draft || i.Status == Void {
			return ErrNotSent
		}
		return errors.Join(
			s.jobs.Add(ctx, tx, Delivery{Tenant: i.TenantID, Invoice: id, AskedAt: tx.Now}),
			i.log(tx, by, "send", map[string]any{"email": i.TenantEmail}),
		)
	})
}

// log writes an action on an invoice to the audit log, with its business, its total and further facts.
func (i Invoice) log(tx *db.Tx, by core.Actor, action string, facts map[string]any) error {
	all := map[string]any{"business": i.TenantName, "total_cents": i.TotalCents, "currency": i.Currency}
	maps.Copy(all, facts)
	return audit.Write(tx, by, audit.Entry{Action: "invoice." + action, Subject: "invoice", ID: idText(i.ID), Name: i.Name(), New: all})
}

// changeInvoice runs fn on a locked invoice: of two people who press at once, the second sees
// what the first did.
func (s *Service) changeInvoice(ctx context.Context, by core.Actor, id int64, once *core.Once[Invoice], fn func(tx *db.Tx, i *Invoice) error) (core.Reply[Invoice], error) {
	if err := by.RequireAdmin(); err != nil {
		return core.Reply[Invoice]{}, err
	}
	return db.In(ctx, s.db.Platform(), db.Once(ctx, by, once, func(tx *db.Tx) (Invoice, error) {
		i, err := db.One[Invoice](ctx, tx, lockInvoiceSQL, db.Args{"id": id, "now": tx.Now})
		if err != nil {
			return Invoice{}, err
		}
		return i, fn(tx, &i)
	}))
}
