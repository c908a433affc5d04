package till_test

import (
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
)

// Under the balance, the till says what expires within 60 days.
func TestTheTillSaysWhatExpiresSoon(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Shop = s.ExpireAfter(ledger.Points, 2, core.ToMonth)
	s.Shop = s.At(time.Date(2027, 1, 10, 12, 0, 0, 0, time.UTC))
	s.open()
	anna := s.customer("Anna", 40)
	says := func(want string) {
		t.Helper()
		page := s.signedIn(core.Cashier).Get("/till/customers/" + anna.ID.String())
		if got := page.Text(".who-ends"); got != want {
			t.Errorf("the till says %q, want %q", got, want)
		}
	}
	says("")
	s.later(30 * 24 * time.Hour)
	says("40 points expire on 31 Mar")
	s.Shop = s.Hold(ledger.Points, "2027-04-05")
	says("40 points expire on 5 Apr")
	s.Shop = s.Hold(ledger.Points, "infinity")
	says("")
}
