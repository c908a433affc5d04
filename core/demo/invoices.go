package demo

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/tenant"
)

const (
	onPlanFor = 95 * 24 * time.Hour // since the café left the free plan
	paidAfter = 9 * 24 * time.Hour  // how long it takes to pay an invoice
)

// addInvoices moves the café to a plan with limits some months ago and bills it since then: all
// but the latest invoice are paid.
func (c *cafe) addInvoices(ctx context.Context) error {
	by, b := system(core.Tenant{}), billing.NewService(c.db, c.jobs, nil, slog.New(slog.DiscardHandler))
	err := b.NameIssuer(ctx, by, billing.Party{
		Name: "Loyalty Platform AB", Address: "Kungsgatan 12\n111 35 Stockholm", TaxNumber: "SE559900112201", Email: "billing@platform.example",
	}, "Pay to SE45 5000 0000 0583 9825 7466. Please quote the invoice number.")
	if err != nil {
		return err
	}
	plan, err := plan(ctx, b)
	if err != nil {
		return err
	}
	moved := c.until.Add(-onPlanFor)
	if _, err := tenant.NewService(c.db.At(moved), nil).Edit(ctx, by, c.tenant.ID, tenant.Edit{PlanID: core.Set(plan)}); err != nil {
		return err
	}
	invoices, err := b.BillSince(ctx, by, c.tenant.ID, moved)
	if err != nil {
		return err
	}
	for n, i := range invoices {
		if _, err := b.At(i.CreatedAt).Issue(ctx, by, i.ID); err != nil {
			return err
		}
		paid := i.CreatedAt.Add(paidAfter)
		if n == len(invoices)-1 || paid.After(c.until) {
			continue
		}
		year, month, day := paid.In(i.Zone()).Date()
		if _, err := b.At(paid).MarkPaid(ctx, by, i.ID, time.Date(year, month, day, 0, 0, 0, 0, time.UTC)); err != nil {
			return err
		}
	}
	return nil
}

// plan returns the plan that the café moves to, made if need be.
func plan(ctx context.Context, b *billing.Service) (int64, error) {
	by := system(core.Tenant{})
	plans, err := b.Plans(ctx, by)
	if err != nil {
		return 0, err
	}
	const name = "Growth"
	if at := slices.IndexFunc(plans, func(p billing.Plan) bool { return p.Name == name }); at >= 0 {
		return plans[at].ID, nil
	}
	made, err := b.CreatePlan(ctx, by, billing.PlanInput{
		Name: new(name), MonthlyCents: new(int64(4900)), YearlyCents: new(int64(49000)), Currency: new("EUR"),
		CustomersLimit: new(int64(2000)), StaffLimit: new(int64(10)), SendsLimit: new(int64(20)),
	})
	return made.ID, err
}
