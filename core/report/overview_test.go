package report_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
)

func (s shop) overview(r report.Range) report.Overview {
	s.T.Helper()
	return s.seenBy(s.Reports, r)
}

func (s shop) seenBy(reports *report.Service, r report.Range) report.Overview {
	s.T.Helper()
	got, err := reports.Overview(s.T.Context(), s.By, r)
	s.Check(err)
	return got
}

// activity returns the dashboard's part of a summary.
func activity(s report.Summary) report.Activity {
	return report.Activity{
		ActiveCustomers: s.ActiveCustomers, PointsAwarded: s.PointsAwarded, PointsRedeemed: s.PointsRedeemed,
		RedemptionsCount: s.RedemptionsCount, SpendTotalCents: s.SpendTotalCents,
	}
}

func flow(d report.Day) report.PointsFlow {
	return report.PointsFlow{Awarded: d.PointsAwarded, Redeemed: d.PointsRedeemed}
}

// "The same numbers as the API, from the same functions": the dashboard's figures equal the summaries of both
// periods.
func TestTheDashboardAgreesWithTheReports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, from, to string }{
		{"UTC", "2026-02-26", "2026-03-03"},
		{"Europe/Stockholm", "2026-03-27", "2026-03-31"}, // a day of 23 hours
		{"America/New_York", "2025-10-31", "2025-11-04"}, // one of 25
		{"Pacific/Tongatapu", "2025-12-30", "2026-01-02"},
	} {
		t.Run(c.zone, func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			s, whole := newShop(t, c.zone), days(t, c.from, c.to)
			trade(t, s, rand.New(rand.NewPCG(seed, 0)), *whole.From, whole.To.Add(24*time.Hour))
			for from := *whole.From; !from.After(*whole.To); from = from.AddDate(0, 0, 1) {
				for to := from; !to.After(*whole.To); to = to.AddDate(0, 0, 1) {
					sum := s.summary(report.Range{From: &from, To: &to})
					period := report.Period{From: from, To: to}
					before := period.Earlier(report.PreviousPeriod, time.Now())
					earlier := s.summary(report.Range{From: &before.From, To: &before.To})
					want := report.Overview{
						Period: period, Against: before, Step: report.Daily,
						Current: activity(sum), Previous: activity(earlier),
						Has: report.FirstSteps{TransactionType: true, Customer: true, Sale: true, Reward: true},
					}
					for i, d := range sum.Days {
						want.Buckets = append(want.Buckets, report.Bucket[report.PointsFlow]{
							Period: report.Period{From: d.Date, To: d.Date}, Current: flow(d), Previous: new(flow(earlier.Days[i])),
							Beside: report.Period{From: earlier.Days[i].Date, To: earlier.Days[i].Date},
						})
					}
					got := s.overview(report.Range{From: &from, To: &to})
					got.Outstanding = report.Outstanding{}
					same(t, "overview", got, want)
				}
			}
		})
	}
}

// "The change against the previous period" of equal length: part of today is compared with the same part of a
// day.
func TestARunningDayIsComparedUpToTheSameTime(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm")
	anna := s.on("2026-10-01 12:00:00").Customer()
	for shown, cents := range map[string]int64{
		"2026-10-19 11:59:00": 80_000_000, "2026-10-19 12:01:00": 900_000_000, "2026-10-20 12:01:00": 10_000_000_000,
		"2026-10-24 11:59:00": 1, "2026-10-24 12:01:00": 20, // Saturday, in summer time
		"2026-10-25 11:59:00": 300, "2026-10-25 12:01:00": 4_000, // Sunday, when the clocks go back
		"2026-10-26 11:59:00": 50_000, "2026-10-26 12:01:00": 600_000,
		"2026-10-27 11:59:00": 7_000_000,
	} {
		s.on(shown).Sale(anna.ID, s.purchase, cents)
	}
	for _, c := range []struct {
		now, from, to     string
		current, previous int64
	}{
		{"2026-10-25 12:00:00", "2026-10-25", "2026-10-25", 4_300, 1}, // what comes later that day is in the range
		{"2026-10-26 12:00:00", "2026-10-26", "2026-10-26", 650_000, 300},
		{"2026-10-26 12:00:00", "2026-10-25", "2026-10-26", 654_300, 1},
		{"2026-10-27 12:00:00", "2026-10-26", "2026-10-27", 7_650_000, 980_000_000}, // a week up to today: the same weekdays
		{"2026-10-26 12:00:00", "2026-10-26", "2026-10-27", 7_650_000, 80_000_000},  // its first day
		{"2026-10-27 12:00:00", "2026-10-26", "2026-10-26", 650_000, 4_300},
		{"2026-10-27 00:00:00", "2026-10-26", "2026-10-26", 650_000, 4_300},
		{"2026-10-25 12:00:00", "2026-10-26", "2026-10-26", 650_000, 4_300}, // a day to come
	} {
		got := s.on(c.now).overview(days(t, c.from, c.to))
		if got.Current.SpendTotalCents != c.current || got.Previous.SpendTotalCents != c.previous {
			t.Errorf("at %s, %s to %s: %d, before it %d; want %d and %d", c.now, c.from, c.to,
				got.Current.SpendTotalCents, got.Previous.SpendTotalCents, c.current, c.previous)
		}
	}
}

// adjust adds an adjustment.
func (s shop) adjust(ctx context.Context, customer core.ID, unit ledger.Unit, amount int64) error {
	_, err := db.In(ctx, s.DB.Tenant(s.By), func(tx *db.Tx) (ledger.Account, error) {
		return ledger.Post(ctx, tx, s.By, ledger.Entry{Customer: customer, Unit: unit, Amount: amount, Kind: ledger.Adjustment})
	})
	return err
}

func (s shop) give(customer core.ID, unit ledger.Unit, amount int64) {
	s.T.Helper()
	s.Check(s.adjust(s.T.Context(), customer, unit, amount))
}

// Balances below zero and those of erased customers count as zero.
func TestOutstanding(t *testing.T) {
	t.Parallel()
	s := newShop(t, "UTC")
	anna, bo, cleo := s.Customer(), s.Customer(), s.Customer()
	s.give(anna.ID, ledger.Points, 100)
	s.give(anna.ID, ledger.Stamps, 3)
	spent := s.Sale(bo.ID, s.purchase, 40)
	s.give(bo.ID, ledger.Points, -30)
	s.give(bo.ID, ledger.Stamps, 4)
	s.give(cleo.ID, ledger.Points, 7)
	s.give(cleo.ID, ledger.Stamps, 5)
	neighbour := newShop(t, "UTC")
	neighbour.rich()

	owes := func(when string, want report.Outstanding) {
		t.Helper()
		same(t, when, s.overview(report.Range{}).Outstanding, want)
	}
	owes("at first", report.Outstanding{Points: 117, Stamps: 12})
	s.VoidSale(spent.ID) // leaves Bo with 30 points too few
	owes("after the void", report.Outstanding{Points: 107, Stamps: 12})
	s.Exec("update loyalty.customer set phone = '', phone_key = null where tenant_id = $1 and id = $2", s.By.Tenant.ID, cleo.ID)
	owes("without Cleo", report.Outstanding{Points: 100, Stamps: 7})

	s.AddReward(reward.New{Name: "Mug", PointsCost: new(int64(50)), CostCents: new(int64(325))})
	s.AddReward(reward.New{Name: "Cup", PointsCost: new(int64(25)), CostCents: new(int64(200))})
	gone := s.AddReward(reward.New{Name: "Bag", PointsCost: new(int64(1)), CostCents: new(int64(9_000))})
	s.Exec("update loyalty.reward set active = false where tenant_id = $1 and id = $2", s.By.Tenant.ID, gone)
	owes("with what active rewards cost", report.Outstanding{Points: 100, Stamps: 7, PointsCost: &report.Cost{Least: 650, Most: 800}})
}

// The sum is exact while tills post at the same time.
func TestOutstandingIsExactBesideTills(t *testing.T) {
	t.Parallel()
	s := newShop(t, "UTC")
	var customers []core.ID
	for range 4 {
		customers = append(customers, s.Customer().ID)
	}
	held := func() (o report.Outstanding) {
		t.Helper()
		err := dbtest.Owner(s.DB).QueryRow(t.Context(), "select sum(greatest(points, 0)), sum(greatest(stamps, 0)) from loyalty.account where tenant_id = $1",
			s.By.Tenant.ID).Scan(&o.Points, &o.Stamps)
		s.Check(err)
		return o
	}
	s.give(customers[0], ledger.Points, 5)
	// One till is slow: its entry is older than the count and committed after it.
	_, err := db.In(t.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) (ledger.Account, error) {
		a, err := ledger.Post(t.Context(), tx, s.By, ledger.Entry{Customer: customers[1], Unit: ledger.Points, Amount: 1_000, Kind: ledger.Adjustment})
		same(t, "the count", s.overview(report.Range{}).Outstanding, report.Outstanding{Points: 5})
		return a, err
	})
	s.Check(err)
	same(t, "after the slow one", s.overview(report.Range{}).Outstanding, report.Outstanding{Points: 1_005})

	var tills sync.WaitGroup
	for range 6 {
		rng := rand.New(rand.NewPCG(rand.Uint64(), 0))
		tills.Go(func() {
			for range 25 {
				unit, amount := ledger.Points, rng.Int64N(200)-90
				if rng.IntN(3) == 0 {
					unit = ledger.Stamps
				}
				err := s.adjust(t.Context(), customers[rng.IntN(len(customers))], unit, amount+max(0, 1-amount*amount)) // never 0
				if err != nil && !errors.Is(err, ledger.ErrInsufficientPoints) && !errors.Is(err, ledger.ErrInsufficientStamps) {
					t.Error(err)
				}
			}
		})
	}
	tills.Wait()
	sale := s.Sale(customers[2], s.purchase, 500)
	s.give(customers[2], ledger.Points, -400)
	s.VoidSale(sale.ID)
	same(t, "after the tills", s.overview(report.Range{}).Outstanding, held())
}

// "A new tenant sees the three first steps instead of empty charts."
func TestFirstSteps(t *testing.T) {
	t.Parallel()
	s := shop{Shop: shoptest.New(t)}
	newShop(t, "UTC").rich() // a neighbour has done something
	has := func(want report.FirstSteps) {
		t.Helper()
		same(t, "first steps", s.overview(report.Range{}).Has, want)
	}
	has(report.FirstSteps{})
	s.purchase = s.Points(1)
	has(report.FirstSteps{TransactionType: true})
	anna := s.Customer()
	has(report.FirstSteps{TransactionType: true, Customer: true})
	s.Sale(anna.ID, s.purchase, 100)
	has(report.FirstSteps{TransactionType: true, Customer: true, Sale: true})
	s.Reward(10, nil)
	has(report.FirstSteps{TransactionType: true, Customer: true, Sale: true, Reward: true})
}

// A range that ends before it starts, or is longer than a year, is refused.
func TestWhatTheDashboardRefuses(t *testing.T) {
	t.Parallel()
	s := newShop(t, "UTC")
	for _, c := range []struct {
		from, to string
		want     core.Fields
	}{
		{"2026-03-10", "2026-03-09", core.Fields{"to": {core.AfterOrEqual("from")}}},
		{"2024-01-01", "2025-01-01", core.Fields{"to": {core.WithinDays(365, "from")}}},
		{"2004-01-01", "2025-01-01", core.Fields{"to": {core.WithinDays(3652, "from")}}},
	} {
		_, err := s.Reports.Overview(t.Context(), s.By, days(t, c.from, c.to))
		same(t, c.from+" to "+c.to, shoptest.Fields(t, err), c.want)
	}
	if got := s.overview(days(t, "2024-01-01", "2024-12-31")); got.Against.From != *date(t, "2023-01-01") {
		t.Errorf("a leap year is compared from %s", got.Against.From)
	}
}

// Managers and tokens see the figures, cashiers don't.
func TestReportsAreNotForTheTill(t *testing.T) {
	t.Parallel()
	s := newShop(t, "UTC")
	reports := s.Reports
	asks := map[string]func(core.Actor) error{
		"summary": func(by core.Actor) error { _, err := reports.Summary(t.Context(), by, report.Range{}); return err },
		"top":     func(by core.Actor) error { _, err := reports.Top(t.Context(), by, report.Ranking{}); return err },
		"coupons": func(by core.Actor) error { _, err := reports.Coupons(t.Context(), by); return err },
		"use": func(by core.Actor) error {
			_, err := reports.CouponUse(t.Context(), by, report.Selection{})
			return err
		},
		"overview": func(by core.Actor) error { _, err := reports.Overview(t.Context(), by, report.Range{}); return err },
		"compare":  func(by core.Actor) error { _, err := reports.Compare(t.Context(), by, report.Selection{}); return err },
		"places": func(by core.Actor) error {
			_, err := reports.Locations(t.Context(), by, report.Selection{})
			return err
		},
		"staff":   func(by core.Actor) error { _, err := reports.Staff(t.Context(), by, report.Selection{}); return err },
		"rewards": func(by core.Actor) error { _, err := reports.Rewards(t.Context(), by, report.Selection{}); return err },
		"hours":   func(by core.Actor) error { _, err := reports.Hours(t.Context(), by, report.Selection{}); return err },
		"recent":  func(by core.Actor) error { _, err := reports.Recent(t.Context(), by, 10, ""); return err },
	}
	token := core.Actor{Kind: core.ByToken, Tenant: s.By.Tenant, Role: core.Cashier}
	for name, ask := range asks {
		if err := ask(s.As(core.Cashier).By); !errors.Is(err, core.ErrRole) {
			t.Errorf("%s, asked for by a cashier: %v, want ErrRole", name, err)
		}
		for _, by := range []core.Actor{s.As(core.Manager).By, s.By, token} {
			if err := ask(by); err != nil {
				t.Errorf("%s, asked for by %s %s: %v", name, by.Kind, by.Role, err)
			}
		}
	}
}
