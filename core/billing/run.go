package billing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// Run is the job that bills every tenant whose period is over, issues drafts where that is
// not left to a person, and marks what is overdue.
type Run struct{}

// Kind names the job in the queue.
func (Run) Kind() string { return "billing_run" }

const (
	runTime  = 30 * time.Minute
	runBatch = 100
)

func (s *Service) runJob(ctx context.Context, _ Run) error { return s.Bill(ctx) }

// Bill makes the invoices of every active tenant whose period is over, as of now. Run twice,
// or by two processes at once, it makes each of them once; after a standstill it makes those
// that were missed. A tenant that can't be billed doesn't keep the others waiting: its error
// is returned at the end.
func (s *Service) Bill(ctx context.Context) error {
	failed := s.billTenants(ctx)
	if err := s.issueDrafts(ctx); err != nil {
		failed = errors.Join(failed, err)
	}
	return errors.Join(failed, s.markOverdue(ctx))
}

func (s *Service) billTenants(ctx context.Context) (failed error) {
	for after := int64(0); ; {
		due, err := db.PlatformAll[struct{ ID int64 }](ctx, s.db, dueSQL, db.Args{"after": after, "now": s.db.Now(), "up_to": runBatch})
		if err != nil {
			return errors.Join(failed, err)
		}
		for _, t := range due {
			if err := s.BillTenant(ctx, core.TenantID(t.ID)); err != nil {
				failed = errors.Join(failed, fmt.Errorf("bill tenant %d: %w", t.ID, err))
			}
			after = t.ID
		}
		if len(due) < runBatch || ctx.Err() != nil {
			return errors.Join(failed, ctx.Err())
		}
	}
}

// BillTenant makes the drafts of one tenant for the periods that have begun.
func (s *Service) BillTenant(ctx context.Context, tenant core.TenantID) error {
	_, err := db.Platform(ctx, s.db, system, func(tx *db.Tx) (int, error) {
		a, err := lock(ctx, tx, tenant)
		if err != nil || a.Status != "active" {
			return 0, err
		}
		return 0, a.bill(ctx, tx, system)
	})
	return err
}

// account is how far a tenant was billed, and what its next period costs.
type account struct {
	TenantID      core.TenantID
	Status        string
	Timezone      string
	BillingCycle  Cycle
	PlanID        int64
	PlanName      string
	MonthlyCents  int64
	YearlyCents   int64
	Currency      string
	AnchorDay     int
	BilledThrough time.Time
	TaxName       string
	TaxRate       int64

	zone *time.Location
}

// lock holds a tenant's account, made if need be: whoever else bills the tenant waits.
func lock(ctx context.Context, tx *db.Tx, tenant core.TenantID) (account, error) {
	args := db.Args{"tenant": int64(tenant)}
	// Locked by a statement of its own: one that waits and reads would read what was before.
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

// price is what a whole period of the plan costs.
func (a account) price() int64 {
	if a.BillingCycle == Yearly {
		return a.YearlyCents
	}
	return a.MonthlyCents
}

// bill bills every period that has begun by the transaction's day.
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

// billPeriod writes that a period was billed, and its invoice if there is something to pay.
// It returns the items that still wait.
func (a *account) billPeriod(ctx context.Context, tx *db.Tx, by core.Actor, start, end time.Time, waiting []item) ([]item, error) {
	price := a.price()
	var lines []Line
	if price > 0 {
		lines = append(lines, Line{Description: a.PlanName + " plan, " + dateRange(start, end), Quantity: 1, UnitCents: price, AmountCents: price})
	}
	invoice, waiting, err := a.invoice(ctx, tx, by, lines, waiting, start, end)
	if err != nil {
		return nil, err
	}
	return waiting, db.Queue(tx, insertPeriodSQL, db.Args{
		"tenant": int64(a.TenantID), "start": start, "end": end, "cycle": a.BillingCycle, "plan": a.PlanID,
		"price": price, "currency": a.Currency, "invoice": invoice, "now": tx.Now,
	})
}

// item is an amount that goes on the next invoice.
type item struct {
	ID          core.ID
	Description string
	AmountCents int64 // below zero: a credit
	Currency    string
}

// invoice drafts an invoice of the lines and of the items that wait in the plan's currency,
// and returns its id and the items that still wait. There is none where nothing is to be paid:
// what is left of a credit then waits for the next invoice.
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
		return nil, waiting, nil // a credit waits for something to be paid
	case amount > 0:
		tax := percentage(amount, a.TaxRate)
		id, err := db.Value[int64](ctx, tx, draftSQL, db.Args{
			"tenant": int64(a.TenantID), "currency": a.Currency, "lines": lines, "amount": amount, "tax": tax, "total": amount + tax,
			"tax_name": a.TaxName, "tax_rate": a.TaxRate, "start": start, "end": end, "now": tx.Now,
		})
		if err != nil {
			return nil, nil, err
		}
		err = errors.Join(settle(tx, a.TenantID, settled, &id), audit.Write(tx, by, audit.Entry{
			Action: "invoice.draft", Subject: "invoice", ID: idText(id),
			New: map[string]any{"tenant": a.TenantID, "period_start": start.Format(time.DateOnly), "total_cents": amount + tax, "currency": a.Currency},
		}))
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

// ChangePlan settles the running period of a tenant whose plan or cycle changes, in the
// transaction of the change and before it. Periods that have begun are billed as things were.
// Where the plan is another one, the days that are left are credited at the old plan's rate and
// charged at the new one's. What is to be paid is invoiced at once, a credit goes on the next
// invoice. Nothing is settled between currencies: the new price counts from the next period,
// and so it does where a cycle changes.
func ChangePlan(ctx context.Context, tx *db.Tx, by core.Actor, tenant core.TenantID, to int64) error {
	a, err := lock(ctx, tx, tenant)
	if err != nil {
		return err
	}
	if a.Status == "active" { // what is due is due by the old plan
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
		return nil // nothing was billed yet, or no such plan: that is for the change to say
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
	NewMonthly   int64
	NewYearly    int64
}

func (p runningPeriod) newRate() int64 {
	if p.BillingCycle == Yearly {
		return p.NewYearly
	}
	return p.NewMonthly
}

// prorate charges and credits what is left of a period, from today on.
func (a *account) prorate(ctx context.Context, tx *db.Tx, by core.Actor, p runningPeriod, today time.Time) error {
	left, whole := days(today, p.PeriodEnd), days(p.PeriodStart, p.PeriodEnd)
	for _, i := range []item{
		{Description: p.PlanName + " plan, unused " + dateRange(today, p.PeriodEnd), AmountCents: -prorate(p.RateCents, left, whole), Currency: p.Currency},
		{Description: p.NewPlanName + " plan, " + dateRange(today, p.PeriodEnd), AmountCents: prorate(p.newRate(), left, whole), Currency: p.Currency},
	} {
		if i.AmountCents == 0 {
			continue
		}
		if _, err := a.queueItem(tx, i, false); err != nil {
			return err
		}
	}
	err := db.Queue(tx, changeRateSQL, db.Args{"tenant": int64(a.TenantID), "start": p.PeriodStart, "plan": p.NewPlanID, "rate": p.newRate()})
	if err != nil {
		return err
	}
	waiting, err := db.All[item](ctx, tx, waitingItemsSQL, db.Args{"tenant": int64(a.TenantID)})
	if err != nil {
		return err
	}
	a.Currency = p.Currency // the period's, whatever the tenant moves to
	_, _, err = a.invoice(ctx, tx, by, nil, waiting, today, p.PeriodEnd)
	return err
}

// Resume lets the billing of a tenant begin anew on the transaction's day where its last
// period ended while it was suspended: those days are not billed.
func Resume(ctx context.Context, tx *db.Tx, tenant core.TenantID) error {
	a, err := lock(ctx, tx, tenant)
	if err != nil {
		return err
	}
	today := localDay(tx.Now, a.zone)
	if yesterday := today.AddDate(0, 0, -1); a.BilledThrough.Before(yesterday) {
		return db.Queue(tx, resumeSQL, db.Args{"tenant": int64(tenant), "through": yesterday, "anchor": today.Day()})
	}
	return nil
}

// issueDrafts issues every draft, where the settings say so.
func (s *Service) issueDrafts(ctx context.Context) (failed error) {
	r, err := db.PlatformOne[settingsRow](ctx, s.db, settingsSQL, nil)
	if err != nil || !r.IssueAutomatically || !r.settings().Ready() {
		return err
	}
	for after := int64(0); ; {
		drafts, err := db.PlatformAll[struct{ ID int64 }](ctx, s.db, draftsSQL, db.Args{"after": after, "up_to": runBatch})
		if err != nil {
			return errors.Join(failed, err)
		}
		for _, d := range drafts {
			// A person may have issued or voided it since it was found.
			if _, err := s.Issue(ctx, system, d.ID); err != nil && !errors.Is(err, ErrNotDraft) {
				failed = errors.Join(failed, fmt.Errorf("issue invoice %d: %w", d.ID, err))
			}
			after = d.ID
		}
		if len(drafts) < runBatch || ctx.Err() != nil {
			return errors.Join(failed, ctx.Err())
		}
	}
}

// markOverdue marks the invoices that were not paid in time, and reminds their owners once.
func (s *Service) markOverdue(ctx context.Context) error {
	for {
		marked, err := db.Platform(ctx, s.db, system, func(tx *db.Tx) (int, error) {
			late, err := db.All[lateInvoice](ctx, tx, markOverdueSQL, db.Args{"now": tx.Now, "up_to": runBatch})
			if err != nil {
				return 0, err
			}
			for _, i := range late {
				err := errors.Join(
					audit.Write(tx, system, audit.Entry{Action: "invoice.overdue", Subject: "invoice", ID: idText(i.ID)}),
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

type lateInvoice struct {
	ID       int64
	TenantID core.TenantID
}
