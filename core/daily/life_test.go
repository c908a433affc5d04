package daily_test

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
)

var lifetime = flag.Duration("lifetime", 0, "how long TestDaysAreExact goes on; by default a few seconds")

// life is a shop that lives day by day: what happens on a day may change what was counted of an earlier one.
type life struct {
	shop
	coffee   transaction.Type // a stamp
	espresso core.ID          // for 10 points

	t       *testing.T
	rng     *rand.Rand
	places  []*int64
	coupons []coupon.Coupon
	halves  int64 // a promotion with half hours, which is on while reports compare

	mu          sync.Mutex
	customers   []core.ID
	sales       []transaction.Transaction
	redemptions []core.ID
	vouchers    []core.ID
	redeemed    []core.ID
}

func newLife(t *testing.T, seed uint64) *life {
	t.Helper()
	l := &life{shop: shopIn(t, dbtest.OwnDB(t)), t: t, rng: rand.New(rand.NewPCG(seed, seed))}
	l.coffee, l.espresso = l.Stamps(), l.Reward(10, nil)
	l.Levels(award.LevelRules{Basis: award.ByPoints, Period: award.ByYear, Drops: true},
		award.Level{Name: "Member"}, award.Level{Name: "Silver", Threshold: 20}, award.Level{Name: "Gold", Threshold: 60})
	l.places = []*int64{nil}
	for _, name := range []string{"Harbour", "Station"} {
		made, err := core.Result(l.Locations.Add(t.Context(), l.By, location.New{Name: name}, nil))
		l.Check(err)
		l.places = append(l.places, &made.ID)
	}
	off := func(name string, kind coupon.BenefitType, value int64) coupon.Coupon {
		return l.Coupon(coupon.New{Name: name, BenefitType: string(kind), BenefitValue: &value, MaxPerCustomer: new(int64(9))})
	}
	gift := func(name string, reward core.ID) coupon.Coupon {
		return l.Coupon(coupon.New{Name: name, BenefitType: string(coupon.Reward), BenefitRewardID: &reward, MaxPerCustomer: new(int64(9))})
	}
	mug := l.AddReward(reward.New{Name: "Mug", PointsCost: new(int64(70)), CostCents: new(int64(325))})
	l.coupons = []coupon.Coupon{
		off("Ten percent", coupon.Percent, 10), off("A third", coupon.Percent, 33), off("Three off", coupon.Amount, 300), off("Points", coupon.Points, 7),
		gift("A mug", mug), gift("An espresso", l.espresso),
	}
	return l
}

// chosen returns something of a list at random, perhaps taken from it, or says that there is nothing.
func chosen[T any](l *life, list *[]T, take bool) (picked T, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(*list) == 0 {
		return picked, false
	}
	// Half of the time it is new, like at a till.
	i := l.rng.IntN(len(*list))
	if l.rng.IntN(2) == 0 {
		i = len(*list) - 1 - l.rng.IntN(min(len(*list), 3))
	}
	picked = (*list)[i]
	if take {
		*list = slices.Delete(*list, i, i+1)
	}
	return picked, true
}

func (l *life) has(list *[]core.ID) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(*list)
}

func add[T any](l *life, list *[]T, item T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*list = append(*list, item)
}

func (l *life) random(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rng.IntN(n)
}

// happen does something at random, at a time. What another till made impossible meanwhile is refused, which is right.
func (l *life) happen(at time.Time) error {
	s, ctx := l.at(at), l.t.Context()
	switch n := l.random(40); {
	case n < 2 || n < 10 && l.has(&l.customers) < 4:
		who := s.Customer().ID
		s.Adjust(who, ledger.Points, 1_000_000)
		add(l, &l.customers, who)
	case n < 22:
		who, ok := chosen(l, &l.customers, false)
		if !ok {
			return nil
		}
		kind := s.purchase
		if l.random(3) == 0 {
			kind = l.coffee
		}
		made, err := core.Result(s.Sales.Record(ctx, s.By, transaction.Sale{
			CustomerID: who, TransactionTypeID: kind.ID, SpendAmountCents: int64(1+l.random(30)) * 100, LocationID: l.places[l.random(len(l.places))],
			Source: []transaction.Source{transaction.POS, transaction.API}[l.random(2)],
		}, nil, nil))
		if err != nil {
			return err
		}
		add(l, &l.sales, made)
	case n < 26:
		if sold, ok := chosen(l, &l.sales, true); ok {
			_, err := core.Result(s.Sales.Void(ctx, s.By, sold.ID, nil, nil))
			return err
		}
	case n < 29:
		if sold, ok := chosen(l, &l.sales, true); ok && sold.SpendAmountCents > 1 {
			_, err := core.Result(s.Sales.Refund(ctx, s.By, sold.ID, transaction.RefundRequest{AmountCents: 1 + int64(l.random(int(sold.SpendAmountCents)-1))}, nil, nil))
			return err
		}
	case n < 31:
		if who, ok := chosen(l, &l.customers, false); ok {
			made, err := core.Result(s.Rewards.Redeem(ctx, s.By, reward.RedeemRequest{CustomerID: who, RewardID: l.espresso}, nil, nil))
			if err != nil {
				return err
			}
			add(l, &l.redemptions, made.ID)
		}
	case n < 32:
		if id, ok := chosen(l, &l.redemptions, true); ok {
			_, err := s.Rewards.Void(ctx, s.By, id, "Changed their mind")
			return err
		}
	case n < 34:
		if who, ok := chosen(l, &l.customers, false); ok {
			sent, err := s.Coupons.Send(ctx, s.By, l.coupons[l.random(len(l.coupons))].ID, coupon.Send{
				Segment: coupon.Manual, Customers: []string{who.String()}, FormKey: core.NewID(at).String(),
			})
			if err != nil {
				return err
			}
			if _, err = s.Coupons.Evaluate(ctx, s.By, sent.ID); err != nil {
				return err
			}
			for _, id := range shoptest.QueryAll[core.ID](s.Shop, "select id from loyalty.voucher where tenant_id = $1 and send_id = $2", s.By.Tenant.ID, sent.ID) {
				add(l, &l.vouchers, id)
			}
		}
	case n < 35:
		if id, ok := chosen(l, &l.vouchers, true); ok {
			var with *core.ID
			if sale, found := l.saleOf(id); found && l.random(4) > 0 {
				with = &sale
			}
			if _, err := core.Result(s.Coupons.RedeemWith(ctx, s.By, id, with, nil, nil)); err != nil {
				return err
			}
			add(l, &l.redeemed, id)
		}
	case n < 36:
		if id, ok := chosen(l, &l.vouchers, true); ok {
			return s.checkOut(ctx, l, id)
		}
	case n < 37:
		if id, ok := chosen(l, &l.redeemed, true); ok {
			_, err := core.Result(s.Coupons.RestoreTyped(ctx, s.By, id.String(), nil))
			return err
		}
	case n < 39:
		merged, ok := chosen(l, &l.customers, true)
		kept, found := chosen(l, &l.customers, false)
		if ok && found {
			_, err := core.Result(s.Merging.Merge(ctx, s.By, kept, merged, nil, nil))
			return err
		}
	}
	return nil
}

// saleOf returns the latest sale of a voucher's customer, on whatever day it was.
func (l *life) saleOf(voucher core.ID) (sale core.ID, found bool) {
	ids := shoptest.QueryAll[core.ID](l.Shop, `select t.id from loyalty.voucher v join loyalty.transaction t on t.tenant_id = v.tenant_id and t.customer_id = v.customer_id
		where v.tenant_id = $1 and v.id = $2 and t.status = 'completed' order by t.id desc limit 1`, l.By.Tenant.ID, voucher)
	if len(ids) == 0 {
		return sale, false
	}
	return ids[0], true
}

// checkOut redeems a voucher and some others of its customer at the till, with a sale or without. Some are undone.
func (s shop) checkOut(ctx context.Context, l *life, voucher core.ID) error {
	held := shoptest.QueryAll[core.ID](s.Shop, `select o.id from loyalty.voucher v join loyalty.voucher o on o.tenant_id = v.tenant_id and o.customer_id = v.customer_id
		where v.tenant_id = $1 and v.id = $2 and o.status = 'pending' order by o.id limit 4`, s.By.Tenant.ID, voucher)
	who := shoptest.Query[core.ID](s.Shop, "select customer_id from loyalty.voucher where tenant_id = $1 and id = $2", s.By.Tenant.ID, voucher)
	bought := walkin.Sale{CustomerID: who, Vouchers: held, LocationID: l.places[l.random(len(l.places))]}
	if l.random(5) > 0 {
		bought.Sold = &transaction.Sale{TransactionTypeID: s.purchase.ID, SpendAmountCents: int64(l.random(2_000))}
	}
	receipt, err := core.Result(s.Walkins.Complete(ctx, s.By, "till", bought, nil, nil))
	if err == nil && l.random(4) == 0 {
		err = s.Walkins.Undo(ctx, s.By, receipt.ID)
	}
	return err
}

// count counts days as two processes that know nothing of each other, of which one may be killed.
func (l *life) count(at time.Time, processes *sync.WaitGroup) {
	for i := range 2 {
		ctx, cancel := context.WithCancel(l.t.Context())
		if i == 1 && l.random(2) == 0 {
			time.AfterFunc(time.Duration(l.random(40))*time.Millisecond, cancel)
		}
		days := l.at(at).Days.TodayFrom(3)
		processes.Go(func() {
			defer cancel()
			if err := countAll(ctx, days, l.By.Tenant.ID); err != nil && ctx.Err() == nil {
				l.t.Error(err)
			}
		})
	}
}

// figures are all reports of a selection.
type figures struct {
	Summary   report.Summary
	Compared  report.Comparison
	Overview  report.Overview
	Hours     report.Hours
	Locations report.Breakdown[report.LocationSales]
	Staff     report.Breakdown[report.StaffSales]
	Rewards   report.RewardUses
	Coupons   report.CouponUses
	Points    report.Statement
	Stamps    report.Statement
	Earning   report.Earning
	Visitors  report.Visitors
}

func (s shop) figures(sel report.Selection) (f figures) {
	s.T.Helper()
	r, ctx, by := s.Reports, s.T.Context(), s.By
	var errs [12]error
	f.Summary, errs[0] = r.Summary(ctx, by, sel.Range)
	f.Compared, errs[1] = r.Compare(ctx, by, sel)
	f.Overview, errs[2] = r.Overview(ctx, by, sel.Range)
	f.Hours, errs[3] = r.Hours(ctx, by, sel)
	f.Locations, errs[4] = r.Locations(ctx, by, sel)
	f.Staff, errs[5] = r.Staff(ctx, by, sel)
	f.Rewards, errs[6] = r.Rewards(ctx, by, sel)
	f.Points, errs[7] = r.Points(ctx, by, report.Balances{Range: sel.Range, Against: sel.Against})
	f.Stamps, errs[8] = r.Points(ctx, by, report.Balances{Range: sel.Range, Against: sel.Against, Unit: new("stamps")})
	f.Earning, errs[9] = r.Earning(ctx, by, sel)
	f.Earning.LevelsAt = time.Time{} // now
	f.Visitors, errs[10] = r.Visitors(ctx, by, sel)
	f.Coupons, errs[11] = r.CouponUse(ctx, by, sel)
	f.Visitors.Groups = report.YearGroups{} // there are none until days are counted (TestYearsAreExact)
	s.Check(errors.Join(errs[:]...))
	return f
}

// sameEitherWay checks that reports say the same from days that were counted and from records alone. Both are asked for in the first or the
// second half of an hour, some moments later: what happens comes after a full hour, so no comparison up to this time of day has more in the second.
func (l *life) sameEitherWay(at time.Time) {
	l.t.Helper()
	at = at.Truncate(time.Hour).Add(time.Duration(20+20*l.random(2)) * time.Minute)
	s := l.at(at)
	today := core.DateOf(at, s.By.Tenant.TimeZone)
	for range 3 {
		from := today.AddDate(0, 0, -l.random(40))
		to := from.AddDate(0, 0, l.random(30))
		if l.random(2) == 0 || to.After(today) {
			to = today
		}
		sel := report.Selection{Range: report.Range{From: &from, To: &to}, Location: l.places[l.random(len(l.places))]}
		if l.random(3) == 0 {
			sel.Against = new(string(report.LastYear))
		}
		kept := s.figures(sel)
		days := shoptest.Query[string](s.Shop, "select to_jsonb(d)::text from loyalty.days_counted d where tenant_id = $1", s.By.Tenant.ID)
		s.Exec(setDaysSQL, s.By.Tenant.ID, `{"first_day": "2000-01-02", "last_day": "2000-01-01", "ends_at": "2000-01-01"}`)
		counted := s.figures(sel)
		s.Exec(setDaysSQL, s.By.Tenant.ID, days)
		if diff := cmp.Diff(counted, kept); diff != "" {
			l.t.Errorf("%s to %s, counted (-) and kept (+):\n%s", from.Format(time.DateOnly), to.Format(time.DateOnly), diff)
		}
		if diff := cmp.Diff(l.hoursOfSales(s, sel), kept.Earning.Hours); diff != "" {
			l.t.Errorf("%s to %s, hours of promotions from sales (-) and from hours (+):\n%s", from.Format(time.DateOnly), to.Format(time.DateOnly), diff)
		}
	}
	l.Verify()
}

// setDaysSQL changes which days are said to be counted.
const setDaysSQL = `
	update loyalty.days_counted d
	set (first_day, last_day, ends_at, first_id, next_id) = (
		select first_day, last_day, ends_at, coalesce(first_id, '00000000-0000-0000-0000-000000000000'), coalesce(next_id, '00000000-0000-0000-0000-000000000000')
		from jsonb_populate_record(null::loyalty.days_counted, $2::jsonb)
	)
	where d.tenant_id = $1`

// hoursOfSales compares the hours of promotions as long as one has half hours, so that all are counted from sales, and returns the others.
func (l *life) hoursOfSales(s shop, sel report.Selection) (others []report.PromotionHours) {
	l.t.Helper()
	s.Exec("update loyalty.promotion set active = true where id = $1", l.halves)
	e, err := s.Reports.Earning(s.T.Context(), s.By, sel)
	s.Check(err)
	s.Exec("update loyalty.promotion set active = false where id = $1", l.halves)
	for _, h := range e.Hours {
		if h.ID != l.halves {
			others = append(others, h)
		}
	}
	return others
}

// promote has a promotion by day, one by night, and one with half hours, which is off.
func (l *life) promote(at time.Time) {
	s, all := l.at(at), []award.Weekday{1, 2, 3, 4, 5, 6, 7}
	s.Promote(award.Promotion{Name: "By day", Percent: new(int64(200)), Windows: []award.Window{{Days: all, From: 8 * 60, To: 15 * 60}}})
	s.Promote(award.Promotion{
		Name: "By night", Unit: ledger.Stamps, Extra: new(int64(1)), LocationIDs: []int64{*l.places[1]}, StartsOn: core.DateOf(at, time.UTC).AddDate(0, 0, 2),
		Windows: []award.Window{{Days: all[:5], From: 22 * 60, To: 4 * 60}, {Days: all[4:], From: 11 * 60, To: 12 * 60}},
	})
	l.halves = s.Promote(award.Promotion{Name: "Half past", Percent: new(int64(300)), Windows: []award.Window{{Days: all, From: 90, To: 10 * 60}}})
	s.EndPromotion(l.halves)
}

// Whatever happens beside the job, in whatever order: reports of days that were counted say what records say, and verify counts the same.
func TestDaysAreExact(t *testing.T) {
	t.Parallel()
	days := 10
	if testing.Short() {
		days = 5
	}
	for began := time.Now(); ; days = 25 {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		l := newLife(t, seed)
		l.live(days)
		if t.Failed() || time.Since(began) > *lifetime {
			return
		}
	}
}

func (l *life) live(days int) {
	l.t.Helper()
	today := core.DateOf(l.DB.Now(), time.UTC).AddDate(0, 0, -days-2)
	l.promote(today)
	for range days {
		today = today.AddDate(0, 0, 1)
		at := today.Add(time.Duration(l.random(6)) * time.Hour)
		for range 3 {
			var tills sync.WaitGroup
			l.count(at, &tills)
			for range 3 {
				tills.Go(func() {
					for range 4 {
						var refused *core.Error
						if err := l.happen(at); err != nil && !errors.As(err, &refused) {
							l.t.Error(err)
						}
					}
				})
			}
			tills.Wait()
			at = at.Add(time.Duration(1+l.random(7)) * time.Hour)
		}
		if l.random(8) == 0 {
			zone := []string{"America/New_York", "Asia/Kolkata", "Europe/Stockholm"}[l.random(3)]
			l.Exec("update loyalty.tenant set timezone = $2 where id = $1", l.By.Tenant.ID, zone)
			l.Shop = l.InZone(zone)
		}
		l.sameEitherWay(at)
		if l.t.Failed() {
			return
		}
	}
	var job sync.WaitGroup
	l.count(l.DB.Now(), &job)
	job.Wait()
	l.sameEitherWay(l.DB.Now().Add(time.Hour))
	if got := l.Count("year_counted k join loyalty.days_counted d using (tenant_id) where k.as_of = d.last_day"); got != 1 {
		l.t.Error("not all years were counted")
	}
	if got := l.Count("days_counted where first_day = '-infinity'"); got != 1 {
		l.t.Error("not all days were counted")
	}
}
