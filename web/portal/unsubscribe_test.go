package portal_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/web/webtest"
)

const urlencoded = "application/x-www-form-urlencoded"

// subscribed reports whether a customer gets e-mails.
func (s *shop) subscribed(who core.ID) bool {
	s.T.Helper()
	return shoptest.Query[bool](s.Shop, "select unsubscribed_at is null from loyalty.customer where id = $1", who)
}

// send sends a body to a link, as a mail program does or an old browser.
func (s *shop) send(link, body string, header ...string) webtest.Page {
	b := s.browser()
	return b.Do(b.Request(http.MethodPost, link, strings.NewReader(body), header...))
}

// noted is who did what to a customer's subscription, in order.
func (s *shop) noted(who core.ID) []string {
	s.T.Helper()
	return shoptest.QueryAll[string](s.Shop, `
		select concat_ws(' ', action, actor_kind, actor_id = subject_id, actor_name, address)
		from loyalty.audit_entry
		where tenant_id = $1 and subject_id = $2 and action in ('customer.subscribe', 'customer.unsubscribe')
		order by id`, s.By.Tenant.ID, who.String())
}

// "One button “Unsubscribe” (opening the link changes nothing: mail scanners open links); POST
// does it; afterwards the page offers “Subscribe again”. The page shows no stored name or e-mail."
func TestUnsubscribing(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	who := s.anna()
	link := s.unsubscribing(who.ID)
	for range 2 {
		asked := s.browser().Get(link)
		wellFormed(t, asked)
		if got := asked.Text("h1, button"); got != "Unsubscribe from e-mails? Unsubscribe" || asked.Text(".card-business") != s.By.Tenant.Name {
			t.Errorf("asked %q", asked.Text("main"))
		}
		s.browser().Ask(http.MethodHead, link)
		if !s.subscribed(who.ID) {
			t.Fatal("opening the link unsubscribed")
		}
	}
	form := s.browser().Get(link).Find("form")
	action, _ := form.Attr("action")
	if method, _ := form.Attr("method"); method != "post" || action != link || form.Find("input").Length() != 0 {
		t.Fatalf("the form posts to %q with %d fields", action, form.Find("input").Length())
	}

	done := s.browser().Ask(http.MethodPost, link, "Content-Type", urlencoded, "Sec-Fetch-Site", "same-origin")
	if done.Code != http.StatusOK || done.Text("h1, button") != "You're unsubscribed Subscribe again" || s.subscribed(who.ID) {
		t.Errorf("done: %d %q", done.Code, done.Text("main"))
	}
	if got := s.browser().Get(link).Text("h1, button"); got != "You're unsubscribed Subscribe again" {
		t.Errorf("opened again: %q", got)
	}

	again := done.Value("form input[name=subscribe]")
	back := s.send(link, "subscribe="+again, "Content-Type", urlencoded)
	if back.Code != http.StatusOK || back.Text("h1, button") != "You're subscribed Unsubscribe" || !s.subscribed(who.ID) {
		t.Errorf("subscribed again: %d %q", back.Code, back.Text("main"))
	}
	by := "customer t Anna Lind<b>qvist 192.0.2.1"
	if diff := cmp.Diff([]string{"customer.unsubscribe " + by, "customer.subscribe " + by}, s.noted(who.ID)); diff != "" {
		t.Errorf("the log (-want +got):\n%s", diff)
	}
	for _, page := range []webtest.Page{s.browser().Get(link), done, back} {
		for _, stored := range []string{"Anna", "qvist", *who.Email, who.Phone} {
			if strings.Contains(page.Text("html"), stored) {
				t.Errorf("a page shows %q: %q", stored, page.Text("html"))
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
		who := s.anna()
		link := s.unsubscribing(who.ID)
		for range 3 {
			a := s.send(link, c.body, c.header...)
			if a.Code != http.StatusOK || a.Text("h1") != "You're unsubscribed" || len(a.Header().Values("Set-Cookie")) != 0 {
				t.Errorf("%s: %d %q", name, a.Code, a.Text("main"))
			}
		}
		if s.subscribed(who.ID) || len(s.noted(who.ID)) != 1 {
			t.Errorf("%s: subscribed %t, noted %q", name, s.subscribed(who.ID), s.noted(who.ID))
		}
	}
}

// "Forged tokens 404", and of a link that was once for something else; revoking a customer's
// other links keeps this one: who wants no e-mails is never refused.
func TestWhoMayUnsubscribe(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	v := s.sent(off())
	link := s.unsubscribing(v.CustomerID)
	s.Exec("update loyalty.customer set link_version = link_version + 1 where id = $1", v.CustomerID)
	for name, path := range map[string]string{
		"forged": link[:len(link)-26] + "00000000000000000000000000", "a voucher's": "/unsubscribe/" + v.token, "nonsense": "/unsubscribe/x",
	} {
		if a := s.browser().Ask(http.MethodPost, path); a.Code != http.StatusNotFound {
			t.Errorf("%s: %d", name, a.Code)
		}
	}
	if a := other.browser().Ask(http.MethodPost, link); a.Code != http.StatusNotFound {
		t.Errorf("at another business: %d", a.Code)
	}
	if !s.subscribed(v.CustomerID) {
		t.Error("a forged link unsubscribed")
	}
	if a := s.browser().Ask(http.MethodPost, link); a.Code != http.StatusOK || s.subscribed(v.CustomerID) {
		t.Errorf("after other links were revoked: %d", a.Code)
	}
}

// "Erased customers: a neutral done page", and nothing is noted of them any more.
func TestAnErasedCustomerUnsubscribes(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	who := s.anna()
	link := s.unsubscribing(who.ID)
	if _, err := s.Privacy.Erase(t.Context(), s.By, who.ID); err != nil {
		t.Fatal(err)
	}
	for _, a := range []webtest.Page{
		s.browser().Get(link), s.browser().Ask(http.MethodPost, link), s.send(link, "subscribe=1", "Content-Type", urlencoded),
	} {
		if a.Code != http.StatusOK || a.Text("h1") != "You're unsubscribed" || a.Find("form").Length() != 0 || strings.Contains(a.Text("main"), "Erased") {
			t.Errorf("%d %q", a.Code, a.Text("main"))
		}
	}
	if noted := s.noted(who.ID); len(noted) != 0 {
		t.Errorf("noted %q", noted)
	}
}

// "The panel leads to the kept customer, and so do links that were mailed."
func TestLinksOfAMergedCustomer(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	kept, twin := s.anna(), s.AddCustomer(shoptest.Anna(shoptest.Phone()))
	s.Sale(twin.ID, s.kind, 12_450)
	card, link := s.card(twin), s.unsubscribing(twin.ID)
	digits, _ := s.shows(card)
	if _, err := core.Result(s.Merging.Merge(t.Context(), s.By, kept.ID, twin.ID, nil, nil)); err != nil {
		t.Fatal(err)
	}
	if got := s.browser().Get(card); got.Text(".wallet-name") != "Anna Lind<b>qvist" || got.Text(".wallet-balance") != "124 points" {
		t.Errorf("the duplicate's card: %q", got.Text("main"))
	}
	if _, err := s.config.Walkins.TakeCard(t.Context(), s.cashier, till, walkin.Key{Digits: digits}); !errors.Is(err, walkin.ErrPIN) {
		t.Errorf("the duplicate's PIN: %v", err)
	}
	digits, _ = s.shows(card)
	if held := s.take(digits); held.CustomerID != kept.ID {
		t.Errorf("a new PIN is %s's", held.CustomerID)
	}
	if a := s.send(link, ""); a.Code != http.StatusOK || s.subscribed(kept.ID) {
		t.Errorf("unsubscribing: %d %q", a.Code, a.Text("main"))
	}
	if got := s.noted(kept.ID); len(got) != 1 {
		t.Errorf("noted %q", got)
	}
	if _, err := s.Privacy.Erase(t.Context(), s.By, kept.ID); err != nil {
		t.Fatal(err)
	}
	if a := s.browser().Ask(http.MethodGet, card); a.Code != http.StatusNotFound {
		t.Errorf("after erasing: %d", a.Code)
	}
}
