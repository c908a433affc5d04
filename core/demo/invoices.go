package demo

import (
	"context"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/tenant"
)

// paidAfter is how long the café takes to pay an invoice.
const paidAfter = 9 * 24 * time.Hour

// Plan returns the plan that the café moves to, made if need be.
func Plan(ctx context.Context, b *billing.Service) (int64, error) {
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

// onPlanFor is how long ago the café left the free plan.
const onPlanFor = 95 * 24 * time.Hour

// Invoices moves the café to the plan some months ago and bills it since then: all but the
// latest invoice are paid.
func Invoices(ctx context.Context, d *db.DB, b *billing.Service, t core.Tenant, plan int64) error {
	by, moved := system(core.Tenant{}), d.Now().Add(-onPlanFor)
	if err := issuer(ctx, b); err != nil {
		return err
	}
	if _, err := tenant.NewService(d.At(moved), nil).Edit(ctx, by, t.ID, tenant.Edit{PlanID: core.Set(plan)}); err != nil {
		return err
	}
	for at := moved; ; {
		if err := b.At(at).BillTenant(ctx, t.ID); err != nil {
			return err
		}
		list, err := b.List(ctx, by, billing.Filter{TenantID: new(int64(t.ID))}, core.Page{Size: 1})
		if err != nil || len(list.Items) == 0 {
			return err
		}
		i := list.Items[0]
		next := core.StartOfDate(i.PeriodEnd.AddDate(0, 0, 1), t.TimeZone).Add(8 * time.Hour)
		if i.Status == billing.Draft {
			if err := settle(ctx, b, i, at, next.Before(d.Now())); err != nil {
				return err
			}
		}
		if !next.Before(d.Now()) {
			return nil
		}
		at = next
	}
}

// settle issues an invoice at an instant and, unless it is the latest, pays it.
func settle(ctx context.Context, b *billing.Service, i billing.Invoice, at time.Time, paid bool) error {
	by := system(core.Tenant{})
	if _, err := b.At(at).Issue(ctx, by, i.ID); err != nil || !paid {
		return err
	}
	year, month, day := at.Add(paidAfter).In(i.Zone()).Date()
	_, err := b.At(at.Add(paidAfter)).MarkPaid(ctx, by, i.ID, time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
	return err
}

// issuer fills in who issues invoices, where nobody has.
func issuer(ctx context.Context, b *billing.Service) error {
	by := system(core.Tenant{})
	s, err := b.Settings(ctx, by)
	if err != nil || s.Ready() {
		return err
	}
	_, err = b.EditSettings(ctx, by, billing.SettingsInput{
		IssuerName: new("Loyalty Platform AB"), IssuerAddress: new("Kungsgatan 12\n111 35 Stockholm"), IssuerTaxNumber: new("SE559900112201"),
		IssuerEmail: new("billing@platform.example"), TaxName: new("VAT"), TaxRate: new(int64(2500)),
		PaymentText: new("Pay to SE45 5000 0000 0583 9825 7466. Write the number of the invoice, so that we find your payment."),
		PaymentDays: new(int64(30)), IssueAutomatically: s.IssueAutomatically, MailName: &s.MailName, MailAddress: &s.MailAddress,
	})
	return err
}
