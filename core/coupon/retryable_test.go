package coupon_test

import (
	"errors"
	"fmt"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
)

// CountRetryable returns what RetryMails queues: no permanent failures, queued e-mails, customers
// without an address, or other sends.
func TestCountRetryable(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for i, who := range s.customers(t, 5) {
		s.change(t, "update loyalty.customer set email = $3, email_key = $3 where tenant_id = $1 and id = $2", who, fmt.Sprintf("c%d@example.com", i))
	}
	c := s.coupon(t, fivePoints())
	send := s.recordDelivery(t, c, toAll())
	vouchers := s.stored(t, c)
	fail := func(n int, set string) {
		t.Helper()
		s.change(t, "update loyalty.voucher_mail set error = 'no', "+set+" where tenant_id = $1 and voucher_id = $2", vouchers[n].ID)
	}
	fail(0, "status = 'failed'")
	fail(1, "status = 'failed'")
	fail(2, "status = 'failed', permanent = true")
	fail(3, "status = 'queued'")
	s.change(t, "update loyalty.customer set email = null, email_key = null where tenant_id = $1 and id = $2", vouchers[1].CustomerID)
	s.change(t, "update loyalty.coupon_send set failed = 3 where tenant_id = $1 and id = $2", send.ID)

	counted, err := s.CountRetryable(t.Context(), s.by, send.ID)
	if err != nil || counted != 1 {
		t.Errorf("%d can be retried, %v, want 1", counted, err)
	}
	if retried, err := s.RetryMails(t.Context(), s.by, send.ID); err != nil || retried != counted {
		t.Errorf("%d were retried, %v, want %d", retried, err, counted)
	}
	if counted, err = s.CountRetryable(t.Context(), s.by, send.ID); err != nil || counted != 0 {
		t.Errorf("afterwards %d can be retried, %v, want 0", counted, err)
	}
	if n, err := newShop(t).CountRetryable(t.Context(), newShop(t).by, send.ID); err != nil || n != 0 {
		t.Errorf("another tenant counts %d, %v", n, err)
	}
	if _, err := s.CountRetryable(t.Context(), dbtest.Person(t, s.db, s.by, core.Cashier), send.ID); !errors.Is(err, core.ErrRole) {
		t.Errorf("a cashier counts: %v", err)
	}
}

// change updates rows of the shop: $1 is the tenant.
func (s shop) change(t *testing.T, statement string, args ...any) {
	t.Helper()
	if _, err := dbtest.Owner(s.db).Exec(t.Context(), statement, append([]any{s.by.Tenant.ID}, args...)...); err != nil {
		t.Fatal(err)
	}
}
