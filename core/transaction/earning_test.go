package transaction_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

// double is a promotion that doubles.
func double() award.Promotion { return award.Promotion{Percent: new(int64(200))} }

// recordAt records a sale at a till: alone, in a transaction that has more to do.
func (s shop) recordAtTill(n transaction.Sale) (transaction.Transaction, error) {
	made, err := db.In(s.T.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) (transaction.Transaction, error) {
		return s.Sales.RecordIn(s.T.Context(), tx, s.By, core.NewID(tx.Now), n, core.NewCheck(nil))
	})
	return made, transaction.Refusal(err)
}

// ways are the ways in which a sale is recorded: with others, and alone.
func (s shop) ways() map[string]func(transaction.Sale) (transaction.Transaction, error) {
	return map[string]func(transaction.Sale) (transaction.Transaction, error){
		"with others": func(n transaction.Sale) (transaction.Transaction, error) {
			return core.Result(s.Sales.Record(s.T.Context(), s.By, n, nil, nil))
		},
		"alone": s.recordAtTill,
	}
}

// "Of all that match, the one best for this sale counts": every way to record a sale, and the preview, come to the same award, and the
// sale keeps its parts.
func TestASaleKeepsThePartsOfItsAward(t *testing.T) {
	t.Parallel()
	for _, needsBuyer := range []bool{false, true} {
		t.Run(fmt.Sprintf("rules need the buyer: %v", needsBuyer), func(t *testing.T) {
			t.Parallel()
			s := ownShop(t)
			cakes, gifts := s.Category("Cakes", "cake", "Tarta"), s.Category("Gift cards", "gift")
			s.Exec("update loyalty.transaction_type set excluded_categories = array[$2::bigint] where tenant_id = $1", s.By.Tenant.ID, gifts)
			s.Promote(award.Promotion{Extra: new(int64(3))})
			onCakes := s.Promote(award.Promotion{Percent: new(int64(200)), CategoryIDs: []int64{cakes}})
			gold := (*int64)(nil)
			if needsBuyer {
				levels := s.Levels(award.LevelRules{Basis: award.ByPoints, Period: award.AllTime}, award.Level{Name: "Member"}, award.Level{Name: "Gold", Threshold: 1, Percent: 150})
				gold = &levels[1]
				s.Must(s.recordAtTill(s.of(100)))
			}
			n := s.of(2050)
			n.Items = []award.Item{{Category: " CAKE", AmountCents: 850}, {Category: "gift", AmountCents: 500}, {Category: "tea", AmountCents: 300}}
			// 20.50 without the gift card of 5.00 earns 15, and cakes of 8.50 another 8; Gold adds half of 15.
			want := transaction.Transaction{
				RuleType: ledger.Points, SpendAmountCents: 2050, EligibleCents: 1550, PointsAwarded: new(int64(23)), BaseAward: 15, PromotionID: &onCakes, PromotionAward: 8,
				Items: []award.Item{{Category: "CAKE", AmountCents: 850}, {Category: "gift", AmountCents: 500}, {Category: "tea", AmountCents: 300}},
			}
			if needsBuyer {
				want.PointsAwarded, want.LevelID, want.LevelAward = new(int64(30)), gold, 7
			}
			preview, err := s.Sales.Preview(t.Context(), s.By, n, nil)
			if s.Check(err); preview.Award.Total != want.Award() {
				t.Errorf("the preview is %+v, want %d", preview.Award, want.Award())
			}
			for way, record := range s.ways() {
				made, err := record(n)
				if err != nil {
					t.Fatal(way, err)
				}
				found, err := s.Sales.Find(t.Context(), s.By, made.ID)
				s.Check(err)
				for _, got := range []transaction.Transaction{made, found} {
					parts := transaction.Transaction{
						RuleType: got.RuleType, SpendAmountCents: got.SpendAmountCents, EligibleCents: got.EligibleCents, PointsAwarded: got.PointsAwarded, BaseAward: got.BaseAward,
						PromotionID: got.PromotionID, PromotionAward: got.PromotionAward, LevelID: got.LevelID, LevelAward: got.LevelAward, Capped: got.Capped, Items: got.Items,
					}
					if diff := cmp.Diff(want, parts); diff != "" {
						t.Errorf("%s (-want +got):\n%s", way, diff)
					}
				}
			}
			s.Verify()
		})
	}
}

// "A replayed key returns the stored award", though the promotion has ended since.
func TestARepeatedRequestReturnsTheStoredAward(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		rule award.Promotion
	}{
		{"a promotion for all", double()},
		{"one for first visits", award.Promotion{Percent: new(int64(200)), Audience: award.FirstVisit}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			promotion := s.Promote(c.rule)
			first, again := &attempt{Sale: s.of(1200), key: "receipt 1"}, &attempt{Sale: s.of(1200), key: "receipt 1"}
			first.record(s)
			s.EndPromotion(promotion)
			again.record(s)
			if first.err != nil || again.err != nil || first.made.Award() != 24 || string(again.response.Body) != string(first.response.Body) || s.Account(s.customer).Points != 24 {
				t.Errorf("%+v, then %+v", first, again)
			}
			if made := s.sale(1200); made.Award() != 12 {
				t.Errorf("after its end a sale earns %d", made.Award())
			}
		})
	}
}

// "Two tills at the day's cap 200 times": the customer gets what the cap leaves, to the point.
func TestTwoTillsAtTheDaysCap(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	const most = 25
	s.Cap(new(int64(most)), nil)
	s.sale(0) // the type is known from now on
	for round, id := range s.AddCustomers(200) {
		var awards [2]transaction.Transaction
		var errs [2]error
		var both sync.WaitGroup
		for till := range 2 {
			n := s.of(1000 + int64(till)*1000)
			n.CustomerID = id
			both.Go(func() {
				if (round+till)%3 == 0 {
					awards[till], errs[till] = s.recordAtTill(n)
				} else {
					awards[till], errs[till] = core.Result(s.Sales.Record(t.Context(), s.By, n, nil, nil))
				}
			})
		}
		both.Wait()
		if err := errors.Join(errs[:]...); err != nil {
			t.Fatal(err)
		}
		if sum := awards[0].Award() + awards[1].Award(); sum != most || s.Account(id).Points != most {
			t.Fatalf("round %d: %d and %d, a balance of %d", round, awards[0].Award(), awards[1].Award(), s.Account(id).Points)
		}
		if awards[0].Capped == awards[1].Capped {
			t.Fatalf("round %d: %+v, %+v", round, awards[0], awards[1])
		}
	}
}

// "Promotion edited while 64 sales are in flight": each has either rule, never a mix, and its base explains it.
func TestAPromotionIsEditedWhileSalesAreInFlight(t *testing.T) {
	t.Parallel()
	for _, needsBuyer := range []bool{false, true} {
		t.Run(fmt.Sprintf("rules need the buyer: %v", needsBuyer), func(t *testing.T) {
			t.Parallel()
			s := ownShop(t)
			rule := double()
			if needsBuyer {
				s.Cap(new(int64(1_000_000)), nil)
			}
			promotion := s.Promote(rule)
			s.sale(100)
			customers := s.AddCustomers(64)
			var all sync.WaitGroup
			got := make([]transaction.Transaction, len(customers))
			for i, id := range customers {
				n := s.of(1000)
				n.CustomerID = id
				all.Go(func() {
					made, err := core.Result(s.Sales.Record(t.Context(), s.By, n, nil, nil))
					if err != nil {
						t.Error(err)
					}
					got[i] = made
				})
				if i == 32 {
					all.Go(func() {
						err := pgx.BeginFunc(t.Context(), dbtest.Owner(s.DB), func(tx pgx.Tx) error {
							_, edited := tx.Exec(t.Context(), "update loyalty.promotion set percent = 500 where tenant_id = $1 and id = $2", s.By.Tenant.ID, promotion)
							_, raised := tx.Exec(t.Context(), "update loyalty.tenant set earning_version = earning_version + 1 where id = $1", s.By.Tenant.ID)
							return errors.Join(edited, raised)
						})
						if err != nil {
							t.Error(err)
						}
					})
				}
			}
			all.Wait()
			for i, made := range got {
				if twice, five := made.Award() == 20, made.Award() == 50; !twice && !five || made.BaseAward != 10 || made.PromotionAward != made.Award()-10 {
					t.Errorf("sale %d: %+v", i, made)
				}
			}
			n := s.of(1000)
			n.CustomerID = customers[0]
			if made, err := core.Result(s.Sales.Record(t.Context(), s.By, n, nil, nil)); err != nil || made.Award() != 50 {
				t.Errorf("after the edit: %+v, %v", made, err)
			}
			s.Verify()
		})
	}
}

// "Same customer twice in one batch", and by others at once: a day's cap counts each of them.
func TestACustomersSalesAtOnceShareTheirDay(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Cap(new(int64(35)), nil)
	var requests []transaction.Request
	for range 8 {
		requests = append(requests, transaction.Request{Sale: s.of(1000)})
	}
	outcomes, err := s.Sales.RecordEach(t.Context(), s.By, requests)
	s.Check(err)
	var awards []int64
	for _, o := range outcomes {
		s.Check(o.Err)
		awards = append(awards, o.Result.Award())
	}
	if diff := cmp.Diff([]int64{10, 10, 10, 5, 0, 0, 0, 0}, awards); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// "Void … gives the day's cap back if it is still that day": a sale of yesterday gives nothing back of today's.
func TestAVoidGivesBackItsOwnDay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wait time.Duration
		then int64 // what a sale of 30.00 earns after the void
	}{
		"the same day":       {0, 20},
		"another day's sale": {24 * time.Hour, 12},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.Shop = s.At(time.Date(2026, time.June, 3, 9, 0, 0, 0, time.UTC))
			s.Cap(new(int64(20)), nil)
			first := s.sale(1200)
			later := s.later(c.wait)
			if c.wait > 0 {
				later.sale(800)
			}
			later.void(first.ID)
			if made := later.sale(3000); made.Award() != c.then {
				t.Errorf("%s: then 30.00 earn %d, want %d", name, made.Award(), c.then)
			}
		})
	}
}

// A sale of an earlier day counts for that day's cap, also after sales of later days.
func TestALateSaleCountsForItsDay(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Shop = s.At(time.Date(2026, time.June, 3, 9, 0, 0, 0, time.UTC))
	s.Cap(new(int64(20)), nil)
	s.sale(1500)
	next := s.later(24 * time.Hour)
	next.sale(1000)
	late := next.of(900)
	late.OccurredAt = new(s.DB.Now().Add(time.Hour))
	for _, want := range []int64{5, 0} {
		made, err := core.Result(next.Sales.Record(t.Context(), next.By, late, nil, nil))
		if s.Check(err); made.Award() != want {
			t.Errorf("a late sale of yesterday earned %d, want %d", made.Award(), want)
		}
	}
	if made := next.sale(1500); made.Award() != 10 {
		t.Errorf("today's next sale earned %d, want 10", made.Award())
	}
}

// "First visit: visits = 0 under the lock (a voided first sale makes the next one first again)": of many sales at once, one is the first.
func TestOneSaleIsTheFirst(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Promote(award.Promotion{Extra: new(int64(100)), Audience: award.FirstVisit})
	firsts := func(n int) (count int, first core.ID) {
		var mu sync.Mutex
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				record := s.ways()[[]string{"with others", "alone"}[i%2]]
				made, err := record(s.of(500))
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				if made.PromotionID != nil {
					count, first = count+1, made.ID
				}
			})
		}
		all.Wait()
		return count, first
	}
	n, _ := firsts(10)
	if n != 1 {
		t.Fatalf("%d of 10 sales were the first", n)
	}
	fresh := s.Customer()
	s.customer = fresh.ID
	n, first := firsts(1)
	s.void(first)
	if again, _ := firsts(1); n != 1 || again != 1 {
		t.Errorf("after its void, %d sales were the first", again)
	}
}

// "Limits per customer of a promotion": once a day each, however many tills; tomorrow again.
func TestAPromotionIsUsedUp(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Shop = s.At(time.Date(2026, time.June, 3, 9, 0, 0, 0, time.UTC))
	best := s.Promote(award.Promotion{Extra: new(int64(50)), LimitTimes: new(int64(2)), LimitPer: new(award.PerDay)})
	rest := s.Promote(award.Promotion{Extra: new(int64(5))})
	used := func(s shop, n int) map[int64]int {
		var mu sync.Mutex
		var all sync.WaitGroup
		count := map[int64]int{}
		for range n {
			all.Go(func() {
				made, err := core.Result(s.Sales.Record(t.Context(), s.By, s.of(500), nil, nil))
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
					return
				}
				count[*made.PromotionID]++
			})
		}
		all.Wait()
		return count
	}
	if diff := cmp.Diff(map[int64]int{best: 2, rest: 6}, used(s, 8)); diff != "" {
		t.Errorf("today (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[int64]int{best: 2, rest: 1}, used(s.later(24*time.Hour), 3)); diff != "" {
		t.Errorf("tomorrow (-want +got):\n%s", diff)
	}
}

// levels are Member, Silver from 100 and Gold from 300 points a calendar year; Gold adds half.
func (s shop) levels(basis award.Basis) (silver, gold int64) {
	s.T.Helper()
	ids := s.Levels(award.LevelRules{Basis: basis, Period: award.ByYear, Drops: true},
		award.Level{Name: "Member"}, award.Level{Name: "Silver", Threshold: 100}, award.Level{Name: "Gold", Threshold: 300, Percent: 150})
	return ids[1], ids[2]
}

// changes tells the changes of the customer's level.
func (s shop) changes() []string {
	s.T.Helper()
	return shoptest.QueryAll[string](s.Shop, `
		select concat_ws(' ', coalesce(f.name, 'Member'), 'to', coalesce(l.name, 'Member'), c.reason, c.until)
		from loyalty.level_change c
		left join loyalty.level f on f.tenant_id = c.tenant_id and f.id = c.from_level
		left join loyalty.level l on l.tenant_id = c.tenant_id and l.id = c.to_level
		where c.tenant_id = $1 and c.customer_id = $2
		order by c.seq`, s.By.Tenant.ID, s.customer)
}

func (s shop) wantChanges(want ...string) {
	s.T.Helper()
	if diff := cmp.Diff(want, s.changes(), cmpopts.EquateEmpty()); diff != "" {
		s.T.Errorf("changes of the level (-want +got):\n%s", diff)
	}
}

// "Up at once in the sale's own transaction"; "a tier that the sale reaches counts from the next sale"; "counting: base award, before
// extras"; "a void lowers the sum", and the level that only it gave.
func TestASaleRaisesItsCustomer(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"with others", "alone"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			s := ownShop(t)
			s.Shop = s.At(time.Date(2026, time.June, 3, 9, 0, 0, 0, time.UTC))
			_, gold := s.levels(award.ByPoints)
			s.Promote(double())
			s.sale(0)
			record := func(spend int64) transaction.Transaction {
				t.Helper()
				made, err := s.ways()[way](s.of(spend))
				s.Check(err)
				return made
			}
			record(9900)
			s.wantChanges()
			second := record(100)
			s.wantChanges("Member to Silver reached 2027-12-31")
			third := record(20_000)
			s.wantChanges("Member to Silver reached 2027-12-31", "Silver to Gold reached 2027-12-31")
			if third.LevelID != nil {
				t.Errorf("the level that it reached counts for the sale: %+v", third)
			}
			if next := record(1000); next.LevelID == nil || *next.LevelID != gold || next.Award() != 10+10+5 {
				t.Errorf("the next sale: %+v", next)
			}
			s.void(third.ID) // 110 points are left: still Silver
			s.void(second.ID)
			s.wantChanges("Member to Silver reached 2027-12-31", "Silver to Gold reached 2027-12-31", "Gold to Silver void 2027-12-31")
			half, err := core.Result(s.Sales.Refund(t.Context(), s.By, record(1000).ID, transaction.RefundRequest{AmountCents: 500}, nil, nil))
			if s.Check(err); half.Award() != 10 {
				t.Errorf("a refund of a half took %d", half.Award())
			}
			if sum := shoptest.Query[int64](s.Shop, "select level_sum from loyalty.account where customer_id = $1", s.customer); sum != 99+10+5 {
				t.Errorf("the sum is %d", sum)
			}
			s.Verify()
		})
	}
}

// A year change, with and without the job: a sale right after midnight sees the level as the job will leave it.
func TestALevelEndsAtMidnight(t *testing.T) {
	t.Parallel()
	s := newShop(t).inStockholm()
	silver, gold := s.levels(award.ByPoints)
	_ = silver
	at := func(text string) shop {
		instant, err := time.Parse(time.RFC3339, text)
		s.Check(err)
		past := s
		past.Shop = s.At(instant)
		return past
	}
	at("2026-05-01T12:00:00Z").sale(30_000)
	s.wantChanges("Member to Gold reached 2027-12-31")
	at("2027-03-01T12:00:00Z").sale(10_000)
	s.wantChanges("Member to Gold reached 2027-12-31")
	if last := at("2027-12-31T22:59:30Z").sale(1000); last.LevelID == nil || *last.LevelID != gold {
		t.Errorf("before midnight: %+v", last)
	}
	if first := at("2027-12-31T23:00:00Z").sale(1000); first.LevelID != nil {
		t.Errorf("after midnight, without the job: %+v", first)
	}
	s.wantChanges("Member to Gold reached 2027-12-31", "Gold to Silver dropped 2028-12-31")
	at("2029-01-01T12:00:00Z").sale(100)
	s.wantChanges("Member to Gold reached 2027-12-31", "Gold to Silver dropped 2028-12-31", "Silver to Member dropped")
}

// inStockholm is the shop with its days there.
func (s shop) inStockholm() shop {
	s.Shop = s.InZone("Europe/Stockholm")
	return s
}

// Of two sales at once that both reach a level, one raises the customer.
func TestSalesAtOnceRaiseOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.levels(award.BySpend)
	s.sale(0)
	for range 20 {
		s.customer = s.Customer().ID
		var all sync.WaitGroup
		for i := range 6 {
			all.Go(func() {
				if _, err := s.ways()[[]string{"with others", "alone"}[i%2]](s.of(60)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if got := s.changes(); len(got) != 2 {
			t.Fatalf("changes: %v", got)
		}
	}
}

// The preview of any sale, at any rules, is what is then recorded.
func TestThePreviewIsTheSale(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	branch := s.open("Söder")
	cakes := s.Category("Cakes", "cake")
	s.levels(award.ByVisits)
	s.Cap(new(int64(400)), nil)
	s.Promote(award.Promotion{Extra: new(int64(30)), Audience: award.FirstVisit})
	s.Promote(award.Promotion{Percent: new(int64(300)), LocationIDs: []int64{branch.ID}, LimitTimes: new(int64(2)), LimitPer: new(award.Ever)})
	s.Promote(award.Promotion{Percent: new(int64(150)), CategoryIDs: []int64{cakes}, MinSpendCents: 500})
	s.Promote(award.Promotion{Extra: new(int64(7)), Audience: award.OnBirthday, BirthdayDays: new(7)})
	customers := s.AddCustomers(4)
	today := core.DateOf(s.DB.Now(), s.By.Tenant.TimeZone)
	s.Exec("update loyalty.customer set birth_month = $2, birth_day = $3 where id = $1", customers[0], int(today.Month()), today.Day())
	random, seen := rand.New(rand.NewPCG(1, 2)), map[string]bool{}
	for range 60 {
		n := s.of(random.Int64N(9000))
		n.CustomerID = customers[random.IntN(len(customers))]
		if random.IntN(2) == 0 {
			n.LocationID = &branch.ID
		}
		if random.IntN(2) == 0 {
			n.Items = []award.Item{{Category: "cake", AmountCents: n.SpendAmountCents / 2}}
		}
		preview, err := s.Sales.Preview(t.Context(), s.By, n, nil)
		s.Check(err)
		made, err := s.ways()[[]string{"with others", "alone"}[random.IntN(2)]](n)
		s.Check(err)
		if p := preview.Award; p.Total != made.Award() || p.Base != made.BaseAward || p.PromotionAward != made.PromotionAward || p.LevelAward != made.LevelAward {
			t.Fatalf("the preview %+v isn't the sale %+v", p, made)
		}
		if p := preview.Award.Promotion; p != nil {
			seen[string(p.Audience)] = true
		}
		seen["capped"] = seen["capped"] || made.Capped
	}
	for _, what := range []string{"all", "first_visit", "birthday", "capped"} {
		if !seen[what] {
			t.Errorf("no sale was of %q", what)
		}
	}
}

// "The batch takes two statements instead of one", only at businesses that have such a rule.
func TestRoundTripsWhereRulesNeedTheBuyer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rule      func(shop)
		want, one int // round trips of a sale with others and alone
	}{
		"no rule":                 {func(shop) {}, 1, 2},
		"a promotion for all":     {func(s shop) { s.Promote(double()) }, 1, 2},
		"a day's cap":             {func(s shop) { s.Cap(new(int64(1000)), nil) }, 2, 2},
		"levels":                  {func(s shop) { s.levels(award.BySpend) }, 2, 2},
		"a promotion with limits": {func(s shop) { p := double(); p.LimitTimes, p.LimitPer = new(int64(9)), new(award.Ever); s.Promote(p) }, 3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, count := dbtest.RoundTrips(t)
			s := shopIn(t, d)
			c.rule(s)
			s.sale(100) // the rules are remembered
			for way, want := range map[string]int{"with others": c.want, "alone": c.one} {
				var trips int
				for range 2 { // the first one prepares the statements
					before := count()
					s.Must(s.ways()[way](s.of(100)))
					trips = count() - before
				}
				if trips != want {
					t.Errorf("%s: %d round trips, want %d", way, trips, want)
				}
			}
		})
	}
}

// A code that no category has is no error, and is noted for the people who map codes.
func TestUnknownCodesAreNoted(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Category("Cakes", "cake")
	n := s.of(1000)
	n.Items = []award.Item{{Category: "Tea", AmountCents: 100}, {Category: "TEA ", AmountCents: 100}, {Category: "cake", AmountCents: 100}}
	for _, record := range s.ways() {
		made, err := record(n)
		if s.Check(err); made.Award() != 10 {
			t.Errorf("a sale with an unknown code earned %d", made.Award())
		}
	}
	s.Check(s.Sales.Codes().Write(context.WithoutCancel(t.Context())))
	got := shoptest.QueryAll[string](s.Shop, "select code || ' ' || sales from loyalty.unmapped_code where tenant_id = $1", s.By.Tenant.ID)
	if diff := cmp.Diff([]string{"tea 2"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// "Items may not exceed the spend: 422 on items."
func TestRefusedItems(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for name, c := range map[string]struct {
		items []award.Item
		want  core.Fields
	}{
		"more than the spend": {[]award.Item{{Category: "a", AmountCents: 600}, {Category: "b", AmountCents: 401}}, core.Fields{"items": {core.Violation{Rule: "sum_within", Other: "spend_amount_cents"}}}},
		"too many":            {make([]award.Item, 101), core.Fields{"items": {core.MaxItems(100)}}},
		"no code":             {[]award.Item{{AmountCents: 1}}, core.Fields{"items.0.category": {core.Required}}},
		"below zero":          {[]award.Item{{Category: "a"}, {Category: "b", AmountCents: -1}}, core.Fields{"items.1.amount_cents": {core.Min(0)}}},
	} {
		t.Run(name, func(t *testing.T) {
			n := s.of(1000)
			n.Items = c.items
			s.refused(n, c.want)
		})
	}
}
