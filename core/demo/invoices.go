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
func (c *cafe) addInvoices(ctx context.Context) {
	by, b := system(core.Tenant{}), billing.NewService(c.db, c.jobs, nil, slog.New(slog.DiscardHandler))
	issuer := billing.Party{
		Name: "Loyalty Platform AB", Address: "Kungsgatan 12\n111 35 Stockholm", TaxNumber: "SE559900112201", Email: "billing@platform.example",
	}
	must(0, b.NameIssuer(ctx, by, issuer, "Pay to SE45 5000 0000 0583 9825 7466. Please quote the invoice number."))
	moved := c.until.Add(-onPlanFor)
	change := tenant.Edit{PlanID: core.Set(plan(ctx, b))}
	must(tenant.NewService(c.db.At(moved), nil).Edit(ctx, by, c.tenant.ID, change))
	invoices := must(b.BillSince(ctx, by, c.tenant.ID, moved))
	for n, i := range invoices {
		must(b.At(i.CreatedAt).Issue(ctx, by, i.ID))
		paid := i.CreatedAt.Add(paidAfter)
		if n == len(invoices)-1 || paid.After(c.until) {
			continue
		}
		year, month, day := paid.In(i.Zone()).Date()
		must(b.At(paid).MarkPaid(ctx, by, i.ID, time.Date(year, month, day, 0, 0, 0, 0, time.UTC)))
	}
}

// plan returns the plan that the café moves to, made if need be.
func plan(ctx context.Context, b *billing.Service) int64 {
	by := system(core.Tenant{})
	const name = "Growth"
	plans := must(b.Plans(ctx, by))
	if at := slices.IndexFunc(plans, func(p billing.Plan) bool { return p.Name == name }); at >= 0 {
		return plans[at].ID
	}
	return must(b.CreatePlan(ctx, by, billing.PlanInput{
		Name: new(name), MonthlyCents: new(int64(4900)), YearlyCents: new(int64(49000)), Currency: new("EUR"),
		CustomersLimit: new(int64(2000)), StaffLimit: new(int64(10)), SendsLimit: new(int64(20)),
	})).ID
}
