package sandbox

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
)

// billedFor is how long ago the business with invoices began: long enough for one in every
// state.
const billedFor = 160 * 24 * time.Hour

// billed makes a business on a plan that costs something, which began long ago. The two to
// test with are on the free plan.
func (m Maker) billed(ctx context.Context) (core.TenantID, error) {
	suffix := strings.ToLower(rand.Text()[:5])
	name, slug := "Sandbox Billing", "sandbox-c-"+suffix
	plan, err := m.Billing.CreatePlan(ctx, maker, billing.PlanInput{
		Name: new("Sandbox " + suffix), MonthlyCents: new(int64(4900)), YearlyCents: new(int64(49000)), Currency: new("EUR"),
	})
	if err != nil {
		return 0, err
	}
	return db.Platform(ctx, m.DB.At(m.DB.Now().Add(-billedFor)), maker, func(tx *db.Tx) (core.TenantID, error) {
		made, err := tenant.Add(ctx, tx, maker, tenant.New{
			Name: &name, Slug: &slug, Email: new("owner@" + slug + ".example"), PlanID: &plan.ID,
			BillingCycle: new("monthly"), PaymentMethod: new("bank_transfer"),
		})
		if err != nil {
			return 0, err
		}
		if err := tx.Enter(made.ID); err != nil {
			return 0, err
		}
		_, err = staff.Add(ctx, tx, core.System(made, "sandbox"), staff.New{Role: core.Owner, Name: "Sandbox owner", Email: "owner@" + slug + ".example"})
		return made.ID, err
	})
}

// invoices bills a business since it began, and has one of its invoices in each state.
func (m Maker) invoices(ctx context.Context) (map[billing.Status]int64, error) {
	issuer := billing.Party{Name: "Sandbox Platform", Address: "1 Example Street\nExample City", Email: "billing@platform.example"}
	if err := m.Billing.NameIssuer(ctx, maker, issuer, "This is a sandbox: don't pay."); err != nil {
		return nil, err
	}
	id, err := m.billed(ctx)
	if err != nil {
		return nil, err
	}
	list, err := m.Billing.BillSince(ctx, maker, id, m.DB.Now().Add(-billedFor))
	if err != nil {
		return nil, err
	}
	made := map[billing.Status]int64{}
	for _, step := range []struct {
		state billing.Status
		do    func(s *billing.Service, i int64) error
	}{
		{billing.Overdue, func(s *billing.Service, i int64) error { _, err := s.Issue(ctx, maker, i); return err }},
		{billing.Paid, func(s *billing.Service, i int64) error {
			issued, err := s.Issue(ctx, maker, i)
			if err == nil {
				year, month, day := issued.IssuedAt.In(issued.Zone()).Date()
				_, err = s.MarkPaid(ctx, maker, i, time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
			}
			return err
		}},
		{billing.Void, func(s *billing.Service, i int64) error {
			_, err := s.Issue(ctx, maker, i)
			if err == nil {
				_, err = s.Void(ctx, maker, i, new("A mistake"))
			}
			return err
		}},
		{billing.Issued, func(_ *billing.Service, i int64) error { _, err := m.Billing.Issue(ctx, maker, i); return err }},
		{billing.Draft, func(*billing.Service, int64) error { return nil }},
	} {
		oldest := list[len(made)]
		began := core.StartOfDate(oldest.PeriodStart, oldest.Zone()).Add(12 * time.Hour)
		if err := step.do(m.Billing.At(began), oldest.ID); err != nil {
			return nil, err
		}
		made[step.state] = oldest.ID
	}
	return made, nil
}
