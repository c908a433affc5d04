package portal_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/privacy"
)

const urlencoded = "application/x-www-form-urlencoded"

// subscribed reports whether a customer gets e-mails.
func (s *shop) subscribed(t *testing.T, who core.ID) bool {
	t.Helper()
	found, err := s.Customers.Find(t.Context(), s.by, who)
	if err != nil {
		t.Fatal(err)
	}
	return found.UnsubscribedAt == nil
}

// noted is who did what to a customer's subscription, in order.
func (s *shop) noted(t *testing.T, who core.ID) (entries []string) {
	t.Helper()
	err := dbtest.Owner(s.db).QueryRow(t.Context(), `
		select coalesce(array_agg(concat_ws(' ', action, actor_kind, actor_id = subject_id, actor_name, address) order by id), '{}')
		from loyalty.audit_entry
		where tenant_id = $1 and subject_id = $2 and action in ('customer.subscribe', 'customer.unsubscribe')`,
		s.by.Tenant.ID, who.String()).Scan(&entries)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// "One button “Unsubscribe” (opening the link changes nothing: mail scanners open links); POST
// does it; afterwards the page offers “Subscribe again”. The page shows no stored name or e-mail."
func TestUnsubscribing(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	who := s.anna(t)
	link := s.unsubscribing(t, who.ID)
	for range 2 {
		asked := s.get(t, link)
		asked.wellFormed(t)
		if got := asked.words("h1, button"); got != "Unsubscribe from e-mails? Unsubscribe" || asked.words(".card-business") != s.by.Tenant.Name {
			t.Errorf("asked %q", asked.words("main"))
		}
		s.ask(t, http.MethodHead, link, "")
		if !s.subscribed(t, who.ID) {
			t.Fatal("opening the link unsubscribed")
		}
	}
	form := s.get(t, link).Find("form")
	action, _ := form.Attr("action")
	if method, _ := form.Attr("method"); method != "post" || action != link || form.Find("input").Length() != 0 {
		t.Fatalf("the form posts to %q with %d fields", action, form.Find("input").Length())
	}

	done := s.ask(t, http.MethodPost, link, "", "Content-Type", urlencoded, "Sec-Fetch-Site", "same-origin")
	if done.Code != http.StatusOK || done.words("h1, button") != "You're unsubscribed Subscribe again" || s.subscribed(t, who.ID) {
		t.Errorf("done: %d %q", done.Code, done.words("main"))
	}
	if got := s.get(t, link).words("h1, button"); got != "You're unsubscribed Subscribe again" {
		t.Errorf("opened again: %q", got)
	}

	again := done.Find("form input[name=subscribe]").AttrOr("value", "")
	back := s.ask(t, http.MethodPost, link, "subscribe="+again, "Content-Type", urlencoded)
	if back.Code != http.StatusOK || back.words("h1, button") != "You're subscribed Unsubscribe" || !s.subscribed(t, who.ID) {
		t.Errorf("subscribed again: %d %q", back.Code, back.words("main"))
	}
	by := "customer t Anna Lind<b>qvist 192.0.2.1"
	if diff := cmp.Diff([]string{"customer.unsubscribe " + by, "customer.subscribe " + by}, s.noted(t, who.ID)); diff != "" {
		t.Errorf("the log (-want +got):\n%s", diff)
	}
	for _, page := range []answer{s.get(t, link), done, back} {
		for _, stored := range []string{"Anna", "qvist", *who.Email, who.Phone} {
			if strings.Contains(page.words("html"), stored) {
				t.Errorf("a page shows %q: %q", stored, page.words("html"))
			}
		}
	}
}

// "RFC 8058: the mail program posts cross-origin without cookies; must not be refused;
// idempotent", and unsubscribes whatever it sends.
func TestOneClick(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	const boundary = "--x\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--x--\r\n"
	for name, c := range map[string]struct {
		body   string
		header []string
	}{
		"form":                {"List-Unsubscribe=One-Click", []string{"Content-Type", urlencoded}},
		"multipart form":      {boundary, []string{"Content-Type", "multipart/form-data; boundary=x"}},
		"from another site":   {"List-Unsubscribe=One-Click", []string{"Content-Type", urlencoded, "Sec-Fetch-Site", "cross-site", "Origin", "https://mail.example"}},
		"from a neighbour":    {"List-Unsubscribe=One-Click", []string{"Content-Type", urlencoded, "Sec-Fetch-Site", "same-site"}},
		"nothing":             {"", nil},
		"what can't be read":  {"%zz=%", []string{"Content-Type", urlencoded}},
		"far too much":        {"subscribe=1&x=" + strings.Repeat("x", 1<<20), []string{"Content-Type", urlencoded}},
		"subscribe as a text": {"subscribe=1", []string{"Content-Type", "text/plain"}},
	} {
		who := s.anna(t)
		link := s.unsubscribing(t, who.ID)
		for range 3 {
			a := s.ask(t, http.MethodPost, link, c.body, c.header...)
			if a.Code != http.StatusOK || a.words("h1") != "You're unsubscribed" || len(a.Header().Values("Set-Cookie")) != 0 {
				t.Errorf("%s: %d %q", name, a.Code, a.words("main"))
			}
		}
		if s.subscribed(t, who.ID) || len(s.noted(t, who.ID)) != 1 {
			t.Errorf("%s: subscribed %t, noted %q", name, s.subscribed(t, who.ID), s.noted(t, who.ID))
		}
	}
}

// "Forged tokens 404", and of a link that was once for something else; revoking a customer's
// other links keeps this one: who wants no e-mails is never refused.
func TestWhoMayUnsubscribe(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	v := s.sent(t, off())
	link := s.unsubscribing(t, v.CustomerID)
	s.exec(t, "update loyalty.customer set link_version = link_version + 1 where id = $1", v.CustomerID)
	for name, path := range map[string]string{
		"forged": link[:len(link)-26] + "00000000000000000000000000", "a voucher's": "/unsubscribe/" + v.token, "nonsense": "/unsubscribe/x",
	} {
		if a := s.ask(t, http.MethodPost, path, ""); a.Code != http.StatusNotFound {
			t.Errorf("%s: %d", name, a.Code)
		}
	}
	if a := other.ask(t, http.MethodPost, link, ""); a.Code != http.StatusNotFound {
		t.Errorf("at another business: %d", a.Code)
	}
	if !s.subscribed(t, v.CustomerID) {
		t.Error("a forged link unsubscribed")
	}
	if a := s.ask(t, http.MethodPost, link, ""); a.Code != http.StatusOK || s.subscribed(t, v.CustomerID) {
		t.Errorf("after other links were revoked: %d", a.Code)
	}
}

// "Erased customers: a neutral done page", and nothing is noted of them any more.
func TestAnErasedCustomerUnsubscribes(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	who := s.anna(t)
	link := s.unsubscribing(t, who.ID)
	if _, err := privacy.NewService(s.db).Erase(t.Context(), s.by, who.ID); err != nil {
		t.Fatal(err)
	}
	for _, a := range []answer{
		s.get(t, link), s.ask(t, http.MethodPost, link, ""), s.ask(t, http.MethodPost, link, "subscribe=1", "Content-Type", urlencoded),
	} {
		if a.Code != http.StatusOK || a.words("h1") != "You're unsubscribed" || a.Find("form").Length() != 0 || strings.Contains(a.words("main"), "Erased") {
			t.Errorf("%d %q", a.Code, a.words("main"))
		}
	}
	if noted := s.noted(t, who.ID); len(noted) != 0 {
		t.Errorf("noted %q", noted)
	}
}
