package report_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
)

// off adds a coupon that many vouchers of may be held.
func (s shop) off(name string, kind coupon.BenefitType, value int64) coupon.Coupon {
	s.T.Helper()
	return s.Coupon(coupon.New{Name: name, BenefitType: string(kind), BenefitValue: &value, MaxPerCustomer: new(int64(100))})
}

// mug adds a reward with a cost.
func (s shop) mug(cents int64) core.ID {
	s.T.Helper()
	return s.AddReward(reward.New{Name: "Mug", PointsCost: new(int64(100)), CostCents: &cents})
}

// checkout records a sale at the till, of an amount before the discounts of vouchers.
func (s shop) checkout(customer core.ID, cents int64, vouchers ...core.ID) transaction.Transaction {
	s.T.Helper()
	receipt, err := core.Result(s.Walkins.Complete(s.T.Context(), s.By, "till", walkin.Sale{
		CustomerID: customer, Sold: &transaction.Sale{TransactionTypeID: s.purchase.ID, SpendAmountCents: cents}, Vouchers: vouchers,
	}, nil, nil))
	s.Check(err)
	return *receipt.Sale
}

// sendTo sends a coupon to a customer and returns the voucher.
func (s shop) sendTo(c coupon.Coupon, to core.ID) core.ID {
	s.T.Helper()
	sent := s.Send(c.ID, coupon.Send{Segment: coupon.Manual, Customers: []string{to.String()}})
	l, err := s.Coupons.ListSent(s.T.Context(), s.By, sent.ID, core.Page{Size: 1})
	s.Check(err)
	return l.Items[0].ID
}

func (s shop) redeemWith(voucher, sale core.ID) {
	s.T.Helper()
	_, err := core.Result(s.Coupons.RedeemWith(s.T.Context(), s.By, voucher, &sale, nil, nil))
	s.Check(err)
}

func (s shop) couponUse(sel report.Selection) report.CouponUses {
	s.T.Helper()
	got, err := s.Reports.CouponUse(s.T.Context(), s.By, sel)
	s.Check(err)
	return got
}

// use returns the row of a coupon.
func use(u report.CouponUses, c coupon.Coupon) report.CouponUse {
	if i := slices.IndexFunc(u.Rows, func(r report.CouponUse) bool { return r.ID == c.ID }); i >= 0 {
		return u.Rows[i]
	}
	return report.CouponUse{}
}

// A sale with vouchers of two coupons counts for both, and once in all; each coupon gave the discount that the till took off for it.
func TestASaleWithTwoCoupons(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm").on("2026-06-02 12:00:00")
	anna := s.Customer()
	percent, amount, quarter := s.off("Ten percent", coupon.Percent, 10), s.off("Three off", coupon.Amount, 300), s.off("A quarter", coupon.Percent, 25)
	s.checkout(anna.ID, 1_005, s.send(percent)[0], s.send(amount)[0], s.send(quarter)[0])
	s.checkout(anna.ID, 500)

	got := s.couponUse(s.selection(t, "2026-06-02", "2026-06-02"))
	// 10 % of 1,005 is 101, a quarter of the other 904 is 226, and 300 of the other 678 is left.
	for c, want := range map[string]report.CouponUse{
		"percent": {ID: percent.ID, Name: "Ten percent", DiscountCents: 101, Cost: report.Cost{Least: 101, Most: 101}},
		"quarter": {ID: quarter.ID, Name: "A quarter", DiscountCents: 226, Cost: report.Cost{Least: 226, Most: 226}},
		"amount":  {ID: amount.ID, Name: "Three off", DiscountCents: 300, Cost: report.Cost{Least: 300, Most: 300}},
		"in all":  {DiscountCents: 627, Cost: report.Cost{Least: 627, Most: 627}, Sent: 2, SentRedeemed: 2, Redeemed: 2},
	} {
		want.Sent, want.SentRedeemed, want.Redeemed, want.TransactionsCount, want.SpendTotalCents = want.Sent+1, want.SentRedeemed+1, want.Redeemed+1, 1, 378
		have := got.Total
		if want.ID != (core.ID{}) {
			have = use(got, coupon.Coupon{ID: want.ID})
		}
		same(t, c, have, want)
	}
	same(t, "without", got.Without, report.SalesWithout{TransactionsCount: 1, SpendTotalCents: 500})
}

// Sales count on their own day, whenever the voucher was redeemed, and a voided one doesn't. A refund changes nothing: figures are gross.
func TestSalesOfCouponsCountOnTheirDay(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm")
	monday, tuesday := s.on("2026-06-01 12:00:00"), s.on("2026-06-02 09:00:00")
	anna := monday.Customer()
	c := monday.off("Ten percent", coupon.Percent, 10)
	sold := monday.Sale(anna.ID, s.purchase, 700)
	tuesday.redeemWith(monday.send(c)[0], sold.ID)
	tuesday.redeemWith(monday.send(c)[0], sold.ID)
	voided := tuesday.checkout(anna.ID, 2_000, monday.send(c)[0])
	tuesday.VoidSale(voided.ID)
	tuesday.Refund(tuesday.checkout(anna.ID, 1_000, monday.send(c)[0]).ID, 500)
	monday.Refund(sold.ID, 100)

	seen := s.on("2026-06-03 12:00:00")
	got := seen.couponUse(s.selection(t, "2026-06-01", "2026-06-01"))
	same(t, "on Monday", use(got, c), report.CouponUse{
		ID: c.ID, Name: "Ten percent", Sent: 4, SentRedeemed: 4, TransactionsCount: 1, SpendTotalCents: 700,
	})
	got = seen.couponUse(s.selection(t, "2026-06-02", "2026-06-02"))
	same(t, "on Tuesday", use(got, c), report.CouponUse{
		ID: c.ID, Name: "Ten percent", Redeemed: 4, TransactionsCount: 1, SpendTotalCents: 900, DiscountCents: 100, Cost: report.Cost{Least: 100, Most: 100},
		AgainCount: 1, AgainSpendCents: 900, BeforeSpendCents: 700,
		Unpriced:           2, // no discount is recorded of those that weren't redeemed at the till
		PreviousSpendCents: 700,
	})
	same(t, "the day before", got.Previous.SpendTotalCents, 700)
	got = seen.couponUse(s.selection(t, "2026-06-01", "2026-06-02"))
	same(t, "on both days", got.Total, report.CouponUse{
		Sent: 4, SentRedeemed: 4, Redeemed: 4, TransactionsCount: 2, SpendTotalCents: 1_600, DiscountCents: 100, Cost: report.Cost{Least: 100, Most: 100}, Unpriced: 2,
		AgainCount: 1, AgainSpendCents: 900, BeforeSpendCents: 700,
	})
	same(t, "none without", got.Without, report.SalesWithout{})
	stranger := newShop(t, "Europe/Stockholm").on("2026-06-03 12:00:00")
	if got := stranger.couponUse(s.selection(t, "2026-06-01", "2026-06-02")); len(got.Rows) != 0 || got.Total != (report.CouponUse{}) || got.Without != (report.SalesWithout{}) {
		t.Errorf("a stranger sees %+v", got)
	}
}

// Beside a sale with a voucher is what the same customer spent at their sale before it, whenever that was. Who never bought before has none, and what
// a merge or a void changes of it is counted anew.
func TestWhatTheSameCustomersSpentBefore(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t), "Europe/Stockholm")
	april, may, june, seen := s.on("2026-04-01 12:00:00"), s.on("2026-05-01 12:00:00"), s.on("2026-06-02 12:00:00"), s.on("2026-06-05 12:00:00")
	anna, twin := april.Customer(), april.Customer()
	annas, twins := april.Sale(anna.ID, s.purchase, 500), may.Sale(twin.ID, s.purchase, 800)
	bo := june.Customer()
	percent, amount := june.off("Ten percent", coupon.Percent, 10), june.off("Three off", coupon.Amount, 300)
	june.checkout(bo.ID, 1_000, june.sendTo(percent, bo.ID))
	june.checkout(anna.ID, 2_000, june.sendTo(percent, anna.ID), june.sendTo(amount, anna.ID))

	// before says how many sales count, their spend, and that of the sales before: of all coupons, and of each.
	before := func(what string, all, percents, amounts [3]int64) {
		t.Helper()
		for _, how := range []string{" when not counted", " when counted"} {
			got := seen.couponUse(s.selection(t, "2026-06-02", "2026-06-02"))
			figures := func(c report.CouponUse) [3]int64 {
				return [3]int64{c.AgainCount, c.AgainSpendCents, c.BeforeSpendCents}
			}
			same(t, what+how, [][3]int64{figures(got.Total), figures(use(got, percent)), figures(use(got, amount))}, [][3]int64{all, percents, amounts})
			same(t, what+how+", sales", got.Total.TransactionsCount, 2)
			s.Check(seen.Days.Count(t.Context(), daily.Counting{Tenant: s.By.Tenant.ID}))
		}
		s.Verify()
	}
	hers := [3]int64{1, 1_500, 500}
	before("Anna's sale in April", hers, hers, hers)
	s.Must(core.Result(seen.Merging.Merge(t.Context(), s.By, anna.ID, twin.ID, nil, nil)))
	hers = [3]int64{1, 1_500, 800}
	before("merged, that in May", hers, hers, hers)
	seen.VoidSale(twins.ID)
	hers = [3]int64{1, 1_500, 500}
	before("voided, that in April", hers, hers, hers)
	seen.VoidSale(annas.ID)
	before("voided, too", [3]int64{}, [3]int64{}, [3]int64{})
}

// Rewards cost what they cost now, points between the cheapest and the dearest reward for them, and what has no known cost is said.
func TestWhatVouchersCost(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm").on("2026-06-02 12:00:00")
	s.Customer()
	mug := s.mug(325)
	gift, espresso, points := s.gift("A mug", mug), s.gift("An espresso", s.espresso), s.off("Points", coupon.Points, 200)
	stamps := s.off("Stamps", coupon.Stamps, 2)
	for _, c := range []coupon.Coupon{gift, espresso, points, stamps} {
		s.redeem(s.send(c)[0])
	}
	today := s.selection(t, "2026-06-02", "2026-06-02")
	got := s.couponUse(today)
	same(t, "a mug", use(got, gift).Cost, report.Cost{Least: 325, Most: 325})
	same(t, "an espresso", use(got, espresso).Unpriced, 1)
	same(t, "points", use(got, points), report.CouponUse{
		ID: points.ID, Name: "Points", Sent: 1, SentRedeemed: 1, Redeemed: 1, PointsGiven: 200, Cost: report.Cost{Least: 650, Most: 650},
	})
	same(t, "stamps", use(got, stamps).Unpriced, 1)
	same(t, "in all", got.Total, report.CouponUse{
		Sent: 4, SentRedeemed: 4, Redeemed: 4, RewardsCount: 2, PointsGiven: 200, StampsGiven: 2, Cost: report.Cost{Least: 975, Most: 975}, Unpriced: 2,
	})
	s.AddReward(reward.New{Name: "Cake", PointsCost: new(int64(100)), CostCents: new(int64(50))})
	same(t, "with a cheaper reward", use(s.couponUse(today), points).Cost, report.Cost{Least: 100, Most: 650})
	for _, r := range shoptest.QueryAll[core.ID](s.Shop, "select id from loyalty.redemption where tenant_id = $1", s.By.Tenant.ID) {
		s.VoidRedemption(r)
	}
	same(t, "once redemptions are voided", s.couponUse(today).Total.RewardsCount, 0)
}

// A voucher sent on these days is redeemed, pending or expired now; a send counts its vouchers.
func TestVouchersSentInARange(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm")
	first := s.on("2026-05-31 23:59:30")
	for range 2 {
		first.Customer()
	}
	spring := first.coupon("Spring", nil)
	first.send(spring)
	june := s.on("2026-06-01 00:00:00")
	later := s.on("2026-06-02 12:00:00").DB.Now()
	summer := june.coupon("Summer", &later)
	sent := june.send(summer)
	june.send(spring)
	june.coupon("Unsent", nil)
	s.on("2026-06-02 11:00:00").redeem(sent[0])
	seen := s.on("2026-06-03 12:00:00")
	for _, c := range []struct {
		from, to string
		want     []string
	}{
		{"2026-05-31", "2026-05-31", []string{"Spring 2 0 2 0"}},
		{"2026-06-01", "2026-06-01", []string{"Spring 2 0 2 0", "Summer 2 1 0 1"}},
		{"2026-05-31", "2026-06-01", []string{"Spring 4 0 4 0", "Summer 2 1 0 1"}},
		{"2026-06-02", "2026-06-03", nil},
	} {
		var got []string
		for _, u := range seen.couponUse(report.Selection{Range: days(t, c.from, c.to), Against: new("none")}).Rows {
			if u.Sent > 0 {
				got = append(got, fmt.Sprintf("%s %d %d %d %d", u.Name, u.Sent, u.SentRedeemed, u.SentPending, u.SentExpired()))
			}
		}
		slices.Sort(got)
		same(t, c.from+" to "+c.to, got, c.want)
	}
	_, err := s.Reports.CouponUse(t.Context(), s.By, s.selection(t, "2026-06-02", "2026-06-01"))
	shoptest.WantFields(t, err, core.Fields{"to": {core.AfterOrEqual("from")}})
}

// Whatever happens with vouchers, the report of days that were counted says what counting them one by one does.
func TestCouponsAgreeWithAPlainCount(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	s := shopIn(t, dbtest.OwnDB(t), "America/New_York")
	zone, first := s.By.Tenant.TimeZone, s.on("2026-03-06 12:00:00")
	anna := first.Customer()
	mug := first.mug(325)
	coupons := []coupon.Coupon{first.off("Ten", coupon.Percent, 10), first.off("Third", coupon.Percent, 33), first.off("Three", coupon.Amount, 300), first.gift("Mug", mug)}
	type used struct {
		coupon   core.ID
		day      string
		discount int64
		priced   bool
	}
	type sold struct {
		day     string
		cents   int64
		coupons []core.ID
		voided  bool
		at      time.Time
		before  *int64 // what Anna spent at her sale before
	}
	var redeemed []used
	var sales []sold
	sent := map[string]map[core.ID]int64{}
	when := func() shop { return first.at(first.DB.Now().Add(time.Duration(rng.Int64N(int64(120 * time.Hour))))) }
	dayOf := func(s shop) string { return s.DB.Now().In(zone).Format(time.DateOnly) }
	for range 40 {
		at := when()
		var vouchers []coupon.Voucher
		var ids []core.ID
		var made sold
		for _, c := range coupons {
			if rng.IntN(3) > 0 || c.BenefitType == coupon.Reward && len(ids)%2 == 1 {
				continue
			}
			if c.BenefitType == coupon.Reward && sentTo(sent, c.ID) > 0 {
				continue // a gift may be held once
			}
			id := at.send(c)[0]
			v, err := at.Coupons.FindVoucher(t.Context(), at.By, id)
			s.Check(err)
			vouchers, ids, made.coupons = append(vouchers, v.Voucher), append(ids, id), append(made.coupons, c.ID)
			if sent[dayOf(at)] == nil {
				sent[dayOf(at)] = map[core.ID]int64{}
			}
			sent[dayOf(at)][c.ID]++
		}
		cents := rng.Int64N(1_500)
		made.day, made.at = dayOf(at), at.DB.Now()
		var recorded transaction.Transaction
		if rng.IntN(3) > 0 {
			recorded = at.checkout(anna.ID, cents, ids...)
			bill := coupon.BillFor(cents, vouchers)
			made.cents, made.voided = bill.PaidCents, rng.IntN(5) == 0
			for _, v := range vouchers {
				u := used{coupon: v.CouponID, day: made.day, priced: true}
				for _, d := range bill.Discounts {
					if d.Voucher == v.ID && !made.voided {
						u.discount = d.Cents
					}
				}
				redeemed = append(redeemed, u)
			}
		} else {
			recorded = at.Sale(anna.ID, s.purchase, cents)
			made.cents = cents
			for _, v := range vouchers {
				later := at.at(at.DB.Now().Add(time.Duration(rng.IntN(30)) * time.Hour))
				later.redeemWith(v.ID, recorded.ID)
				redeemed = append(redeemed, used{coupon: v.CouponID, day: dayOf(later), priced: v.BenefitType == coupon.Reward})
			}
			made.voided = rng.IntN(5) == 0
		}
		if made.voided {
			at.at(at.DB.Now().Add(40 * time.Hour)).VoidSale(recorded.ID)
		}
		sales = append(sales, made)
	}
	slices.SortFunc(sales, func(a, b sold) int { return a.at.Compare(b.at) })
	var last *int64
	for i := range sales {
		if !sales[i].voided {
			sales[i].before, last = last, &sales[i].cents
		}
	}
	seen := s.on("2026-03-20 12:00:00")
	s.Check(seen.Days.Count(t.Context(), daily.Counting{Tenant: s.By.Tenant.ID}))
	for from := *date(t, "2026-03-05"); !from.After(*date(t, "2026-03-13")); from = from.AddDate(0, 0, 1) {
		for to := from; !to.After(*date(t, "2026-03-13")); to = to.AddDate(0, 0, 1) {
			got := seen.couponUse(report.Selection{Range: report.Range{From: &from, To: &to}})
			falls := func(day string) bool { return day >= from.Format(time.DateOnly) && day <= to.Format(time.DateOnly) }
			for i := range len(coupons) + 1 {
				var want report.CouponUse
				have := got.Total
				whole := i == len(coupons)
				if !whole {
					want.ID, want.Name = coupons[i].ID, coupons[i].Name
					have = use(got, coupons[i])
				}
				for day, of := range sent {
					for id, n := range of {
						if falls(day) && (whole || id == want.ID) {
							want.Sent, want.SentRedeemed = want.Sent+n, want.SentRedeemed+n
						}
					}
				}
				for _, u := range redeemed {
					if !falls(u.day) || !whole && u.coupon != want.ID {
						continue
					}
					want.Redeemed++
					want.DiscountCents += u.discount
					if !u.priced {
						want.Unpriced++
					}
					if u.coupon == coupons[3].ID {
						want.RewardsCount++
						want.Cost.Least += 325
					}
				}
				want.Cost.Least += want.DiscountCents
				want.Cost.Most = want.Cost.Least
				var without report.SalesWithout
				for _, made := range sales {
					switch {
					case !falls(made.day) || made.voided:
					case len(made.coupons) == 0:
						without.TransactionsCount++
						without.SpendTotalCents += made.cents
					case whole || slices.Contains(made.coupons, want.ID):
						want.TransactionsCount++
						want.SpendTotalCents += made.cents
						if made.before != nil {
							want.AgainCount++
							want.AgainSpendCents += made.cents
							want.BeforeSpendCents += *made.before
						}
					}
				}
				if want.Sent+want.Redeemed+want.TransactionsCount == 0 && !whole {
					want.ID, want.Name = have.ID, have.Name
				}
				want.PreviousSpendCents = have.PreviousSpendCents
				same(t, fmt.Sprint(want.Name, " from ", from, " to ", to), have, want)
				if whole {
					same(t, "without", got.Without, without)
				}
			}
			var redeemed, spend int64
			for _, b := range got.Buckets {
				redeemed, spend = redeemed+b.Current.Redeemed, spend+b.Current.SpendTotalCents
			}
			same(t, "steps", []int64{redeemed, spend}, []int64{got.Total.Redeemed, got.Total.SpendTotalCents})
		}
	}
	s.Verify()
}

// sentTo counts the vouchers of a coupon that were sent on any day.
func sentTo(sent map[string]map[core.ID]int64, c core.ID) (n int64) {
	for _, of := range sent {
		n += of[c]
	}
	return n
}

// What an earlier build changes, or an operator by hand, marks the days of vouchers and their sales by triggers.
func TestVouchersChangedByHand(t *testing.T) {
	t.Parallel()
	dbtest.NeedsPlain(t, "a distributed database has no triggers for changes by hand")
	s := shopIn(t, dbtest.OwnDB(t), "Europe/Stockholm")
	monday, tuesday, seen := s.on("2026-06-01 12:00:00"), s.on("2026-06-02 12:00:00"), s.on("2026-06-05 12:00:00")
	anna := monday.Customer()
	c := monday.off("Ten percent", coupon.Percent, 10)
	sold, voucher := monday.Sale(anna.ID, s.purchase, 700), monday.send(c)[0]
	tuesday.redeemWith(voucher, sold.ID)
	s.Check(seen.Days.Count(t.Context(), daily.Counting{Tenant: s.By.Tenant.ID}))
	days := s.selection(t, "2026-06-01", "2026-06-02")
	sales := func() int64 {
		t.Helper()
		return seen.couponUse(days).Total.TransactionsCount
	}
	same(t, "counted", sales(), 1)
	s.Exec("update loyalty.voucher set transaction_id = null where tenant_id = $1 and id = $2", s.By.Tenant.ID, voucher)
	same(t, "without its sale", sales(), 0)
	s.Check(seen.Days.Count(t.Context(), daily.Counting{Tenant: s.By.Tenant.ID}))
	s.Exec("update loyalty.voucher set transaction_id = $3 where tenant_id = $1 and id = $2", s.By.Tenant.ID, voucher, sold.ID)
	same(t, "with it again", sales(), 1)
	s.Verify()
}

// Sums saturate, so that no record can break a report.
func TestCostsSaturate(t *testing.T) {
	t.Parallel()
	s := newShop(t, "UTC")
	s.Customer()
	s.mug(325)
	c := s.off("Points", coupon.Points, 5)
	for range 2 {
		s.redeem(s.send(c)[0])
	}
	s.Exec("update loyalty.coupon set benefit_value = 9000000000000000000 where tenant_id = $1", s.By.Tenant.ID)
	got := s.couponUse(report.Selection{}).Total
	same(t, "given", got.PointsGiven, math.MaxInt64)
	same(t, "cost", got.Cost, report.Cost{Least: math.MaxInt64, Most: math.MaxInt64})
}
