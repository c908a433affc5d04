package report_test

import (
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/report"
)

// ofYesterday is what reports of the second of June say about the first, up to the same time of day.
type ofYesterday struct {
	Summary report.Total
	Staff   []report.StaffSales
	Rewards []report.RewardUse
	Rules   []report.UnitEarning
	Coupons []report.CouponUse
	Used    report.CouponUse // vouchers in all
	Moved   report.Movement
}

func (s shop) ofYesterday(t *testing.T) ofYesterday {
	t.Helper()
	sel := s.selection(t, "2026-06-02", "2026-06-02")
	staff, err := s.Reports.Staff(t.Context(), s.By, sel)
	s.Check(err)
	coupons := s.couponUse(sel)
	return ofYesterday{
		Summary: s.compare(sel).Previous, Staff: staff.Rows, Rewards: s.rewards(sel).Rows, Rules: s.earning(sel).Units,
		Coupons: coupons.Rows, Used: coupons.Previous, Moved: s.statement(report.Balances{Range: sel.Range}).Before,
	}
}

// What came after this time of day isn't compared, however it is counted: in the morning what came before it is counted, in the afternoon
// what came after it, and taken off the day that is kept. Who did nothing before it has no row.
func TestAllFiguresUpToThisTimeOfDay(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm").on("2026-05-01 12:00:00")
	s.Promote(award.Promotion{Name: "Early", Extra: new(int64(5)), Windows: []award.Window{{Days: []award.Weekday{1}, From: 0, To: 12 * 60}}})
	s.Promote(award.Promotion{Name: "Late", Extra: new(int64(7)), Windows: []award.Window{{Days: []award.Weekday{1}, From: 12 * 60, To: 24 * 60}}})
	anna, mug := s.rich(), s.mug(325)
	three := s.off("Three off", coupon.Amount, 300)
	sell := func(at, by string, reward core.ID) {
		then := s.on(at)
		then.By.Kind, then.By.ID, then.By.Name = core.ByToken, by, "Till "+by
		then.Sale(anna.ID, s.purchase, 1_000)
		then.VoidSale(then.Sale(anna.ID, s.purchase, 70).ID)
		then.redeemWith(then.Voucher(three.ID, anna.ID), then.Sale(anna.ID, s.purchase, 40).ID)
		then.Redeem(anna.ID, reward)
		then.Customer()
	}
	sell("2026-06-01 09:00:00", "900001", s.espresso)
	noon := func() ofYesterday { t.Helper(); return s.on("2026-06-02 11:00:00").ofYesterday(t) }
	want := noon()
	if len(want.Staff) != 1 || len(want.Rewards) != 1 || want.Summary.TransactionsCount != 2 || want.Summary.NewCustomers != 1 || want.Used.Redeemed != 1 || want.Moved.Total.Earned == 0 {
		t.Fatalf("of the morning: %+v", want)
	}
	sell("2026-06-01 18:00:00", "900002", mug)
	for _, when := range []string{"from records", "of a day that was counted", "of a day that is to be counted again"} {
		switch when {
		case "of a day that was counted":
			s.on("2026-06-02 02:00:00").counted()
		case "of a day that is to be counted again":
			s.on("2026-06-02 09:00:00").VoidSale(s.on("2026-06-01 20:00:00").Sale(anna.ID, s.purchase, 5).ID)
		}
		same(t, when+", in the morning", noon(), want)
		same(t, when+", in the afternoon", s.on("2026-06-02 16:00:00").ofYesterday(t), want)
		if got := s.on("2026-06-02 19:00:00").ofYesterday(t); len(got.Staff) != 2 || len(got.Rewards) != 2 || got.Summary.TransactionsCount != 4 {
			t.Errorf("%s, in the evening: %+v", when, got)
		}
	}
}
