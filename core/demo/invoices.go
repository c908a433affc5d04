package demo

import (
	"context"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
)

// paidAfter is how long the café takes to pay an invoice.
const paidAfter = 9 * 24 * time.Hour

// Plan returns the plan that the café is on, made if need be.
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

// Invoices bills the café for the time since it opened: all but the latest invoice are paid.
func Invoices(ctx context.Context, b *billing.Service, t core.Tenant) error {
	by := system(core.Tenant{})
	if err := issuer(ctx, b); err != nil {
		return err
	}
	if err := b.BillTenant(ctx, t.ID); err != nil {
		return err
	}
	list, err := b.List(ctx, by, billing.Filter{TenantID: new(int64(t.ID)), Status: new(string(billing.Draft))}, core.Page{Size: core.MaxPageSize})
	if err != nil {
		return err
	}
	slices.Reverse(list.Items) // the oldest first
	for n, i := range list.Items {
		began := core.StartOfDate(i.PeriodStart, i.Zone()).Add(8 * time.Hour)
		if _, err := b.At(began).Issue(ctx, by, i.ID); err != nil {
			return err
		}
		if n == len(list.Items)-1 {
			break
		}
		year, month, day := began.Add(paidAfter).In(i.Zone()).Date()
		if _, err := b.At(began.Add(paidAfter)).MarkPaid(ctx, by, i.ID, time.Date(year, month, day, 0, 0, 0, 0, time.UTC)); err != nil {
			return err
		}
	}
	return nil
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
