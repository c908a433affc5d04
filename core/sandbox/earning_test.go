package sandbox_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/promotion"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

// "A promotion on now, one to come, one that ended; a customer at each level": also on the first and the last day of a year.
func TestWhatSalesEarnInTheFile(t *testing.T) {
	t.Parallel()
	for _, day := range []string{"2026-01-01", "2026-11-20", "2026-12-31"} {
		t.Run(day, func(t *testing.T) {
			t.Parallel()
			now, err := time.Parse(time.DateTime, day+" 15:40:00")
			if err != nil {
				t.Fatal(err)
			}
			d := dbtest.OwnDB(t).At(now)
			one := run(t, newMaker(t, d)).Tenants[0]
			served, err := db.FindTenant(t.Context(), d, one.ID)
			if err != nil {
				t.Fatal(err)
			}
			s := shoptest.Of(t, d, core.System(served, "test"))
			e := one.Earning

			for id, want := range map[int64]promotion.State{
				e.Promotions.Now: promotion.Now, e.Promotions.Upcoming: promotion.Upcoming, e.Promotions.Ended: promotion.Ended,
			} {
				p, err := s.Promotions.Find(t.Context(), s.By, id)
				if state := p.State(core.DateOf(now, served.TimeZone)); err != nil || state != want {
					t.Errorf("promotion %d is %s, %v, want %s", id, state, err, want)
				}
			}

			rules, err := s.Transactions.RulesNow(t.Context(), s.By)
			s.Check(err)
			levels := map[string]string{}
			for name, who := range map[string]core.ID{
				"first": e.Customers.First, "silver": e.Customers.Silver, "gold": e.Customers.Gold, "by hand": e.Customers.ByHand, "ends this year": e.Customers.EndsThisYear,
			} {
				c, err := s.Services.Levels.Find(t.Context(), s.By, rules.Levels, who)
				s.Check(err)
				levels[name] = fmt.Sprint(c.Progress.Level.ID)
				if c.Progress.Until != nil {
					levels[name] += " " + c.Progress.Until.Format(time.DateOnly)
				}
				for _, change := range c.Changes {
					levels[name] += " " + string(change.Reason)
				}
			}
			first, silver, gold := fmt.Sprint(e.Levels.First), fmt.Sprint(e.Levels.Silver), fmt.Sprint(e.Levels.Gold)
			if diff := cmp.Diff(map[string]string{
				"first": first, "silver": silver + " 2027-12-31 reached", "gold": gold + " 2027-12-31 reached",
				"by hand": gold + " 2027-12-31 hand", "ends this year": silver + " 2026-12-31 reached",
			}, levels); diff != "" {
				t.Errorf("levels (-want +got):\n%s", diff)
			}

			for id, want := range map[core.ID]string{e.Transactions.Items: "15 10 1000 false", e.Transactions.Capped: "100 100 15000 true"} {
				sale, err := s.Transactions.Find(t.Context(), s.By, id)
				if got := fmt.Sprint(sale.Award(), sale.BaseAward, sale.EligibleCents, sale.Capped); err != nil || strings.ReplaceAll(got, "  ", " ") != want {
					t.Errorf("a sale has %s, %v, want %s", got, err, want)
				}
			}
			_, unmapped, err := s.Promotions.Catalogue(t.Context(), s.By)
			if err != nil || len(unmapped) != 1 || unmapped[0].Code != e.UnmappedCode || unmapped[0].Sales != 1 {
				t.Errorf("codes to map: %+v, %v", unmapped, err)
			}
			shoptest.Of(t, d, core.Actor{}).Verify()
		})
	}
}

// "1 point for each whole 1.00 spent": also at the highest level, and with items of a promotion.
func TestLevelsAndPromotionsChangeNoOtherType(t *testing.T) {
	t.Parallel()
	d := dbtest.DB(t)
	m := newMaker(t, d)
	one := run(t, m).Tenants[0]
	caller, err := m.Tokens.Authenticate(t.Context(), one.Tokens["all"], "")
	if err != nil {
		t.Fatal(err)
	}
	sold, err := core.Result(m.Transactions.Record(t.Context(), caller.Actor, transaction.Sale{
		CustomerID: one.Earning.Customers.Gold, TransactionTypeID: one.TransactionTypeID, SpendAmountCents: 123_456_789, Source: transaction.API,
		Items: []award.Item{{Category: "sandbox-cakes", AmountCents: 23_456_789}, {Category: "sandbox-gift-cards", AmountCents: 100_000_000}},
	}, nil, nil))
	if err != nil || sold.Award() != 1_234_567 || sold.PromotionID != nil || sold.LevelID != nil || sold.Capped {
		t.Errorf("a sale earned %+v, %v", sold, err)
	}
}
