package admin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/webtest"
)

func (s *till) path() string { return "/admin/customers/" + s.elsa.ID.String() }

// adjusted adjusts Elsa's balance.
func (s *till) adjusted(unit string, n int64, reason string) {
	s.T.Helper()
	if _, err := core.Result(s.Customers.Adjust(s.T.Context(), s.By, s.elsa.ID, customer.Adjustment{Unit: unit, Amount: n, Reason: reason}, nil)); err != nil {
		s.T.Fatal(err)
	}
	dbtest.Tick(s.DB)
}

// redeemed exchanges ten of Elsa's points for an espresso.
func (s *till) redeemed() core.ID {
	s.T.Helper()
	espresso := s.AddReward(reward.New{Name: "Free <i>espresso", PointsCost: new(int64(10))})
	made := s.Redeem(s.elsa.ID, espresso)
	dbtest.Tick(s.DB)
	return made.ID
}

// voucher sends Elsa a coupon worth points and returns her voucher.
func (s *till) voucher(name string, points int64) core.ID {
	s.T.Helper()
	return s.Voucher(s.Coupon(coupon.New{Name: name, BenefitType: "points", BenefitValue: &points}).ID, s.elsa.ID)
}

// "A timeline that explains every point (what, when, by whom, why)".
func TestTheTimelineExplainsEveryPoint(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	manager := s.signedIn(core.Manager)
	manager.Submit(s.sold(manager, "12.50")+"/void", because)
	dbtest.Tick(s.DB)
	s.adjusted("points", 30, "Forgotten <i>card")
	s.VoidRedemption(s.redeemed())
	dbtest.Tick(s.DB)
	s.RedeemVoucher(s.voucher("Welcome <i>back", 7))
	dbtest.Tick(s.DB)
	s.adjusted("stamps", 1, "A stamp")
	token := s.By
	token.Kind, token.Name = core.ByToken, "Web <i>shop"
	one, reason := int64(-1), "Taken"
	if _, err := core.Result(s.Customers.Adjust(t.Context(), token, s.elsa.ID, customer.Adjustment{Unit: "stamps", Amount: one, Reason: reason}, nil)); err != nil {
		t.Fatal(err)
	}

	shown := s.signedIn(core.Owner).Get(s.path())
	want := []struct{ cause, note, amount, after string }{
		{"Balance adjusted", "“Taken” · API token “Web <i>shop”", "−1 stamp", "0"},
		{"Balance adjusted", "“A stamp”", "+1 stamp", "1"},
		{"Redeemed “Welcome <i>back”", "Voucher", "+7 points", "37"},
		{"Redeemed Free <i>espresso Voided", "", "0 points", "30"},
		{"Balance adjusted", "“Forgotten <i>card”", "+30 points", "30"},
		{"Sale of € 12.50 Voided", "Purchase · Bo Ek", "0 points", "0"},
	}
	entries := shown.Find(".timeline-entry")
	if entries.Length() != len(want) {
		t.Fatalf("%d entries: %s", entries.Length(), shown.Text(".timeline-entry"))
	}
	if got := shown.Text(".timeline-day"); !strings.HasPrefix(got, "Today, ") || strings.Contains(got, "spent") {
		t.Errorf("the day is %q", got)
	}
	for i, w := range want {
		at := fmt.Sprintf(".timeline-entry:nth-child(%d) ", i+2) // after the day
		title, note, amount, after := shown.Text(at+".timeline-title"), shown.Text(at+".timeline-note"), shown.Text(at+".timeline-amount"), shown.Text(at+".timeline-balance")
		if title != w.cause || !strings.HasPrefix(note, w.note) || amount != w.amount || after != "Balance "+w.after {
			t.Errorf("entry %d is %q, %q, %q, %q, want %+v", i, title, note, amount, after, w)
		}
	}
	if sale := shown.Attr(".timeline-entry:nth-last-child(2) .timeline-title a", "href"); !strings.HasPrefix(sale, "/admin/transactions/") {
		t.Errorf("the sale is at %q", sale)
	}
	if shown.Find("main i, #history b").Length() > 0 {
		t.Error("a name was rendered as a tag")
	}
	if got := shown.Text("#customer .profile-amounts"); got != "37 points" {
		t.Errorf("balances: %q", got)
	}
}

// "Show more" appends to the timeline, and is a plain link without scripts.
func TestTimelinePages(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	for i := range 60 {
		s.adjusted("points", 1, fmt.Sprintf("Number %d.", i))
	}
	cashier := s.signedIn(core.Cashier)
	first := cashier.Get(s.path())
	next := first.Attr("#more a", "href")
	if first.Find(".timeline-day").Length() != 1 {
		t.Errorf("days: %q", first.Text(".timeline-day"))
	}
	more := cashier.Get(next, "Hx-Request", "true", "Hx-Target", "more")
	if more.Find("ol, section, main, .timeline-day").Length() > 0 || more.Find("li.timeline-entry").Length() != 25 || more.Find("li.timeline-entry[autofocus]").Length() != 1 {
		t.Errorf("more is %s", more.Body)
	}
	if got := more.Text("li.timeline-entry:first-child"); !strings.Contains(got, "Number 34.") {
		t.Errorf("more begins with %q", got)
	}
	whole := cashier.Get(next)
	if got := whole.Text("#history .timeline-day + li"); !strings.Contains(got, "Number 34.") || whole.Text("h1") != "Elsa Berg <b>" {
		t.Errorf("without scripts it begins with %q", got)
	}
	if back := whole.Attr("#history .card-footer a", "href"); back != s.path() {
		t.Errorf("back leads to %q", back)
	}
	last := whole.Attr("#more a", "href")
	if end := cashier.Get(last); end.Find(".timeline-entry").Length() != 10 || end.Find("#more").Length() != 0 {
		t.Errorf("the last page has %d entries", end.Find(".timeline-entry").Length())
	}
}

// "Transactions (void with confirmation), redemptions (fulfil, void), vouchers".
func TestCustomerHistory(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	other := s.add("Åke", "Ahl", "070 174 06 05")
	manager := s.signedIn(core.Manager)
	for _, view := range []string{"", "transactions", "redemptions", "vouchers"} {
		if got := manager.Get(s.path() + "?view=" + view); got.Find("#history .empty").Length() != 1 {
			t.Errorf("the empty view %q shows %q", view, got.Text("#history"))
		}
	}
	sale := s.sold(manager, "20")
	redemption := "/admin/redemptions/" + s.redeemed().String()
	s.voucher("Welcome <i>back", 7)

	part := manager.Get(s.path()+"?view=transactions", "Hx-Request", "true", "Hx-Target", "history")
	if part.Find("header, #customer").Length() > 0 || part.Find("#view-transactions[aria-current]").Length() != 1 {
		t.Errorf("htmx got %s", part.Body)
	}
	if void := part.Attr("tbody a[href$=void]", "href"); void != sale+"/void" {
		t.Errorf("it is voided at %q", void)
	}
	redemptions := manager.Get(s.path() + "?view=redemptions")
	if at, _ := redemptions.Find("tbody a").First().Attr("href"); at != redemption {
		t.Errorf("the redemption is at %q", at)
	}
	if fulfil := redemptions.Attr("tbody a.fulfil", "href"); fulfil != redemption+"/fulfil" {
		t.Errorf("it is fulfilled at %q", fulfil)
	}
	if got := manager.Get(s.path() + "?view=vouchers").Text("#history tbody"); !strings.HasPrefix(got, "Welcome <i>back 7 points 7 points") || !strings.Contains(got, "Pending") || !strings.Contains(got, "Redeem") {
		t.Errorf("vouchers: %q", got)
	}
	for _, view := range []string{"", "transactions", "redemptions"} {
		if got := manager.Get("/admin/customers/" + other.ID.String() + "?view=" + view); got.Find("#history .empty").Length() != 1 {
			t.Errorf("Åke's %q shows %q", view, got.Text("#history"))
		}
	}
	if a := manager.Ask(http.MethodGet, s.path()+"?view=secrets"); a.Code != http.StatusNotFound {
		t.Errorf("an unknown view: %d", a.Code)
	}
	if a := manager.Ask(http.MethodGet, s.path()+"?cursor=x"); a.Code != http.StatusUnprocessableEntity {
		t.Errorf("a page that is none: %d", a.Code)
	}
}

// "What one may not do is not offered", and decisions §9: cashiers look up, record and redeem; managers
// do everything here.
func TestCustomerActionsByRole(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	actions := func(a webtest.Page) string {
		var paths []string
		a.Find(".page-header .btn-list a, .page-header .btn-list form").Each(func(_ int, action *goquery.Selection) {
			path := action.AttrOr("href", action.AttrOr("action", ""))
			paths = append(paths, strings.ReplaceAll(strings.TrimPrefix(path, s.path()), s.elsa.ID.String(), "ULID"))
		})
		return strings.Join(paths, " ")
	}
	const atTheTill = "/admin/transactions/new?customer_ulid=ULID /admin/redemptions/new?customer_ulid=ULID"
	cashier, manager := s.signedIn(core.Cashier), s.signedIn(core.Manager)
	shown := cashier.Get(s.path())
	if got := actions(shown); got != atTheTill+" /card-link" || shown.Find("#customer a.btn, #customer .tag-add, #customer-note").Length() != 0 {
		t.Errorf("a cashier is offered %q", got)
	}
	if got := actions(manager.Get(s.path())); got != atTheTill+" /adjust /deactivate /till/customers/ULID/card /card-link /merge /data /erase" {
		t.Errorf("a manager is offered %q", got)
	}
	for _, p := range []string{"/edit", "/adjust", "/data", "/erase", "/deactivate", "/note", "/tags", "/merge"} {
		if a := cashier.Ask(http.MethodGet, s.path()+p); a.Code != http.StatusForbidden {
			t.Errorf("a cashier's %s = %d, want 403", p, a.Code)
		}
	}
	for _, p := range []string{"/edit", "/adjust", "/erase", "/deactivate", "/activate", "/note", "/tags", "/tags/remove", "/keys/remove", "/merge"} {
		if a := cashier.Post(s.path()+p, webtest.Form("understood", "1")); a.Code != http.StatusForbidden {
			t.Errorf("a cashier's POST %s = %d, want 403", p, a.Code)
		}
	}
}

func TestCustomerOfAnotherBusinessIsNotFound(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	s.adjusted("points", 5, "Five")
	stranger := newShop(t).signedIn(core.Owner)
	for _, p := range []string{
		"", "?view=transactions", "?view=redemptions", "?view=vouchers", "/edit", "/adjust", "/adjust/after?amount=1", "/data", "/erase", "/deactivate",
		"/note", "/tags", "/merge", "/merged", "?events=sales",
	} {
		if a := stranger.Ask(http.MethodGet, s.path()+p); a.Code != http.StatusNotFound || strings.Contains(a.Body.String(), "Elsa") {
			t.Errorf("GET %q = %d, want 404", p, a.Code)
		}
		if a := stranger.Ask(http.MethodGet, s.path()+p, "Hx-Request", "true", "Hx-Target", "customer"); a.Code != http.StatusNotFound {
			t.Errorf("its fragment %q = %d, want 404", p, a.Code)
		}
	}
	for _, p := range []string{"/edit", "/adjust", "/erase", "/deactivate", "/activate", "/note", "/tags", "/tags/remove", "/keys/remove", "/merge"} {
		sent := webtest.Form("note", "x", "tag", "x", "first_name", "X", "last_name", "X", "phone", "070 1", "unit", "points", "amount", "5", "reason", "x", "understood", "1")
		if a := stranger.Post(s.path()+p, sent); a.Code != http.StatusNotFound {
			t.Errorf("POST %s = %d, want 404", p, a.Code)
		}
	}
	if now, err := s.Customers.Find(t.Context(), s.By, s.elsa.ID); err != nil || now.FirstName != "Elsa" || now.Status != customer.Active || now.PointsBalance != 5 {
		t.Errorf("Elsa is %+v, %v", now, err)
	}
}

// The number of round trips doesn't grow with the history.
func TestRoundTripsOfCustomers(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := &till{shop: newShopOn(t, d)}
	for i := range 30 {
		s.elsa = s.add("Elsa", fmt.Sprintf("Berg %d", i), fmt.Sprintf("070 100 00 %02d", i))
	}
	cashier := s.signedIn(core.Cashier)
	trips := func(path string, want int) {
		t.Helper()
		cashier.Get(path)
		before := count()
		cashier.Get(path)
		if got := count() - before; got != want {
			t.Errorf("%s makes %d round trips, want %d", path, got, want)
		}
	}
	trips("/admin/customers", 5)
	trips("/admin/customers?search=berg", 4)
	trips("/admin/customers?search=berg+29", 4)
	trips("/admin/customers?search=unknown", 4)
	trips("/admin/transactions", 5)
	trips("/admin/transactions?search=berg", 6)
	trips("/admin/search", 3)
	trips("/admin/search?search=berg", 3)
	trips("/admin/transactions/new", 4) // without sales, the newest customers
	trips(s.path(), 6)                  // without entries, the customer is looked for
	for range 40 {
		s.adjusted("points", 1, "One")
	}
	trips(s.path(), 7) // counts the entries, and what was spent on their days
	trips(s.path()+"?view=transactions", 5)
	trips(s.path()+"?view=redemptions", 5)
	trips(s.path()+"?view=vouchers", 6)
}

// "Create, edit": on its own page and in place of the card, with the same form.
func TestEditCustomer(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	s.add("Åke", "Ahl", "070 174 06 05")
	manager := s.signedIn(core.Manager)
	inline := manager.Get(s.path()+"/edit", "Hx-Request", "true", "Hx-Target", "customer")
	if inline.Find("header, h1").Length() > 0 || inline.Find("form#customer").Length() != 1 {
		t.Errorf("htmx got %s", inline.Body)
	}
	if to := inline.Attr(".card-footer a", "hx-get"); to != s.path() {
		t.Errorf("cancelling leads to %q", to)
	}
	if card := manager.Get(s.path(), "Hx-Request", "true", "Hx-Target", "customer"); card.Find("section#customer").Length() != 1 || card.Find("#history").Length() != 0 {
		t.Errorf("the card is %s", card.Body)
	}
	whole := manager.Get(s.path() + "/edit")
	if whole.Text("h1") != "Edit customer" || whole.Find("form#customer").Length() != 1 || whole.Find("[hx-get='"+s.path()+"']").Length() != 0 {
		t.Errorf("without scripts: %s", whole.Text("main"))
	}

	sent := webtest.Form("first_name", "Elsa <i>", "last_name", "Berg", "phone", "+46 70 174 06 05", "email", "elsa@example.com")
	taken := manager.Post(s.path()+"/edit", sent, "Hx-Request", "true")
	if taken.Code != http.StatusUnprocessableEntity || taken.Text("#field-phone-error") != webtest.Message("Phone", core.Duplicate) || taken.Find("#field-phone[autofocus]").Length() != 1 {
		t.Errorf("another customer's number: %d %q", taken.Code, taken.Text(".invalid-feedback"))
	}
	if typed := taken.Value("#field-first_name"); typed != "Elsa <i>" {
		t.Errorf("the first name is now %q", typed)
	}
	sent.Set("phone", "08-465 004 13")
	if a := manager.Post(s.path()+"/edit", sent, "Hx-Request", "true"); a.Code != http.StatusNoContent || a.Header().Get("Hx-Redirect") != s.path() {
		t.Errorf("saved: %d %v", a.Code, a.Header())
	}
	shown := manager.Get(s.path())
	if !shown.Flashed(ui.Done, "Elsa <i> Berg") {
		t.Errorf("flash = %q", shown.Text("#flashes"))
	}
	if got := shown.Text("#customer"); !strings.Contains(got, "08-465 004 13") || shown.Find("#customer-email").Text() != "elsa@example.com" || shown.Text("h1") != "Elsa <i> Berg" {
		t.Errorf("the card says %q", got)
	}
	sent.Set("email", "")
	if cleared := manager.Submit(s.path()+"/edit", sent); cleared.Find("#customer a[href^='mailto:']").Length() != 0 {
		t.Errorf("without an address: %q", cleared.Text("#customer"))
	}
}

// "Deactivate": after a confirmation. Activating again needs none.
func TestDeactivateCustomer(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	manager := s.signedIn(core.Manager)
	asked := manager.Get(s.path()+"/deactivate", "Hx-Request", "true")
	if got := asked.Text("#dialog-title"); !strings.Contains(got, "Elsa Berg <b>") || asked.Find("form .btn-danger").Length() != 1 {
		t.Errorf("the dialog is %q", asked.Text("body"))
	}
	if got := manager.Get(s.path() + "/deactivate").Text("h1"); !strings.Contains(got, "Elsa Berg <b>") {
		t.Errorf("without scripts: %q", got)
	}
	done := manager.Submit(s.path()+"/deactivate", nil)
	if got := done.Text("#customer .badge"); got != "Inactive" || done.Find("a[href^='/admin/transactions/new']").Length() != 0 {
		t.Errorf("deactivated: %q, a sale is offered: %d", got, done.Find("a[href^='/admin/transactions/new']").Length())
	}
	if back := manager.Submit(s.path()+"/activate", nil); back.Text("#customer .badge") != "Active" || !back.Flashed(ui.Done, "Elsa Berg <b>") {
		t.Errorf("activated: %q", back.Text("#customer .badge"))
	}
}

// "Manual adjustment with a required reason (manager and up)".
func TestAdjustBalance(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	s.adjusted("points", 1000, "A start")
	manager := s.signedIn(core.Manager)
	for query, want := range map[string]string{
		"unit=points&amount=50": "1,000 points 1,050 points", "unit=points&amount=−1,000": "1,000 points 0 points",
		"unit=stamps&amount=%2B2": "0 stamps 2 stamps", "unit=points&amount=-1001": "",
		"unit=points&amount=lots": "", "unit=points&amount=": "", "unit=points&amount=9223372036854775807": "",
	} {
		if got := manager.Get(s.path()+"/adjust/after?"+query, "Hx-Request", "true").Text("#after .num"); got != want {
			t.Errorf("%s says %q, want %q", query, got, want)
		}
		if got := manager.Get(s.path() + "/adjust?" + query).Text("#after .num"); got != want {
			t.Errorf("without scripts %s says %q, want %q", query, got, want)
		}
	}
	if got := manager.Get(s.path() + "/adjust?unit=points&amount=-1001").Text("#after .text-red"); !strings.Contains(got, "1,000 points") {
		t.Errorf("more than the balance: %q", got)
	}
	dialog := manager.Get(s.path()+"/adjust", "Hx-Request", "true")
	if dialog.Find("header, noscript").Length() > 0 || dialog.Find("#dialog-title").Length() != 1 || !strings.Contains(dialog.Text("fieldset"), "1,000") {
		t.Errorf("the dialog is %q", dialog.Text("form"))
	}
	refused := manager.Post(s.path()+"/adjust", webtest.Form("unit", "stamps", "amount", "some", "reason", ""))
	if got := refused.Text(".invalid-feedback"); refused.Code != http.StatusUnprocessableEntity || got != webtest.Message("Change", core.MustBeInteger)+" "+webtest.Message("Reason", core.Required) {
		t.Errorf("refused: %d %q", refused.Code, got)
	}
	if typed := refused.Value("#field-amount"); typed != "some" || refused.Find("input[value=stamps][checked]").Length() != 1 {
		t.Errorf("what was typed is now %q", typed)
	}
	key := func() string {
		key := manager.Get(s.path() + "/adjust").Value("input[name=form_key]")
		return key
	}
	tooMany := manager.Post(s.path()+"/adjust", webtest.Form("form_key", key(), "unit", "points", "amount", "-1001", "reason", "All"))
	if got := tooMany.Text("form .alert"); tooMany.Code != http.StatusUnprocessableEntity || got != "Insufficient points balance." {
		t.Errorf("too many: %d %q", tooMany.Code, got)
	}
	sent := webtest.Form("form_key", key(), "unit", "points", "amount", "-1", "reason", "One <b>too many")
	done := manager.Submit(s.path()+"/adjust", sent)
	if !done.Flashed(ui.Done, "−1 point") {
		t.Errorf("flash = %q", done.Text("#flashes"))
	}
	if got := done.Text(".timeline-day + .timeline-entry"); !strings.Contains(got, "One <b>too many") {
		t.Errorf("the timeline says %q", got)
	}
	if got := s.balance(); got != 999 {
		t.Errorf("balance = %d, want 999", got)
	}
}

// "One submit for two clicks": the same form, sent twenty times at once, is one adjustment.
func TestDoubleClickAdjustsOnce(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	manager := s.signedIn(core.Manager)
	key := manager.Get(s.path() + "/adjust").Value("input[name=form_key]")
	sent := webtest.Form("form_key", key, "unit", "points", "amount", "50", "reason", "Sorry")
	var clicks sync.WaitGroup
	for range 20 {
		again := manager.Clone()
		clicks.Go(func() {
			if a := again.Post(s.path()+"/adjust", sent); a.Code != http.StatusSeeOther || a.Header().Get("Location") != s.path() {
				t.Errorf("a click is answered %d to %q", a.Code, a.Header().Get("Location"))
			}
		})
	}
	clicks.Wait()
	if got := s.balance(); got != 50 {
		t.Errorf("balance = %d, want 50", got)
	}
}

// "Personal data: download of all data of a customer".
func TestDownloadCustomerData(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	s.adjusted("points", 5, "Five")
	file := s.signedIn(core.Manager).Get(s.path() + "/data")
	h := file.Header()
	if h.Get("Content-Type") != "application/json" || h.Get("Content-Disposition") != "attachment; filename=customer-"+s.elsa.ID.String()+".json" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("headers: %v", h)
	}
	var data struct {
		Customer struct {
			LastName string `json:"last_name"`
		}
		Entries []struct{ Reason string } `json:"ledger_entries"`
	}
	if err := json.Unmarshal(file.Body.Bytes(), &data); err != nil {
		t.Fatal(err)
	}
	if data.Customer.LastName != "Berg <b>" || len(data.Entries) != 1 || data.Entries[0].Reason != "Five" {
		t.Errorf("the file says %+v", data)
	}
}

// "Erase (anonymises, keeps the ledger sound)": only with the checkbox, and permanently.
func TestEraseCustomer(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	manager := s.signedIn(core.Manager)
	sale := s.sold(manager, "34")
	s.redeemed()
	asked := manager.Get(s.path() + "/erase")
	if got := asked.Text("main"); !strings.Contains(asked.Text("h1"), "Elsa Berg <b>") || !strings.Contains(got, "24 points and 0 stamps") {
		t.Errorf("asked %q", got)
	}
	refused := manager.Post(s.path()+"/erase", nil)
	if refused.Code != http.StatusUnprocessableEntity || refused.Find("#field-understood-error").Length() != 1 {
		t.Errorf("without the checkbox: %d %q", refused.Code, refused.Text(".invalid-feedback"))
	}
	if c, err := s.Customers.Find(t.Context(), s.By, s.elsa.ID); err != nil || c.Erased {
		t.Errorf("erased without the checkbox: %v, %v", c, err)
	}
	done := manager.Submit(s.path()+"/erase", webtest.Form("understood", "1"))
	if strings.Contains(done.Body.String(), "Elsa") {
		t.Errorf("erased: %q", done.Text("main"))
	}
	if got := done.Text(".page-header .btn-list"); !strings.HasPrefix(got, "ULID") || done.Find("#customer a, #customer button").Length() != 0 {
		t.Errorf("an erased customer offers %q", got)
	}
	if got, _ := done.Find(".timeline-title a").Last().Attr("href"); got != sale || done.Text(".profile-amounts") != "24 points" {
		t.Errorf("the ledger shows %q, %q", got, done.Text(".profile-amounts"))
	}
	for _, p := range []string{"/edit", "/adjust", "/erase", "/deactivate"} {
		if a := manager.Ask(http.MethodGet, s.path()+p); a.Code != http.StatusUnprocessableEntity || !strings.Contains(a.Text("main"), customer.ErrErased.Message) {
			t.Errorf("%s of an erased customer: %d %q", p, a.Code, a.Text("main"))
		}
	}
	for p, sent := range map[string]string{"/activate": "", "/adjust": "reason"} {
		if a := manager.Post(s.path()+p, webtest.Form("unit", "points", "amount", "1", "reason", sent)); a.Code != http.StatusUnprocessableEntity {
			t.Errorf("POST %s of an erased customer: %d", p, a.Code)
		}
	}
	for _, p := range []string{"/admin/transactions", "/admin/transactions?customer_ulid=" + s.elsa.ID.String(), "/admin/redemptions?status=all", sale} {
		if got := manager.Get(p).Text("main"); !strings.Contains(got, "Erased") || strings.Contains(got, "Erased Erased") {
			t.Errorf("%s names them in %q", p, got)
		}
	}
	list := manager.Get("/admin/customers")
	if got := names(list); got != "Erased customer" || list.Text("tbody .badge") != "Erased" {
		t.Errorf("list = %q", list.Text("tbody"))
	}
	if got := manager.Get("/admin/customers?search=elsa"); got.Find("tbody tr").Length() != 0 {
		t.Error("Elsa is still found")
	}
}

// "The customer's page shows “Unsubscribed from e-mails since …” and lets a manager
// subscribe/unsubscribe them (confirmation for subscribing)."
func TestSubscribingACustomer(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	shown := s.manager.Get(s.path())
	if shown.Find("a[href$=subscribe], form[action$=subscribe]").Length() != 0 {
		t.Errorf("without an e-mail address: %q", shown.Text("main"))
	}
	s.manager.Submit(s.path()+"/edit", webtest.Form("first_name", "Elsa", "last_name", "Berg", "phone", "08-465 004 12", "email", "elsa@example.com"))
	shown = s.manager.Get(s.path())
	if !strings.HasPrefix(shown.Text("#consent"), "Coupon e-mails Subscribed") || shown.Find("form[action='"+s.path()+"/unsubscribe']").Length() != 1 {
		t.Errorf("subscribed: %q", shown.Text("main"))
	}
	done := s.manager.Submit(s.path()+"/unsubscribe", nil)
	since := s.DB.Now().In(s.By.Tenant.TimeZone).Format("2 Jan 2006")
	if got := done.Text("#consent"); !strings.HasPrefix(got, "Coupon e-mails Unsubscribed since "+since) || !done.Flashed(ui.Done, "Elsa Berg") {
		t.Errorf("unsubscribed: %q %q", got, done.Text("#flashes"))
	}
	cashier := s.cashier.Get(s.path())
	if !strings.Contains(cashier.Text("#consent"), "Unsubscribed since") || cashier.Find("a[href$=subscribe], form[action$=subscribe]").Length() != 0 {
		t.Errorf("as a cashier: %q", cashier.Text("main"))
	}
	asked := s.manager.Get(s.path()+"/subscribe", "Hx-Request", "true")
	if asked.Find("#dialog-title").Length() != 1 || asked.Find("form[action='"+s.path()+"/subscribe'] button[type=submit]").Length() != 1 {
		t.Errorf("the confirmation is %q", asked.Text("body"))
	}
	if done := s.manager.Submit(s.path()+"/subscribe", nil); !done.Flashed(ui.Done, "Elsa Berg") || !strings.HasPrefix(done.Text("#consent"), "Coupon e-mails Subscribed") {
		t.Errorf("subscribed: %q", done.Text("main"))
	}
	if again := s.manager.Get(s.path() + "/subscribe"); again.Find("main form .alert").Length() != 1 || again.Find("main form button[type=submit]").Length() != 0 {
		t.Errorf("already subscribed: %q", again.Text("main"))
	}
	s.manager.Submit(s.path()+"/erase", webtest.Form("understood", "1"))
	for _, action := range []string{"/subscribe", "/unsubscribe"} {
		if a := s.manager.Post(s.path()+action, nil); a.Code != http.StatusUnprocessableEntity {
			t.Errorf("%s of an erased customer = %d", action, a.Code)
		}
	}
}

// A customer's figures, the way to the next reward, and what they can redeem now.
func TestCustomerFigures(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	manager := s.signedIn(core.Manager)
	wants := func(what, selector, want string) {
		t.Helper()
		if got := manager.Get(s.path()).Text(selector); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	wants("new", ".profile-figures", "Lifetime spend € 0.00 Visits 0 Average sale – Last visit Never")
	manager.Submit(s.sold(manager, "99")+"/void", webtest.Form("reason", "Wrong amount"))
	s.sold(manager, "12.50")
	s.sold(manager, "201.50")
	wants("two sales", ".profile-figures dd:last-child", "€ 214.00 2 € 107.00 "+manager.Get(s.path()).Text(".profile-figures div:last-child dd"))
	wants("no rewards", ".profile-balance", "213 points")
	s.AddReward(reward.New{Name: "Cake", PointsCost: new(int64(280))})
	s.AddReward(reward.New{Name: "Mug", PointsCost: new(int64(100))})
	s.AddReward(reward.New{Name: "Coffee", StampsCost: new(int64(10))})
	s.adjusted("stamps", 3, "A card")
	wants("rewards", ".profile-balance", "213 points 3 of 10 stamps 67 points to Cake (280) Can redeem now: 1 reward Show")
	s.adjusted("points", 100, "Happy birthday")
	wants("all for points", ".profile-balance", "313 points 3 of 10 stamps Can redeem now: 2 rewards Show")
	wants("tabs", ".profile-tabs", "Timeline Transactions 3 Redemptions 0 Vouchers 0")
	if got := manager.Get(s.path() + "?events=adjustments&since=30"); got.Find(".timeline-entry").Length() != 2 || strings.Contains(got.Text(".timeline-day"), "spent") {
		t.Errorf("adjustments: %q", got.Text("#history"))
	}
	if got := manager.Get(s.path() + "?events=vouchers").Text("#history .empty"); !strings.HasPrefix(got, "No events found") {
		t.Errorf("no vouchers: %q", got)
	}
	if a := manager.Ask(http.MethodGet, s.path()+"?since=7"); a.Code != http.StatusUnprocessableEntity {
		t.Errorf("an unknown time: %d", a.Code)
	}
}

// Managers note and tag; the list is filtered by tag; cashiers read.
func TestNotesAndTags(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	s.add("Åke", "Ahl", "070 174 06 05")
	manager, cashier := s.signedIn(core.Manager), s.signedIn(core.Cashier)
	if got := manager.Submit(s.path()+"/note", webtest.Form("note", "Allergic to <i>nuts.\r\nLikes the window.")); got.Text(".profile-note") != "Allergic to <i>nuts. Likes the window." {
		t.Errorf("note = %q", got.Text(".profile-note"))
	}
	if a := manager.Post(s.path()+"/note", webtest.Form("note", strings.Repeat("x", 1001)), "Hx-Request", "true"); a.Code != http.StatusUnprocessableEntity || a.Find("#field-note-error").Length() != 1 {
		t.Errorf("too long: %d %q", a.Code, a.Text("form"))
	}
	manager.Submit(s.path()+"/tags", webtest.Form("tag", "Oat <b>milk"))
	manager.Submit(s.path()+"/tags", webtest.Form("tag", "Regular"))
	if a := manager.Post(s.path()+"/tags", webtest.Form("tag", " ")); a.Code != http.StatusUnprocessableEntity || a.Find("#field-tag-error").Length() != 1 {
		t.Errorf("an empty tag: %d %q", a.Code, a.Text("main"))
	}
	shown := cashier.Get(s.path())
	if got := shown.Text(".profile-tags"); got != "Active Oat <b>milk Regular" {
		t.Errorf("tags = %q", got)
	}
	tagged := cashier.Get(shown.Attr(".profile-tags a:first-of-type", "href"))
	if got := names(tagged); got != "Elsa Berg <b>" || tagged.Text("#field-tag option[selected]") != "Oat <b>milk" {
		t.Errorf("with the tag: %q", tagged.Text("main"))
	}
	if got := cashier.Get("/admin/customers?tag=unknown"); got.Find("tbody tr").Length() != 0 || got.Text("#field-tag option[selected]") != "unknown" {
		t.Errorf("an unknown tag: %q", got.Text("main"))
	}
	if got := manager.Get("/admin/customers/export.csv?tag=regular").Body.String(); !strings.Contains(got, `"Oat <b>milk, Regular"`) || strings.Contains(got, "Åke") {
		t.Errorf("export: %q", got)
	}
	asked := manager.Get(s.path() + "/tags")
	if asked.Find("datalist option[value=Regular]").Length() != 1 || asked.Find("form[action$='/tags/remove']").Length() != 2 {
		t.Errorf("tags page: %q", asked.Text("main"))
	}
	if got := manager.Submit(s.path()+"/tags/remove", webtest.Form("tag", "Regular")).Text(".profile-tags"); got != "Active Oat <b>milk Edit tags" {
		t.Errorf("after removing: %q", got)
	}
}
