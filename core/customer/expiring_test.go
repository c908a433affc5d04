package customer_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

// expiring returns what a customer has of each day: "points 5 until 2027-01-31".
func (s shop) expiring(id core.ID) (lines []string) {
	s.T.Helper()
	endings, err := s.Customers.Expiring(s.T.Context(), s.By, id)
	s.Check(err)
	for _, e := range endings {
		line := fmt.Sprintf("%s %d", e.Unit, e.Amount)
		if e.ExpiresOn != nil {
			line += " until " + e.ExpiresOn.Format(time.DateOnly)
		}
		if e.Idle {
			line += " without a visit"
		}
		lines = append(lines, line)
	}
	return lines
}

func (s shop) wantExpiring(what string, id core.ID, want ...string) {
	s.T.Helper()
	if diff := cmp.Diff(want, s.expiring(id)); diff != "" {
		s.T.Errorf("%s (-want +got):\n%s", what, diff)
	}
	s.wantExact(what, id)
}

// wantExact fails the test unless what is shown of a unit adds up to its balance, and its first day is the customer's.
func (s shop) wantExact(what string, id core.ID) {
	s.T.Helper()
	c := s.find(id)
	endings, err := s.Customers.Expiring(s.T.Context(), s.By, id)
	s.Check(err)
	for unit, balance := range map[ledger.Unit]int64{ledger.Points: c.PointsBalance, ledger.Stamps: c.StampsBalance} {
		var sum int64
		var first *time.Time
		for _, e := range endings {
			if e.Unit != unit {
				continue
			}
			sum += e.Amount
			if first == nil {
				first = e.ExpiresOn
			}
		}
		if sum != max(0, balance) {
			s.T.Errorf("%s: %s add up to %d, the balance is %d", what, unit, sum, balance)
		}
		if got := c.ExpiresOn(s.By.Tenant, unit); !cmp.Equal(got, first) {
			s.T.Errorf("%s: the customer's %s end on %v, the first of all on %v", what, unit, got, first)
		}
	}
}

// onDay is the shop at noon of a day.
func (s shop) onDay(day string) shop {
	s.T.Helper()
	at, err := time.ParseInLocation(time.DateOnly, day, s.By.Tenant.TimeZone)
	s.Check(err)
	return shop{s.At(at.Add(12 * time.Hour))}
}

// Whatever is earned, spent, voided and adjusted, the amounts add up to the balance, and the soonest day of a customer is the
// first of them: also after debts, which new awards pay.
func TestDaysAreExact(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 38))
			s := newShop(t)
			kind, anna := s.Points(100), s.made("070 174 06 05", nil)
			s.Sale(anna.ID, kind, 2000) // before the rule
			s.Shop = s.ExpireAfter(ledger.Points, 2, core.ToMonth)
			var sales []core.ID
			for step := range 40 {
				s = shop{s.Later(time.Duration(random.IntN(12*24)) * time.Hour)}
				did := ""
				switch random.IntN(5) {
				case 0, 1:
					did = "a sale"
					sales = append(sales, s.Sale(anna.ID, kind, 100*random.Int64N(30)).ID)
				case 2:
					if balance := s.find(anna.ID).PointsBalance; balance > 0 {
						did = "spent"
						spent := 1 + random.Int64N(balance)
						if _, err := core.Result(s.Customers.Adjust(t.Context(), s.By, anna.ID, adjustment("points", -spent, "Spent"), nil)); err != nil && !errors.Is(err, ledger.ErrInsufficientPoints) {
							t.Fatal(err)
						}
					}
				case 3:
					if len(sales) > 0 {
						did = "voided"
						s.VoidSale(sales[0])
						sales = sales[1:]
					}
				default:
					did = "given"
					given := adjustment("points", 1+random.Int64N(9), "Sorry")
					given.Lasts = random.IntN(2) == 0
					s.Must(core.Result(s.Customers.Adjust(t.Context(), s.By, anna.ID, given, nil)))
				}
				if s.wantExact(fmt.Sprint("step ", step, ", ", did), anna.ID); t.Failed() {
					t.Fatal(s.expiring(anna.ID))
				}
			}
		})
	}
}

// Days of one hold are one row, and a rule that is switched off shows none.
func TestAHoldMovesWhatIsShown(t *testing.T) {
	t.Parallel()
	s := newShop(t).onDay("2027-01-10")
	kind, anna := s.Points(100), s.made("070 174 06 05", nil)
	s.Shop = s.ExpireAfter(ledger.Points, 1, core.ToMonth)
	s.Sale(anna.ID, kind, 500)
	s = s.onDay("2027-02-10")
	s.Sale(anna.ID, kind, 300)
	s.wantExpiring("by the rule", anna.ID, "points 5 until 2027-02-28", "points 3 until 2027-03-31")
	s.Shop = s.Hold(ledger.Points, "2027-03-15")
	s.wantExpiring("a hold between", anna.ID, "points 5 until 2027-03-15", "points 3 until 2027-03-31")
	s.Shop = s.Hold(ledger.Points, "2027-05-15")
	s.wantExpiring("a hold after both", anna.ID, "points 8 until 2027-05-15")
	s.Shop = s.Hold(ledger.Points, "infinity")
	s.wantExpiring("switched off", anna.ID, "points 8")
}

// By a rule about visits, everything has one day, which each visit moves.
func TestIdlePointsHaveOneDay(t *testing.T) {
	t.Parallel()
	s := newShop(t).onDay("2027-01-10")
	kind, anna := s.Points(100), s.made("070 174 06 05", nil)
	s.Shop = s.ExpireInactive(ledger.Points, 12)
	s.Sale(anna.ID, kind, 500)
	s.wantExpiring("after a sale", anna.ID, "points 5 until 2028-01-10 without a visit")
	s = s.onDay("2027-02-10")
	s.Sale(anna.ID, kind, 100)
	s.wantExpiring("after another", anna.ID, "points 6 until 2028-02-10 without a visit")
}

// The balance from before a rule is opened once, and what was earned since isn't opened with it.
func TestOnlyABalanceFromBeforeIsOpened(t *testing.T) {
	t.Parallel()
	s := newShop(t).onDay("2027-01-10")
	kind, anna, bo := s.Points(100), s.made("070 174 06 05", nil), s.made("070 174 06 06", nil)
	s.Sale(anna.ID, kind, 700)
	s.Shop = s.ExpireAfter(ledger.Points, 12, core.ToMonth)
	s.Sale(anna.ID, kind, 500)
	s.Sale(bo.ID, kind, 500)
	opening := time.Date(2027, 6, 30, 0, 0, 0, 0, time.UTC)
	s.Exec("update loyalty.programme set opening_expires_on = $2 where tenant_id = $1", s.By.Tenant.ID, opening)
	s.Must(db.In(t.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) (core.ID, error) {
		return ledger.OpenBefore(t.Context(), tx, ledger.Points, &opening, nil, core.ID{}, 10)
	}))
	s.wantExpiring("from before", anna.ID, "points 7 until 2027-06-30", "points 5 until 2028-01-31")
	s.wantExpiring("since", bo.ID, "points 5 until 2028-01-31")
}

// refund refunds a part of a sale, which takes points of its award.
func (s shop) refund(sale transaction.Transaction, cents, points int64) {
	s.T.Helper()
	id := core.NewID(s.DB.Now())
	s.Exec(`
		insert into loyalty.refund (tenant_id, id, transaction_id, amount_cents, points, actor_kind, actor_id, actor_name, created_at)
		values ($1, $2, $3, $4, $5, 'staff', '', 'Maja', now())`, s.By.Tenant.ID, id, sale.ID, cents, points)
	s.Must(db.In(s.T.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) (int, error) {
		return 0, ledger.Queue(tx, s.By, ledger.Entry{Customer: sale.CustomerID, Unit: ledger.Points, Amount: -points, Kind: ledger.Refunded, Cause: &id, Sale: &sale.ID})
	}))
}

// What had expired of an award is returned before a void or a refund deducts it: on the timeline in one event, in the ledger
// in an entry of its own, with the sale of both.
func TestWhatHadExpiredIsFoldedIntoTheVoid(t *testing.T) {
	t.Parallel()
	s := newShop(t).onDay("2027-01-10")
	kind, anna := s.Points(100), s.made("070 174 06 05", nil)
	s.Shop = s.ExpireAfter(ledger.Points, 1, core.ToMonth)
	first, second := s.Sale(anna.ID, kind, 4000), s.Sale(anna.ID, kind, 1000)
	s.adjust(anna.ID, "points", -38)
	s = s.onDay("2027-03-01")
	s.refund(second, 500, 5)
	s.VoidSale(first.ID)

	var events []string
	for _, e := range s.timeline(anna.ID, 3) {
		line := fmt.Sprintf("%s %+d = %d", e.Kind, e.Net(), e.BalanceAfter)
		if e.Returned != nil {
			line += fmt.Sprintf(", of %d %d had expired", -e.Amount, *e.Returned)
		}
		if e.RefundedCents != nil {
			line += fmt.Sprintf(", %d cents of the second sale: %v", *e.RefundedCents, *e.SaleID == second.ID && *e.SpendAmountCents == 1000)
		}
		if e.Kind == ledger.Expired {
			line += " on " + e.ExpiresOn.Format(time.DateOnly)
		}
		events = append(events, line)
	}
	want := []string{
		"reversal -33 = -33, of 40 7 had expired",
		"refund +0 = 0, of 5 5 had expired, 500 cents of the second sale: true",
		"expiry -12 = 0 on 2027-02-28",
		"adjustment -38 = 12", "earn +10 = 50", "earn +40 = 40",
	}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("the timeline (-want +got):\n%s", diff)
	}
	for filter, want := range map[customer.Happening]int{customer.Expiries: 1, customer.Sales: 4, customer.Adjustments: 1} {
		l, err := s.Customers.Timeline(t.Context(), s.By, anna.ID, customer.TimelineFilter{Events: new(string(filter))}, core.Page{Size: 10})
		if err != nil || len(l.Items) != want {
			t.Errorf("%s: %d events, want %d: %v", filter, len(l.Items), want, err)
		}
	}

	all := shoptest.Walk(t, 3, func(p core.Page) (core.List[customer.LedgerEntry], error) {
		return s.Customers.LedgerEntries(t.Context(), s.By, anna.ID, p)
	})
	var entries []string
	var balance int64
	for i := len(all) - 1; i >= 0; i-- {
		e := all[i]
		balance += e.Amount
		line := fmt.Sprintf("%s %+d = %d", e.Kind, e.Amount, e.BalanceAfter)
		if e.TransactionID != nil {
			line += " of " + map[core.ID]string{first.ID: "the first", second.ID: "the second"}[*e.TransactionID]
		}
		if e.ExpiresOn != nil {
			line += " until " + e.ExpiresOn.Format(time.DateOnly)
		}
		if entries = append(entries, line); balance != e.BalanceAfter {
			t.Errorf("%s: the entries add up to %d", line, balance)
		}
	}
	want = []string{
		"earn +40 = 40 of the first until 2027-02-28", "earn +10 = 50 of the second until 2027-02-28", "adjustment -38 = 12",
		"expiry -12 = 0 until 2027-02-28",
		"expiry_return +5 = 5 of the second until 2027-02-28", "refund -5 = 0 of the second",
		"expiry_return +7 = 7 of the first until 2027-02-28", "reversal -40 = -33 of the first",
	}
	if diff := cmp.Diff(want, entries); diff != "" {
		t.Errorf("the ledger (-want +got):\n%s", diff)
	}
	data := s.data(anna.ID)
	if data.LedgerEntries[0]["expires_on"] != "2027-02-28" || data.Transactions[0]["expires_on"] != "2027-02-28" || len(data.Refunds) != 1 {
		t.Errorf("the customer's data: %v, %v, %v", data.LedgerEntries[0], data.Transactions[0], data.Refunds)
	}
}

// What is added by hand may last. A deduction has no last day, and where nothing ends, the tick means nothing.
func TestAnAdjustmentMayLast(t *testing.T) {
	t.Parallel()
	s := newShop(t).onDay("2027-01-10")
	anna := s.made("070 174 06 05", nil)
	s.Shop = s.ExpireAfter(ledger.Points, 1, core.ToMonth)
	adjust := func(unit string, amount int64, lasts bool) {
		t.Helper()
		a := adjustment(unit, amount, "Sorry")
		a.Lasts = lasts
		s.Must(core.Result(s.Customers.Adjust(t.Context(), s.By, anna.ID, a, nil)))
	}
	adjust("points", 10, false)
	adjust("points", 20, true)
	adjust("points", -1, true)
	adjust("stamps", 2, true)
	s.wantExpiring("adjusted", anna.ID, "points 9 until 2027-02-28", "points 20", "stamps 2")
	var said []bool
	for _, e := range s.log(anna.ID)[1:] {
		_, has := e.New["expires"]
		said = append(said, has)
	}
	if diff := cmp.Diff([]bool{false, true, false, false}, said); diff != "" {
		t.Errorf("the audit log says that it lasts (-want +got):\n%s", diff)
	}
}

// Another business, and a customer who was merged.
func TestExpiringOfAnotherCustomer(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	anna, twin := s.made("070 174 06 05", nil), s.made("070 174 06 06", nil)
	s.adjust(twin.ID, "points", 3)
	s.Must(core.Result(s.Merging.Merge(t.Context(), s.By, anna.ID, twin.ID, nil, nil)))
	for what, ask := range map[string]func() error{
		"a stranger's endings": func() error { return second(stranger.Customers.Expiring(t.Context(), stranger.By, anna.ID)) },
		"a stranger's entries": func() error {
			return second(stranger.Customers.LedgerEntries(t.Context(), stranger.By, anna.ID, core.Page{Size: 2}))
		},
		"a duplicate's endings": func() error { return second(s.Customers.Expiring(t.Context(), s.By, twin.ID)) },
		"a duplicate's entries": func() error { return second(s.Customers.LedgerEntries(t.Context(), s.By, twin.ID, core.Page{Size: 2})) },
	} {
		if err := ask(); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", what, err)
		}
	}
}

func second[V any](_ V, err error) error { return err }
