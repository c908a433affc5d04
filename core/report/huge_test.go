package report_test

import (
	"math"
	"slices"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/reward"
)

// huge exceeds the limit of an award. Two of them exceed 64 bits.
const huge = 9_000_000_000_000_000_000

// grow sets every award, cost, entry and balance of the shop to huge.
func (s shop) grow() {
	s.T.Helper()
	for _, statement := range []string{
		`update loyalty.transaction set points_awarded = 9000000000000000000 where tenant_id = $1 and points_awarded is not null`,
		`update loyalty.transaction set stamps_awarded = 9000000000000000000 where tenant_id = $1 and stamps_awarded is not null`,
		`update loyalty.redemption set points_spent = 9000000000000000000 where tenant_id = $1`,
		`update loyalty.account set points = 9000000000000000000, stamps = 9000000000000000000 where tenant_id = $1`,
		`update loyalty.ledger_entry set amount = sign(amount) * 9000000000000000000,
			balance_after = case when amount > 0 then 9000000000000000000 else 0 end where tenant_id = $1`,
	} {
		s.Exec(statement, s.By.Tenant.ID)
	}
}

// "Sums in reports are numeric inside and saturate at 2^63−1, so that no record can break a report." Smaller
// sums are exact.
func TestNoRecordBreaksASum(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm").on("2026-06-06 12:00:00")
	monday, tuesday := s.on("2026-06-01 12:00:00"), s.on("2026-06-02 12:00:00")
	anna, bo, voids := monday.rich(), monday.rich(), monday.Customer()
	for _, day := range []shop{monday, tuesday} {
		day.Sale(anna.ID, s.purchase, 100)
		day.Sale(bo.ID, s.coffee, 100)
		day.VoidSale(day.Sale(voids.ID, s.purchase, 100).ID)
		day.redemption(anna.ID)
	}
	s.grow()
	june := days(t, "2026-06-01", "2026-06-02")

	day := report.Figures{
		TransactionsCount: 2, VoidedCount: 1, SpendTotalCents: 200, PointsAwarded: huge, StampsAwarded: huge,
		PointsReversed: huge, PointsRedeemed: huge, RedemptionsCount: 1, NetSpendTotalCents: 200,
	}
	first := day
	first.NewCustomers = 3
	same(t, "per day", s.perDay(june), map[string]report.Figures{"2026-06-01": first, "2026-06-02": day})
	same(t, "in all", s.summary(june).Figures, report.Figures{
		TransactionsCount: 4, VoidedCount: 2, SpendTotalCents: 400, PointsAwarded: math.MaxInt64, StampsAwarded: math.MaxInt64,
		PointsReversed: math.MaxInt64, PointsRedeemed: math.MaxInt64, RedemptionsCount: 2, NewCustomers: 3,
		NetSpendTotalCents: 400,
	})

	same(t, "compared", s.compare(report.Selection{Range: june}).Current, total(s.summary(june)))
	reports := s.Reports
	places, err := reports.Locations(t.Context(), s.By, report.Selection{Range: june})
	s.Check(err)
	staff, err := reports.Staff(t.Context(), s.By, report.Selection{Range: june})
	s.Check(err)
	rewards, err := reports.Rewards(t.Context(), s.By, report.Selection{Range: june})
	s.Check(err)
	same(t, "broken down", []int64{places.Total.PointsAwarded, staff.Total.StampsAwarded, rewards.Total.PointsSpent}, []int64{math.MaxInt64, math.MaxInt64, math.MaxInt64})

	earned := s.earning(report.Selection{Range: june})
	same(t, "by rule", []int64{earned.Units[0].Total.Awarded, earned.Units[0].Rules[0].Awarded, earned.Units[1].Total.Awarded}, []int64{math.MaxInt64, math.MaxInt64, math.MaxInt64})

	got := s.overview(june)
	same(t, "the dashboard", got.Current, activity(s.summary(june)))
	same(t, "outstanding", got.Outstanding, report.Outstanding{Points: math.MaxInt64, Stamps: math.MaxInt64})
	same(t, "the time before", s.overview(days(t, "2026-06-03", "2026-06-04")).Previous.PointsAwarded, math.MaxInt64)
	if _, err := s.Reports.Recent(t.Context(), s.By, 50, ""); err != nil {
		t.Errorf("recent activity = %v", err)
	}
}

// Saturated sums are still ranked by their exact values.
func TestTopOfSumsThatSaturate(t *testing.T) {
	t.Parallel()
	s := newShop(t, "UTC")
	var came []customer.Customer
	var want []core.ID
	for sales := range 4 { // who came last has the most
		c := s.Customer()
		for range sales {
			s.Sale(c.ID, s.purchase, 100)
		}
		came = append(came, c)
	}
	s.grow()
	for _, c := range slices.Backward(came[1:]) {
		want = append(want, c.ID)
	}
	var ids []core.ID
	var points []int64
	for _, ranked := range s.top(report.Ranking{By: new("points")}) {
		ids, points = append(ids, ranked.ID), append(points, ranked.PointsAwarded)
	}
	same(t, "ranked", ids, want)
	same(t, "shown", points, []int64{math.MaxInt64, math.MaxInt64, huge})
	for _, measure := range []string{"spend", "visits"} {
		if got := s.top(report.Ranking{By: &measure}); len(got) != 3 || got[0].ID != want[0] {
			t.Errorf("by %s: %+v", measure, got)
		}
	}
}

// What is outstanding saturates, and so does what it would cost.
func TestOutstandingThatSaturates(t *testing.T) {
	t.Parallel()
	s := newShop(t, "UTC")
	anna, bo := s.rich(), s.rich()
	s.Sale(anna.ID, s.coffee, 100)
	s.Sale(bo.ID, s.coffee, 100)
	s.AddReward(reward.New{Name: "Mug", PointsCost: new(int64(1)), CostCents: new(int64(325))})
	s.grow()
	same(t, "outstanding", s.overview(report.Range{}).Outstanding, report.Outstanding{
		Points: math.MaxInt64, Stamps: math.MaxInt64, PointsCost: &report.Cost{Least: math.MaxInt64, Most: math.MaxInt64},
	})
}
