package portal_test

import (
	"net/http"
	"testing"
)

// Links of the weekly e-mail have the budget of those of offers: asking for what is so already is free, and turning it off
// always works.
func TestAWeeklyLinkChangesTenTimes(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	link, refused := s.reader(), 0
	before := s.Count("audit_entry")
	for range 30 {
		s.send(link, "subscribe=1", "Content-Type", urlencoded) // as it is
	}
	if s.Count("audit_entry") != before {
		t.Error("nothing changed, and the audit log grew")
	}
	for range 30 {
		if got := s.send(link, "List-Unsubscribe=One-Click", "Content-Type", urlencoded); got.Code != http.StatusOK {
			t.Fatalf("turned off = %d: %s", got.Code, got.Text("main"))
		}
		got := s.send(link, "subscribe=1", "Content-Type", urlencoded)
		if got.Code == http.StatusTooManyRequests && got.Header().Get("Retry-After") != "" {
			refused++
		}
	}
	if written := s.Count("audit_entry") - before; refused == 0 || written > 11 {
		t.Errorf("%d refused, %d entries of the audit log", refused, written)
	}
	s.wantWeekly("in the end", false)
}

// A browser that collected a sale can't have the link to the card mailed without end.
func TestMailsAfterCollectingAreBounded(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	anna := s.anna()
	phone := s.took(s.offers(2450))
	phone.Submitted("/w/claim", filled(phone.Get("/w/claim"), "phone", anna.Phone, "name", "Anna Lindqvist", "agreed", "1"))
	first := phone.Post("/w/claimed", nil)
	for range 20 {
		if got := phone.Post("/w/claimed", nil); got.Code != first.Code || got.Text("main") != first.Text("main") {
			t.Errorf("a later answer differs: %d %q", got.Code, got.Text("main"))
		}
	}
	if n := len(s.mailed(*anna.Email)); n != 3 {
		t.Errorf("%d mails, want 3", n)
	}
}
