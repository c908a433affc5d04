package coupon_test

import (
	"errors"
	"fmt"
	"testing"

	"example.com/loyalty/core"
)

// CountRetryable returns what RetryMails queues: no permanent failures, queued e-mails, customers
// without an address, or other sends.
func TestCountRetryable(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for i, who := range s.AddCustomers(5) {
		s.Exec("update loyalty.customer set email = $3, email_key = $3 where tenant_id = $1 and id = $2", s.By.Tenant.ID, who, fmt.Sprintf("c%d@example.com", i))
	}
	c := s.Coupon(fivePoints())
	send := s.Send(c.ID, toAll())
	vouchers := s.stored(c)
	fail := func(n int, set string) {
		t.Helper()
		s.Exec("update loyalty.voucher_mail set error = 'no', "+set+" where tenant_id = $1 and voucher_id = $2", s.By.Tenant.ID, vouchers[n].ID)
	}
	fail(0, "status = 'failed'")
	fail(1, "status = 'failed'")
	fail(2, "status = 'failed', permanent = true")
	fail(3, "status = 'queued'")
	s.Exec("update loyalty.customer set email = null, email_key = null where tenant_id = $1 and id = $2", s.By.Tenant.ID, vouchers[1].CustomerID)
	s.Exec("update loyalty.coupon_send set failed = 3 where tenant_id = $1 and id = $2", s.By.Tenant.ID, send.ID)

	counted, err := s.Coupons.CountRetryable(t.Context(), s.By, send.ID)
	if err != nil || counted != 1 {
		t.Errorf("%d can be retried, %v, want 1", counted, err)
	}
	if retried, err := s.Coupons.RetryMails(t.Context(), s.By, send.ID); err != nil || retried != counted {
		t.Errorf("%d were retried, %v, want %d", retried, err, counted)
	}
	if counted, err = s.Coupons.CountRetryable(t.Context(), s.By, send.ID); err != nil || counted != 0 {
		t.Errorf("afterwards %d can be retried, %v, want 0", counted, err)
	}
	if n, err := newShop(t).Coupons.CountRetryable(t.Context(), newShop(t).By, send.ID); err != nil || n != 0 {
		t.Errorf("another tenant counts %d, %v", n, err)
	}
	if _, err := s.Coupons.CountRetryable(t.Context(), s.As(core.Cashier).By, send.ID); !errors.Is(err, core.ErrRole) {
		t.Errorf("a cashier counts: %v", err)
	}
}
