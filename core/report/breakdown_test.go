package report_test

import (
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/report"
)

func (s shop) selection(t *testing.T, from, to string) report.Selection {
	return report.Selection{Range: days(t, from, to)}
}

// Sales by location: rows and their total, which includes sales without a location.
func TestLocations(t *testing.T) {
	t.Parallel()
	s, neighbour := newShop(t, "Europe/Stockholm"), newShop(t, "Europe/Stockholm")
	kiosk, hall, stall := s.place("Kiosk"), s.place("Hall"), s.place("Stall")
	day, eve := s.on("2026-06-02 00:30:00"), s.on("2026-06-01 23:30:00")
	anna := eve.Customer()
	day.soldAt(kiosk, anna.ID, s.purchase, 300)
	day.soldAt(kiosk, anna.ID, s.coffee, 200)
	day.VoidSale(day.soldAt(kiosk, anna.ID, s.purchase, 5_000).ID)
	day.Sale(anna.ID, s.purchase, 700)
	eve.soldAt(kiosk, anna.ID, s.purchase, 400)
	eve.VoidSale(eve.soldAt(kiosk, anna.ID, s.purchase, 6_000).ID)
	eve.soldAt(hall, anna.ID, s.purchase, 40)
	day.VoidSale(day.soldAt(stall, anna.ID, s.purchase, 80).ID) // all that it had
	neighbour.on("2026-06-02 00:30:00").Sale(neighbour.Customer().ID, neighbour.purchase, 900)

	got, err := s.on("2026-06-03 12:00:00").Reports.Locations(t.Context(), s.By, s.selection(t, "2026-06-02", "2026-06-02"))
	s.Check(err)
	same(t, "rows", got.Rows, []report.LocationSales{
		{Sales: report.Sales{TransactionsCount: 1, SpendTotalCents: 700, PointsAwarded: 700}},
		{
			ID: &kiosk, Name: new("Kiosk"), Sales: report.Sales{TransactionsCount: 2, SpendTotalCents: 500, PointsAwarded: 300, StampsAwarded: 1},
			Voids: report.Voids{VoidedCount: 1, PreviousTransactionsCount: 1, PreviousVoidedCount: 1}, PreviousSpendCents: 400,
		},
		{ID: &hall, Name: new("Hall"), Voids: report.Voids{PreviousTransactionsCount: 1}, PreviousSpendCents: 40},
		{ID: &stall, Name: new("Stall"), Voids: report.Voids{VoidedCount: 1}},
	})
	same(t, "in all", got.Total, report.LocationSales{
		Whole: true, Sales: report.Sales{TransactionsCount: 3, SpendTotalCents: 1_200, PointsAwarded: 1_000, StampsAwarded: 1},
		Voids: report.Voids{VoidedCount: 2, PreviousTransactionsCount: 2, PreviousVoidedCount: 1}, PreviousSpendCents: 440,
	})
	same(t, "compared with", *got.Against, report.Period{From: *date(t, "2026-06-01"), To: *date(t, "2026-06-01")})
	none, err := s.Reports.Locations(t.Context(), s.By, s.selection(t, "2025-01-01", "2025-01-01"))
	s.Check(err)
	if len(none.Rows) != 0 || none.Total.Sales != (report.Sales{}) {
		t.Errorf("without sales: %+v", none)
	}
}

// What each person recorded: sales, voided ones, redemptions. A person who was renamed has one row.
func TestStaff(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm").on("2026-06-02 12:00:00")
	kiosk := s.place("Kiosk")
	anna := s.rich()
	maja, emre := s, s
	maja.By.Kind, maja.By.ID, maja.By.Name = core.ByStaff, "900001", "Maja S."
	emre.By.Kind, emre.By.ID, emre.By.Name = core.ByToken, "900002", "Ordering app"
	before := maja.on("2026-06-01 12:00:00")
	before.VoidSale(before.Sale(anna.ID, s.purchase, 100).ID)
	before.VoidSale(before.soldAt(kiosk, anna.ID, s.purchase, 100).ID)
	before.Sale(anna.ID, s.purchase, 40)
	maja.Sale(anna.ID, s.purchase, 100)
	maja.By.Name = "Maja Sund"
	maja.soldAt(kiosk, anna.ID, s.purchase, 50)
	maja.VoidSale(maja.Sale(anna.ID, s.purchase, 7_000).ID)
	emre.Sale(anna.ID, s.coffee, 900)
	maja.redemption(anna.ID)
	maja.VoidRedemption(maja.redemption(anna.ID).ID)
	staff := func(sel report.Selection) report.Breakdown[report.StaffSales] {
		t.Helper()
		got, err := s.Reports.Staff(t.Context(), s.By, sel)
		s.Check(err)
		return got
	}
	day := s.selection(t, "2026-06-02", "2026-06-02")
	got := staff(day)
	app := report.StaffSales{ActorKind: core.ByToken, ActorID: "900002", Name: "Ordering app", Sales: report.Sales{TransactionsCount: 1, SpendTotalCents: 900, StampsAwarded: 1}}
	sund := report.StaffSales{
		ActorKind: core.ByStaff, ActorID: "900001", Name: "Maja Sund", Voids: report.Voids{VoidedCount: 1, PreviousTransactionsCount: 1, PreviousVoidedCount: 2}, RedemptionsCount: 1,
		Sales: report.Sales{TransactionsCount: 2, SpendTotalCents: 150, PointsAwarded: 150}, PreviousSpendCents: 40,
	}
	same(t, "rows", got.Rows, []report.StaffSales{app, sund})
	if all := got.Total; all.TransactionsCount != 3 || all.SpendTotalCents != 1_050 || all.VoidedCount != 1 || all.RedemptionsCount != 1 {
		t.Errorf("in all %+v", all)
	}
	day.Location = &kiosk
	same(t, "at the kiosk", staff(day).Rows, []report.StaffSales{{
		ActorKind: core.ByStaff, ActorID: "900001", Name: "Maja Sund", Sales: report.Sales{TransactionsCount: 1, SpendTotalCents: 50, PointsAwarded: 50},
		Voids: report.Voids{PreviousVoidedCount: 1},
	}})
}

// "Of fewer than 50 recorded sales, no void rate is told."
func TestVoidRates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		completed int64
		voids     report.Voids
		now, then report.VoidRate
		known     [2]bool
	}{
		{49, report.Voids{VoidedCount: 1, PreviousTransactionsCount: 49}, report.VoidRate{Voided: 1, Recorded: 50}, report.VoidRate{Recorded: 49}, [2]bool{true, false}},
		{0, report.Voids{VoidedCount: 49, PreviousVoidedCount: 50}, report.VoidRate{Voided: 49, Recorded: 49}, report.VoidRate{Voided: 50, Recorded: 50}, [2]bool{false, true}},
	} {
		sold := report.Sales{TransactionsCount: c.completed}
		now, then := report.LocationSales{Sales: sold, Voids: c.voids}.VoidRates()
		same(t, "now", now, c.now)
		same(t, "then", then, c.then)
		same(t, "known", [2]bool{now.Known(), then.Known()}, c.known)
		ofStaff, before := report.StaffSales{Sales: sold, Voids: c.voids}.VoidRates()
		same(t, "of staff", [2]report.VoidRate{ofStaff, before}, [2]report.VoidRate{now, then})
	}
}

// An hour is what the clock showed: on the day when clocks go back, 2 o'clock lasts two hours.
func TestHours(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm").on("2026-10-27 12:00:00")
	kiosk := s.place("Kiosk")
	anna := s.on("2026-10-01 12:00:00").Customer()
	sunday := s.on("2026-10-25 01:30:00").DB.Now().Add(60 * 60e9) // 2:30 in summer time
	s.at(sunday).Sale(anna.ID, s.purchase, 100)
	s.at(sunday.Add(60*60e9)).Sale(anna.ID, s.purchase, 20) // 2:30 again, in winter time
	s.at(sunday.Add(90*60e9)).Sale(anna.ID, s.purchase, 3)  // 3:00
	s.VoidSale(s.at(sunday).Sale(anna.ID, s.purchase, 9_000).ID)
	s.on("2026-10-26 02:59:30").soldAt(kiosk, anna.ID, s.purchase, 4_000)
	at := func(sel report.Selection) map[[2]int64]int64 {
		t.Helper()
		got, err := s.Reports.Hours(t.Context(), s.By, sel)
		s.Check(err)
		spend := map[[2]int64]int64{}
		for _, c := range got.Cells {
			where := [2]int64{-1, -1}
			if c.Weekday != nil {
				where[0] = *c.Weekday
			}
			if c.Hour != nil {
				where[1] = *c.Hour
			}
			spend[where] = c.SpendTotalCents
		}
		if got.Days != [7]int64{1, 1, 0, 0, 0, 0, 1} {
			t.Errorf("days = %v, want Sunday to Tuesday", got.Days)
		}
		return spend
	}
	sel := s.selection(t, "2026-10-25", "2026-10-28") // the last day is to come
	same(t, "spend", at(sel), map[[2]int64]int64{
		{6, 2}: 120, {6, 3}: 3, {0, 2}: 4_000, {6, -1}: 123, {0, -1}: 4_000, {-1, 2}: 4_120, {-1, 3}: 3, {-1, -1}: 4_123,
	})
	sel.Location = &kiosk
	same(t, "at the kiosk", at(sel), map[[2]int64]int64{{0, 2}: 4_000, {0, -1}: 4_000, {-1, 2}: 4_000, {-1, -1}: 4_000})
}

// Lord Howe Island moves its clocks by half an hour, and Kathmandu is 5:45 ahead: hours are the clock's.
func TestHoursOfOddZones(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, shown string }{
		{"Australia/Lord_Howe", "2026-04-05 01:45:00"},
		{"Australia/Lord_Howe", "2026-10-04 02:45:00"},
		{"Asia/Kathmandu", "2026-06-01 23:59:30"},
		{"America/Santiago", "2026-09-06 01:00:00"},
		{"America/Havana", "2025-11-02 00:30:00"},
	} {
		s := newShop(t, c.zone).on(c.shown)
		s.Sale(s.Customer().ID, s.purchase, 100)
		now := s.DB.Now().In(s.By.Tenant.TimeZone)
		got, err := s.at(now.AddDate(0, 0, 2)).Reports.Hours(t.Context(), s.By, report.Selection{})
		s.Check(err)
		found := false
		for _, cell := range got.Cells {
			found = found || cell.Weekday != nil && cell.Hour != nil && *cell.Weekday == int64(now.Weekday()+6)%7 && *cell.Hour == int64(now.Hour())
		}
		if !found {
			t.Errorf("%s: a sale at %s counts in %+v", c.zone, c.shown, got.Cells)
		}
	}
}
