package report_test

import (
	"math"
	"testing"

	"example.com/loyalty/core/report"
)

func (s shop) rewards(sel report.Selection) report.RewardUses {
	s.T.Helper()
	got, err := s.Reports.Rewards(s.T.Context(), s.By, sel)
	s.Check(err)
	return got
}

// Redemptions by reward, paid for and by voucher; a voided one spent nothing.
func TestRewards(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm").on("2026-06-02 12:00:00")
	mug := s.mug(325)
	anna := s.rich()
	s.Redeem(anna.ID, mug)
	s.redeem(s.send(s.gift("A mug", mug))[0])
	s.redeem(s.send(s.gift("An espresso", s.espresso))[0])
	for range 2 {
		s.redemption(anna.ID)
	}
	s.VoidRedemption(s.redemption(anna.ID).ID)
	s.on("2026-06-01 12:00:00").redemption(anna.ID)
	s.on("2026-06-01 12:00:00").Redeem(anna.ID, mug)
	got := s.on("2026-06-03 12:00:00").rewards(s.selection(t, "2026-06-02", "2026-06-02"))
	if len(got.Rows) != 2 {
		t.Fatalf("%d rows: %+v", len(got.Rows), got.Rows)
	}
	espresso, cup := got.Rows[0], got.Rows[1]
	same(t, "espresso", espresso, report.RewardUse{
		ID: s.espresso, Name: espresso.Name, RedemptionsCount: 3, PaidCount: 2, VouchersCount: 1, PointsSpent: 20, VoidedCount: 1, UnpricedCount: 3,
		PreviousRedemptionsCount: 1, PreviousPaidCount: 1, PreviousPointsSpent: 10,
	})
	same(t, "mug", cup, report.RewardUse{
		ID: mug, Name: "Mug", RedemptionsCount: 2, PaidCount: 1, VouchersCount: 1, PointsSpent: 100, CostCents: 650,
		PreviousRedemptionsCount: 1, PreviousPaidCount: 1, PreviousPointsSpent: 100, PreviousCostCents: 325,
	})
	all := report.RewardUse{
		Whole: true, RedemptionsCount: 5, PaidCount: 3, VouchersCount: 2, PointsSpent: 120, VoidedCount: 1, CostCents: 650, UnpricedCount: 3,
		PreviousRedemptionsCount: 2, PreviousPaidCount: 2, PreviousPointsSpent: 110, PreviousCostCents: 325,
	}
	same(t, "in all", got.Total, all)
	same(t, "steps", got.Buckets[0].Current, report.RewardStep{PaidCount: 3, VouchersCount: 2, CostCents: 650})
	same(t, "steps before", *got.Buckets[0].Previous, report.RewardStep{PaidCount: 2, CostCents: 325})

	s.Exec("update loyalty.reward set cost_cents = 9000000000000000000 where tenant_id = $1 and id = $2", s.By.Tenant.ID, mug)
	same(t, "huge costs", s.on("2026-06-03 12:00:00").rewards(s.selection(t, "2026-06-02", "2026-06-02")).Total.CostCents, math.MaxInt64)
	stranger := newShop(t, "Europe/Stockholm").on("2026-06-03 12:00:00")
	if got := stranger.rewards(s.selection(t, "2026-06-01", "2026-06-02")); len(got.Rows) != 0 || got.Total != (report.RewardUse{Whole: true}) {
		t.Errorf("a stranger sees %+v", got)
	}
}
