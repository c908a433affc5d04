package billing

import (
	"context"
	"slices"
	"time"

	"example.com/loyalty/core"
)

// BillSince bills a tenant at the start of each of its periods since an instant, and returns its
// invoices, oldest first: for the demo and the sandbox, whose tenants have a history. A server
// that runs at the same time may have billed some periods already.
func (s *Service) BillSince(ctx context.Context, by core.Actor, tenant core.TenantID, since time.Time) ([]Invoice, error) {
	all := Filter{TenantID: new(int64(tenant))}
	for at := since; at.Before(s.db.Now()); {
		if err := s.At(at).BillTenant(ctx, tenant); err != nil {
			return nil, err
		}
		latest, err := s.List(ctx, by, all, core.Page{Size: 1})
		if err != nil || len(latest.Items) == 0 {
			return nil, err
		}
		i := latest.Items[0]
		at = core.StartOfDate(i.PeriodEnd.AddDate(0, 0, 1), i.Zone()).Add(time.Hour)
	}
	list, err := s.List(ctx, by, all, core.Page{Size: core.MaxPageSize})
	slices.Reverse(list.Items)
	return list.Items, err
}

// NameIssuer sets the issuer of invoices and a tax, unless the settings have an issuer: for the
// demo and the sandbox.
func (s *Service) NameIssuer(ctx context.Context, by core.Actor, issuer Party, payment string) error {
	now, err := s.Settings(ctx, by)
	if err != nil || now.Ready() {
		return err
	}
	_, err = s.EditSettings(ctx, by, SettingsInput{
		IssuerName: issuer.Name, IssuerAddress: issuer.Address, IssuerTaxNumber: issuer.TaxNumber, IssuerEmail: issuer.Email,
		TaxName: now.TaxName, TaxRate: new(int64(2500)), PaymentText: payment, PaymentDays: &now.PaymentDays,
		IssueAutomatically: now.IssueAutomatically, MailName: now.MailName, MailAddress: now.MailAddress,
	})
	return err
}
