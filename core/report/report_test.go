package report_test

import (
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/shoptest"
)

// "A range from/to means whole days, both included, in the tenant's time zone."
func TestADayIsTheTenantsOwn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, instant, day string }{
		{"UTC", "2026-06-30T23:59:59Z", "2026-06-30"},
		{"UTC", "2026-07-01T00:00:00Z", "2026-07-01"},
		{"Pacific/Tongatapu", "2026-06-30T11:00:30Z", "2026-07-01"}, // UTC+13: already tomorrow
		{"Pacific/Tongatapu", "2026-06-30T10:59:30Z", "2026-06-30"},
		{"Pacific/Pago_Pago", "2026-07-01T10:59:30Z", "2026-06-30"}, // UTC-11: still yesterday
		{"Asia/Kolkata", "2026-06-30T18:30:30Z", "2026-07-01"},      // half an hour off
		{"Asia/Kolkata", "2026-06-30T18:29:30Z", "2026-06-30"},
		// The day of 23 hours, from its first minute to its last.
		{"Europe/Stockholm", "2026-03-28T22:59:30Z", "2026-03-28"},
		{"Europe/Stockholm", "2026-03-28T23:00:30Z", "2026-03-29"},
		{"Europe/Stockholm", "2026-03-29T21:59:30Z", "2026-03-29"},
		{"Europe/Stockholm", "2026-03-29T22:00:30Z", "2026-03-30"},
		// The day of 25 hours.
		{"Europe/Stockholm", "2025-10-25T21:59:30Z", "2025-10-25"},
		{"Europe/Stockholm", "2025-10-25T22:00:30Z", "2025-10-26"},
		{"Europe/Stockholm", "2025-10-26T22:59:30Z", "2025-10-26"},
		{"Europe/Stockholm", "2025-10-26T23:00:30Z", "2025-10-27"},
		// The same in America, on other days.
		{"America/New_York", "2026-03-08T04:59:30Z", "2026-03-07"},
		{"America/New_York", "2026-03-08T05:00:30Z", "2026-03-08"},
		{"America/New_York", "2026-03-09T03:59:30Z", "2026-03-08"},
		{"America/New_York", "2026-03-09T04:00:30Z", "2026-03-09"},
		{"America/New_York", "2025-11-02T03:59:30Z", "2025-11-01"},
		{"America/New_York", "2025-11-02T04:00:30Z", "2025-11-02"},
		{"America/New_York", "2025-11-03T04:59:30Z", "2025-11-02"},
		{"America/New_York", "2025-11-03T05:00:30Z", "2025-11-03"},
	} {
		t.Run(c.zone+" "+c.instant, func(t *testing.T) {
			t.Parallel()
			instant, err := time.Parse(time.RFC3339, c.instant)
			if err != nil {
				t.Fatal(err)
			}
			s := newShop(t, c.zone)
			s = s.at(instant)
			anna := s.rich()
			s.Sale(anna.ID, s.purchase, 700)
			s.redemption(anna.ID)
			day := *date(t, c.day)
			before, after := day.AddDate(0, 0, -1), day.AddDate(0, 0, 1)

			want := report.Figures{
				TransactionsCount: 1, SpendTotalCents: 700, PointsAwarded: 700, RedemptionsCount: 1, PointsRedeemed: 10, NewCustomers: 1, NetSpendTotalCents: 700,
			}
			same(t, "the days around", s.perDay(report.Range{From: &before, To: &after}), map[string]report.Figures{c.day: want})
			same(t, "the day itself", s.summary(report.Range{From: &day, To: &day}).Figures, want)
			same(t, "today", s.summary(report.Range{}).To, day)
			if got := s.top(report.Ranking{Range: report.Range{From: &day, To: &day}}); len(got) != 1 {
				t.Errorf("top of the day = %v, want Anna", got)
			}
			for _, other := range []time.Time{before, after} {
				if got := s.top(report.Ranking{Range: report.Range{From: &other, To: &other}}); len(got) != 0 {
					t.Errorf("top of %s = %v, want none", other.Format(time.DateOnly), got)
				}
			}
		})
	}
}

// A changed time zone moves sales to other days at once.
func TestAChangedTimeZoneIsRightAtOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm").on("2026-05-01 00:30:00")
	s.Sale(s.Customer().ID, s.coffee, 300)
	around := days(t, "2026-04-29", "2026-05-02")
	want := report.Figures{TransactionsCount: 1, SpendTotalCents: 300, StampsAwarded: 1, NewCustomers: 1, NetSpendTotalCents: 300}
	same(t, "in Stockholm", s.perDay(around), map[string]report.Figures{"2026-05-01": want})
	s.By.Tenant.TimeZone = time.UTC
	same(t, "in UTC", s.perDay(around), map[string]report.Figures{"2026-04-30": want})
}

// Samoa skipped a day at the date line: the day is listed without records.
func TestADayThatDidNotExist(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Pacific/Apia")
	s.on("2011-12-29 23:30:00").Customer()
	s.on("2011-12-31 00:30:00").Customer()
	got := s.summary(days(t, "2011-12-29", "2011-12-31"))
	var perDay []int64
	for _, d := range got.Days {
		perDay = append(perDay, d.NewCustomers)
	}
	same(t, "new customers", perDay, []int64{1, 0, 1})
}

// "Summary → … (completed only), points_reversed (awards of voided ones), … dated by
// created_at": the day of a void is the day of its sale.
func TestAVoidCountsOnTheDayOfItsSale(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm")
	monday, tuesday := s.on("2026-06-01 12:00:00"), s.on("2026-06-02 12:00:00")
	anna := monday.Customer()
	tuesday.VoidSale(monday.Sale(anna.ID, s.purchase, 900).ID)
	tuesday.VoidSale(monday.Sale(anna.ID, s.coffee, 400).ID)
	same(t, "per day", s.perDay(days(t, "2026-06-01", "2026-06-02")), map[string]report.Figures{
		"2026-06-01": {VoidedCount: 2, PointsReversed: 900, NewCustomers: 1},
	})
	if got := s.summary(days(t, "2026-06-01", "2026-06-02")).ActiveCustomers; got != 0 {
		t.Errorf("%d active customers, want none: nothing was bought", got)
	}
}

// "points_redeemed (redemptions not voided)": on the day of their creation, whenever they end. A voucher
// counts on the day of its redemption.
func TestRedemptionsAndVouchers(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm")
	monday, tuesday := s.on("2026-06-01 12:00:00"), s.on("2026-06-02 12:00:00")
	anna := monday.rich()
	monday.redemption(anna.ID)
	tuesday.VoidRedemption(monday.redemption(anna.ID).ID)
	vouchers := monday.send(monday.coupon("Hello", nil))
	tuesday.redeem(vouchers[0])
	same(t, "per day", s.perDay(days(t, "2026-06-01", "2026-06-02")), map[string]report.Figures{
		"2026-06-01": {RedemptionsCount: 1, PointsRedeemed: 10, NewCustomers: 1},
		"2026-06-02": {VouchersRedeemed: 1},
	})
}

func TestACustomerIsActiveOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm")
	anna, bo := s.Customer(), s.Customer()
	for _, day := range []string{"2026-06-01 12:00:00", "2026-06-02 12:00:00", "2026-06-03 12:00:00"} {
		s.on(day).Sale(anna.ID, s.purchase, 100)
	}
	s.on("2026-06-02 12:00:00").Sale(bo.ID, s.purchase, 100)
	if got := s.summary(days(t, "2026-06-01", "2026-06-03")).ActiveCustomers; got != 2 {
		t.Errorf("%d active customers, want 2", got)
	}
}

// "Default the last 30 days", including today. With one end given, the other is derived.
func TestWhichDays(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm").on("2026-03-30 00:30:00") // in UTC still the 29th
	for _, c := range []struct{ from, to, wantFrom, wantTo string }{
		{"", "", "2026-03-01", "2026-03-30"},
		{"2026-03-20", "", "2026-03-20", "2026-03-30"},
		{"2026-03-30", "", "2026-03-30", "2026-03-30"},
		{"2026-05-01", "", "2026-05-01", "2026-05-01"}, // a day to come
		{"", "2026-03-10", "2026-02-09", "2026-03-10"},
		{"", "2026-12-31", "2026-12-02", "2026-12-31"},
		{"2026-03-10", "2026-03-10", "2026-03-10", "2026-03-10"},
		{"2016-03-30", "", "2016-03-30", "2026-03-30"}, // 3653 days: as many as there may be
		{"0001-01-01", "0001-01-02", "0001-01-01", "0001-01-02"},
		{"9999-12-30", "9999-12-31", "9999-12-30", "9999-12-31"},
	} {
		var r report.Range
		if c.from != "" {
			r.From = date(t, c.from)
		}
		if c.to != "" {
			r.To = date(t, c.to)
		}
		got := s.summary(r)
		if from, to := got.From.Format(time.DateOnly), got.To.Format(time.DateOnly); from != c.wantFrom || to != c.wantTo {
			t.Errorf("%q to %q is %s to %s, want %s to %s", c.from, c.to, from, to, c.wantFrom, c.wantTo)
		}
		if want := int(got.To.Sub(got.From)/(24*time.Hour)) + 1; len(got.Days) != want {
			t.Errorf("%q to %q has %d days, want %d", c.from, c.to, len(got.Days), want)
		}
		written, err := s.Reports.Days(s.By, r)
		if err != nil || !written.From.Equal(got.From) || !written.To.Equal(got.To) {
			t.Errorf("%q to %q is written out as %v to %v, %v", c.from, c.to, written.From, written.To, err)
		}
	}
}

// "`from` after `to` is 422", together with every other violation.
func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm").on("2026-03-30 12:00:00")
	reports := s.Reports
	backwards, long := core.AfterOrEqual("from"), core.WithinDays(3652, "from")
	unreadable := core.Fields{"from": {core.MustBeDate}}
	for _, c := range []struct {
		name string
		r    report.Range
		want core.Fields
	}{
		{"backwards", days(t, "2026-03-10", "2026-03-09"), core.Fields{"to": {backwards}}},
		{"too long by a day", days(t, "2016-03-30", "2026-03-31"), core.Fields{"to": {long}}},
		{"too long until today", report.Range{From: date(t, "2016-03-29")}, core.Fields{"to": {long}}},
		{"ages", days(t, "0001-01-01", "9999-12-31"), core.Fields{"to": {long}}},
		{"unreadable", report.Range{To: date(t, "2026-03-30"), Malformed: unreadable}, unreadable},
	} {
		_, err := reports.Summary(t.Context(), s.By, c.r)
		same(t, c.name, shoptest.Fields(t, err), c.want)
		_, err = reports.Top(t.Context(), s.By, report.Ranking{Range: c.r})
		same(t, c.name+", of top customers", shoptest.Fields(t, err), c.want)
	}
	for _, c := range []struct {
		limit int64
		want  core.Violation
	}{
		{0, core.Min(1)}, {-1, core.Min(1)}, {101, core.Max(100)},
	} {
		_, err := reports.Top(t.Context(), s.By, report.Ranking{Range: days(t, "2026-03-10", "2026-03-09"), By: new("name"), Limit: &c.limit})
		shoptest.WantFields(t, err, core.Fields{
			"to": {backwards}, "by": {core.InvalidChoice}, "limit": {c.want},
		})
	}
}

func TestNothingHappened(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm")
	got := s.summary(report.Range{})
	if got.Figures != (report.Figures{}) || got.ActiveCustomers != 0 || len(got.Days) != 30 {
		t.Errorf("summary = %+v, want 30 days of nothing", got)
	}
	if top, coupons := s.top(report.Ranking{}), s.couponReport(); len(top) != 0 || len(coupons) != 0 {
		t.Errorf("top = %v, coupons = %v, want none", top, coupons)
	}
}

// "Every tenant-scoped request is confined to the tenant that owns the token."
func TestAnotherTenantsRecordsAreNotCounted(t *testing.T) {
	t.Parallel()
	neighbour, s := newShop(t, "Europe/Stockholm"), newShop(t, "Europe/Stockholm")
	anna := neighbour.rich()
	neighbour.Sale(anna.ID, neighbour.purchase, 900)
	neighbour.VoidSale(neighbour.Sale(anna.ID, neighbour.purchase, 900).ID)
	neighbour.redemption(anna.ID)
	neighbour.redeem(neighbour.send(neighbour.coupon("Hello", nil))[0])

	if got := s.summary(report.Range{}); got.Figures != (report.Figures{}) || got.ActiveCustomers != 0 {
		t.Errorf("summary = %+v, want nothing", got)
	}
	if top, coupons := s.top(report.Ranking{}), s.couponReport(); len(top) != 0 || len(coupons) != 0 {
		t.Errorf("top = %v, coupons = %v, want none", top, coupons)
	}
}

// "Top customers → customer fields + transactions_count, spend_total_cents,
// points_awarded", of those with a completed sale; the lower ULID first among equals.
func TestTop(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm").on("2026-06-01 12:00:00")
	var came []customer.Customer // one after the other, as their ULIDs say
	for i := range 5 {
		came = append(came, s.at(s.DB.Now().Add(time.Duration(i)*time.Second)).Customer())
	}
	anna, bo, cleo, dan, ed := came[0], came[1], came[2], came[3], came[4]
	s.Sale(anna.ID, s.purchase, 300)
	last := s.Sale(anna.ID, s.coffee, 50)
	s.Sale(bo.ID, s.purchase, 350)
	s.Sale(cleo.ID, s.coffee, 350)
	s.VoidSale(s.Sale(dan.ID, s.purchase, 9000).ID)
	s.on("2026-05-31 12:00:00").Sale(ed.ID, s.purchase, 9000)

	june := days(t, "2026-06-01", "2026-06-30")
	for _, c := range []struct {
		by   string
		want []core.ID
	}{
		{"spend", []core.ID{anna.ID, bo.ID, cleo.ID}},
		{"points", []core.ID{bo.ID, anna.ID, cleo.ID}},
		{"visits", []core.ID{anna.ID, bo.ID, cleo.ID}},
	} {
		var got []core.ID
		for _, ranked := range s.top(report.Ranking{Range: june, By: &c.by}) {
			got = append(got, ranked.ID)
		}
		same(t, "by "+c.by, got, c.want)
	}
	best := s.top(report.Ranking{Range: june, Limit: new(int64(1))})
	same(t, "the best", best, []report.Customer{{
		ID: anna.ID, FirstName: anna.FirstName, LastName: anna.LastName, Phone: anna.Phone, Status: "active",
		PointsBalance: 300, StampsBalance: 1, CreatedAt: anna.CreatedAt, UpdatedAt: anna.UpdatedAt,
		TransactionsCount: 2, SpendTotalCents: 350, PointsAwarded: 300, LastVisit: &last.CreatedAt,
	}})
}

// "`limit` (10, at most 100)."
func TestHowManyAreTop(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm")
	for range 12 {
		s.Sale(s.Customer().ID, s.purchase, 100)
	}
	for _, c := range []struct {
		limit *int64
		want  int
	}{{nil, 10}, {new(int64(1)), 1}, {new(int64(11)), 11}, {new(int64(100)), 12}} {
		if got := s.top(report.Ranking{Limit: c.limit}); len(got) != c.want {
			t.Errorf("%d customers, want %d", len(got), c.want)
		}
	}
}

// "Past [its expiry], a voucher is expired the moment it is looked at, in every list,
// report and answer; a job only makes the stored status agree."
func TestCoupons(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm").on("2026-06-01 12:00:00")
	for range 3 {
		s.Customer()
	}
	noon := s.DB.Now()
	later := noon.Add(time.Hour)
	lasting := s.at(noon.Add(-time.Minute)).coupon("Lasting", nil)
	ending := s.coupon("Ending", &later)
	unsent := s.at(noon.Add(time.Minute)).coupon("Unsent", nil)
	s.redeem(s.send(lasting)[1])
	vouchers := s.send(ending)
	s.redeem(vouchers[0])
	s.send(ending)

	want := []report.Coupon{
		{ID: unsent.ID, Name: "Unsent"},
		{ID: ending.ID, Name: "Ending", Sent: 6, Pending: 5, Redeemed: 1},
		{ID: lasting.ID, Name: "Lasting", Sent: 3, Pending: 2, Redeemed: 1},
	}
	same(t, "before", s.at(later.Add(-time.Minute)).couponReport(), want)
	want[1].Pending, want[1].Expired = 0, 5
	same(t, "from that instant", s.at(later).couponReport(), want)
	// The job has updated some of them.
	s.Exec("update loyalty.voucher set status = 'expired' where tenant_id = $1 and id = $2", s.By.Tenant.ID, vouchers[1])
	same(t, "half marked", s.at(later).couponReport(), want)
}

// "redemption_rate": the redeemed share of the sent vouchers.
func TestRedemptionRate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sent, redeemed int64
		want           float64
	}{{0, 0, 0}, {3, 0, 0}, {3, 1, 0.3333}, {3, 2, 0.6667}, {7, 7, 1}, {20_001, 1, 0}, {20_000, 1, 0.0001}, {1_000_000, 999_999, 1}} {
		if got := (report.Coupon{Sent: c.sent, Redeemed: c.redeemed}).RedemptionRate(); got != c.want {
			t.Errorf("%d of %d = %v, want %v", c.redeemed, c.sent, got, c.want)
		}
	}
}

func TestEachReportIsOneRoundTrip(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shopIn(t, d, "Europe/Stockholm")
	reports := report.NewService(d)
	for name, ask := range map[string]func() error{
		"summary":  func() error { _, err := reports.Summary(t.Context(), s.By, report.Range{}); return err },
		"top":      func() error { _, err := reports.Top(t.Context(), s.By, report.Ranking{}); return err },
		"coupons":  func() error { _, err := reports.Coupons(t.Context(), s.By); return err },
		"use":      func() error { _, err := reports.CouponUse(t.Context(), s.By, report.Selection{}); return err },
		"rewards":  func() error { _, err := reports.Rewards(t.Context(), s.By, report.Selection{}); return err },
		"overview": func() error { _, err := reports.Overview(t.Context(), s.By, report.Range{}); return err },
		"recent":   func() error { _, err := reports.Recent(t.Context(), s.By, 10, ""); return err },
	} {
		s.Check(ask())
		before := count()
		s.Check(ask())
		if got := count() - before; got != 1 {
			t.Errorf("%s makes %d round trips, want 1", name, got)
		}
	}
}
