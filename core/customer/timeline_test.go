package customer_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

// timeline reads all of a customer's entries, and back to the newest.
func (s shop) timeline(id core.ID, size int) []customer.Entry {
	s.T.Helper()
	return shoptest.Walk(s.T, size, func(p core.Page) (core.List[customer.Entry], error) {
		return s.Customers.Timeline(s.T.Context(), s.By, id, customer.TimelineFilter{}, p)
	})
}

// The timeline has every kind of entry with its cause and the balance after it, newest first.
func TestTheTimelineExplainsEveryPoint(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	kind := s.Points(100)
	anna, bo := s.made("070 174 06 05", nil), s.made("070 174 06 06", nil)
	s.Sale(bo.ID, kind, 700)
	branch, err := core.Result(s.Locations.Add(t.Context(), s.By, location.New{Name: "Söder"}, nil))
	s.Check(err)
	there, err := core.Result(s.Sales.Record(t.Context(), s.By, transaction.Sale{
		CustomerID: anna.ID, TransactionTypeID: kind.ID, SpendAmountCents: 2000, LocationID: &branch.ID, Source: transaction.POS,
	}, nil, nil))
	s.Check(err)
	s.Sale(anna.ID, kind, 99) // earns nothing, moves nothing
	wrong := s.Sale(anna.ID, kind, 500)
	s.VoidSale(wrong.ID)
	espresso := s.Redeem(anna.ID, s.Reward(15, nil)).ID
	second := s.Redeem(anna.ID, s.Reward(2, nil)).ID
	s.VoidRedemption(second)
	voucher := s.voucherUsed(anna.ID, 7)
	s.Must(core.Result(s.Customers.Adjust(t.Context(), s.By, anna.ID, adjustment("stamps", 3, "Moved from the paper card"), nil)))
	want := []customer.Entry{
		{Seq: 8, Kind: ledger.Adjustment, Unit: ledger.Stamps, Amount: 3, BalanceAfter: 3, Reason: new("Moved from the paper card")},
		{Seq: 7, Kind: ledger.VoucherAward, Unit: ledger.Points, Amount: 7, BalanceAfter: 12, Cause: &voucher, CouponName: new("Welcome back")},
		{
			Seq: 5, Kind: ledger.Redemption, Unit: ledger.Points, Amount: -2, BalanceAfter: 3, Cause: &second, RewardName: new("Espresso"),
			Voided: true, BalanceVoided: new(int64(5)),
		},
		{Seq: 4, Kind: ledger.Redemption, Unit: ledger.Points, Amount: -15, BalanceAfter: 5, Cause: &espresso, RewardName: new("Espresso")},
		{
			Seq: 2, Kind: ledger.Earn, Unit: ledger.Points, Amount: 5, BalanceAfter: 25, Cause: &wrong.ID, TypeName: new("Purchase"),
			SpendAmountCents: new(int64(500)), Voided: true, BalanceVoided: new(int64(20)),
		},
		{
			Seq: 1, Kind: ledger.Earn, Unit: ledger.Points, Amount: 20, BalanceAfter: 20, Cause: &there.ID, TypeName: new("Purchase"),
			SpendAmountCents: new(int64(2000)), LocationName: new("Söder"), Voidable: true,
		},
	}
	for i := range want {
		want[i].ActorKind, want[i].ActorName = core.ByStaff, s.By.Name
	}
	for _, size := range []int{1, 3, 8, 20} {
		got := s.timeline(anna.ID, size)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(customer.Entry{}, "ID", "CreatedAt")); diff != "" {
			t.Fatalf("by %d (-want +got):\n%s", size, diff)
		}
		if oldest := got[len(got)-1]; !oldest.CreatedAt.Equal(there.CreatedAt) || oldest.ID.IsZero() {
			t.Errorf("the first entry is %s of %s, want %s", oldest.ID, oldest.CreatedAt, there.CreatedAt)
		}
	}
	if got := s.as(core.Cashier).timeline(bo.ID, 2); len(got) != 1 {
		t.Errorf("a cashier reads of the other one %+v", got)
	}
}

// A customer without entries has an empty page. An unknown customer is refused before an invalid
// query.
func TestTimelineWithoutEntries(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	anna := s.made("070 174 06 05", nil)
	bad := core.Page{Size: 2, Malformed: core.Fields{"cursor": {core.InvalidChoice}}}
	if got := s.timeline(anna.ID, 2); got != nil {
		t.Errorf("the timeline of a new customer is %+v", got)
	}
	_, err := s.Customers.Timeline(t.Context(), s.By, anna.ID, customer.TimelineFilter{}, bad)
	shoptest.WantFields(t, err, bad.Malformed)
	for _, page := range []core.Page{{Size: 2}, bad} {
		if _, err := stranger.Customers.Timeline(t.Context(), stranger.By, anna.ID, customer.TimelineFilter{}, page); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("another's customer = %v, want ErrNotFound", err)
		}
	}
}

// A void that follows later is an entry of its own: the balances before it include what was voided.
func TestALaterVoidIsAnEntryOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	kind, anna := s.Points(100), s.made("070 174 06 05", nil)
	first := s.Sale(anna.ID, kind, 500)
	s.Sale(anna.ID, kind, 200)
	s.VoidSale(first.ID)
	var told []string
	for _, e := range s.timeline(anna.ID, 2) {
		told = append(told, fmt.Sprintf("%s %d to %d, voided: %t", e.Kind, e.Amount, e.BalanceAfter, e.Voided))
	}
	want := []string{"reversal -5 to 2, voided: false", "earn 2 to 7, voided: false", "earn 5 to 5, voided: true"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("timeline (-want +got):\n%s", diff)
	}
}

// The timeline can be narrowed to kinds of events and to a time; a day's spend is of completed sales.
func TestTimelineFilter(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	kind, anna := s.Points(100), s.made("070 174 06 05", nil)
	s.Sale(anna.ID, kind, 1000)
	s.Redeem(anna.ID, s.Reward(3, nil))
	s.voucherUsed(anna.ID, 7)
	tomorrow := s.Later(24 * time.Hour)
	tomorrow.Sale(anna.ID, kind, 50)
	tomorrow.Sale(anna.ID, kind, 200)
	tomorrow.VoidSale(tomorrow.Sale(anna.ID, kind, 300).ID)
	tomorrow.Adjust(anna.ID, ledger.Stamps, 3)
	since := tomorrow.DB.Now().Add(-time.Hour)
	for events, want := range map[string]int{"sales": 3, "redemptions": 1, "vouchers": 1, "adjustments": 1, "": 6, "since": 3} {
		f := customer.TimelineFilter{Events: &events}
		switch events {
		case "":
			f.Events = nil
		case "since":
			f = customer.TimelineFilter{Since: &since}
		}
		got := shoptest.Walk(t, 2, func(p core.Page) (core.List[customer.Entry], error) {
			return s.Customers.Timeline(t.Context(), s.By, anna.ID, f, p)
		})
		if len(got) != want {
			t.Errorf("%q: %d entries, want %d", events, len(got), want)
		}
	}
	_, err := s.Customers.Timeline(t.Context(), s.By, anna.ID, customer.TimelineFilter{Events: new("secrets")}, core.Page{Size: 2})
	shoptest.WantFields(t, err, core.Fields{"events": {core.InvalidChoice}})

	days, err := s.Customers.SpendByDay(t.Context(), s.By, anna.ID, s.DB.Now(), tomorrow.DB.Now())
	s.Check(err)
	zone := s.By.Tenant.TimeZone
	want := map[string]int64{s.DB.Now().In(zone).Format(time.DateOnly): 1000, tomorrow.DB.Now().In(zone).Format(time.DateOnly): 250}
	if diff := cmp.Diff(want, days); diff != "" {
		t.Errorf("days (-want +got):\n%s", diff)
	}
	if other, err := s.Customers.SpendByDay(t.Context(), shoptest.New(t).By, anna.ID, s.DB.Now(), tomorrow.DB.Now()); err != nil || len(other) > 0 {
		t.Errorf("another tenant's days: %v, %v", other, err)
	}
}
