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
	if err := issuer(ctx, b); err != nil {
		return err
	}
	plan, err := plan(ctx, b)
	if err != nil {
		return err
	}
	now := c.db.Now()
	at := now.Add(-onPlanFor)
	if _, err := tenant.NewService(c.db.At(at), nil).Edit(ctx, by, c.tenant.ID, tenant.Edit{PlanID: core.Set(plan)}); err != nil {
		return err
	}
	for at.Before(now) {
		if err := b.At(at).BillTenant(ctx, c.tenant.ID); err != nil {
			return err
		}
		list, err := b.List(ctx, by, billing.Filter{TenantID: new(int64(c.tenant.ID))}, core.Page{Size: 1})
		if err != nil || len(list.Items) == 0 {
			return err
		}
		i := list.Items[0]
		next := core.StartOfDate(i.PeriodEnd.AddDate(0, 0, 1), c.tenant.TimeZone).Add(8 * time.Hour)
		if i.Status == billing.Draft {
			if err := settle(ctx, b, i, at, next.Before(now)); err != nil {
				return err
			}
		}
		at = next
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

// issuer fills in who issues invoices, unless the platform's settings say so.
func issuer(ctx context.Context, b *billing.Service) error {
	by := system(core.Tenant{})
	s, err := b.Settings(ctx, by)
	if err != nil || s.Ready() {
		return err
	}
	_, err = b.EditSettings(ctx, by, billing.SettingsInput{
		IssuerName: new("Loyalty Platform AB"), IssuerAddress: new("Kungsgatan 12\n111 35 Stockholm"), IssuerTaxNumber: new("SE559900112201"),
		IssuerEmail: new("billing@platform.example"), TaxName: new("VAT"), TaxRate: new(int64(2500)),
		PaymentText: new("Pay to SE45 5000 0000 0583 9825 7466. Please quote the invoice number."),
		PaymentDays: new(int64(30)), IssueAutomatically: s.IssueAutomatically, MailName: &s.MailName, MailAddress: &s.MailAddress,
	})
	return err
}
