package platform_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/webtest"
)

// business adds a tenant as the super-admin does, and returns the path of its page.
func (k desk) business(slug string, change url.Values) (path string) {
	k.T.Helper()
	form := webtest.With(k.Get("/platform/tenants/new").Fields("form.form-card"),
		"name", strings.ToUpper(slug[:1])+slug[1:], "slug", slug, "email", "owner@"+slug+".example", "plan_id", "1", "country", "SE")
	for name, values := range change {
		form[name] = values
	}
	return k.Submitted("/platform/tenants/new", form)
}

// mails is how many e-mails were written to an address.
func (k desk) mails(recipient string) int {
	k.T.Helper()
	return shoptest.Query[int](k.shop, "select count(*) from loyalty.mail where recipient = $1", recipient)
}

// listed are the tenants that a page lists, in order.
func listed(page webtest.Page) []string {
	return page.Texts(".tenants tbody tr .fw-medium")
}

// tabs are the statuses to choose from, and which is chosen.
func tabs(page webtest.Page) (all []string, chosen string) {
	return page.Texts("#tenant-tabs a"), page.Text("#tenant-tabs [aria-current]")
}

// "list with search and figures (customers, sales last 30 days, plan, last activity)".
func TestTenants(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	k.business("aro", url.Values{"name": {"Café Åro"}, "country": {"FI"}})
	bike := k.business("bike", nil)
	k.business("cliff", nil)
	k.Submitted(bike+"/suspend", url.Values{"reason": {"Unpaid."}})
	if err := k.Tenants.Count(t.Context()); err != nil {
		t.Fatal(err)
	}

	page := k.Get("/platform/tenants?sort=name")
	own := k.shop.By.Tenant.Name // the fixture's
	if got := listed(page); !slices.Contains(got, own) || slices.Index(got, "Bike") > slices.Index(got, "Café Åro") || slices.Index(got, "Café Åro") > slices.Index(got, "Cliff") {
		t.Errorf("listed %q", got)
	}
	if all, chosen := tabs(page); chosen != "All 4" || !slices.Equal(all, []string{"All 4", "Active 0", "Setting up 3", "Late 0", "Suspended 1"}) {
		t.Errorf("the tabs are %q, %q is chosen", all, chosen)
	}
	row := page.Find(".tenants tbody tr").FilterFunction(func(_ int, r *goquery.Selection) bool {
		return strings.Contains(webtest.Text(r), "aro.loyalty.example")
	})
	for _, want := range []string{"Café Åro", "aro.loyalty.example", "Free", "Setup, step 1 of 5"} {
		if !strings.Contains(webtest.Text(row), want) {
			t.Errorf("the row lacks %q: %s", want, webtest.Text(row))
		}
	}
	if got := page.Text("th[aria-sort=ascending]"); got != "Tenant" {
		t.Errorf("sorted by %q", got)
	}
	if shown := page.Text(".list-body .card-footer p"); shown != "1–4 of 4 · Figures counted just now" {
		t.Errorf("the list says %q", shown)
	}
	for query, want := range map[string][]string{
		"?search=%C3%85RO":                   {"Café Åro"},
		"?search=owner%40cliff":              {"Cliff"},
		"?status=suspended":                  {"Bike"},
		"?country=FI":                        {"Café Åro"},
		"?plan=999":                          nil,
		"?status=suspended&search=nothing":   nil,
		"?page=2":                            nil,
		"?sort=-name&search=.example&page=1": nil,
	} {
		page := k.Get("/platform/tenants" + query)
		if query[:6] == "?sort=" {
			if got := listed(page); !slices.Equal(got, []string{"Cliff", "Café Åro", "Bike"}) {
				t.Errorf("from Z: %q", got)
			}
			continue
		}
		if got := listed(page); !slices.Equal(got, want) {
			t.Errorf("%s lists %q, want %q", query, got, want)
		}
		if want == nil && page.Find(`.empty a[href="/platform/tenants"]`).Length() != 1 {
			t.Errorf("%s leads nowhere: %s", query, page.Text("main"))
		}
	}
	// A tab keeps the search, and the search keeps the tab.
	page = k.Get("/platform/tenants?search=b&status=suspended&sort=-name")
	if to := page.Find("#tenant-tabs a").First().AttrOr("href", ""); to != "/platform/tenants?search=b&sort=-name" {
		t.Errorf("All leads to %s", to)
	}
	if v := page.Fields("form#tenant-filters"); v.Get("status") != "suspended" || v.Get("sort") != "-name" || v.Get("search") != "b" {
		t.Errorf("the filters send %v", v)
	}
	// htmx gets the list, with the tabs and the file that belong to it.
	part := k.Ask(http.MethodGet, "/platform/tenants?search=bike", "Hx-Request", "true")
	if part.Find("h1").Length() != 0 || !slices.Equal(listed(part), []string{"Bike"}) || part.Find("#tenant-tabs[hx-swap-oob]").Length() != 1 ||
		part.Attr("#tenant-file", "href") != "/platform/tenants/export.csv?search=bike" {
		t.Errorf("the part is %s", part.Body)
	}
	for _, query := range []string{"?status=fine", "?sort=size", "?page=0", "?plan=x"} {
		if w := k.Ask(http.MethodGet, "/platform/tenants"+query); w.Code != http.StatusUnprocessableEntity || w.Find("#tenants [role=alert]").Length() != 1 {
			t.Errorf("%s = %d", query, w.Code)
		}
	}
}

// "Export CSV of the list."
func TestTenantsAsAFile(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	k.business("aro", url.Values{"name": {"=1+1"}})
	k.business("bike", nil)
	w := k.Ask(http.MethodGet, "/platform/tenants/export.csv?search=.example&sort=name&page=7")
	lines := strings.Split(strings.TrimSpace(strings.TrimPrefix(w.Body.String(), "\ufeff")), "\n")
	if w.Code != http.StatusOK || len(lines) != 3 || !strings.HasPrefix(lines[0], "ID,Name,Host,") || !strings.Contains(lines[1], "'=1+1,aro.loyalty.example,owner@aro.example,Free,monthly,manual,setting_up,active,SE,SEK,Europe/Stockholm,") {
		t.Errorf("%d: %q", w.Code, lines)
	}
	if !strings.Contains(w.Header().Get("Content-Disposition"), "tenants.csv") {
		t.Errorf("headers %v", w.Header())
	}
}

// "create (the same as the API: owner invited by e-mail)", with each refusal beside its field.
func TestAddTenant(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	page := k.Get("/platform/tenants/new")
	form := page.Fields("form.form-card")
	if form.Get("billing_cycle") != "monthly" || form.Get("currency") != "" || form.Get("timezone") != "" || form.Get("country") != "" {
		t.Errorf("the form begins with %v", form)
	}
	if said := page.Text("form.form-card"); !strings.Contains(said, ".loyalty.example") {
		t.Errorf("the form says %s", said)
	}
	refused := k.Refused("/platform/tenants/new", form)
	for _, field := range []string{"name", "slug", "email", "plan_id"} {
		if refused.Find("#field-"+field+".is-invalid").Length() != 1 {
			t.Errorf("nothing is said beside %s", field)
		}
	}
	webtest.With(form, "name", "Café Åro", "slug", "api", "email", "no-address", "plan_id", "999", "timezone", "Mars/Base", "country", "XX")
	refused = k.Refused("/platform/tenants/new", form)
	if got := refused.Value("#field-name"); got != "Café Åro" || refused.Find("form.form-card .is-invalid").Length() != 5 {
		t.Errorf("kept %q; %s", got, refused.Text(".invalid-feedback"))
	}
	if got := refused.Text("#field-slug-error"); !strings.Contains(got, "reserved") {
		t.Errorf("a reserved address: %q", got)
	}

	form = webtest.With(refused.Fields("form.form-card"),
		"slug", "aro", "email", "maja@aro.example", "plan_id", "1", "timezone", "Europe/Stockholm", "country", "SE", "billing_cycle", "yearly")
	to := k.Submitted("/platform/tenants/new", form)
	// "Double submit does it once."
	if again := k.Submitted("/platform/tenants/new", form); again != to {
		t.Errorf("sent again, the form leads to %s, want %s", again, to)
	}
	made := k.Get(to)
	if !made.Flashed(ui.Done, "Café Åro") || !made.Flashed(ui.Done, "maja@aro.example") {
		t.Errorf("flash = %q, want the tenant and its owner's address", made.Text("#flashes"))
	}
	said := made.Text("main")
	for _, want := range []string{
		"Owner of Café Åro", "Invited", "aro.loyalty.example", "Yearly", "Sweden", "Europe/Stockholm",
		"Setup, step 1 of 5", "Root created the business Café Åro",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("its page lacks %q: %s", want, said)
		}
	}
	if mails := k.mails("maja@aro.example"); mails != 1 {
		t.Errorf("%d mails, want 1", mails)
	}
	form.Del("form_key")
	if taken := k.Refused("/platform/tenants/new", form); !strings.Contains(taken.Text("#field-slug-error"), "already taken") {
		t.Errorf("a slug that is taken: %s", taken.Text(".invalid-feedback"))
	}
	// "send the invitation again", until the owner has joined.
	invite := made.Find(`form[action$="/invite"]`).AttrOr("action", "")
	if back := k.Submitted(invite, nil); back != to || !k.Get(to).Flashed(ui.Done, "maja@aro.example") {
		t.Errorf("the invitation leads to %s", back)
	}
	k.shop.Exec("update loyalty.credential set password_hash = 'x' where staff_id = (select id from loyalty.staff where email = 'maja@aro.example')")
	if joined := k.Get(to).Text(".tenant-side"); !strings.Contains(joined, "0 steps of 5 done.") || !strings.Contains(joined, "Send setup link") {
		t.Errorf("for an owner who has joined: %s", joined)
	}
	k.Submitted(invite, nil)
	if !k.Get(to).Flashed(ui.Done, "") {
		t.Error("no flash after sending the setup link")
	}
	if mails := k.mails("maja@aro.example"); mails != 3 {
		t.Errorf("%d mails, want 3", mails)
	}
	k.Submitted(to+"/suspend", url.Values{"reason": {"Unpaid."}})
	if k.Post(invite, nil).Code != http.StatusNotFound {
		t.Error("the owner of a suspended tenant is mailed the link")
	}
}

// The country sets currency and time zone unless others are chosen, and the address is proposed from the name unless
// another is entered.
func TestCountryAndNamePropose(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	settings := func(slug string) string {
		return shoptest.Query[string](k.shop, "select concat_ws(' ', country, currency, timezone) from loyalty.tenant where slug = $1", slug)
	}
	k.business("svea", nil)
	if got := settings("svea"); got != "SE SEK Europe/Stockholm" {
		t.Errorf("in Sweden, the settings are %s", got)
	}
	k.business("euro", url.Values{"currency": {"EUR"}, "timezone": {"Europe/Helsinki"}})
	if got := settings("euro"); got != "SE EUR Europe/Helsinki" {
		t.Errorf("chosen settings became %s", got)
	}
	page := k.Get("/platform/tenants/new")
	america := page.Find(`#field-country option[value=US]`)
	if got := america.AttrOr("data-propose-currency", "") + " " + america.AttrOr("data-propose-timezone", ""); got != "USD America/New_York" {
		t.Errorf("the United States propose %s", got)
	}
	if zones := america.AttrOr("data-propose-timezones", ""); !strings.Contains(zones, "America/Chicago") || !strings.Contains(zones, "America/New_York") {
		t.Errorf("the zones of the United States are %q", zones)
	}

	for name, want := range map[string]string{
		"Café Åro": "cafe-aro", "Svea": "svea-2", "Кафе Пушкин": "kafe-pushkin", "東京ラーメン": "dong-jing-ramen", "Admin": "admin-2", "!!": "", "Ö": "",
		strings.Repeat("Long name ", 9): "long-name-long-name-long-name-long-name",
	} {
		asked := k.Ask(http.MethodGet, "/platform/tenants/address?"+url.Values{"name": {name}, "slug": {"x"}, "proposed": {"x"}}.Encode(), "Hx-Request", "true")
		if got := asked.Value("#field-slug"); asked.Code != http.StatusOK || got != want || asked.Value("[name=proposed]") != want {
			t.Errorf("of %q, %q is proposed, want %q", name, got, want)
		}
	}
	if asked := k.Ask(http.MethodGet, "/platform/tenants/address?name=Svea&slug=mine&proposed=svea", "Hx-Request", "true"); asked.Code != http.StatusNoContent {
		t.Errorf("an entered address is replaced: %d %s", asked.Code, asked.Body)
	}
	// Without scripts, the form comes back with the proposal.
	form := webtest.With(page.Fields("form.form-card"), "name", "Café Åro", "email", "maja@aro.example", "plan_id", "1", "country", "SE")
	refused := k.Refused("/platform/tenants/new", form)
	if got := refused.Value("#field-slug"); got != "cafe-aro" || refused.Find(".is-invalid").Length() != 1 {
		t.Errorf("without an address: %q, %s", got, refused.Text(".invalid-feedback"))
	}
	k.Submitted("/platform/tenants/new", refused.Fields("form.form-card"))
}

// A person of the platform is asked, too, before the amounts of a business get another currency.
func TestNewCurrencyListsAmounts(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	s := shoptest.In(t, k.shop.DB)
	s.Type("Food", ledger.Points, transaction.Rule{PointsPerUnit: 1, UnitCents: 100})
	path := fmt.Sprint("/platform/tenants/", s.By.Tenant.ID)
	form := k.Get(path + "/edit").Fields("main form")
	form.Set("currency", "KWD")
	asked := k.Post(path+"/edit", form)
	if got := asked.Texts("#currency-change li"); !slices.Equal(got, []string{"Food Now: 1 point for every € 1.00 → Then: 1 point for every KWD 1.000"}) {
		t.Fatalf("answered %d, listed %q", asked.Code, got)
	}
	confirmed := asked.Fields("#currency-change")
	button := asked.Find("#currency-change button.btn-primary")
	confirmed.Set(button.AttrOr("name", ""), button.AttrOr("value", ""))
	if to := k.Submitted(path+"/edit", confirmed); to != path {
		t.Errorf("it leads to %s", to)
	}
	types, err := s.Sales.Types(t.Context(), s.By)
	if err != nil || types[0].UnitCents != 1000 {
		t.Errorf("the rule is %+v, %v", types, err)
	}
}

// "edit": what was changed is written, and another plan is billed as billing does.
func TestEditTenant(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	path := k.business("aro", nil)
	plan, err := core.Result(k.Billing.CreatePlan(t.Context(), k.Person, billing.PlanInput{
		Name: "Growth", MonthlyCents: new(int64(4900)), YearlyCents: new(int64(49000)), Currency: "EUR", CustomersLimit: new(int64(5)),
	}, nil))
	if err != nil {
		t.Fatal(err)
	}
	page := k.Get(path + "/edit")
	if page.Find("#field-slug").Length() != 0 || !strings.Contains(page.Text("form.form-card"), "Growth: € 49.00 a month") {
		t.Errorf("the form is %s", page.Text("form.form-card"))
	}
	form := page.Fields("form.form-card")
	webtest.With(form, "email", "no-address", "name", " ")
	if refused := k.Refused(path+"/edit", form); refused.Find("#field-email.is-invalid").Length() != 1 || refused.Find("#field-name.is-invalid").Length() != 1 {
		t.Errorf("refused: %s", refused.Text(".invalid-feedback"))
	}
	// A colleague changes the name meanwhile: it stays.
	id := path[strings.LastIndex(path, "/")+1:]
	k.shop.Exec("update loyalty.tenant set name = 'Kiosk' where id = $1::text::bigint", id)
	form = webtest.With(page.Fields("form.form-card"), "email", "new@aro.example", "plan_id", fmt.Sprint(plan.ID), "payment_method", "bank_transfer")
	if to := k.Submitted(path+"/edit", form); to != path {
		t.Errorf("leads to %s", to)
	}
	saved := k.Get(path)
	if !saved.Flashed(ui.Done, "Kiosk") {
		t.Errorf("flash = %q, want the new name", saved.Text("#flashes"))
	}
	said := saved.Text("main")
	for _, want := range []string{"new@aro.example", "Growth", "Bank transfer", "Customers 0 of 5", "5 left"} {
		if !strings.Contains(said, want) {
			t.Errorf("its page lacks %q: %s", want, said)
		}
	}
}

// "Suspend with reason (tokens 401 at once …), reactivate."
func TestSuspendTenant(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	path := k.business("aro", nil)
	asked := k.Get(path + "/suspend")
	form := asked.Fields("main form")
	if refused := k.Refused(path+"/suspend", form); refused.Find("#field-reason.is-invalid").Length() != 1 {
		t.Errorf("without a reason: %s", refused.Text("main"))
	}
	form.Set("reason", "Three invoices are overdue.")
	if to := k.Submitted(path+"/suspend", form); to != path {
		t.Errorf("leads to %s", to)
	}
	k.Get(path) // which says that it was done
	// "Double submit does it once."
	k.Submitted(path+"/suspend", form)
	page := k.Get(path)
	for _, want := range []string{"Suspended just now", "Three invoices are overdue.", "Root suspended", "Reactivate tenant"} {
		if !strings.Contains(page.Text("main"), want) {
			t.Errorf("its page lacks %q: %s", want, page.Text("main"))
		}
	}
	if asked := k.Get(path + "/suspend"); asked.Find("main form button").Length() != 0 || !strings.Contains(asked.Text("main"), tenant.ErrSuspended.Message) {
		t.Errorf("asked again: %s", asked.Text("main"))
	}
	if k.Get(path+"/reactivate").Find("main form button").Length() != 1 {
		t.Error("it can't be reactivated")
	}
	k.Submitted(path+"/reactivate", nil)
	active := k.Get(path)
	if !active.Flashed(ui.Done, "Aro") || !active.Flashed(ui.Done, "owner@aro.example") || strings.Contains(active.Text("main"), "Three invoices are overdue.") {
		t.Errorf("flash = %q on %s", active.Text("#flashes"), active.Text("main"))
	}
	k.Submitted(path+"/reactivate", nil)
	if mails := k.mails("owner@aro.example"); mails != 3 {
		t.Errorf("%d mails, want 3: the invitation, the reason and the end", mails)
	}
}

// "Foreign ids 404."
func TestNoSuchTenant(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	for _, path := range []string{"", "/edit", "/suspend", "/reactivate"} {
		for _, id := range []string{"999999", "x", "9223372036854775808"} {
			if w := k.Ask(http.MethodGet, "/platform/tenants/"+id+path); w.Code != http.StatusNotFound || w.Find("h1").Length() != 1 {
				t.Errorf("GET %s%s = %d", id, path, w.Code)
			}
		}
	}
	for _, path := range []string{"/edit", "/suspend", "/reactivate", "/invite"} {
		if w := k.Post("/platform/tenants/999999"+path, url.Values{"reason": {"None"}}); w.Code != http.StatusNotFound {
			t.Errorf("POST %s = %d", path, w.Code)
		}
	}
}
