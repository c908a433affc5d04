package report_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/programme"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

// expires gives points a rule, from the first one on.
func (s shop) expires(rule core.Expiry) shop {
	s.T.Helper()
	var months, round any
	if rule.Months > 0 {
		months, round = rule.Months, rule.RoundTo
	}
	s.Exec(`
		insert into loyalty.programme (tenant_id, unit, expiry, months, round_to, begun_at, updated_at)
		values ($1, 'points', $2, $3, $4, $5, $5)
		on conflict (tenant_id, unit) do update
		set expiry = excluded.expiry, months = excluded.months, round_to = excluded.round_to`, s.By.Tenant.ID, rule.Rule, months, round, s.DB.Now())
	s.By.Tenant.PointsExpiry = rule
	return s
}

// after is the rule that ends points with a month, some months after they were earned.
func after(months int) core.Expiry {
	return core.Expiry{Rule: core.ExpireAfter, Months: months, RoundTo: core.ToMonth, GraceDays: 30}
}

// midnight expires what is due.
func (s shop) midnight() {
	s.T.Helper()
	for looked := 1; looked > 0; {
		s.Check(db.Run(s.T.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) (err error) {
			looked, _, err = ledger.ExpireDue(s.T.Context(), tx, s.By, ledger.Points, 3)
			return err
		}))
	}
}

// refund refunds a part of a sale, and takes back a part of its points.
func (s shop) refund(sale transaction.Transaction, cents, points int64) {
	s.T.Helper()
	id := core.NewID(s.DB.Now())
	s.Exec(`insert into loyalty.refund (tenant_id, id, transaction_id, amount_cents, points, actor_kind, actor_id, actor_name, created_at)
		values ($1, $2, $3, $4, $5, 'system', '', '', $6)`, s.By.Tenant.ID, id, sale.ID, cents, points, s.DB.Now())
	s.Exec(`update loyalty.transaction set refunded_cents = refunded_cents + $3, refunded_award = refunded_award + $4
		where tenant_id = $1 and id = $2`, s.By.Tenant.ID, sale.ID, cents, points)
	if points > 0 {
		s.Check(db.Run(s.T.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) error {
			return ledger.Queue(tx, s.By, ledger.Entry{Customer: sale.CustomerID, Unit: ledger.Points, Amount: -points, Kind: ledger.Refunded, Cause: &id, Sale: &sale.ID})
		}))
	}
}

func (s shop) statement(b report.Balances) report.Statement {
	s.T.Helper()
	got, err := s.Reports.Points(s.T.Context(), s.By, b)
	s.Check(err)
	return got
}

func (s shop) endings() report.Endings {
	s.T.Helper()
	got, err := s.Reports.Endings(s.T.Context(), s.By, nil)
	s.Check(err)
	return got
}

// "spend_total_cents stays gross": like a void, a refund counts on the day of its sale, and not at all once that is voided.
// What expired counts when it was posted.
func TestARefundCountsOnTheDayOfItsSale(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm")
	monday, tuesday := s.on("2026-06-01 12:00:00").expires(after(1)), s.on("2026-06-02 12:00:00")
	tuesday.By = monday.By
	anna := monday.Customer()
	sale, voided := monday.Sale(anna.ID, s.purchase, 900), monday.Sale(anna.ID, s.purchase, 500)
	tuesday.refund(sale, 300, 300)
	tuesday.refund(sale, 1, 0)
	tuesday.refund(voided, 100, 0)
	tuesday.VoidSale(voided.ID)
	august := s.on("2026-08-03 00:30:00")
	august.By = monday.By
	august.midnight()
	voidedLater := monday.Sale(anna.ID, s.purchase, 0)
	august.VoidSale(voidedLater.ID)
	august.VoidSale(sale.ID)
	same(t, "in all", s.summary(days(t, "2026-06-01", "2026-08-03")).Figures, report.Figures{
		VoidedCount: 3, PointsReversed: 1400, NewCustomers: 1, PointsExpired: 600, PointsExpiryReturned: 600,
	})
	again := monday.Sale(anna.ID, s.purchase, 700)
	tuesday.refund(again, 300, 200)
	want := map[string]report.Figures{
		"2026-06-01": {
			TransactionsCount: 1, VoidedCount: 3, SpendTotalCents: 700, PointsAwarded: 700, PointsReversed: 1400, NewCustomers: 1,
			PointsRefunded: 200, RefundsCount: 1, RefundedTotalCents: 300, NetSpendTotalCents: 400,
		},
		"2026-08-03": {PointsExpired: 600, PointsExpiryReturned: 600},
	}
	same(t, "per day", s.perDay(days(t, "2026-06-01", "2026-08-03")), want)
	june := report.Selection{Range: days(t, "2026-06-01", "2026-06-30")}
	same(t, "compared", s.compare(june).Current.Figures, want["2026-06-01"])
}

// Thousands of expiries on a day are no news. A void's change of the balance is less than the award if some of that was
// refunded, or had expired and was returned first.
func TestRecentActivityAfterExpiry(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm").on("2026-01-10 12:00:00").expires(after(1))
	anna := s.Customer()
	sale := s.Sale(anna.ID, s.purchase, 100)
	s.refund(sale, 30, 30)
	s.Redeem(anna.ID, s.espresso)
	march := s.on("2026-03-10 12:00:00")
	march.By = s.By
	march.midnight() // 60
	var kinds []report.EventKind
	feed, err := march.Reports.Recent(t.Context(), march.By, 50, "")
	march.Check(err)
	for _, e := range feed.Events {
		kinds = append(kinds, e.Kind)
	}
	same(t, "after an expiry", kinds, []report.EventKind{report.Redeemed, report.SaleRefunded, report.Sold, report.Joined})
	march.Exec(`update loyalty.transaction set status = 'voided', voided_at = $3 where tenant_id = $1 and id = $2`, s.By.Tenant.ID, sale.ID, march.DB.Now())
	march.Check(db.Run(t.Context(), march.DB.Tenant(march.By), func(tx *db.Tx) error {
		return ledger.Queue(tx, march.By, ledger.Entry{Customer: anna.ID, Unit: ledger.Points, Amount: -70, Kind: ledger.Reversal, Cause: &sale.ID})
	}))
	feed, err = march.Reports.Recent(t.Context(), march.By, 50, "")
	march.Check(err)
	if void := feed.Events[0]; void.Kind != report.SaleVoided || void.Points != -10 {
		t.Errorf("the void is %+v, want it to take the 10 that were spent", void)
	}
	if quiet, busy := (report.Figures{PointsExpired: 60}), (report.Figures{PointsExpired: 60, RefundsCount: 1}); !quiet.IsQuiet() || busy.IsQuiet() {
		t.Error("a week is worth an e-mail if something was done")
	}
}

// counted is what entries and accounts say, one by one.
type counted struct {
	Customer core.ID
	Kind     ledger.Kind
	Amount   int64
	After    int64
	At       time.Time
}

func (s shop) entries() (entries []counted) {
	s.T.Helper()
	rows, err := db.All[counted](s.T.Context(), s.DB.Tenant(s.By), `
		select customer_id as customer, kind, amount, balance_after as after, created_at as at
		from loyalty.ledger_entry
		where tenant_id = @tenant_id
			and unit = 'points'
		order by customer_id, seq`, nil)
	s.Check(err)
	return rows
}

// plain counts a statement entry by entry.
func (s shop) plain(r report.Range) (opening, closing, spendable, below int64, flow map[ledger.Kind]int64) {
	start, end := core.StartOfDate(*r.From, s.By.Tenant.TimeZone), core.StartOfDate(r.To.AddDate(0, 0, 1), s.By.Tenant.TimeZone)
	last := map[core.ID]int64{}
	flow = map[ledger.Kind]int64{}
	for _, e := range s.entries() {
		switch {
		case e.At.Before(start):
			opening += e.Amount
		case e.At.Before(end):
			flow[e.Kind] += e.Amount
		}
		if e.At.Before(end) {
			closing += e.Amount
			last[e.Customer] = e.After
		}
	}
	for _, balance := range last {
		spendable += max(balance, 0)
		below += min(balance, 0)
	}
	return opening, closing, spendable, below, flow
}

// compareEarlier compares what a statement says of the earlier period with the entries, in all if the range is over.
func (s shop) compareEarlier(t *testing.T, b report.Balances) {
	t.Helper()
	movement := func(p report.Period) report.Movement {
		opening, closing, _, _, flow := s.plain(report.Range{From: &p.From, To: &p.To})
		m := report.Movement{Opening: opening, Closing: closing}
		same(t, "adds up", opening+sum(flow), closing)
		for kind, amount := range flow {
			*m.Total.Of(kind) = amount
		}
		return m
	}
	st := s.statement(b)
	today := core.DateOf(s.DB.Now(), s.By.Tenant.TimeZone)
	same(t, "against", *st.Against, st.Earlier(report.Against(*b.Against), today))
	if st.To.Before(today) {
		same(t, "earlier", st.Before, movement(*st.Against))
	}
	for _, day := range st.Steps {
		if day.Previous != nil {
			same(t, "beside "+day.From.Format(time.DateOnly), *day.Previous, movement(day.Beside))
		}
	}
}

func kinds(f report.Flow) map[ledger.Kind]int64 {
	flow := map[ledger.Kind]int64{}
	for kind, amount := range map[ledger.Kind]int64{
		ledger.Earn: f.Earned, ledger.VoucherAward: f.Vouchers, ledger.Opened: f.Imported, ledger.Reversal: f.Reversed, ledger.Refunded: f.Refunded,
		ledger.Redemption: f.Redeemed, ledger.RedemptionRefund: f.Returned, ledger.Expired: f.Expired, ledger.ExpiryReturned: f.ExpiryReturned,
		ledger.Adjustment: f.Adjusted, ledger.Merged: f.Merged,
	} {
		if amount != 0 {
			flow[kind] = amount
		}
	}
	return flow
}

func sum(flow map[ledger.Kind]int64) (total int64) {
	for _, amount := range flow {
		total += amount
	}
	return total
}

// In random histories, every statement is what entries add up to: the opening and what changed is the closing, of the range
// and of each day, and the closing is the sum of balances. What ends when is what each customer is told, added up.
func TestStatementsAgreeWithAPlainCount(t *testing.T) {
	t.Parallel()
	for _, rule := range []core.Expiry{after(1), {Rule: core.ExpireInactive, Months: 1, RoundTo: core.ToDay, GraceDays: 30}, {}} {
		t.Run(string(rule.Rule), func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			h := &pointsHistory{rng: rand.New(rand.NewPCG(seed, 0)), rule: rule}
			h.shop = newShop(t, "Europe/Stockholm").on("2026-02-20 12:00:00")
			h.trade(160)
			s := h.shop
			for range 12 {
				from := date(t, "2026-02-20").AddDate(0, 0, h.rng.IntN(60))
				to := from.AddDate(0, 0, h.rng.IntN(60))
				r := report.Range{From: &from, To: &to}
				st := s.statement(report.Balances{Range: r, Step: report.Daily})
				opening, closing, spendable, below, flow := s.plain(r)
				same(t, "balances", []int64{st.Opening, st.Closing, st.Owed.Spendable + st.Owed.Erased, st.Owed.Below}, []int64{opening, closing, spendable, below})
				for kind, amount := range flow {
					if amount == 0 {
						delete(flow, kind)
					}
				}
				same(t, "changes", kinds(st.Total), flow)
				if st.Opening+sum(kinds(st.Total)) != st.Closing || st.Owed.Spendable+st.Owed.Erased+st.Owed.Below != st.Closing {
					t.Errorf("%d and %v aren't %d, which is %+v", st.Opening, st.Total, st.Closing, st.Owed)
				}
				before := st.Opening
				for _, day := range st.Steps {
					if now := day.Current; now.Opening != before || now.Opening+sum(kinds(now.Total)) != now.Closing {
						t.Errorf("on %s: %+v after %d", day.From.Format(time.DateOnly), now, before)
					}
					before = day.Current.Closing
				}
				for _, against := range []report.Against{report.PreviousPeriod, report.LastYear} {
					s.compareEarlier(t, report.Balances{Range: r, Step: report.Daily, Against: new(string(against))})
				}
			}
			now := s.statement(report.Balances{})
			same(t, "the sum of balances", now.Closing, shoptest.Query[int64](s.Shop, "select sum(points)::bigint from loyalty.account where tenant_id = $1", s.By.Tenant.ID))
			same(t, "on the dashboard", now.Owed.Spendable, s.overview(report.Range{}).Outstanding.Points)
			h.compareEndings(t)
			s.midnight()
			h.compareEndings(t)
		})
	}
}

// pointsHistory is random trade in points.
type pointsHistory struct {
	shop
	rng         *rand.Rand
	rule        core.Expiry
	customers   []core.ID
	sales       []transaction.Transaction
	redemptions []reward.Redemption
}

// trade makes random sales and what follows them. The rule is set in their midst.
func (h *pointsHistory) trade(steps int) {
	welcome := h.coupon("Welcome", nil)
	for range 5 {
		h.customers = append(h.customers, h.Customer().ID)
	}
	for step := range steps {
		begun := h.shop
		h.shop = h.at(h.DB.Now().Add(time.Duration(h.rng.Int64N(int64(24 * time.Hour)))))
		h.By = begun.By
		if step == steps/4 && h.rule.Rule != "" {
			h.shop = h.expires(h.rule)
		}
		who := h.customers[h.rng.IntN(len(h.customers))]
		switch h.rng.IntN(10) {
		case 0:
			if i, ok := pick(h.rng, h.sales); ok {
				h.VoidSale(h.sales[i].ID)
				h.sales = append(h.sales[:i], h.sales[i+1:]...)
			}
		case 1:
			if i, ok := pick(h.rng, h.sales); ok && h.sales[i].SpendAmountCents > 1 {
				h.refund(h.sales[i], 1, 1)
				h.sales = append(h.sales[:i], h.sales[i+1:]...)
			}
		case 2, 3:
			r, err := core.Result(h.Rewards.Redeem(h.T.Context(), h.By, reward.RedeemRequest{CustomerID: who, RewardID: h.espresso}, nil, nil))
			if err == nil {
				h.redemptions = append(h.redemptions, r)
			} else if !errors.Is(err, ledger.ErrInsufficientPoints) {
				h.T.Fatal(err)
			}
		case 4:
			if i, ok := pick(h.rng, h.redemptions); ok {
				h.VoidRedemption(h.redemptions[i].ID)
				h.redemptions = append(h.redemptions[:i], h.redemptions[i+1:]...)
			}
		case 5:
			h.RedeemVoucher(h.Voucher(welcome.ID, who))
		case 6:
			h.Adjust(who, ledger.Points, 1+h.rng.Int64N(20))
		case 7:
			h.midnight()
		default:
			h.sales = append(h.sales, h.Sale(who, h.purchase, 2+h.rng.Int64N(40)))
		}
	}
}

func pick[T any](rng *rand.Rand, list []T) (i int, ok bool) {
	if len(list) == 0 {
		return 0, false
	}
	return rng.IntN(len(list)), true
}

// compareEndings compares what ends when with what each customer is told.
func (h *pointsHistory) compareEndings(t *testing.T) {
	t.Helper()
	today := core.DateOf(h.DB.Now(), h.By.Tenant.TimeZone)
	first := today.AddDate(0, 0, 1-today.Day())
	want := report.Endings{}
	months := map[time.Time]report.Ending{}
	for _, id := range h.customers {
		var endings []ledger.Ending
		h.Check(db.Together(h.T.Context(), h.DB.Tenant(h.By), ledger.ReadEndings(&endings, id)))
		for _, e := range endings {
			if e.Unit != ledger.Points {
				continue
			}
			want.Total += e.Amount
			switch {
			case e.ExpiresOn == nil:
				want.Never += e.Amount
			case e.ExpiresOn.Before(today):
				want.Due += e.Amount
			default:
				month := e.ExpiresOn.AddDate(0, 0, 1-e.ExpiresOn.Day())
				ending := months[month]
				ending.Month = month
				ending.Amount += e.Amount
				if e.Idle {
					ending.Idle += e.Amount
				}
				months[month] = ending
			}
		}
	}
	got := h.endings()
	same(t, "in all, due, never", []int64{got.Total, got.Due, got.Never}, []int64{want.Total, want.Due, want.Never})
	for i, ending := range got.Months {
		month := first.AddDate(0, i, 0)
		expected := months[month]
		expected.Month = month
		same(t, "in "+month.Format("January 2006"), ending, expected)
	}
	var open, redeemed, expired int64
	for _, o := range got.Outcomes {
		open, redeemed, expired = open+o.Open, redeemed+o.Redeemed, expired+o.Expired
	}
	flow := map[ledger.Kind]int64{}
	for _, e := range h.entries() {
		flow[e.Kind] -= e.Amount
	}
	same(t, "open, redeemed, expired", []int64{open, redeemed, expired}, []int64{
		want.Total, flow[ledger.Redemption] + flow[ledger.RedemptionRefund], flow[ledger.Expired] + flow[ledger.ExpiryReturned],
	})
	h.compareEarned(t, got)
}

// lotKey is a customer's last day; a zero one is none.
type lotKey struct {
	customer core.ID
	day      time.Time
}

// compareEarned compares what was earned when with each entry, in the order of time: what it put into which lot, and what it took.
func (h *pointsHistory) compareEarned(t *testing.T, got report.Endings) {
	t.Helper()
	entries, err := db.All[struct {
		Customer   core.ID
		Kind       ledger.Kind
		Cause      *core.ID
		Amount     int64
		After      int64
		At         time.Time
		ExpiresOn  *time.Time
		LotDates   []time.Time
		LotAmounts []int64
	}](t.Context(), h.DB.Tenant(h.By), `
		select customer_id as customer, kind, cause, amount, balance_after as after, created_at as at, nullif(expires_on, 'infinity') as expires_on,
			array(select coalesce(nullif(d, 'infinity'), '0001-01-01') from unnest(lot_dates) d) as lot_dates, coalesce(lot_amounts, '{}') as lot_amounts
		from loyalty.ledger_entry
		where tenant_id = @tenant_id
			and unit = 'points'
		order by customer_id, seq`, nil)
	h.Check(err)
	left, months, apart := map[lotKey]int64{}, map[lotKey]map[time.Time]bool{}, map[lotKey]bool{}
	took := map[core.ID][]time.Time{}
	for _, e := range entries {
		if e.Kind == ledger.Redemption {
			took[*e.Cause] = e.LotDates
		}
		for i, day := range e.LotDates {
			key := lotKey{e.Customer, day}
			left[key] += e.LotAmounts[i]
			apart[key] = apart[key] || e.Kind == ledger.RedemptionRefund && !slices.ContainsFunc(took[*e.Cause], day.Equal)
		}
		switch key := (lotKey{e.Customer, core.OrZero(e.ExpiresOn)}); {
		case len(e.LotDates) > 0:
		case e.Amount < 0 || e.Kind == ledger.RedemptionRefund: // before there were lots, or of a debt: nothing is dated
			left[lotKey{customer: e.Customer}] = max(e.After, 0)
		default:
			left[key] += min(e.Amount, max(e.After, 0))
			if months[key] == nil {
				months[key] = map[time.Time]bool{}
			}
			local := core.DateOf(e.At, h.By.Tenant.TimeZone)
			months[key][local.AddDate(0, 0, 1-local.Day())] = true
		}
	}
	var undated, unknown int64
	inMonth := map[time.Time]int64{}
	for key, amount := range left {
		switch {
		case key.day.IsZero():
			undated += max(amount, 0)
		case apart[key]:
			unknown += amount
		default:
			if len(months[key]) != 1 {
				t.Fatalf("%d of %s were earned in %v", amount, key.day, months[key])
			}
			for month := range months[key] {
				inMonth[month] += amount
			}
		}
	}
	e := got.Earned
	for _, at := range e.Times {
		same(t, "earned in "+at.From.Format("January 2006"), at.Amount, inMonth[at.From])
		delete(inMonth, at.From)
	}
	for month, amount := range inMonth {
		same(t, "also earned in "+month.Format("January 2006"), int64(0), amount)
	}
	same(t, "without a time", []int64{e.Undated, e.Apart, e.Unclear}, []int64{undated, unknown, 0})
}

// What was owed is as of the last day of the range, whatever came later. It is worth what rewards cost, or the owner's own
// value of the part that is expected to be redeemed: as it was in the year before, unless they say otherwise.
func TestWhatIsOwed(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm").on("2026-01-10 12:00:00").expires(after(1))
	by := s.By
	on := func(local string) shop {
		later := s.on(local)
		later.By = by
		return later
	}
	cheap := s.AddReward(reward.New{Name: "Cheap", PointsCost: new(int64(100)), CostCents: new(int64(50))})
	dear := s.AddReward(reward.New{Name: "Dear", PointsCost: new(int64(10)), CostCents: new(int64(20))})
	s.AddReward(reward.New{Name: "In between", PointsCost: new(int64(10)), CostCents: new(int64(10))})
	s.AddReward(reward.New{Name: "For stamps", StampsCost: new(int64(10)), CostCents: new(int64(1))})
	rewards := report.SpentOn{
		Count: 4, Unpriced: 1, // the espresso
		Cheapest: &report.RewardCost{ID: cheap, Name: "Cheap", CostCents: 50, Units: 100},
		Dearest:  &report.RewardCost{ID: dear, Name: "Dear", CostCents: 20, Units: 10},
	}
	anna, bo, erased := s.Customer(), s.Customer(), s.Customer()
	s.Sale(anna.ID, s.purchase, 40)
	s.Redeem(anna.ID, s.espresso)
	s.Sale(erased.ID, s.purchase, 7)
	debt := s.Sale(bo.ID, s.purchase, 10)
	s.Redeem(bo.ID, s.espresso)
	on("2026-02-10 12:00:00").VoidSale(debt.ID)
	on("2026-02-12 12:00:00").Exec("update loyalty.customer set phone = '', phone_key = null, updated_at = $3 where tenant_id = $1 and id = $2",
		by.Tenant.ID, erased.ID, on("2026-02-12 12:00:00").DB.Now())
	now := on("2026-03-02 12:00:00")
	now.midnight() // 30 of Anna's, and what the erased customer had
	now.Sale(anna.ID, s.purchase, 1_000)

	for day, want := range map[string]report.Owed{
		"2026-01-09": {Cost: &report.Cost{}},
		"2026-01-10": {Spendable: 37, Cost: &report.Cost{Least: 19, Most: 74}, Spent: report.Spent{Redeemed: 20}},
		"2026-02-11": {Spendable: 37, Below: -10, Cost: &report.Cost{Least: 19, Most: 74}, Spent: report.Spent{Redeemed: 20}},
		"2026-02-28": {Spendable: 30, Erased: 7, Below: -10, Cost: &report.Cost{Least: 15, Most: 60}, Spent: report.Spent{Redeemed: 20}},
		"2026-03-02": {Spendable: 1_000, Below: -10, Cost: &report.Cost{Least: 500, Most: 2_000}, Spent: report.Spent{Redeemed: 20, Expired: 37}},
	} {
		want.Rewards = rewards
		got := now.statement(report.Balances{Range: days(t, "2026-01-01", day)})
		same(t, "on "+day, got.Owed, want)
		same(t, "closing on "+day, got.Closing, want.Spendable+want.Erased+want.Below)
	}
	march := report.Balances{Range: days(t, "2026-03-01", "2026-03-02"), ValueCents: new(int64(150))}
	same(t, "measured", *now.statement(march).Owed.OwnValue, report.OwnValue{ValueCents: 150, Rate: 3509, WholeCents: 1_500, Cents: 526})
	march.ExpectedRate = new(int64(8_050))
	same(t, "expected", *now.statement(march).Owed.OwnValue, report.OwnValue{ValueCents: 150, Rate: 8_050, WholeCents: 1_500, Cents: 1_208})
	if outstanding := now.overview(report.Range{}).Outstanding; outstanding.Points != 1_000 || *outstanding.PointsCost != (report.Cost{Least: 500, Most: 2_000}) {
		t.Errorf("on the dashboard: %+v", outstanding)
	}
	if rate := (report.Spent{}).Rate(); rate != 10_000 {
		t.Errorf("a business where nothing was redeemed or expired expects %d", rate)
	}
}

// What isn't over is compared with what was at the same time of day; its steps are beside whole days.
func TestBalancesBesideEarlierOnes(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm")
	anna := s.on("2026-05-01 12:00:00").Customer()
	sold := func(local string, cents int64) {
		later := s.on(local)
		later.Sale(anna.ID, s.purchase, cents)
	}
	sold("2026-06-06 12:00:00", 1)
	sold("2026-06-07 09:00:00", 20)
	sold("2026-06-08 09:00:00", 300)
	sold("2026-06-08 15:00:00", 4_000)
	sold("2026-06-09 09:00:00", 50_000)
	now := s.on("2026-06-10 10:00:00")
	st := now.statement(report.Balances{Range: days(t, "2026-06-09", "2026-06-10")})
	same(t, "before", st.Before, report.Movement{Opening: 1, Total: report.Flow{Earned: 320}, Closing: 321})
	same(t, "now", st.Movement, report.Movement{Opening: 4_321, Total: report.Flow{Earned: 50_000}, Closing: 54_321})
	same(t, "beside the 9th", *st.Steps[0].Previous, report.Movement{Opening: 1, Total: report.Flow{Earned: 20}, Closing: 21})
	same(t, "beside the 10th", *st.Steps[1].Previous, report.Movement{Opening: 21, Total: report.Flow{Earned: 4_300}, Closing: 4_321})
	alone := now.statement(report.Balances{Range: days(t, "2026-06-09", "2026-06-10"), Against: new("none")})
	if alone.Against != nil || alone.Before != (report.Movement{}) || alone.Steps[0].Previous != nil || alone.Movement != st.Movement {
		t.Errorf("without a comparison: %+v", alone)
	}
}

// Points are followed by their last day: what a voided redemption gave back isn't redeemed, and what expired and was
// returned isn't expired.
func TestOutcomesByLastDay(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm").on("2026-01-10 12:00:00")
	anna := s.Customer()
	s.Adjust(anna.ID, ledger.Points, 50) // before there is a rule
	s.Redeem(anna.ID, s.espresso)
	by := s.Later(time.Minute)
	s.Shop = by
	s = s.expires(after(1))
	owner := s.By
	on := func(local string) shop {
		later := s.on(local)
		later.By = owner
		return later
	}
	s.Sale(anna.ID, s.purchase, 100) // to 28 February
	february := on("2026-02-10 12:00:00")
	february.Sale(anna.ID, s.purchase, 30) // to 31 March
	february.Redeem(anna.ID, s.espresso)
	february.VoidRedemption(february.Redeem(anna.ID, s.espresso).ID)
	march := on("2026-03-02 12:00:00")
	march.midnight()
	march.Redeem(anna.ID, s.espresso)
	month := func(m time.Month) time.Time { return time.Date(2026, m, 1, 0, 0, 0, 0, time.UTC) }
	got := march.endings()
	same(t, "outcomes", got.Outcomes, []report.Outcome{
		{Until: report.InMonth, Month: month(2), Redeemed: 10, Expired: 90},
		{Until: report.InMonth, Month: month(3), Redeemed: 10, Open: 20},
		{Until: report.WithoutEnd, Redeemed: 10, Open: 40},
	})
	same(t, "in March", got.Months[0], report.Ending{Month: month(3), Amount: 20})
	same(t, "never", []int64{got.Never, got.Total}, []int64{40, 60})
	hold := march
	hold.By.Tenant.PointsExpiry.Hold = time.Date(2026, 5, 15, 0, 0, 0, 0, time.UTC)
	same(t, "held until May", hold.endings().Months[2].Amount, int64(20))
	off := march
	off.By.Tenant.PointsExpiry.HoldsAll = true
	same(t, "switched off", off.endings().Never, int64(60))
	same(t, "a year later", on("2027-04-02 12:00:00").endings().Due, int64(20))
	same(t, "and by then", on("2027-04-02 12:00:00").endings().Outcomes[0], report.Outcome{Until: report.Earlier, Redeemed: 20, Expired: 90, Open: 20})
}

// earned is what is told about the time of earning.
func (s shop) earned() map[string]int64 {
	s.T.Helper()
	e := s.endings()
	told := map[string]int64{}
	add := func(name string, amount int64) {
		if amount != 0 {
			told[name] = amount
		}
	}
	for _, at := range e.Earned.Times {
		from := at.From.Format(time.DateOnly)
		if at.From.IsZero() {
			from = "before"
		}
		add(from+" to "+at.To.Format(time.DateOnly), at.Amount)
	}
	add("undated", e.Earned.Undated)
	add("apart", e.Earned.Apart)
	add("unclear", e.Earned.Unclear)
	var sum int64
	for _, amount := range told {
		sum += amount
	}
	if sum != e.Total {
		s.T.Errorf("%v isn't %d in all", told, e.Total)
	}
	return told
}

// A last day tells when it was given, as long as the rules name one time for it. A change that doesn't move last days, or moves
// them to others, leaves it clear.
func TestWhenItWasEarned(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T, first programme.Change) (s *shop, on func(local string, points int64) shop) {
		t.Helper()
		s = new(newShop(t, "Europe/Stockholm").on("2026-01-15 12:00:00"))
		anna := s.Customer()
		s.Sale(anna.ID, s.purchase, 1)
		s.Shop = s.Rule(ledger.Points, first)
		on = func(local string, points int64) shop {
			later := s.on(local)
			later.By = s.By
			if points > 0 {
				later.Sale(anna.ID, s.purchase, points)
			}
			return later
		}
		return s, on
	}
	after := func(months int64, to core.Rounding) programme.Change {
		return programme.Change{Rule: core.ExpireAfter, Months: &months, RoundTo: to, Before: programme.BeforeNever}
	}
	change := func(s *shop, at shop, c programme.Change) {
		at.Shop = at.Rule(ledger.Points, c)
		s.By = at.By
	}
	for name, c := range map[string]struct {
		rule programme.Change
		want map[string]int64
	}{
		"to the day":   {after(12, core.ToDay), map[string]int64{"undated": 1, "2026-01-01 to 2026-01-31": 20, "2026-02-01 to 2026-02-28": 300, "2026-05-01 to 2026-05-31": 54_000}},
		"by month":     {after(12, core.ToMonth), map[string]int64{"undated": 1, "2026-01-01 to 2026-01-31": 20, "2026-02-01 to 2026-02-28": 300, "2026-05-01 to 2026-05-31": 54_000}},
		"by quarter":   {after(12, core.ToQuarter), map[string]int64{"undated": 1, "2026-01-01 to 2026-03-31": 320, "2026-04-01 to 2026-05-31": 54_000}},
		"yearly":       {programme.Change{Rule: core.ExpireYearly, Month: new(int64(6)), Day: new(int64(30)), Before: programme.BeforeNever}, map[string]int64{"undated": 1, "2026-01-12 to 2026-05-01": 4_320, "2026-05-02 to 2026-05-20": 50_000}},
		"and before":   {programme.Change{Rule: core.ExpireAfter, Months: new(int64(12))}, map[string]int64{"before to 2026-01-31": 21, "2026-02-01 to 2026-02-28": 300, "2026-05-01 to 2026-05-31": 54_000}},
		"inactivity":   {programme.Change{Rule: core.ExpireInactive, Months: new(int64(12)), Before: programme.BeforeNever}, map[string]int64{"undated": 54_321}},
		"no more rule": {after(12, core.ToMonth), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, on := start(t, c.rule)
			on("2026-01-31 12:00:00", 20)
			on("2026-02-28 12:00:00", 300)
			on("2026-05-01 12:00:00", 4_000)
			last := on("2026-05-20 12:00:00", 50_000)
			if c.want != nil {
				same(t, "earned", last.earned(), c.want)
				return
			}
			change(s, last, programme.Change{Rule: core.NeverExpire})
			later := on("2026-06-20 12:00:00", 600_000)
			same(t, "earned", later.earned(), map[string]int64{
				"undated": 600_001, "2026-01-01 to 2026-01-31": 20, "2026-02-01 to 2026-02-28": 300, "2026-05-01 to 2026-05-31": 54_000,
			})
		})
	}
	t.Run("changed", func(t *testing.T) {
		t.Parallel()
		s, on := start(t, after(12, core.ToMonth))
		on("2026-01-20 12:00:00", 20)
		grace := after(12, core.ToMonth)
		grace.GraceDays = new(int64(10))
		change(s, on("2026-02-10 12:00:00", 300), grace)
		change(s, on("2026-02-20 12:00:00", 4_000), after(24, core.ToMonth))
		longer := on("2026-03-10 12:00:00", 50_000)
		clear := map[string]int64{"undated": 1, "2026-01-01 to 2026-01-31": 20, "2026-02-01 to 2026-02-28": 4_300, "2026-03-01 to 2026-03-31": 50_000}
		same(t, "longer", longer.earned(), clear)
		change(s, longer, after(12, core.ToMonth)) // March 2028: earned in March 2026 by two years, or in March 2027 by one
		shorter := on("2026-04-10 12:00:00", 600_000)
		clear["2026-04-01 to 2026-04-30"] = 600_000
		same(t, "shorter", shorter.earned(), clear)
		last := on("2027-03-10 12:00:00", 7_000_000)
		same(t, "unclear", last.earned(), map[string]int64{
			"undated": 1, "unclear": 7_050_000, "2026-04-01 to 2026-04-30": 600_000, "2026-02-01 to 2026-02-28": 4_300, "2026-01-01 to 2026-01-31": 20,
		})
		last.Exec("delete from loyalty.audit_entry where tenant_id = $1 and action = 'programme.edit' and created_at < '2026-02-15'", s.By.Tenant.ID)
		same(t, "forgotten", last.earned(), map[string]int64{"undated": 1, "unclear": 7_654_320})
		if !last.endings().Earned.Forgotten {
			t.Error("the rules are known")
		}
	})
}

// A balance that was imported was earned elsewhere, and what a voided redemption returned to a day of its own keeps no month.
func TestEarnedElsewhere(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm").on("2026-01-10 12:00:00").expires(after(1))
	by := s.By
	on := func(local string) shop {
		later := s.on(local)
		later.By = by
		return later
	}
	anna, bo := s.Customer(), s.Customer()
	s.Sale(anna.ID, s.purchase, 100) // to 28 February
	taken := s.Redeem(anna.ID, s.espresso)
	s.Sale(bo.ID, s.purchase, 7)
	march := on("2026-03-02 12:00:00") // what it returns lasts until 1 April
	march.midnight()
	march.VoidRedemption(taken.ID)
	march.Sale(anna.ID, s.purchase, 1_000)
	same(t, "returned", march.earned(), map[string]int64{"apart": 10, "2026-03-01 to 2026-03-31": 1_000})

	imported := march.Customer()
	march.Exec("update loyalty.customer set imported_at = created_at where tenant_id = $1 and id = $2", by.Tenant.ID, imported.ID)
	march.Check(db.Run(t.Context(), march.DB.Tenant(march.By), func(tx *db.Tx) error {
		return ledger.Queue(tx, march.By, ledger.Entry{Customer: imported.ID, Unit: ledger.Points, Amount: 50_000, Kind: ledger.Opened})
	}))
	want := map[string]int64{"apart": 50_010, "2026-03-01 to 2026-03-31": 1_000}
	same(t, "imported", march.earned(), want)
	_, err := core.Result(march.Merging.Merge(t.Context(), march.By, anna.ID, imported.ID, nil, nil))
	march.Check(err)
	want = map[string]int64{"apart": 51_010} // in one lot with what was imported
	same(t, "merged", march.earned(), want)
}

// What a large business's points do by day is kept for an hour, for it may take long. The page says since when.
func TestEndingsOfALargeBusinessAreKept(t *testing.T) {
	t.Parallel()
	s := newShop(t, "UTC")
	anna := s.Customer()
	s.Adjust(anna.ID, ledger.Points, 5)
	large, small := report.NewService(s.DB).CountFrom(1), report.NewService(s.DB).CountFrom(2)
	total := func(reports *report.Service) int64 {
		got, err := reports.Endings(t.Context(), s.By, nil)
		s.Check(err)
		return got.Total
	}
	slow := func() []bool {
		t.Helper()
		var slow []bool
		for _, reports := range []*report.Service{large, small} {
			for _, unit := range []string{"points", "stamps"} {
				st, err := reports.Points(t.Context(), s.By, report.Balances{Unit: &unit})
				s.Check(err)
				slow = append(slow, st.SlowEndings)
			}
		}
		return slow
	}
	same(t, "slow at first", slow(), []bool{true, true, false, false})
	same(t, "at first", []int64{total(large), total(small)}, []int64{5, 5})
	same(t, "slow then", slow(), []bool{false, true, false, false})
	s.Adjust(anna.ID, ledger.Points, 2)
	same(t, "then", []int64{total(large), total(small)}, []int64{5, 7})
	large.SetClock(s.Later(61 * time.Minute).DB)
	same(t, "slow an hour later", slow(), []bool{true, true, false, false})
	same(t, "an hour later", total(large), int64(7))
	stamps, err := large.Endings(t.Context(), s.By, new("stamps"))
	s.Check(err)
	same(t, "stamps", stamps.Total, int64(0))
}

func TestRefusedStatements(t *testing.T) {
	t.Parallel()
	s := newShop(t, "UTC")
	_, err := s.Reports.Points(t.Context(), s.By, report.Balances{
		Range: days(t, "2026-03-10", "2026-03-09"), Unit: new("coins"), Against: new("tomorrow"), ValueCents: new(int64(-1)), ExpectedRate: new(int64(10_001)),
	})
	same(t, "fields", shoptest.Fields(t, err), core.Fields{
		"to": {core.AfterOrEqual("from")}, "unit": {core.InvalidChoice}, "compare": {core.InvalidChoice}, "value": {core.Min(0)}, "rate": {core.Max(100)},
	})
	_, err = s.Reports.Endings(t.Context(), s.By, new("coins"))
	same(t, "unit", shoptest.Fields(t, err), core.Fields{"unit": {core.InvalidChoice}})
	cashier := s.As(core.Cashier)
	_, ofPoints := s.Reports.Points(t.Context(), cashier.By, report.Balances{})
	_, ofEndings := s.Reports.Endings(t.Context(), cashier.By, nil)
	if !errors.Is(ofPoints, core.ErrRole) || !errors.Is(ofEndings, core.ErrRole) {
		t.Errorf("a cashier: %v, %v", ofPoints, ofEndings)
	}
}

// "Every tenant-scoped request is confined to the tenant that owns the token."
func TestAnotherTenantsPointsAreNotCounted(t *testing.T) {
	t.Parallel()
	neighbour, s := newShop(t, "UTC").expires(after(1)), newShop(t, "UTC")
	anna := neighbour.rich()
	neighbour.redemption(anna.ID)
	neighbour.AddReward(reward.New{Name: "Dear", PointsCost: new(int64(10)), CostCents: new(int64(20))})
	neighbour.Sale(anna.ID, neighbour.purchase, 900)
	st := s.statement(report.Balances{})
	if st.Opening != 0 || st.Closing != 0 || st.Total != (report.Flow{}) || st.Owed != (report.Owed{Rewards: report.SpentOn{Count: 1, Unpriced: 1}}) {
		t.Errorf("statement = %+v, want nothing", st)
	}
	if e := s.endings(); e.Total != 0 || len(e.Outcomes) != 0 || len(e.Earned.Times) != 0 || e.Earned.Undated != 0 {
		t.Errorf("endings = %+v, want nothing", e)
	}
}

// Sums saturate, as in all reports, and what they are worth does.
func TestStatementsThatSaturate(t *testing.T) {
	t.Parallel()
	s := newShop(t, "UTC")
	s.AddReward(reward.New{Name: "Dear", PointsCost: new(int64(1)), CostCents: new(int64(20))})
	anna, bo := s.rich(), s.rich()
	s.Sale(bo.ID, s.purchase, 100)
	s.redemption(anna.ID)
	s.grow()
	st := s.statement(report.Balances{ValueCents: new(int64(1_000_000_000_000))})
	same(t, "closing", []int64{st.Closing, st.Total.Adjusted, st.Owed.Spendable}, []int64{math.MaxInt64, math.MaxInt64, math.MaxInt64})
	same(t, "worth", []int64{st.Owed.Cost.Most, st.Owed.OwnValue.WholeCents, st.Owed.OwnValue.Cents}, []int64{math.MaxInt64, math.MaxInt64, math.MaxInt64})
	same(t, "redeemed", st.Owed.Spent.Redeemed, huge)
	e := s.endings()
	same(t, "endings", []int64{e.Total, e.Never}, []int64{math.MaxInt64, math.MaxInt64})
	same(t, "outcome", e.Outcomes[len(e.Outcomes)-1].Whole(), math.MaxInt64)
}
