package merging_test

import (
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
)

// The kept customer's birthday stays, and one without gets the duplicate's.
func TestMergedBirthdays(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	born := func(c customer.Customer, day string) customer.Customer {
		s.Must(s.Customers.Edit(t.Context(), s.By, c.ID, customer.Edit{Birthday: core.Set(day)}))
		return c
	}
	kept := s.add("Anna", nil)
	for _, day := range []string{"05-21", "1999-12-24"} {
		s.Check(s.merge(kept, born(s.add("Anna", nil), day)))
	}
	got, err := s.Customers.Find(t.Context(), s.By, kept.ID)
	if err != nil || got.Birthday == nil || *got.Birthday != "05-21" {
		t.Errorf("%v, %v; want the first duplicate's birthday", got.Birthday, err)
	}
}
