package platform_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/tenant"
)

// business adds a tenant as the super-admin does, and returns the path of its page.
func (k desk) business(t *testing.T, slug string, change url.Values) (path string) {
	t.Helper()
	form := sends(k.get(t, "/platform/tenants/new").Find("form.form-card"))
	for name, value := range map[string]string{"name": strings.ToUpper(slug[:1]) + slug[1:], "slug": slug, "email": "owner@" + slug + ".example", "plan_id": "1"} {
		form.Set(name, value)
	}
	for name, values := range change {
		form[name] = values
	}
	return k.posted(t, "/platform/tenants/new", form)
}

// listed are the tenants that a page lists, in order.
func listed(page *goquery.Document) []string {
	return page.Find(".tenants tbody tr .fw-medium").Map(texts)
}

// tabs are the statuses to choose from, and which is chosen.
func tabs(page *goquery.Document) (all []string, chosen string) {
	return page.Find("#tenant-tabs a").Map(texts), words(page.Find("#tenant-tabs [aria-current]"))
}

// "list with search and figures (customers, sales last 30 days, plan, last activity)".
func TestTenants(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	k.business(t, "aro", url.Values{"name": {"Café Åro"}, "country": {"FI"}})
	bike := k.business(t, "bike", nil)
	k.business(t, "cloud", nil)
	k.posted(t, bike+"/suspend", url.Values{"reason": {"Unpaid."}})
	if err := k.Tenants.Count(t.Context()); err != nil {
		t.Fatal(err)
	}

	page := k.get(t, "/platform/tenants?sort=name")
	own := k.by.Tenant.Name // the fixture's
	if got := listed(page); !slices.Contains(got, own) || slices.Index(got, "Bike") > slices.Index(got, "Café Åro") || slices.Index(got, "Café Åro") > slices.Index(got, "Cloud") {
		t.Errorf("listed %q", got)
	}
	if all, chosen := tabs(page); chosen != "All 4" || !slices.Equal(all, []string{"All 4", "Active 0", "Setting up 3", "Late 0", "Suspended 1"}) {
		t.Errorf("the tabs are %q, %q is chosen", all, chosen)
	}
	row := page.Find(".tenants tbody tr").FilterFunction(func(_ int, r *goquery.Selection) bool { return strings.Contains(words(r), "aro.loyalty.example") })
	for _, want := range []string{"Café Åro", "aro.loyalty.example", "Free", "Setup, step 1 of 5"} {
		if !strings.Contains(words(row), want) {
			t.Errorf("the row lacks %q: %s", want, words(row))
		}
	}
	if got := words(page.Find("th[aria-sort=ascending]")); got != "Tenant" {
		t.Errorf("sorted by %q", got)
	}
	if shown := words(page.Find(".list-body .card-footer p")); shown != "1–4 of 4 · Figures counted just now" {
		t.Errorf("the list says %q", shown)
	}
	for query, want := range map[string][]string{
		"?search=%C3%85RO":                   {"Café Åro"},
		"?search=owner%40cloud":              {"Cloud"},
		"?status=suspended":                  {"Bike"},
		"?country=FI":                        {"Café Åro"},
		"?plan=999":                          nil,
		"?status=suspended&search=nothing":   nil,
		"?page=2":                            nil,
		"?sort=-name&search=.example&page=1": nil,
	} {
		page := k.get(t, "/platform/tenants"+query)
		if query[:6] == "?sort=" {
			if got := listed(page); !slices.Equal(got, []string{"Cloud", "Café Åro", "Bike"}) {
				t.Errorf("from Z: %q", got)
			}
			continue
		}
		if got := listed(page); !slices.Equal(got, want) {
			t.Errorf("%s lists %q, want %q", query, got, want)
		}
		if want == nil && page.Find(`.empty a[href="/platform/tenants"]`).Length() != 1 {
			t.Errorf("%s leads nowhere: %s", query, words(page.Find("main")))
		}
	}
	// A tab keeps the search, and the search keeps the tab.
	page = k.get(t, "/platform/tenants?search=b&status=suspended&sort=-name")
	if to := page.Find("#tenant-tabs a").First().AttrOr("href", ""); to != "/platform/tenants?search=b&sort=-name" {
		t.Errorf("All leads to %s", to)
	}
	if v := sends(page.Find("form#tenant-filters")); v.Get("status") != "suspended" || v.Get("sort") != "-name" || v.Get("search") != "b" {
		t.Errorf("the filters send %v", v)
	}
	// htmx gets the list, with the tabs and the file that belong to it.
	w := k.ask(http.MethodGet, "/platform/tenants?search=bike", func(r *http.Request) { r.Header.Set("Hx-Request", "true") })
	part := k.read(t, w)
	if part.Find("h1").Length() != 0 || !slices.Equal(listed(part), []string{"Bike"}) || part.Find("#tenant-tabs[hx-swap-oob]").Length() != 1 ||
		part.Find("#tenant-file").AttrOr("href", "") != "/platform/tenants/export.csv?search=bike" {
		t.Errorf("the part is %s", w.Body)
	}
	for _, query := range []string{"?status=fine", "?sort=size", "?page=0", "?plan=x"} {
		if w := k.ask(http.MethodGet, "/platform/tenants"+query, nil); w.Code != http.StatusUnprocessableEntity || k.read(t, w).Find("#tenants [role=alert]").Length() != 1 {
			t.Errorf("%s = %d", query, w.Code)
		}
	}
}

// "Export CSV of the list."
func TestTenantsAsAFile(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	k.business(t, "aro", url.Values{"name": {"=1+1"}})
	k.business(t, "bike", nil)
	w := k.ask(http.MethodGet, "/platform/tenants/export.csv?search=.example&sort=name&page=7", nil)
	lines := strings.Split(strings.TrimSpace(strings.TrimPrefix(w.Body.String(), "\ufeff")), "\n")
	if w.Code != http.StatusOK || len(lines) != 3 || !strings.HasPrefix(lines[0], "ID,Name,Host,") || !strings.Contains(lines[1], "'=1+1,aro.loyalty.example,owner@aro.example,Free,monthly,manual,setting_up,,EUR,UTC,") {
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
	page := k.get(t, "/platform/tenants/new")
	form := sends(page.Find("form.form-card"))
	if form.Get("billing_cycle") != "monthly" || form.Get("currency") != "EUR" || form.Get("timezone") != "UTC" || form.Get("country") != "" {
		t.Errorf("the form begins with %v", form)
	}
	if said := words(page.Find("form.form-card")); !strings.Contains(said, ".loyalty.example") {
		t.Errorf("the form says %s", said)
	}
	refused := k.refused(t, "/platform/tenants/new", form)
	for _, field := range []string{"name", "slug", "email", "plan_id"} {
		if refused.Find("#field-"+field+".is-invalid").Length() != 1 {
			t.Errorf("nothing is said beside %s", field)
		}
	}
	form.Set("name", "Café Åro")
	form.Set("slug", "api")
	form.Set("email", "no-address")
	form.Set("plan_id", "999")
	form.Set("timezone", "Mars/Base")
	form.Set("country", "XX")
	refused = k.refused(t, "/platform/tenants/new", form)
	if got := refused.Find("#field-name").AttrOr("value", ""); got != "Café Åro" || refused.Find("form.form-card .is-invalid").Length() != 5 {
		t.Errorf("kept %q; %s", got, words(refused.Find(".invalid-feedback")))
	}

	form = sends(refused.Find("form.form-card"))
	for name, value := range map[string]string{"slug": "aro", "email": "maja@aro.example", "plan_id": "1", "timezone": "Europe/Stockholm", "country": "SE", "billing_cycle": "yearly"} {
		form.Set(name, value)
	}
	to := k.posted(t, "/platform/tenants/new", form)
	// "Double submit does it once."
	if again := k.posted(t, "/platform/tenants/new", form); again != to {
		t.Errorf("sent again, the form leads to %s, want %s", again, to)
	}
	made := k.get(t, to)
	if got := flash(made); !strings.Contains(got, "Café Åro") || !strings.Contains(got, "maja@aro.example") {
		t.Errorf("flash = %q, want the tenant and its owner's address", got)
	}
	said := words(made.Find("main"))
	for _, want := range []string{
		"Owner of Café Åro", "Invited", "aro.loyalty.example", "Yearly", "Sweden", "Europe/Stockholm",
		"Setup, step 1 of 5", "Root created the business Café Åro",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("its page lacks %q: %s", want, said)
		}
	}
	var mails int
	if err := dbtest.Owner(k.db).QueryRow(t.Context(), "select count(*) from loyalty.mail where recipient = 'maja@aro.example'").Scan(&mails); err != nil || mails != 1 {
		t.Errorf("%d mails, %v", mails, err)
	}
	form.Del("form_key")
	if taken := k.refused(t, "/platform/tenants/new", form); !strings.Contains(words(taken.Find("#field-slug-error")), "already taken") {
		t.Errorf("a slug that is taken: %s", words(taken.Find(".invalid-feedback")))
	}
	// "send the invitation again", until the owner has joined.
	invite := made.Find(`form[action$="/invite"]`).AttrOr("action", "")
	if back := k.posted(t, invite, nil); back != to || !strings.Contains(flash(k.get(t, to)), "maja@aro.example") {
		t.Errorf("the invitation leads to %s", back)
	}
	_, err := dbtest.Owner(k.db).Exec(t.Context(), "update loyalty.credential set password_hash = 'x' where staff_id = (select id from loyalty.staff where email = 'maja@aro.example')")
	if err != nil {
		t.Fatal(err)
	}
	if joined := words(k.get(t, to).Find(".tenant-side")); !strings.Contains(joined, "0 steps of 5 done.") || !strings.Contains(joined, "Send setup link") {
		t.Errorf("for an owner who has joined: %s", joined)
	}
	k.posted(t, invite, nil)
	if flash(k.get(t, to)) == "" {
		t.Error("no flash after sending the setup link")
	}
	if err := dbtest.Owner(k.db).QueryRow(t.Context(), "select count(*) from loyalty.mail where recipient = 'maja@aro.example'").Scan(&mails); err != nil || mails != 3 {
		t.Errorf("%d mails, %v", mails, err)
	}
	k.posted(t, to+"/suspend", url.Values{"reason": {"Unpaid."}})
	if k.post(invite, nil).Code != http.StatusNotFound {
		t.Error("the owner of a suspended tenant is mailed the link")
	}
}

// "edit": what was changed is written, and another plan is billed as billing does.
func TestEditTenant(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	path := k.business(t, "aro", nil)
	plan, err := k.Invoices.CreatePlan(t.Context(), k.admin, billing.PlanInput{
		Name: new("Growth"), MonthlyCents: new(int64(4900)), YearlyCents: new(int64(49000)), Currency: new("EUR"), CustomersLimit: new(int64(5)),
	})
	if err != nil {
		t.Fatal(err)
	}
	page := k.get(t, path+"/edit")
	if page.Find("#field-slug").Length() != 0 || !strings.Contains(words(page.Find("form.form-card")), "Growth: € 49.00 a month") {
		t.Errorf("the form is %s", words(page.Find("form.form-card")))
	}
	form := sends(page.Find("form.form-card"))
	form.Set("email", "no-address")
	form.Set("name", " ")
	if refused := k.refused(t, path+"/edit", form); refused.Find("#field-email.is-invalid").Length() != 1 || refused.Find("#field-name.is-invalid").Length() != 1 {
		t.Errorf("refused: %s", words(refused.Find(".invalid-feedback")))
	}
	// A colleague changes the name meanwhile: it stays.
	id := path[strings.LastIndex(path, "/")+1:]
	if _, err := dbtest.Owner(k.db).Exec(t.Context(), "update loyalty.tenant set name = 'Kiosk' where id = $1::text::bigint", id); err != nil {
		t.Fatal(err)
	}
	form = sends(page.Find("form.form-card"))
	form.Set("email", "new@aro.example")
	form.Set("plan_id", fmt.Sprint(plan.ID))
	form.Set("payment_method", "bank_transfer")
	if to := k.posted(t, path+"/edit", form); to != path {
		t.Errorf("leads to %s", to)
	}
	saved := k.get(t, path)
	if got := flash(saved); !strings.Contains(got, "Kiosk") {
		t.Errorf("flash = %q, want the new name", got)
	}
	said := words(saved.Find("main"))
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
	path := k.business(t, "aro", nil)
	asked := k.get(t, path+"/suspend")
	form := sends(asked.Find("main form"))
	if refused := k.refused(t, path+"/suspend", form); refused.Find("#field-reason.is-invalid").Length() != 1 {
		t.Errorf("without a reason: %s", words(refused.Find("main")))
	}
	form.Set("reason", "Three invoices are overdue.")
	if to := k.posted(t, path+"/suspend", form); to != path {
		t.Errorf("leads to %s", to)
	}
	k.get(t, path) // which says that it was done
	// "Double submit does it once."
	k.posted(t, path+"/suspend", form)
	page := k.get(t, path)
	for _, want := range []string{"Suspended just now", "Three invoices are overdue.", "Root suspended", "Reactivate tenant"} {
		if !strings.Contains(words(page.Find("main")), want) {
			t.Errorf("its page lacks %q: %s", want, words(page.Find("main")))
		}
	}
	if asked := k.get(t, path+"/suspend"); asked.Find("main form button").Length() != 0 || !strings.Contains(words(asked.Find("main")), tenant.ErrSuspended.Message) {
		t.Errorf("asked again: %s", words(asked.Find("main")))
	}
	if k.get(t, path+"/reactivate").Find("main form button").Length() != 1 {
		t.Error("it can't be reactivated")
	}
	k.posted(t, path+"/reactivate", nil)
	active := k.get(t, path)
	if got := flash(active); !strings.Contains(got, "Aro") || !strings.Contains(got, "owner@aro.example") || strings.Contains(words(active.Find("main")), "Three invoices are overdue.") {
		t.Errorf("flash = %q on %s", got, words(active.Find("main")))
	}
	k.posted(t, path+"/reactivate", nil)
	var mails int
	if err := dbtest.Owner(k.db).QueryRow(t.Context(), "select count(*) from loyalty.mail where recipient = 'owner@aro.example'").Scan(&mails); err != nil || mails != 3 {
		t.Errorf("%d mails, want the invitation, the reason and the end: %v", mails, err)
	}
}

// "Foreign ids 404."
func TestNoSuchTenant(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	for _, path := range []string{"", "/edit", "/suspend", "/reactivate"} {
		for _, id := range []string{"999999", "x", "9223372036854775808"} {
			if w := k.ask(http.MethodGet, "/platform/tenants/"+id+path, nil); w.Code != http.StatusNotFound || k.read(t, w).Find("h1").Length() != 1 {
				t.Errorf("GET %s%s = %d", id, path, w.Code)
			}
		}
	}
	for _, path := range []string{"/edit", "/suspend", "/reactivate", "/invite"} {
		if w := k.post("/platform/tenants/999999"+path, url.Values{"reason": {"None"}}); w.Code != http.StatusNotFound {
			t.Errorf("POST %s = %d", path, w.Code)
		}
	}
}
