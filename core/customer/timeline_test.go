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
	"example.com/loyalty/core/transaction"
)

// timeline reads all of a customer's entries, and back to the newest.
func (s shop) timeline(t *testing.T, id core.ID, size int) (entries []customer.Entry) {
	t.Helper()
	page := core.Page{Size: size}
	var last core.List[customer.Entry]
	for {
		l, err := s.Timeline(t.Context(), s.by, id, page)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, l.Items...)
		if last = l; l.Next == nil {
			break
		}
		page.Cursor = l.Next
	}
	back := append([]customer.Entry(nil), last.Items...)
	for last.Prev != nil {
		l, err := s.Timeline(t.Context(), s.by, id, core.Page{Size: size, Cursor: last.Prev})
		if err != nil {
			t.Fatal(err)
		}
		back = append(append([]customer.Entry(nil), l.Items...), back...)
		last = l
	}
	if diff := cmp.Diff(entries, back); diff != "" {
		t.Errorf("by %d: the way back differs (-forward +back):\n%s", size, diff)
	}
	return entries
}

// The timeline has every kind of entry with its cause and the balance after it, newest first.
func TestTheTimelineExplainsEveryPoint(t *testing.T) {
	t.Parallel()
	s := newShop(t).till(t)
	anna, bo := s.made(t, "070 174 06 05", nil), s.made(t, "070 174 06 06", nil)
	s.sold(t, bo.ID, 700)
	branch, err := location.NewService(s.db).Add(t.Context(), s.by, location.New{Name: new("Söder")})
	if err != nil {
		t.Fatal(err)
	}
	there, err := s.Record(t.Context(), s.by, transaction.New{
		CustomerID: new(anna.ID.String()), TransactionTypeID: &s.kind, SpendAmountCents: new(int64(2000)), LocationID: &branch.ID, Source: transaction.POS,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.sold(t, anna.ID, 99) // earns nothing, moves nothing
	wrong := s.sold(t, anna.ID, 500)
	s.void(t, wrong.ID)
	espresso := s.redeemed(t, anna.ID, 15)
	second := s.redeemed(t, anna.ID, 2)
	s.voidRedemption(t, second)
	voucher := s.voucherUsed(t, anna.ID, 7)
	if _, err := s.Adjust(t.Context(), s.by, anna.ID, adjustment("stamps", 3, "Moved from the paper card")); err != nil {
		t.Fatal(err)
	}
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
		want[i].ActorKind, want[i].ActorName = core.ByStaff, s.by.Name
	}
	for _, size := range []int{1, 3, 8, 20} {
		got := s.timeline(t, anna.ID, size)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(customer.Entry{}, "ID", "CreatedAt")); diff != "" {
			t.Fatalf("by %d (-want +got):\n%s", size, diff)
		}
		if oldest := got[len(got)-1]; !oldest.CreatedAt.Equal(there.CreatedAt) || oldest.ID.IsZero() {
			t.Errorf("the first entry is %s of %s, want %s", oldest.ID, oldest.CreatedAt, there.CreatedAt)
		}
	}
	if got := s.as(t, core.Cashier).timeline(t, bo.ID, 2); len(got) != 1 {
		t.Errorf("a cashier reads of the other one %+v", got)
	}
}

// A customer without entries has an empty page. An unknown customer is refused before an invalid
// query.
func TestTimelineWithoutEntries(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	anna := s.made(t, "070 174 06 05", nil)
	bad := core.Page{Size: 2, Malformed: core.Fields{"cursor": {core.InvalidChoice}}}
	if got := s.timeline(t, anna.ID, 2); got != nil {
		t.Errorf("the timeline of a new customer is %+v", got)
	}
	_, err := s.Timeline(t.Context(), s.by, anna.ID, bad)
	wantFields(t, err, bad.Malformed)
	for _, page := range []core.Page{{Size: 2}, bad} {
		if _, err := stranger.Timeline(t.Context(), stranger.by, anna.ID, page); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("another's customer = %v, want ErrNotFound", err)
		}
	}
}
