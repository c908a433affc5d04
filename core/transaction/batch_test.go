package transaction_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/transaction"
)

func (s shop) each(sales []transaction.Sale) []core.Outcome[transaction.Transaction] {
	s.T.Helper()
	requests := make([]transaction.Request, len(sales))
	for i, n := range sales {
		requests[i].Sale = n
	}
	outcomes, err := s.Sales.RecordEach(s.T.Context(), s.By, requests)
	s.Check(err)
	return outcomes
}

// Sales of one request travel together, those of a customer one after the other, and each has its own outcome.
func TestRecordEach(t *testing.T) {
	t.Parallel()
	s := ownShop(t)
	s.Sales = transaction.NewService(s.DB) // knows no type yet
	var sales []transaction.Sale
	for i := range 100 {
		n := s.of(int64(100 * i))
		if i%10 > 0 {
			n.CustomerID = s.Customer().ID
		}
		if i%20 == 19 {
			n.TransactionTypeID = 0
		}
		if i == 50 || i == 51 {
			n.ExternalReference = new("R-1")
		}
		sales = append(sales, n)
	}
	var last core.ID
	for i, o := range s.each(sales) {
		switch {
		case i%20 == 19 || i == 51:
			var refusal *core.Error
			if !errors.As(o.Err, &refusal) || len(refusal.Fields) != 1 {
				t.Errorf("sale %d: %v, want it refused", i, o.Err)
			}
		case o.Err != nil || o.Result.SpendAmountCents != int64(100*i):
			t.Errorf("sale %d: %+v", i, o)
		case i%10 == 0:
			if o.Result.ID.String() < last.String() {
				t.Errorf("sale %d came before an earlier one of the same customer", i)
			}
			last = o.Result.ID
		}
	}
	if n := s.Count("transaction"); n != 94 {
		t.Errorf("%d sales, want 94", n)
	}
	s.WantSalesTogether()
	s.Verify()
}

// When the time of a request is up, what hasn't begun isn't recorded, and its outcome says so.
func TestRecordEachWhenTimeIsUp(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.sale(100)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	requests := make([]transaction.Request, 100)
	for i := range requests {
		requests[i].Sale = s.of(100)
		requests[i].TransactionTypeID += int64(i % 2) // every other type is unknown
	}
	outcomes, err := s.Sales.RecordEach(ctx, s.By, requests)
	s.Check(err)
	for i, o := range outcomes {
		if !errors.Is(o.Err, context.Canceled) {
			t.Errorf("sale %d: %v", i, o.Err)
		}
	}
	if n := s.Count("transaction"); n != 1 {
		t.Errorf("%d sales, want 1", n)
	}
}

// Sales of 100 customers take few round trips.
func TestRoundTripsOfRecordEach(t *testing.T) {
	t.Parallel()
	if dbtest.IsCitus(t) {
		t.Skip("few sales are recorded alone there")
	}
	d, count := dbtest.RoundTrips(t)
	s := shopIn(t, d)
	var sales []transaction.Sale
	for i := range 100 {
		n := s.of(100)
		n.CustomerID = s.Customer().ID
		n.ExternalReference = new(fmt.Sprint(i))
		sales = append(sales, n)
	}
	s.sale(100)
	s.each(sales)
	for i := range sales {
		sales[i].ExternalReference = nil
	}
	before := count()
	s.each(sales)
	// The first few may go before the others arrive.
	if trips := count() - before; trips < 2 || trips > 5 {
		t.Errorf("%d round trips, want 2 to 5", trips)
	}
}
