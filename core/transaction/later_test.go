package transaction_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/programme"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

// recordedAs records a sale in each of the ways that a sale can travel: alone, because its type isn't known yet; together, as the only
// one; and together with another one.
func (s shop) recordedAs(n func() transaction.Sale) (made []transaction.Transaction) {
	s.T.Helper()
	for _, sales := range []*transaction.Service{transaction.NewService(s.DB), s.Sales} {
		one, err := core.Result(sales.Record(s.T.Context(), s.By, n(), nil, nil))
		s.Check(err)
		made = append(made, one)
	}
	several := make([]*attempt, 20)
	for i := range several {
		several[i] = &attempt{Sale: n()}
		several[i].CustomerID = s.Customer().ID
	}
	s.recordAtOnce(several)
	for _, a := range several {
		s.Check(a.err)
		made = append(made, a.made)
	}
	return made
}

// A sale that a till recorded while it had no connection is dated back: its award ends by the day on which the customer bought, but it is
// listed and counted when it arrived.
func TestASaleThatIsRecordedLater(t *testing.T) {
	t.Parallel()
	s := ownShop(t)
	arrival := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	s.Shop = s.At(arrival).ExpireAfter(ledger.Points, 12, core.ToDay)
	bought := time.Date(2026, 2, 27, 22, 30, 0, 0, time.UTC) // 27 February, also in Stockholm
	made := s.recordedAs(func() transaction.Sale {
		n := s.of(1250)
		n.OccurredAt, n.Metadata = &bought, core.Metadata{"order": "7", "Name": " as sent "}
		return n
	})
	for _, one := range made {
		if last := time.Date(2027, 2, 27, 0, 0, 0, 0, time.UTC); !one.OccurredAt.Equal(bought) || one.CreatedAt.Before(arrival) || one.ExpiresOn == nil || !one.ExpiresOn.Equal(last) {
			t.Errorf("bought %s, recorded %s, ends %v; want %s, %s, %s", one.OccurredAt, one.CreatedAt, one.ExpiresOn, bought, arrival, last)
		}
		found, err := s.Sales.Find(t.Context(), s.By, one.ID)
		s.Check(err)
		if diff := cmp.Diff(one, found, cmp.Comparer(time.Time.Equal)); diff != "" {
			t.Errorf("Find (-recorded +found):\n%s", diff)
		}
		if diff := cmp.Diff(core.Metadata{"order": "7", "Name": " as sent "}, found.Metadata); diff != "" {
			t.Errorf("metadata: %s", diff)
		}
	}
	if n := shoptest.Query[int](s.Shop, "select count(*) from loyalty.ledger_entry where tenant_id = $1 and kind = 'earn' and expires_on <> '2027-02-27'", s.By.Tenant.ID); n != 1 {
		t.Errorf("%d entries end otherwise than their sales, want 1 of the sale before", n)
	}
	s.Verify()
}

// By a rule that ends what is idle, the customer was active when they bought.
func TestASaleThatIsRecordedLaterKeepsWhatIsIdle(t *testing.T) {
	t.Parallel()
	s := ownShop(t)
	s.Shop = s.At(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)).ExpireInactive(ledger.Points, 6)
	customers := map[core.ID]bool{}
	for _, one := range s.recordedAs(func() transaction.Sale {
		n := s.of(1250)
		n.CustomerID, n.OccurredAt = s.Customer().ID, new(s.DB.Now().Add(-48*time.Hour))
		return n
	}) {
		customers[one.CustomerID] = true
	}
	const others = "select count(*) from loyalty.account where tenant_id = $1 and points_idle_on = '2026-08-28'"
	if n := shoptest.Query[int](s.Shop, others, s.By.Tenant.ID); n != len(customers) {
		t.Errorf("%d accounts end six months after the sale, want %d", n, len(customers))
	}
	s.Verify()
}

// An award whose last day is over when it arrives is in the balance until the next job, as any other that is due, and can't be spent.
func TestAnAwardThatEndedBeforeItArrived(t *testing.T) {
	t.Parallel()
	s := ownShop(t)
	s.Shop = s.ExpireAfter(ledger.Points, 1, core.ToDay)
	s.sale(500)
	s.By.Tenant.PointsExpiry.Months = 0 // a rule that no business can set: the day of the sale is the last one
	bought := s.DB.Now().Add(-71 * time.Hour)
	made := s.recordedAs(func() transaction.Sale {
		n := s.of(1000)
		n.OccurredAt = &bought
		return n
	})
	customers := map[core.ID]bool{}
	for _, one := range made {
		customers[one.CustomerID] = true
	}
	s.Verify()
	s.Check(s.Programme.Expire(t.Context(), programme.Expiring{Tenant: s.By.Tenant.ID, Unit: ledger.Points}))
	for id := range customers {
		want := int64(0)
		if id == s.customer {
			want = 5 + 1 // the first sale lasts a month, and today is the last day of recordAtOnce's
		}
		if got := s.Account(id).Points; got != want {
			t.Errorf("%d points are left, want %d", got, want)
		}
	}
	s.Verify()

	// Voiding it doesn't charge the customer twice.
	before := s.Account(made[0].CustomerID).Points
	s.void(made[0].ID)
	if after := s.Account(made[0].CustomerID).Points; after != before {
		t.Errorf("a void took %d more points of an award that had ended", before-after)
	}
	s.Verify()
}

// A sale is recorded at most 72 hours later. A clock that is a minute ahead means now.
func TestHowMuchLaterASaleIsRecorded(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Shop = s.At(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	dbtest.Tick(s.DB)
	at := func(d time.Duration) transaction.Sale {
		n := s.of(100)
		n.OccurredAt = new(s.DB.Now().Add(d))
		return n
	}
	for range 2 { // the second time, the type is known
		for _, d := range []time.Duration{-transaction.RecordedWithin + time.Minute, 0, 55 * time.Second} {
			made, err := core.Result(s.Sales.Record(t.Context(), s.By, at(d), nil, nil))
			s.Check(err)
			if late := made.CreatedAt.Sub(made.OccurredAt); d >= 0 && late > time.Minute || late < 0 {
				t.Errorf("a sale of %s ago is stored as one of %s ago", -d, late)
			}
		}
		s.refused(at(-transaction.RecordedWithin-time.Second), core.Fields{"occurred_at": {{Rule: "within_hours", Limit: 72}}})
		s.refused(at(65*time.Second), core.Fields{"occurred_at": {{Rule: "not_in_future"}}})
	}
	n := s.of(100)
	n.Metadata = core.Metadata{"key": strings.Repeat("x", 501)}
	s.refused(n, core.Fields{"metadata.key": {core.MaxLength(500)}})
}

// A taken receipt number names the sale, or the refund, that has it, also after a void.
func TestATakenReferenceNamesItsRecord(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := s.of(1000)
	n.ExternalReference = new("R-1")
	sold, err := core.Result(s.Sales.Record(t.Context(), s.By, n, nil, nil))
	s.Check(err)
	part := transaction.RefundRequest{AmountCents: 100, ExternalReference: new("C-1")}
	refunded, err := core.Result(s.Sales.Refund(t.Context(), s.By, sold.ID, part, nil, nil))
	s.Check(err)
	s.void(sold.ID)
	other := s.sale(1000)

	wantTaken := func(err error, member string, id core.ID) {
		t.Helper()
		var taken *core.Error
		if !errors.As(err, &taken) || taken.Code != "reference-taken" || taken.Existing == nil || *taken.Existing != (core.Existing{Member: member, ID: id}) ||
			!cmp.Equal(taken.Fields, core.Fields{"external_reference": {core.Duplicate}}) {
			t.Errorf("%v, want the reference taken by %s", err, id)
		}
	}
	n.ExternalReference = new(" R-1 ")
	for range 2 {
		_, err = s.Sales.Record(t.Context(), s.By, n, nil, nil)
		wantTaken(err, "transaction_ulid", sold.ID)
	}
	part.ExternalReference = new("C-1 ")
	_, err = s.Sales.Refund(t.Context(), s.By, other.ID, part, nil, nil)
	wantTaken(err, "refund_ulid", refunded.ID)
}

// A preview says what a sale earns, with the balances after it, refuses what recording refuses, and writes nothing.
func TestPreviewOfASale(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Shop = s.ExpireAfter(ledger.Points, 12, core.ToDay)
	stamps := s.Stamps()
	s.Sale(s.customer, s.kind, 500)
	s.Sale(s.customer, stamps, 500)
	before := s.Count("ledger_entry")
	preview := func(n transaction.Sale) transaction.Preview {
		t.Helper()
		p, err := s.Sales.Preview(t.Context(), s.By, n, nil)
		s.Check(err)
		return p
	}
	n := s.of(1250)
	n.OccurredAt = new(s.DB.Now().Add(-24 * time.Hour))
	got := preview(n)
	if got.Award.Total != 12 || got.Award.Unit != ledger.Points || *got.After != (ledger.Account{Points: 17, Stamps: 1}) {
		t.Errorf("points: %+v, %+v", got, got.After)
	}
	made, err := core.Result(s.Sales.Record(t.Context(), s.By, n, nil, nil))
	s.Check(err)
	if !made.ExpiresOn.Equal(*got.ExpiresOn) || made.Award() != got.Award.Total || s.Account(s.customer) != *got.After {
		t.Errorf("the preview %+v isn't the sale %+v", got, made)
	}
	n = s.of(100)
	n.TransactionTypeID = stamps.ID
	if got := preview(n); got.Award.Total != 1 || *got.After != (ledger.Account{Points: 17, Stamps: 2}) || got.ExpiresOn != nil {
		t.Errorf("stamps: %+v, %+v", got, got.After)
	}
	n.CustomerID = core.ID{}
	if got := preview(n); got.Award.Total != 1 || got.After != nil {
		t.Errorf("without a customer: %+v", got)
	}

	inactive, foreign := s.Customer().ID, newShop(t)
	s.Exec("update loyalty.customer set status = 'inactive' where id = $1", inactive)
	for name, spoil := range map[string]func(*transaction.Sale){
		"spend":    func(n *transaction.Sale) { n.SpendAmountCents = -1 },
		"type":     func(n *transaction.Sale) { n.TransactionTypeID = foreign.kind.ID },
		"customer": func(n *transaction.Sale) { n.CustomerID = foreign.customer },
		"inactive": func(n *transaction.Sale) { n.CustomerID = inactive },
		"location": func(n *transaction.Sale) { n.LocationID = new(foreign.open("Söder").ID) },
		"when":     func(n *transaction.Sale) { n.OccurredAt = new(s.DB.Now().Add(time.Hour)) },
	} {
		n := s.of(100)
		spoil(&n)
		_, err := s.Sales.Preview(t.Context(), s.By, n, core.Fields{"extra": {core.MustBeString}})
		_, recording := s.Sales.Record(t.Context(), s.By, n, core.Fields{"extra": {core.MustBeString}}, nil)
		shoptest.WantFields(t, err, shoptest.Fields(t, recording))
		if len(shoptest.Fields(t, err)) != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.Exec("update loyalty.account set points = $2 where customer_id = $1", s.customer, int64(math.MaxInt64-5))
	if _, err := s.Sales.Preview(t.Context(), s.By, s.of(600), nil); !errors.Is(err, ledger.ErrTooLarge) {
		t.Errorf("a balance that is full: %v", err)
	}
	if got := s.Count("ledger_entry"); got != before+1 {
		t.Errorf("%d entries, want %d", got, before+1)
	}
}
