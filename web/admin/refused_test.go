package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/webtest"
)

// "No page shows half-rendered content": a failed request for a fragment is answered with its message
// alone, never with a page.
func TestFragmentErrorsAreMessages(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	manager, cashier := s.signedIn(core.Manager), s.signedIn(core.Cashier)
	gone := customerPathOf(t, s, "Erik", "+46701234567")
	manager.Submit(gone+"/erase", webtest.Form("understood", "1"))
	for _, c := range []struct {
		who    *browser
		path   string
		status int
		words  string
	}{
		{manager, gone + "/adjust", http.StatusUnprocessableEntity, customer.ErrErased.Message},
		{manager, gone + "?cursor=nonsense", http.StatusUnprocessableEntity, webtest.MessageApart("cursor", core.InvalidChoice)},
		{manager, "/admin/transactions/new?search=" + strings.Repeat("x", 300), http.StatusUnprocessableEntity, webtest.MessageApart("search", core.MaxLength(255))},
		{cashier, gone + "/adjust", http.StatusForbidden, "Your role does not allow this. An owner of the business can do it, or give you another role."},
		{manager, "/admin/customers/01JZZZZZZZZZZZZZZZZZZZZZZZ/adjust", http.StatusNotFound, ""},
	} {
		a := c.who.Ask(http.MethodGet, c.path, "Hx-Request", "true")
		if a.Code != c.status || a.Body.String() != c.words || a.Find(".topbar").Length() != 0 {
			t.Errorf("%s = %d %q, want %d %q", c.path, a.Code, a.Body, c.status, c.words)
		}
		if a := c.who.Ask(http.MethodGet, c.path); a.Code != c.status || a.Find(".topbar").Length() != 1 {
			t.Errorf("%s as a page = %d %q", c.path, a.Code, a.Text("main"))
		}
	}
}

// customerPathOf adds a customer and returns the path of their page.
func customerPathOf(t *testing.T, s *shop, name, phone string) string {
	t.Helper()
	a := s.signedIn(core.Manager).Post("/admin/customers/new", webtest.Form("first_name", name, "last_name", "Ek", "phone", phone))
	if a.Code != http.StatusSeeOther {
		t.Fatalf("adding %s = %d %s", name, a.Code, a.Text(".invalid-feedback"))
	}
	return a.Header().Get("Location")
}

// A request without a session leads to the sign-in and back to the page. A form that wasn't saved
// gets a message.
func TestSignInAgain(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	here := s.origin() + "/admin/customers/new?search=Ida"
	away := s.stranger()
	opened := away.Ask(http.MethodGet, "/admin/customers?status=active")
	part := away.Ask(http.MethodGet, "/admin/customers?search=a", "Hx-Request", "true", "Referer", here)
	sent := away.Post("/admin/customers/new", webtest.Form("first_name", "Ida"), "Referer", here)
	foreign := away.Post("/admin/customers/new", webtest.Form("first_name", "Ida"), "Referer", "https://evil.example/admin")
	for _, led := range [][2]string{
		{opened.Header().Get("Location"), "/admin/sign-in?to=%2Fadmin%2Fcustomers%3Fstatus%3Dactive"},
		{part.Header().Get("Hx-Redirect"), "/admin/sign-in?to=%2Fadmin%2Fcustomers%2Fnew%3Fsearch%3DIda"},
		{sent.Header().Get("Location"), "/admin/sign-in?to=%2Fadmin%2Fcustomers%2Fnew%3Fsearch%3DIda&unsent=1"},
		{foreign.Header().Get("Location"), "/admin/sign-in?unsent=1"},
	} {
		if got, want := led[0], led[1]; got != want {
			t.Errorf("led to %s, want %s", got, want)
		}
	}
	// The script keeps the form, and signs in elsewhere.
	if kept := away.Post("/admin/customers/new", webtest.Form("first_name", "Ida"), "Referer", here, "Hx-Request", "true", "Hx-Boosted", "true"); kept.Code != http.StatusUnauthorized || kept.Body.String() != page.SignedOut {
		t.Errorf("a form sent by the script: %d %s", kept.Code, kept.Body)
	}
	if a := away.Get(sent.Header().Get("Location")); !a.Flashed(ui.Warning, "") {
		t.Errorf("after an unsaved form, the message is %q", a.Text("#flashes"))
	}
	if got := away.Get(opened.Header().Get("Location")).Text("#flashes"); got != "" {
		t.Errorf("after a page, the message is %q", got)
	}
	s.hired("maja@example.com")
	in := away.Post("/admin/sign-in", webtest.Form("email", "maja@example.com", "password", password, "to", "/admin/customers/new?search=Ida"))
	if got := in.Header().Get("Location"); got != "/admin/customers/new?search=Ida" {
		t.Errorf("and then led to %q", got)
	}
}

// Reloading a refused form, whose URL is its action, leads to the page with the form.
func TestFormActionRedirectsToItsPage(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	for path, want := range map[string]string{
		"/admin/settings/business/look": "/admin/settings/business",
		account + "/password":           account,
		"/admin/sign-out":               "/admin",
	} {
		if a := owner.Ask(http.MethodGet, path); a.Code != http.StatusSeeOther || a.Header().Get("Location") != want {
			t.Errorf("%s = %d to %q, want %s", path, a.Code, a.Header().Get("Location"), want)
		}
	}
}

// Malformed forms get an error page and change nothing. Invalid UTF-8 is replaced.
func TestMalformedForms(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	if got := owner.Submit(account+"/name", webtest.Form("name", "Bo\xff Ek")).Text(".topbar .d-lg-block"); got != "Bo\uFFFD Ek Owner" {
		t.Errorf("a name with invalid UTF-8 is %q", got)
	}
	made := owner.Post("/admin/types/new", webtest.Form("name", "Caf\xe9", "rule_type", "points", "points_per_unit", "1", "unit_cents", "1"))
	if made.Code != http.StatusSeeOther {
		t.Errorf("a type with invalid UTF-8 in its name = %d %s", made.Code, made.Text(".alert"))
	}
	if got := owner.Get("/admin/types").Text("tbody td:first-child"); !strings.HasPrefix(got, "Caf\uFFFD") {
		t.Errorf("the type is called %q", got)
	}
	place := owner.Submit("/admin/locations", webtest.Form("name", "Harbour")).Attr("form[action$='/active']", "action")
	for kind, body := range map[string]string{
		"application/json": `{"active":"0"}`, "multipart/form-data": "active=0", "multipart/form-data; boundary=x": "--x", "": "active=0", "text/plain": "active=0",
		"application/x-www-form-urlencoded": "active=off", "application/x-www-form-urlencoded; charset=utf-8": "",
	} {
		a := owner.Do(owner.Request(http.MethodPost, place, strings.NewReader(body), "Content-Type", kind, "Sec-Fetch-Site", "same-origin"))
		if a.Code != http.StatusBadRequest || a.Text(".empty-subtitle") != forms.IncompleteMessage {
			t.Errorf("%s as %q = %d %q", body, kind, a.Code, a.Text("main"))
		}
	}
	if list := owner.Get("/admin/locations"); list.Find("form[action='"+place+"'] [name=active]").AttrOr("value", "") != "0" || !strings.Contains(list.Text("tbody"), "Harbour") {
		t.Errorf("the location is %q", list.Text("tbody"))
	}
}

// "12,50" isn't a number of points in any notation; "1,250" is.
func TestPointsHaveNoFraction(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	manager := s.signedIn(core.Manager)
	path := customerPathOf(t, s, "Ida", "+46701234567")
	adjust := func(amount string) webtest.Page {
		return manager.Post(path+"/adjust", url.Values{"unit": {"points"}, "amount": {amount}, "reason": {"A test"}})
	}
	for _, amount := range []string{"12,50", "1,25", "12.50", "1,2,3", ",5", "5,", "1e3", "--5", "+-5"} {
		if a := adjust(amount); a.Code != http.StatusUnprocessableEntity || a.Text(".invalid-feedback") != webtest.Message("Change", core.MustBeInteger) {
			t.Errorf("%s = %d %q", amount, a.Code, a.Text(".invalid-feedback"))
		}
	}
	for _, amount := range []string{"+1,250", "1 250", "−250", "-1,000,000"} {
		want := http.StatusSeeOther
		if amount == "-1,000,000" {
			want = http.StatusUnprocessableEntity // more than the balance
		}
		if a := adjust(amount); a.Code != want {
			t.Errorf("%s = %d %q", amount, a.Code, a.Text(".alert"))
		}
	}
	if got := manager.Get(path).Text(".profile-amounts"); !strings.HasPrefix(got, "2,250 points") {
		t.Errorf("the balance is %q", got)
	}
}

// Two windows: what was voided in one can't be voided in the other, which says so and links to the record.
func TestVoidInTwoWindows(t *testing.T) {
	t.Parallel()
	refused := func(manager *browser, path, message string) {
		t.Helper()
		for _, a := range []webtest.Page{
			manager.Ask(http.MethodGet, path, "Hx-Request", "true"), manager.Ask(http.MethodGet, path), manager.Post(path, because), manager.Post(path, because, "Hx-Request", "true"),
		} {
			asked := "form[action='" + path + "'] "
			if a.Text(".alert-danger") != message || a.Find(asked+"button[type=submit]").Length() != 0 || a.Find(asked+"a.btn-primary").Length() != 1 {
				t.Errorf("%s = %d %q", path, a.Code, a.Text(asked))
			}
		}
	}
	till := newTill(t)
	manager := till.signedIn(core.Manager)
	sale := till.sold(manager, "1")
	if got := manager.Get(sale + "/void").Text("form p"); !strings.Contains(got, "1 point") {
		t.Errorf("the confirmation doesn't name the point: %q", got)
	}
	manager.Submit(sale+"/void", because)
	refused(manager, sale+"/void", "This transaction has already been voided.")
	nothing := till.sold(manager, "0.50")
	if a := manager.Submit(nothing+"/void", because); !a.Flashed(ui.Done, "") {
		t.Errorf("a sale that earned nothing: %q", a.Text("#flashes"))
	}

	s := newCounter(t)
	bun := s.offer("Bun", 10, -1)
	fulfilled, voided := s.redeem(bun), s.redeem(bun)
	s.manager.Submit(fulfilled+"/fulfil", nil)
	s.manager.Submit(voided+"/void", because)
	refused(s.manager, fulfilled+"/fulfil", "This redemption has already been fulfilled.")
	s.Exec("update loyalty.redemption set fulfilled_at = (fulfilled_at at time zone 'UTC' - interval '1 day') at time zone 'UTC' where status = 'fulfilled'")
	refused(s.manager, fulfilled+"/void", "This redemption was fulfilled more than 24 hours ago, so it can't be voided. To return the cost, adjust the customer's balance.")
	refused(s.manager, voided+"/void", "This redemption has been voided.")
}

// A customer was deactivated or erased in another window: the sale's form and the sale are refused.
func TestSaleToInactiveCustomer(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	manager, cashier := s.signedIn(core.Manager), s.signedIn(core.Cashier)
	path := "/admin/customers/" + s.elsa.ID.String()
	sale := s.sale(cashier, "12.50")
	refused := func(name string) {
		t.Helper()
		for _, a := range []webtest.Page{cashier.Ask(http.MethodGet, "/admin/transactions/new?customer_ulid="+s.elsa.ID.String()), cashier.Post("/admin/transactions/new", sale)} {
			if got := a.Text(".alert-danger"); got == "" || !strings.Contains(got, name) {
				t.Errorf("%d %q, want a message about %q", a.Code, got, name)
			}
		}
	}
	manager.Submit(path+"/deactivate", nil)
	refused("Elsa Berg <b>")
	manager.Submit(path+"/erase", webtest.Form("understood", "1"))
	refused("erased")
}

// A list with an invalid filter shows the error, and not its empty state for new businesses.
func TestRefusedFilterIsNotAnEmptyList(t *testing.T) {
	t.Parallel()
	manager := newShop(t).signedIn(core.Manager)
	for _, path := range []string{
		"/admin/customers?cursor=x", "/admin/audit?from=x", "/admin/audit?cursor=x", "/admin/transactions?cursor=x", "/admin/transactions?from=x",
		"/admin/redemptions?cursor=x", "/admin/redemptions?status=x", "/admin/rewards?cursor=x", "/admin/coupons?cursor=x",
	} {
		unfiltered, _, _ := strings.Cut(path, "?")
		a, list := manager.Ask(http.MethodGet, path), manager.Get(unfiltered)
		if got := a.Text("main .empty-title"); a.Code != http.StatusUnprocessableEntity || a.Text("main [role=alert]") == "" || got != "" && got == list.Text("main .empty-title") {
			t.Errorf("%s: %d %q, %q", path, a.Code, a.Text("main [role=alert]"), got)
		}
	}
}

// Whatever is sent with a form of the panel, a message that asks to fill in a field is at that field, and a violation
// of a field that the page doesn't have says what is wrong. The browser of the tests checks each page.
func TestRefusalsAreAtTheirFields(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	owner := s.signedIn(core.Owner)
	records := s.records(owner)
	buyer, coupon := "/admin/customers/"+s.elsa.ID.String(), s.made(webtest.Form("name", "Five points", "benefit_type", "points", "points", "5", "max_per_customer", "9"))
	paths := s.pages(owner, records, buyer, coupon)
	if refused := owner.RefuseForms(paths, "sign-out", "/erase", "/password", "/sessions", "/factor", "/two-step", "/theme", "/staff/"); refused < 100 {
		t.Errorf("%d refusals of %d pages", refused, len(paths))
	}
}
