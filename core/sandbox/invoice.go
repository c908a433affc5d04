package sandbox

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/sample"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
)

// billedFor is how long ago the billed business started: long enough for an invoice in every state.
const billedFor = 160 * 24 * time.Hour

// addBilledTenant adds a business on a paid plan that started long ago. The other two are on the free plan.
func (m Maker) addBilledTenant(ctx context.Context) core.TenantID {
	suffix := strings.ToLower(rand.Text()[:5])
	slug := "sandbox-c-" + suffix
	plan := sample.Must(core.Result(m.Billing.CreatePlan(ctx, maker, billing.PlanInput{
		Name: "Sandbox " + suffix, MonthlyCents: new(int64(4900)), YearlyCents: new(int64(49000)), Currency: "EUR",
	}, nil)))
	return sample.Must(db.In(ctx, m.DB.At(m.DB.Now().Add(-billedFor)).Platform(), func(tx *db.Tx) (core.TenantID, error) {
		made, err := tenant.Add(ctx, tx, maker, tenant.New{
			Name: "Sandbox Billing", Slug: slug, Email: "owner@" + slug + ".example", PlanID: plan.ID,
			BillingCycle: "monthly", PaymentMethod: "bank_transfer", Test: true,
		})
		if err != nil {
			return 0, err
		}
		if err := tx.Enter(made.ID); err != nil {
			return 0, err
		}
		_, err = staff.Add(ctx, tx, core.System(made, "sandbox"), staff.New{Role: core.Owner, Name: "Sandbox owner", Email: "owner@" + slug + ".example"})
		return made.ID, err
	}))
}

// makeInvoices bills a business since it started, and brings one of its invoices into each state.
func (m Maker) makeInvoices(ctx context.Context) map[billing.Status]int64 {
	issuer := billing.Party{Name: "Sandbox Platform", Address: "1 Example Street\nExample City", Email: "billing@platform.example"}
	sample.Must(0, m.Billing.NameIssuer(ctx, maker, issuer, "This is a sandbox: don't pay."))
	list := sample.Must(m.Billing.BillSince(ctx, maker, m.addBilledTenant(ctx), m.DB.Now().Add(-billedFor)))
	made := map[billing.Status]int64{}
	for i, status := range []billing.Status{billing.Overdue, billing.Paid, billing.Void, billing.Issued, billing.Draft} {
		invoice := list[i]
		made[status] = invoice.ID
		then := m.Billing.At(core.StartOfDate(invoice.PeriodStart, invoice.Zone()).Add(12 * time.Hour))
		switch status {
		case billing.Draft:
		case billing.Issued:
			sample.Must(core.Result(m.Billing.Issue(ctx, maker, invoice.ID, nil)))
		case billing.Overdue:
			sample.Must(core.Result(then.Issue(ctx, maker, invoice.ID, nil)))
		case billing.Paid:
			issued := sample.Must(core.Result(then.Issue(ctx, maker, invoice.ID, nil)))
			year, month, day := issued.IssuedAt.In(issued.Zone()).Date()
			sample.Must(core.Result(then.MarkPaid(ctx, maker, invoice.ID, time.Date(year, month, day, 0, 0, 0, 0, time.UTC), nil)))
		case billing.Void:
			sample.Must(core.Result(then.Issue(ctx, maker, invoice.ID, nil)))
			sample.Must(core.Result(then.Void(ctx, maker, invoice.ID, "A mistake", nil)))
		}
	}
	return made
}
