package transaction_test

import (
	"errors"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/transaction"
)

// A sale by a caller who was identified just before the business was suspended is refused: recorded alone, and in
// the statement that records sales together.
func TestASaleAfterTheSuspension(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	who, kind := s.Customer(), s.Points(100)
	by := s.By
	by.NeedsActive = true // like a token
	record := func() error {
		_, err := core.Result(s.Sales.Record(t.Context(), by, transaction.Sale{
			CustomerID: who.ID, TransactionTypeID: kind.ID, SpendAmountCents: 500, Source: transaction.API,
		}, nil, nil))
		return err
	}
	s.Exec("update loyalty.tenant set status = 'suspended' where id = $1", s.By.Tenant.ID)
	if err := record(); !errors.Is(err, core.ErrSuspended) {
		t.Errorf("alone: %v, want ErrSuspended", err)
	}
	s.Exec("update loyalty.tenant set status = 'active' where id = $1", s.By.Tenant.ID)
	for range 2 { // the second is recorded by the statement for one
		s.Check(record())
	}
	s.Exec("update loyalty.tenant set status = 'suspended' where id = $1", s.By.Tenant.ID)
	if err := record(); !errors.Is(err, core.ErrSuspended) {
		t.Errorf("together: %v, want ErrSuspended", err)
	}
	if n := s.Count("transaction"); n != 2 {
		t.Errorf("%d sales, want the two before", n)
	}
}
