package customer_test

import (
	"errors"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
)

// "Phones are read by the country from the first one": staff and customers add none before the business
// has chosen it, so 912 34 567 and +47 912 34 567 are one customer. The API adds them as before.
func TestFirstCustomerNeedsTheCountry(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Check(s.move(""))
	add := func(by core.Actor, phone string) (customer.Upserted, error) {
		return core.Result(s.Customers.Upsert(t.Context(), by, customer.New{FirstName: "Kari", LastName: "Dahl", Phone: phone}, nil))
	}
	for _, kind := range []core.ActorKind{core.ByStaff, core.ByCustomer} {
		by := s.By
		by.Kind = kind
		if _, err := add(by, "912 34 567"); !errors.Is(err, customer.ErrNoCountry) {
			t.Errorf("a customer added by %s without a country: %v", kind, err)
		}
	}
	token := s.By
	token.Kind = core.ByToken
	known, err := add(token, "455 66 778")
	s.Check(err)
	staff := s.By
	staff.Kind = core.ByStaff
	if found, err := add(staff, "45566778"); err != nil || found.ID != known.ID {
		t.Errorf("a known customer without a country = %v, %v", found.ID, err)
	}

	s.Check(s.move("NO"))
	staff.Tenant = s.By.Tenant
	first, err := add(staff, "912 34 567")
	s.Check(err)
	if second, err := add(staff, "+47 912 34 567"); err != nil || second.Created || second.ID != first.ID {
		t.Errorf("the same number with its country code = %+v, %v", second, err)
	}
}
