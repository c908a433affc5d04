package customer_test

import (
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
)

// Concurrent replacements and edits of one customer: each makes the links before it stop working, and is in the log.
func TestLinksAreReplacedAtOnce(t *testing.T) {
	t.Parallel()
	s := shoptest.In(t, dbtest.OwnDB(t))
	c := s.Customer()
	numbers := make([]string, 40)
	for i := range numbers {
		numbers[i] = shoptest.Phone()
	}
	const hold = "select from loyalty.customer where tenant_id = $1 and id = $2 for update"
	dbtest.Race(t, s.DB, s.By.Tenant.ID, hold, c.ID, len(numbers), func(i int) (err error) {
		if i%2 == 0 {
			_, err = s.Customers.ReplaceLinks(t.Context(), s.By, c.ID)
		} else {
			_, err = s.Customers.Edit(t.Context(), s.By, c.ID, customer.Edit{Phone: core.Set(numbers[i])})
		}
		return err
	})
	now, err := s.Customers.Find(t.Context(), s.By, c.ID)
	s.Check(err)
	logged := shoptest.Query[int64](s, "select count(*) from loyalty.audit_entry where tenant_id = $1 and action = 'customer.replace_link'", s.By.Tenant.ID)
	if now.LinkVersion != int64(len(numbers)) || logged != int64(len(numbers)) {
		t.Errorf("the links are of version %d, and the log has %d replacements, want %d", now.LinkVersion, logged, len(numbers))
	}
}

// A customer is found by the whole number while staff replace it: what they typed stays, and nothing is asked about it.
func TestANumberIsCheckedBesideAnEdit(t *testing.T) {
	t.Parallel()
	s := shoptest.In(t, dbtest.OwnDB(t))
	c := s.Customer()
	s.Exec("update loyalty.customer set unchecked_since = now() where id = $1", c.ID)
	number := shoptest.Phone()
	const hold = "select from loyalty.customer where tenant_id = $1 and id = $2 for update"
	dbtest.Race(t, s.DB, s.By.Tenant.ID, hold, c.ID, 2, func(i int) (err error) {
		if i == 0 {
			_, _, err = s.Customers.FindAtTill(t.Context(), s.By, c.Phone)
		} else {
			_, err = s.Customers.Edit(t.Context(), s.By, c.ID, customer.Edit{Phone: core.Set(number)})
		}
		return err
	})
	now, err := s.Customers.Find(t.Context(), s.By, c.ID)
	s.Check(err)
	if now.UncheckedSince != nil || now.Phone != number {
		t.Errorf("unchecked since %v, with the number %s", now.UncheckedSince, now.Phone)
	}
}
