package portal_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/web/portal"
	"example.com/loyalty/web/webtest"
)

// A suspension is read in the transaction that writes: right after it, pages that were opened before record, add
// and mail nothing, however lately the business was read. Unsubscribing works, and everything works right after
// the reactivation.
func TestRightAfterASuspension(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	anna := s.anna()
	card, leave := s.card(anna), s.unsubscribing(anna.ID)
	phone := s.took(s.offers(2450))
	claim := filled(phone.Get("/w/claim"), "phone", shoptest.Phone(), "name", "Elsa Berg", "agreed", "1")
	join := filled(s.browser().Get("/join"), "name", "Elsa Berg", "phone", shoptest.Phone(), "agreed", "1")
	typed := s.offers(100)
	mails, customers := s.Count("mail"), s.Count("customer")

	s.Exec("update loyalty.tenant set status = 'suspended' where id = $1", s.By.Tenant.ID)
	for path, a := range map[string]webtest.Page{
		"/w/claim":     phone.Post("/w/claim", claim),
		"/join":        s.browser().Post("/join", join),
		"/join/find":   s.browser().Post("/join/find", webtest.Form("contact", *anna.Email)),
		"/w":           s.browser().Post("/w", webtest.Form("pin", typed.Digits)),
		"/w/CODE":      s.browser().Post("/w/"+typed.Code, nil),
		"a card's PIN": s.browser().Post(card+"/pin", nil),
	} {
		if words := a.Text("main"); a.Code != http.StatusUnprocessableEntity || !strings.Contains(words, portal.Suspended) {
			t.Errorf("%s = %d %q", path, a.Code, words)
		}
	}
	if s.Count("transaction") != 0 || s.Count("mail") != mails || s.Count("customer") != customers || s.Count("pin where issuer like 'card%'") != 0 {
		t.Error("something was written for a suspended business")
	}
	if a := s.browser().Post(leave, nil); a.Code != http.StatusOK {
		t.Errorf("unsubscribing = %d", a.Code)
	}

	s.Exec("update loyalty.tenant set status = 'active' where id = $1", s.By.Tenant.ID)
	if a := phone.Post("/w/claim", claim); a.Header().Get("Location") != "/w/claimed" || s.Count("transaction") != 1 {
		t.Errorf("collecting after the reactivation = %d %q", a.Code, a.Text("main"))
	}
}
