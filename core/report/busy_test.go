package report_test

import (
	"errors"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/report"
)

// "Reports 4 at once and 2 a tenant. What waits too long is a 503, and never another tenant's problem."
func TestReportsOfOneTenantDoNotDelayAnother(t *testing.T) {
	t.Parallel()
	busy, other := newShop(t, "UTC"), newShop(t, "UTC")
	reports := report.NewService(busy.DB).Impatient()
	for range report.MaxPerTenant {
		leave, err := reports.Hold(t.Context(), busy.By.Tenant.ID)
		busy.Check(err)
		defer leave()
	}
	for name, count := range map[string]func(by core.Actor) error{
		"summary":  func(by core.Actor) error { _, err := reports.Summary(t.Context(), by, report.Range{}); return err },
		"overview": func(by core.Actor) error { _, err := reports.Overview(t.Context(), by, report.Range{}); return err },
		"top":      func(by core.Actor) error { _, err := reports.Top(t.Context(), by, report.Ranking{}); return err },
		"earning":  func(by core.Actor) error { _, err := reports.Earning(t.Context(), by, report.Selection{}); return err },
		"coupons":  func(by core.Actor) error { _, err := reports.Coupons(t.Context(), by); return err },
		"use of coupons": func(by core.Actor) error {
			_, err := reports.CouponUse(t.Context(), by, report.Selection{})
			return err
		},
	} {
		var refusal *core.Error
		if err := count(busy.By); !errors.As(err, &refusal) || refusal.Kind != core.KindUnavailable || refusal.Wait <= 0 {
			t.Errorf("%s of the busy tenant: %v, want a refusal that says when to try again", name, err)
		}
		if err := count(other.By); err != nil {
			t.Errorf("%s of another tenant: %v", name, err)
		}
	}
}
