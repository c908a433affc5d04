package portal_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/shoptest"
)

// reader is the link that turns the owner's weekly e-mail off.
func (s *shop) reader() string {
	s.T.Helper()
	s.Check(s.config.Notifications.Subscribe(s.T.Context(), s.By, false))
	s.Check(s.config.Notifications.Subscribe(s.T.Context(), s.By, true))
	id := shoptest.Query[core.ID](s.Shop, "select id from loyalty.weekly_preference where tenant_id = $1", s.By.Tenant.ID)
	token, err := s.config.Links.Token(link.WeeklyMail, s.By.Tenant.ID, id, 0)
	s.Check(err)
	return "/unsubscribe/weekly/" + token
}

func (s *shop) wantWeekly(when string, want bool) {
	s.T.Helper()
	if got, err := s.config.Notifications.Subscribed(s.T.Context(), s.By); err != nil || got != want {
		s.T.Errorf("%s, the weekly e-mail is on: %t, %v", when, got, err)
	}
}

// Opening the link of the weekly e-mail changes nothing. A mail program turns it off with one request from any
// site (RFC 8058), and the page turns it on again.
func TestWeeklyEmailIsTurnedOff(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	link := s.reader()
	asked := s.browser().Get(link)
	wellFormed(t, asked)
	if got := asked.Text("h1, button"); got != "Turn off the weekly e-mail? Turn off weekly e-mail" {
		t.Errorf("asked %q", asked.Text("main"))
	}
	s.wantWeekly("opened", true)
	for range 2 {
		if a := s.send(link, "List-Unsubscribe=One-Click", "Content-Type", urlencoded, "Sec-Fetch-Site", "cross-site", "Origin", "https://mail.example"); a.Code != http.StatusOK {
			t.Errorf("one click = %d", a.Code)
		}
		s.wantWeekly("after one click", false)
	}
	if a := s.send(link, "subscribe=1", "Content-Type", urlencoded); a.Text("h1") != "Weekly e-mail turned on" {
		t.Errorf("turned on: %q", a.Text("main"))
	}
	s.wantWeekly("turned on again", true)
}

// A forged link, a customer's and another business's are not found.
func TestWhoTurnsTheWeeklyEmailOff(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	own := s.reader()
	customers := strings.Replace(s.unsubscribing(s.anna().ID), "/unsubscribe/", "/unsubscribe/weekly/", 1)
	for name, link := range map[string]string{"forged": own[:len(own)-4] + "0000", "a customer's": customers, "another business's": other.reader(), "no token": "/unsubscribe/weekly/x"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			b := s.browser()
			if a := b.Do(b.Request(method, link, strings.NewReader(""))); a.Code != http.StatusNotFound {
				t.Errorf("%s %s = %d, want 404", method, name, a.Code)
			}
		}
	}
	s.wantWeekly("afterwards", true)
}
