package report_test

import (
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

func (s shop) compare(sel report.Selection) report.Comparison {
	s.T.Helper()
	got, err := s.Reports.Compare(s.T.Context(), s.By, sel)
	s.Check(err)
	return got
}

// place adds a location.
func (s shop) place(name string) int64 {
	s.T.Helper()
	made, err := core.Result(s.Locations.Add(s.T.Context(), s.By, location.New{Name: name}, nil))
	s.Check(err)
	return made.ID
}

// soldAt records a sale at a location.
func (s shop) soldAt(place int64, to core.ID, kind transaction.Type, cents int64) transaction.Transaction {
	s.T.Helper()
	made, err := core.Result(s.Transactions.Record(s.T.Context(), s.By, transaction.Sale{
		CustomerID: to, TransactionTypeID: kind.ID, SpendAmountCents: cents, LocationID: &place, Source: transaction.POS,
	}, nil, nil))
	s.Check(err)
	return made
}

// A customer who was merged into another is not a new customer, in any report.
func TestMergedCustomersAreNotNew(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm")
	kept, twin := s.Customer(), s.Customer()
	s.Must(core.Result(s.Merging.Merge(t.Context(), s.By, kept.ID, twin.ID, nil, nil)))
	s.Sale(kept.ID, s.Points(100), 100)
	feed := s.recent(10, "")
	if n := s.compare(report.Selection{}).Current.NewCustomers; n != 1 {
		t.Errorf("%d new customers, want 1", n)
	}
	if len(feed.Days) != 1 || feed.Days[0].NewCustomers != 1 {
		t.Errorf("the latest days are %+v, want one with one new customer", feed.Days)
	}
}

// Calendar months are compared with calendar months, up to today with their same days, and weeks with the same
// weekdays.
func TestTheEarlierPeriod(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, against, want, wantTo string }{
		// Whole months, today is 25 November 2026.
		{"2026-10-01", "2026-10-31", "previous", "2026-09-01", "2026-09-30"},
		{"2026-09-01", "2026-09-30", "previous", "2026-08-01", "2026-08-31"},
		{"2026-02-01", "2026-02-28", "previous", "2026-01-01", "2026-01-31"},
		{"2026-03-01", "2026-03-31", "previous", "2026-02-01", "2026-02-28"},
		{"2024-03-01", "2024-03-31", "previous", "2024-02-01", "2024-02-29"},
		{"2026-01-01", "2026-01-31", "previous", "2025-12-01", "2025-12-31"},
		{"2026-01-01", "2026-03-31", "previous", "2025-10-01", "2025-12-31"},
		{"2025-01-01", "2025-12-31", "previous", "2024-01-01", "2024-12-31"},
		{"2026-11-01", "2026-11-30", "previous", "2026-10-01", "2026-10-31"},
		// Up to today.
		{"2026-11-01", "2026-11-25", "previous", "2026-10-01", "2026-10-25"},
		{"2026-10-01", "2026-11-25", "previous", "2026-08-01", "2026-09-25"},
		{"2026-01-01", "2026-11-25", "previous", "2025-01-01", "2025-11-25"},
		{"2026-01-01", "2026-12-31", "previous", "2025-01-01", "2025-12-31"},
		// Weeks.
		{"2026-11-16", "2026-11-22", "previous", "2026-11-09", "2026-11-15"},
		{"2026-11-23", "2026-11-25", "previous", "2026-11-16", "2026-11-18"},
		{"2026-11-16", "2026-11-25", "previous", "2026-11-02", "2026-11-11"},
		{"2026-11-16", "2026-11-20", "previous", "2026-11-11", "2026-11-15"},
		{"2026-11-19", "2026-11-25", "previous", "2026-11-12", "2026-11-18"},
		// Other days.
		{"2026-11-25", "2026-11-25", "previous", "2026-11-24", "2026-11-24"},
		{"2026-10-27", "2026-11-25", "previous", "2026-09-27", "2026-10-26"},
		{"2026-10-01", "2026-10-15", "previous", "2026-09-16", "2026-09-30"},
		// A year earlier.
		{"2026-10-01", "2026-10-31", "last-year", "2025-10-01", "2025-10-31"},
		{"2024-02-01", "2024-02-29", "last-year", "2023-02-01", "2023-02-28"},
		{"2025-02-01", "2025-02-28", "last-year", "2024-02-01", "2024-02-29"},
		{"2026-11-23", "2026-11-25", "last-year", "2025-11-23", "2025-11-25"},
	} {
		p := report.Period{From: *date(t, c.from), To: *date(t, c.to)}
		want := report.Period{From: *date(t, c.want), To: *date(t, c.wantTo)}
		if got := p.Earlier(report.Against(c.against), *date(t, "2026-11-25")); got != want {
			t.Errorf("%s to %s, %s: %s to %s, want %s to %s", c.from, c.to, c.against,
				got.From.Format(time.DateOnly), got.To.Format(time.DateOnly), c.want, c.wantTo)
		}
	}
	// On the last day of a month, it isn't over: it ends on the same day of the month before, if that has it.
	for _, c := range [][3]string{
		{"2026-11-01", "2026-11-30", "2026-10-30"},
		{"2026-02-01", "2026-02-28", "2026-01-28"},
		{"2026-10-01", "2026-10-31", "2026-09-30"},
		{"2026-09-01", "2026-11-30", "2026-08-30"},
	} {
		p := report.Period{From: *date(t, c[0]), To: *date(t, c[1])}
		if got := p.Earlier(report.PreviousPeriod, p.To); !got.To.Equal(*date(t, c[2])) {
			t.Errorf("on %s, days from %s are compared up to %s, want %s", c[1], c[0], got.To.Format(time.DateOnly), c[2])
		}
	}
	// The days of a month that today's has, and the month before doesn't.
	marchSoFar := report.Period{From: *date(t, "2026-03-01"), To: *date(t, "2026-03-30")}
	if got := marchSoFar.Earlier(report.PreviousPeriod, marchSoFar.To); !got.To.Equal(*date(t, "2026-02-28")) {
		t.Errorf("March up to the 30th is compared up to %s", got.To)
	}
}

// Each day is beside the same day of the earlier month: none where that month is shorter, and the days that only it
// has are beside none.
func TestDaysOfMonthsOfUnequalLength(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm")
	anna := s.on("2026-01-01 12:00:00").Customer()
	for shown, cents := range map[string]int64{
		"2026-01-28 12:00:00": 1, "2026-01-29 12:00:00": 20, "2026-01-31 12:00:00": 300,
		"2026-02-28 12:00:00": 4_000, "2026-03-28 12:00:00": 50_000, "2026-03-31 12:00:00": 600_000,
	} {
		s.on(shown).Sale(anna.ID, s.purchase, cents)
	}
	s = s.on("2026-04-10 12:00:00")
	february := s.compare(report.Selection{Range: days(t, "2026-02-01", "2026-02-28")})
	same(t, "January", february.Previous.SpendTotalCents, 321)
	same(t, "28 January", february.Buckets[27].Previous.SpendTotalCents, 1)
	var longer []int64
	for _, b := range february.Longer {
		longer = append(longer, b.Previous.SpendTotalCents)
	}
	same(t, "29 to 31 January", longer, []int64{20, 0, 300})
	march := s.compare(report.Selection{Range: days(t, "2026-03-01", "2026-03-31")})
	same(t, "February", march.Previous.SpendTotalCents, 4_000)
	same(t, "28 February", march.Buckets[27].Previous.SpendTotalCents, 4_000)
	if march.Buckets[28].Previous != nil || march.Buckets[30].Previous != nil || len(march.Longer) != 0 {
		t.Errorf("29 March is beside %v, 31 March beside %v", march.Buckets[28].Beside, march.Buckets[30].Beside)
	}
	quarter := s.compare(report.Selection{Range: days(t, "2026-01-01", "2026-03-31"), Step: report.Monthly})
	if got := quarter.Buckets[2].Beside; !got.From.Equal(*date(t, "2025-12-01")) || !got.To.Equal(*date(t, "2025-12-31")) {
		t.Errorf("March is beside %v", got)
	}
}

func total(s report.Summary) report.Total {
	return report.Total{Figures: s.Figures, ActiveCustomers: s.ActiveCustomers}
}

// Every bucket, and both periods, have the figures that a summary of the same days has, so buckets add up
// to the total.
func TestComparisonsAgreeWithSummaries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone, from, to, against string
		before, beforeTo        string
		buckets                 int
		step                    report.Step
	}{
		{"Europe/Stockholm", "2026-03-27", "2026-03-31", "previous", "2026-03-22", "2026-03-26", 5, report.Daily},
		{"America/New_York", "2025-10-31", "2025-11-04", "last-year", "2024-10-31", "2024-11-04", 5, report.Daily},
		{"Europe/Stockholm", "2024-02-28", "2024-03-01", "last-year", "2023-02-28", "2023-03-01", 3, report.Daily}, // over a leap day
		{"Europe/Stockholm", "2025-10-01", "2026-01-01", "previous", "2025-06-30", "2025-09-30", 14, report.Weekly},
		{"Pacific/Apia", "2011-12-01", "2013-12-31", "none", "", "", 25, report.Monthly}, // over a day that did not exist
	} {
		t.Run(c.zone+" "+c.from+" "+c.against, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, c.zone)
			r := days(t, c.from, c.to)
			anna, bo := s.rich(), s.rich()
			earliest := r.From.AddDate(0, 0, -100)
			if c.against == "last-year" {
				earliest = r.From.AddDate(-1, 0, -1)
			}
			for n, at := 0, earliest.Add(23*time.Hour+30*time.Minute); at.Before(r.To.AddDate(0, 0, 1)); n, at = n+1, at.Add(29*time.Hour) {
				now := s.at(at)
				sold := now.Sale([]core.ID{anna.ID, bo.ID}[n%2], s.purchase, int64(100+n))
				if n%5 == 0 {
					now.VoidSale(sold.ID)
				}
				if n%3 == 0 {
					now.redemption(anna.ID)
				}
			}
			got := s.compare(report.Selection{Range: r, Against: &c.against})
			same(t, "the range", got.Current, total(s.summary(r)))
			if c.before == "" {
				same(t, "no earlier period", got.Against, nil)
				same(t, "its figures", got.Previous, report.Total{})
			} else {
				same(t, "the earlier period", *got.Against, report.Period{From: *date(t, c.before), To: *date(t, c.beforeTo)})
				same(t, "its figures", got.Previous, total(s.summary(report.Range{From: &got.Against.From, To: &got.Against.To})))
			}
			same(t, "step", got.Step, c.step)
			if len(got.Buckets) != c.buckets {
				t.Errorf("%d buckets, want %d", len(got.Buckets), c.buckets)
			}
			var sum, earlier report.Figures
			next := *r.From
			for _, b := range got.Buckets {
				if !b.From.Equal(next) {
					t.Errorf("a bucket begins on %s, want %s", b.From, next)
				}
				next = b.To.AddDate(0, 0, 1)
				same(t, "bucket", b.Current, s.summary(report.Range{From: &b.From, To: &b.To}).Figures)
				sum.SpendTotalCents += b.Current.SpendTotalCents
				sum.PointsRedeemed += b.Current.PointsRedeemed
				if b.Previous != nil {
					earlier.SpendTotalCents += b.Previous.SpendTotalCents
					earlier.PointsRedeemed += b.Previous.PointsRedeemed
				}
			}
			if next = next.AddDate(0, 0, -1); !next.Equal(*r.To) {
				t.Errorf("the last bucket ends on %s", next)
			}
			same(t, "spend of the buckets", sum.SpendTotalCents, got.Current.SpendTotalCents)
			same(t, "redeemed in the buckets", sum.PointsRedeemed, got.Current.PointsRedeemed)
			same(t, "spend of the earlier buckets", earlier.SpendTotalCents, got.Previous.SpendTotalCents)
			same(t, "redeemed in the earlier buckets", earlier.PointsRedeemed, got.Previous.PointsRedeemed)
		})
	}
}

// Weeks begin on Monday and months on their first day, in the shop's zone. The first and the last one may be
// partial, and the one with today is only so far.
func TestStepsOfAChart(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Pacific/Auckland").on("2026-11-23 08:00:00") // a Monday; in UTC still Sunday
	type edge struct {
		from, to       string
		soFar, partial bool
	}
	for _, c := range []struct {
		from, to    string
		first, last edge
	}{
		{"2026-11-23", "2026-11-23", edge{"2026-11-23", "2026-11-23", true, false}, edge{"2026-11-23", "2026-11-23", true, false}},
		{"2026-11-01", "2026-11-22", edge{"2026-11-01", "2026-11-01", false, false}, edge{"2026-11-22", "2026-11-22", false, false}},
		{"2026-07-01", "2026-11-23", edge{"2026-07-01", "2026-07-05", false, true}, edge{"2026-11-23", "2026-11-23", true, false}},
		{"2026-06-29", "2026-11-22", edge{"2026-06-29", "2026-07-05", false, false}, edge{"2026-11-16", "2026-11-22", false, false}},
		{"2026-06-29", "2026-11-20", edge{"2026-06-29", "2026-07-05", false, false}, edge{"2026-11-16", "2026-11-20", false, true}},
		{"2024-11-15", "2026-11-23", edge{"2024-11-15", "2024-11-30", false, true}, edge{"2026-11-01", "2026-11-23", true, false}},
		{"2024-09-01", "2026-10-31", edge{"2024-09-01", "2024-09-30", false, false}, edge{"2026-10-01", "2026-10-31", false, false}},
	} {
		got := s.compare(report.Selection{Range: days(t, c.from, c.to)}).Buckets
		edgeOf := func(b report.Bucket[report.Figures]) edge {
			return edge{b.From.Format(time.DateOnly), b.To.Format(time.DateOnly), b.SoFar, b.Partial}
		}
		if first, last := edgeOf(got[0]), edgeOf(got[len(got)-1]); first != c.first || last != c.last {
			t.Errorf("%s to %s: %v … %v, want %v … %v", c.from, c.to, first, last, c.first, c.last)
		}
		for i, b := range got {
			if i > 0 && i < len(got)-1 && (b.SoFar || b.Partial) {
				t.Errorf("%s to %s: %v", c.from, c.to, edgeOf(b))
			}
		}
	}
}

// A range that includes today is compared up to the same time of day. The buckets show the earlier day in
// full.
func TestTodayIsComparedUpToTheSameTime(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm")
	anna := s.on("2026-05-01 12:00:00").Customer()
	for shown, cents := range map[string]int64{
		"2025-06-02 11:59:00": 1, "2025-06-02 12:01:00": 20,
		"2026-06-01 11:59:00": 300, "2026-06-01 12:01:00": 4_000,
		"2026-06-02 11:59:00": 50_000,
	} {
		s.on(shown).Sale(anna.ID, s.purchase, cents)
	}
	today := days(t, "2026-06-02", "2026-06-02")
	for _, c := range []struct {
		now, against    string
		previous, whole int64
	}{
		{"2026-06-02 12:00:00", "previous", 300, 4_300},
		{"2026-06-02 12:00:00", "last-year", 1, 21},
		{"2026-06-03 00:00:00", "previous", 4_300, 4_300},
	} {
		got := s.on(c.now).compare(report.Selection{Range: today, Against: &c.against})
		if b := got.Buckets[0]; got.Current.SpendTotalCents != 50_000 || got.Previous.SpendTotalCents != c.previous || b.Previous.SpendTotalCents != c.whole {
			t.Errorf("at %s, %s: %d was %d, in the chart %d; want 50,000, %d and %d", c.now, c.against,
				got.Current.SpendTotalCents, got.Previous.SpendTotalCents, b.Previous.SpendTotalCents, c.previous, c.whole)
		}
	}
}

// A chart shows the earlier day as it was counted, also where it is compared only up to the time of day: its later sales aren't counted again.
// Of what isn't kept by the hour, those are counted that are fewer: in the afternoon what came later, taken off the day.
func TestADayThatIsComparedInPartWasCounted(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm")
	anna := s.on("2026-06-01 09:00:00").Customer()
	s.on("2026-06-01 10:30:00").Sale(anna.ID, s.purchase, 300)
	s.on("2026-06-01 18:00:00").Sale(anna.ID, s.purchase, 4_000)
	s.on("2026-06-02 02:00:00").counted()
	s.Exec("update loyalty.day_sales set spend = spend + 1 where tenant_id = $1", s.By.Tenant.ID)
	got := s.on("2026-06-02 12:00:00").compare(report.Selection{Range: days(t, "2026-06-02", "2026-06-02")})
	if shown := got.Buckets[0].Previous.SpendTotalCents; shown != 4_301 || got.Previous.SpendTotalCents != 300 {
		t.Errorf("the chart has %d and the comparison %d, want 4,301 as it was counted, and 300 up to noon", shown, got.Previous.SpendTotalCents)
	}
	s.Exec("update loyalty.day_staff set spend = spend + 1 where tenant_id = $1", s.By.Tenant.ID)
	for now, want := range map[string]int64{"12:00": 300, "16:00": 301} {
		staff, err := s.on("2026-06-02 "+now+":00").Reports.Staff(t.Context(), s.By, report.Selection{Range: days(t, "2026-06-02", "2026-06-02")})
		s.Check(err)
		same(t, "staff at "+now, staff.Total.PreviousSpendCents, want)
	}
}

// With a location, sales are those of the location, and what isn't recorded by location is left out.
func TestComparisonOfALocation(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm")
	kiosk, hall := s.place("Kiosk"), s.place("Hall")
	day := s.on("2026-06-02 12:00:00")
	anna, bo := day.rich(), day.rich()
	day.soldAt(kiosk, anna.ID, s.purchase, 300)
	day.soldAt(kiosk, anna.ID, s.coffee, 200)
	day.VoidSale(day.soldAt(kiosk, bo.ID, s.purchase, 5_000).ID)
	day.soldAt(hall, bo.ID, s.purchase, 700)
	day.Sale(bo.ID, s.purchase, 11)
	day.redemption(anna.ID)
	s.on("2026-06-01 12:00:00").soldAt(kiosk, bo.ID, s.purchase, 90)
	got := day.compare(report.Selection{Range: days(t, "2026-06-02", "2026-06-02"), Location: &kiosk})
	same(t, "the kiosk", got.Current, report.Total{
		Figures:         report.Figures{TransactionsCount: 2, VoidedCount: 1, SpendTotalCents: 500, PointsAwarded: 300, StampsAwarded: 1, PointsReversed: 5_000, NetSpendTotalCents: 500},
		ActiveCustomers: 1,
	})
	same(t, "the day before", got.Previous, report.Total{Figures: report.Figures{TransactionsCount: 1, SpendTotalCents: 90, PointsAwarded: 90, NetSpendTotalCents: 90}, ActiveCustomers: 1})
	top := day.top(report.Ranking{Range: days(t, "2026-06-02", "2026-06-02"), Location: &kiosk})
	if len(top) != 1 || top[0].ID != anna.ID || top[0].SpendTotalCents != 500 || top[0].LastVisit == nil {
		t.Errorf("top = %+v", top)
	}
	neighbour := newShop(t, "Europe/Stockholm").on("2026-06-02 12:00:00")
	same(t, "a neighbour's location", neighbour.compare(report.Selection{Location: &kiosk}).Current, report.Total{})
}

func TestWhatComparisonsRefuse(t *testing.T) {
	t.Parallel()
	s := newShop(t, "UTC")
	_, err := s.Reports.Compare(t.Context(), s.By, report.Selection{Range: days(t, "2026-03-10", "2026-03-09"), Against: new("tomorrow")})
	shoptest.WantFields(t, err, core.Fields{"to": {core.AfterOrEqual("from")}, "compare": {core.InvalidChoice}})
	if got := s.compare(report.Selection{Range: days(t, "0001-01-01", "0001-01-02")}); len(got.Buckets) != 2 {
		t.Errorf("the first days have %d buckets", len(got.Buckets))
	}
}
