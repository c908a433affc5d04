package billing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Run is the job that bills every tenant whose period is over, issues drafts if the settings say
// so, and marks overdue invoices.
type Run struct{}

// Kind names the job in the queue.
func (Run) Kind() string { return "billing_run" }

const (
	runTime  = 30 * time.Minute
	runBatch = 100
)

func (s *Service) runJob(ctx context.Context, _ Run) error { return s.Bill(ctx) }

// Bill makes the invoices of every active tenant whose period is over. It can run again, or in
// two processes at once, without billing a period twice, and it makes up for periods that were
// missed. Tenants that can't be billed don't hold up the others: their errors are joined.
func (s *Service) Bill(ctx context.Context) error {
	return errors.Join(
		s.forEach(ctx, dueSQL, db.Args{"now": s.db.Now()}, func(tenant int64) error {
			if err := s.BillTenant(ctx, core.TenantID(tenant)); err != nil {
				return fmt.Errorf("bill tenant %d: %w", tenant, err)
			}
			return nil
		}),
		s.issueDrafts(ctx),
		s.markOverdue(ctx),
	)
}

// forEach calls fn with every id that a statement finds, in batches. It continues after an error
// and joins all errors.
func (s *Service) forEach(ctx context.Context, statement string, args db.Args, fn func(id int64) error) (failed error) {
	args["after"], args["up_to"] = int64(0), runBatch
	for {
		found, err := db.All[struct{ ID int64 }](ctx, s.db.Platform(), statement, args)
		if err != nil {
			return errors.Join(failed, err)
		}
		for _, f := range found {
			failed = errors.Join(failed, fn(f.ID))
			args["after"] = f.ID
		}
		if len(found) < runBatch || ctx.Err() != nil {
			return errors.Join(failed, ctx.Err())
		}
	}
}

// BillTenant creates the drafts of one tenant for the periods that have begun.
func (s *Service) BillTenant(ctx context.Context, tenant core.TenantID) error {
	return db.Run(ctx, s.db.Platform(), func(tx *db.Tx) error {
		a, err := lockAccount(ctx, tx, tenant)
		if err != nil || a.Status != "active" {
			return err
		}
		return a.bill(ctx, tx, system)
	})
}

// account is how far a tenant has been billed, and what its next period costs.
type account struct {
	TenantID      core.TenantID
	TenantName    string
	Status        string
	Timezone      string
	BillingCycle  Cycle
	PlanID        int64
	PlanName      string
	PriceCents    int64 // of a whole period
	Currency      string
	AnchorDay     int
	BilledThrough time.Time
	TaxName       string
	TaxRate       int64

	zone *time.Location
}

// lockAccount locks a tenant's account, which it creates if necessary. Another process that bills
// the tenant waits.
func lockAccount(ctx context.Context, tx *db.Tx, tenant core.TenantID) (account, error) {
	args := db.Args{"tenant": int64(tenant)}
	// Locked by a separate statement: one that waits and reads would return the old values.
	if err := errors.Join(db.Queue(tx, openAccountSQL, db.Args{"tenant_id": int64(tenant)}), db.Queue(tx, lockAccountSQL, args)); err != nil {
		return account{}, err
	}
	a, err := db.One[account](ctx, tx, accountSQL, args)
	if err != nil {
		return account{}, err
	}
	a.zone, err = core.Zone(a.Timezone)
	return a, err
}

// bill bills every period that has begun.
func (a *account) bill(ctx context.Context, tx *db.Tx, by core.Actor) error {
	today := localDay(tx.Now, a.zone)
	if !a.BilledThrough.Before(today) {
		return nil
	}
	waiting, err := db.All[item](ctx, tx, waitingItemsSQL, db.Args{"tenant": int64(a.TenantID)})
	if err != nil {
		return err
	}
	for a.BilledThrough.Before(today) {
		start := a.BilledThrough.AddDate(0, 0, 1)
		end := nextStart(start, a.BillingCycle, a.AnchorDay).AddDate(0, 0, -1)
		if waiting, err = a.billPeriod(ctx, tx, by, start, end, waiting); err != nil {
			return err
		}
		a.BilledThrough = end
	}
	return db.Queue(tx, billedThroughSQL, db.Args{"tenant": int64(a.TenantID), "through": a.BilledThrough})
}

// billPeriod stores that a period was billed, with a draft if there is something to pay. It
// returns the items that still wait.
func (a *account) billPeriod(ctx context.Context, tx *db.Tx, by core.Actor, start, end time.Time, waiting []item) ([]item, error) {
	var lines []Line
	if a.PriceCents > 0 {
		lines = append(lines, Line{
			Description: a.PlanName + " plan, " + dateRange(start, end), Quantity: 1, UnitCents: a.PriceCents, AmountCents: a.PriceCents,
		})
	}
	invoice, waiting, err := a.invoice(ctx, tx, by, lines, waiting, start, end)
	if err != nil {
		return nil, err
	}
	return waiting, db.Queue(tx, insertPeriodSQL, db.Args{
		"tenant": int64(a.TenantID), "start": start, "end": end, "cycle": a.BillingCycle, "plan": a.PlanID,
		"price": a.PriceCents, "currency": a.Currency, "invoice": invoice, "now": tx.Now,
	})
}

// item is an amount that goes on the next invoice.
type item struct {
	ID          core.ID
	Description string
	AmountCents int64 // negative for a credit
	Currency    string
}

// invoice creates a draft of the lines and the waiting items in the plan's currency, and returns
// its id and the items that still wait. Where there is nothing to pay it creates none, and the rest
// of a credit waits for the next invoice.
func (a *account) invoice(ctx context.Context, tx *db.Tx, by core.Actor, lines []Line, waiting []item, start, end time.Time) (*int64, []item, error) {
	amount := int64(0)
	for _, l := range lines {
		amount += l.AmountCents
	}
	charged := len(lines) > 0
	var settled []core.ID
	var others []item // in other currencies
	for _, i := range waiting {
		if i.Currency != a.Currency {
			others = append(others, i)
			continue
		}
		settled = append(settled, i.ID)
		lines = append(lines, Line{Description: i.Description, Quantity: 1, UnitCents: i.AmountCents, AmountCents: i.AmountCents})
		amount += i.AmountCents
	}
	switch {
	case len(lines) == 0, !charged && amount <= 0:
		return nil, waiting, nil // a credit waits for a charge
	case amount > 0:
		tax := percentage(amount, a.TaxRate)
		id, err := db.One[int64](ctx, tx, draftSQL, db.Args{
			"tenant": int64(a.TenantID), "currency": a.Currency, "lines": lines, "amount": amount, "tax": tax, "total": amount + tax,
			"tax_name": a.TaxName, "tax_rate": a.TaxRate, "start": start, "end": end, "now": tx.Now,
		})
		if err != nil {
			return nil, nil, err
		}
		err = errors.Join(settle(tx, a.TenantID, settled, &id), Invoice{ID: id, TenantName: a.TenantName, Currency: a.Currency, TotalCents: amount + tax}.
			log(tx, by, "draft", map[string]any{"period_start": start.Format(time.DateOnly)}))
		return &id, others, err
	}
	if err := settle(tx, a.TenantID, settled, nil); err != nil || amount == 0 {
		return nil, others, err
	}
	left, err := a.queueItem(tx, item{Description: "Credit from before " + end.AddDate(0, 0, 1).Format("2 January 2006"), AmountCents: amount, Currency: a.Currency}, true)
	return nil, append(others, left), err
}

// queueItem stores an item for the next invoice.
func (a *account) queueItem(tx *db.Tx, i item, carried bool) (item, error) {
	i.ID = core.NewID(tx.Now)
	return i, db.Queue(tx, insertItemSQL, db.Args{
		"tenant": int64(a.TenantID), "id": i.ID, "description": i.Description, "amount": i.AmountCents, "currency": i.Currency, "carried": carried, "now": tx.Now,
	})
}

func settle(tx *db.Tx, tenant core.TenantID, items []core.ID, invoice *int64) error {
	if len(items) == 0 {
		return nil
	}
	return db.Queue(tx, settleSQL, db.Args{"tenant": int64(tenant), "items": items, "invoice": invoice, "now": tx.Now})
}

// ChangePlan settles the current period of a tenant whose plan or cycle changes. Call it before
// the change, in the same transaction. Periods that have begun are billed by the old plan. For a
// new plan, the remaining days are credited at the old rate and charged at the new one: a charge
// is invoiced at once, a credit goes on the next invoice. A plan in another currency, and another
// cycle, apply from the next period.
func ChangePlan(ctx context.Context, tx *db.Tx, by core.Actor, tenant core.TenantID, to int64) error {
	a, err := lockAccount(ctx, tx, tenant)
	if err != nil {
		return err
	}
	if a.Status == "active" {
		if err := a.bill(ctx, tx, by); err != nil {
			return err
		}
	}
	if to == a.PlanID {
		return nil
	}
	today := localDay(tx.Now, a.zone)
	p, err := db.One[runningPeriod](ctx, tx, runningPeriodSQL, db.Args{"tenant": int64(tenant), "today": today, "plan": to})
	if errors.Is(err, core.ErrNotFound) {
		return nil // nothing was billed yet, or the plan doesn't exist: the change refuses that
	}
	if err != nil || p.Currency != p.NewCurrency {
		return err
	}
	return a.prorate(ctx, tx, by, p, today)
}

// runningPeriod is a billed period that is not over, and the plan that a tenant moves to.
type runningPeriod struct {
	PeriodStart  time.Time
	PeriodEnd    time.Time
	BillingCycle Cycle
	PlanName     string
	RateCents    int64
	Currency     string
	NewPlanID    int64
	NewPlanName  string
	NewCurrency  string
	NewRateCents int64
}

// prorate credits and charges the rest of a period, from today on.
func (a *account) prorate(ctx context.Context, tx *db.Tx, by core.Actor, p runningPeriod, today time.Time) error {
	left, whole := countDays(today, p.PeriodEnd), countDays(p.PeriodStart, p.PeriodEnd)
	for _, i := range []item{
		{Description: p.PlanName + " plan, unused " + dateRange(today, p.PeriodEnd), AmountCents: -prorate(p.RateCents, left, whole), Currency: p.Currency},
		{Description: p.NewPlanName + " plan, " + dateRange(today, p.PeriodEnd), AmountCents: prorate(p.NewRateCents, left, whole), Currency: p.Currency},
	} {
		if i.AmountCents == 0 {
			continue
		}
		if _, err := a.queueItem(tx, i, false); err != nil {
			return err
		}
	}
	err := db.Queue(tx, changeRateSQL, db.Args{"tenant": int64(a.TenantID), "start": p.PeriodStart, "plan": p.NewPlanID, "rate": p.NewRateCents})
	if err != nil {
		return err
	}
	waiting, err := db.All[item](ctx, tx, waitingItemsSQL, db.Args{"tenant": int64(a.TenantID)})
	if err != nil {
		return err
	}
	a.Currency = p.Currency // the period's
	_, _, err = a.invoice(ctx, tx, by, nil, waiting, today, p.PeriodEnd)
	return err
}

// Resume restarts the billing of a tenant today if its last period ended while it was suspended:
// those days are not billed.
func Resume(ctx context.Context, tx *db.Tx, tenant core.TenantID) error {
	a, err := lockAccount(ctx, tx, tenant)
	if err != nil {
		return err
	}
	today := localDay(tx.Now, a.zone)
	if yesterday := today.AddDate(0, 0, -1); a.BilledThrough.Before(yesterday) {
		return db.Queue(tx, resumeSQL, db.Args{"tenant": int64(tenant), "through": yesterday, "anchor": today.Day()})
	}
	return nil
}

// issueDrafts issues every draft, if the settings say so.
func (s *Service) issueDrafts(ctx context.Context) error {
	now, err := db.One[Settings](ctx, s.db.Platform(), settingsSQL, nil)
	if err != nil || !now.IssueAutomatically || !now.Ready() {
		return err
	}
	return s.forEach(ctx, draftsSQL, db.Args{}, func(id int64) error {
		// A person may have issued or voided it since it was found.
		if _, err := s.Issue(ctx, system, id, nil); err != nil && !errors.Is(err, ErrNotDraft) {
			return fmt.Errorf("issue invoice %d: %w", id, err)
		}
		return nil
	})
}

// lateInvoice is the part of an invoice that the audit log names.
type lateInvoice struct {
	ID         int64
	Number     *int64
	TenantID   core.TenantID
	TenantName string
	Timezone   string
	Currency   string
	TotalCents int64
	IssuedAt   *time.Time
}

func (l lateInvoice) invoice() Invoice {
	return Invoice{
		ID: l.ID, Number: l.Number, TenantID: l.TenantID, TenantName: l.TenantName, Timezone: l.Timezone, Currency: l.Currency,
		TotalCents: l.TotalCents, IssuedAt: l.IssuedAt,
	}
}

// markOverdue marks unpaid invoices whose due date has passed, and reminds their owners once.
func (s *Service) markOverdue(ctx context.Context) error {
	for {
		marked, err := db.In(ctx, s.db.Platform(), func(tx *db.Tx) (int, error) {
			late, err := db.All[lateInvoice](ctx, tx, markOverdueSQL, db.Args{"now": tx.Now, "up_to": runBatch})
			if err != nil {
				return 0, err
			}
			for _, i := range late {
				err := errors.Join(
					i.invoice().log(tx, system, "overdue", nil),
					s.jobs.Add(ctx, tx, Delivery{Tenant: i.TenantID, Invoice: i.ID, AskedAt: tx.Now, Reminder: true}),
				)
				if err != nil {
					return 0, err
				}
			}
			return len(late), nil
		})
		if err != nil {
			return err
		}
		if marked > 0 {
			s.log.InfoContext(ctx, "invoices are overdue", slog.Int("invoices", marked))
		}
		if marked < runBatch {
			return nil
		}
	}
}
