package customer_test

import (
	"errors"
	"testing"

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
		return s.Customers.Timeline(s.T.Context(), s.By, id, p)
	})
}

// The timeline has every kind of entry with its cause and the balance after it, newest first.
func TestTheTimelineExplainsEveryPoint(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	kind := s.Points(100)
	anna, bo := s.made("070 174 06 05", nil), s.made("070 174 06 06", nil)
	s.Sale(bo.ID, kind, 700)
	branch, err := location.NewService(s.DB).Add(t.Context(), s.By, location.New{Name: new("Söder")})
	s.Check(err)
	there, err := s.Sales.Record(t.Context(), s.By, transaction.New{
		CustomerID: new(anna.ID.String()), TransactionTypeID: &kind.ID, SpendAmountCents: new(int64(2000)), LocationID: &branch.ID, Source: transaction.POS,
	})
	s.Check(err)
	s.Sale(anna.ID, kind, 99) // earns nothing, moves nothing
	wrong := s.Sale(anna.ID, kind, 500)
	s.VoidSale(wrong.ID)
	espresso := s.Redeem(anna.ID, s.Reward(15, nil)).ID
	second := s.Redeem(anna.ID, s.Reward(2, nil)).ID
	s.VoidRedemption(second)
	voucher := s.voucherUsed(anna.ID, 7)
	s.Must(s.Customers.Adjust(t.Context(), s.By, anna.ID, adjustment("stamps", 3, "Moved from the paper card")))
	want := []customer.Entry{
		{Seq: 8, Kind: ledger.Adjustment, Unit: ledger.Stamps, Amount: 3, BalanceAfter: 3, Reason: new("Moved from the paper card")},
		{Seq: 7, Kind: ledger.VoucherAward, Unit: ledger.Points, Amount: 7, BalanceAfter: 12, Cause: &voucher, CouponName: new("Welcome back")},
		{Seq: 6, Kind: ledger.RedemptionRefund, Unit: ledger.Points, Amount: 2, BalanceAfter: 5, Cause: &second, RewardName: new("Espresso")},
		{Seq: 5, Kind: ledger.Redemption, Unit: ledger.Points, Amount: -2, BalanceAfter: 3, Cause: &second, RewardName: new("Espresso")},
		{Seq: 4, Kind: ledger.Redemption, Unit: ledger.Points, Amount: -15, BalanceAfter: 5, Cause: &espresso, RewardName: new("Espresso")},
		{Seq: 3, Kind: ledger.Reversal, Unit: ledger.Points, Amount: -5, BalanceAfter: 20, Cause: &wrong.ID, TypeName: new("Purchase"), SpendAmountCents: new(int64(500))},
		{Seq: 2, Kind: ledger.Earn, Unit: ledger.Points, Amount: 5, BalanceAfter: 25, Cause: &wrong.ID, TypeName: new("Purchase"), SpendAmountCents: new(int64(500))},
		{
			Seq: 1, Kind: ledger.Earn, Unit: ledger.Points, Amount: 20, BalanceAfter: 20, Cause: &there.ID, TypeName: new("Purchase"),
			SpendAmountCents: new(int64(2000)), LocationName: new("Söder"),
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
	_, err := s.Customers.Timeline(t.Context(), s.By, anna.ID, bad)
	shoptest.WantFields(t, err, bad.Malformed)
	for _, page := range []core.Page{{Size: 2}, bad} {
		if _, err := stranger.Customers.Timeline(t.Context(), stranger.By, anna.ID, page); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("another's customer = %v, want ErrNotFound", err)
		}
	}
}
