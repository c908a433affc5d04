package admin_test

import (
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
)

// Staff enter a birthday as they write dates, and correct one that is none.
func TestTheBirthdayOfACustomer(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.signedIn(core.Manager)
	c := s.AddCustomer(customer.New{FirstName: "Dora", LastName: "Gran", Phone: "070 174 06 05"})
	path := "/admin/customers/" + c.ID.String()
	send := func(birthday string) int {
		form := b.Get(path + "/edit").Fields("#customer")
		form.Set("birthday", birthday)
		return b.Post(path+"/edit", form).Code
	}
	if got := send("31 June"); got != 422 {
		t.Errorf("31 June: %d, want 422", got)
	}
	if send("21.5.1990"); b.Get(path).Text("#customer-birthday") != "21 May 1990" {
		t.Errorf("with the year: %q", b.Get(path).Text("#customer-birthday"))
	}
	if send("29/2"); b.Get(path).Text("#customer-birthday") != "29 Feb" {
		t.Errorf("without the year: %q", b.Get(path).Text("#customer-birthday"))
	}
	if send(""); b.Get(path).Text("#customer-birthday") != "" {
		t.Errorf("after it was removed: %q", b.Get(path).Text("#customer-birthday"))
	}
}
