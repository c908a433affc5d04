package platform_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"example.com/loyalty/core"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/webtest"
)

// mistakes are what is wrong with the fields of a page, by the field's name.
func mistakes(page webtest.Page) map[string]string {
	found := map[string]string{}
	page.Find(".is-invalid").Each(func(_ int, field *goquery.Selection) {
		found[field.AttrOr("name", "")] = page.Text("#" + field.AttrOr("id", "") + "-error")
	})
	return found
}

// plan makes a plan by its form and returns its path.
func (k desk) plan(name string) string {
	k.T.Helper()
	list := k.Submit("/platform/plans/new", webtest.Form("name", name, "currency", "EUR", "monthly_cents", "49", "yearly_cents", "490,00"))
	path := ""
	list.Find("tbody a").Each(func(_ int, a *goquery.Selection) {
		if webtest.Text(a) == name {
			path = a.AttrOr("href", "")
		}
	})
	if path == "" {
		k.T.Fatalf("no plan %s in %s", name, list.Text("tbody"))
	}
	return path
}

// "Plans: name, price per month and per year in cents, currency, optional limits (customers,
// staff, sends per month) … a plan in use can be retired, not deleted."
func TestPlans(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	draft := k.Get("/platform/plans/new").Fields("form[action='/platform/plans/new']")
	if draft.Get("currency") != "EUR" || draft.Get("form_key") == "" {
		t.Fatalf("an empty form sends %v", draft)
	}
	webtest.With(draft, "name", "Growth <b>", "monthly_cents", "€ 49.00", "yearly_cents", "490,00", "customers_limit", "2 000")
	made := k.Submit("/platform/plans/new", draft)
	if !made.Flashed(ui.Done, "Growth <b>") {
		t.Errorf("flash = %q", made.Text("#flashes"))
	}
	k.Submitted("/platform/plans/new", draft) // a double click
	list := k.Get("/platform/plans")
	rows := list.Find("tbody tr").FilterFunction(func(_ int, r *goquery.Selection) bool { return strings.Contains(webtest.Text(r), "Growth") })
	if rows.Length() != 1 || webtest.Text(rows.Find("td.num")) != "€ 49.00 € 490.00 2,000 No limit No limit 0" || list.Find("tbody b").Length() > 0 {
		t.Errorf("the list has %d of it: %q", rows.Length(), webtest.Text(rows))
	}
	path := rows.Find("a").AttrOr("href", "")

	// Refused, beside the fields, with what was typed.
	refused := k.Refused("/platform/plans/new", webtest.Form("name", "growth <b>", "currency", "JPY", "monthly_cents", "4.5", "yearly_cents", "", "staff_limit", "-1"))
	got := mistakes(refused)
	for field, want := range map[string]string{
		"monthly_cents": webtest.Message("Monthly price", core.Violation{Rule: "amount", Other: "2450"}),
		"yearly_cents":  webtest.Message("Yearly price", core.Required),
		"staff_limit":   webtest.Message("Staff", core.Min(0)),
	} {
		if got[field] != want {
			t.Errorf("%s: %q, want %q", field, got[field], want)
		}
	}
	if v := refused.Value("#field-monthly_cents"); v != "4.5" {
		t.Errorf("what was typed is now %q", v)
	}
	if again := k.Refused("/platform/plans/new", webtest.Form("name", "Growth <b>", "currency", "EUR", "monthly_cents", "1", "yearly_cents", "1")); mistakes(again)["name"] == "" {
		t.Errorf("a name twice: %q", again.Text("main"))
	}
	// An amount that can be read in two ways is asked about.
	asked := k.Refused("/platform/plans/new", webtest.Form("name", "Odd", "currency", "EUR", "monthly_cents", "12,505", "yearly_cents", "1"))
	if asked.Find("input[name=monthly_cents_choice]").Length() != 2 {
		t.Errorf("12,505: %q", asked.Text("main"))
	}

	// Its price changes; unchanged fields stay as a colleague changed them.
	shown := k.Get(path).Fields("form[action='" + path + "']")
	k.Submitted(path, webtest.With(k.Get(path).Fields("form[action='"+path+"']"), "monthly_cents", "59"))
	k.Submitted(path, webtest.With(shown, "name", "Growth"))
	edited := k.Get(path)
	if edited.Text("h1") != "Growth" || edited.Value("#field-monthly_cents") != "59.00" || edited.Value("#field-customers_limit") != "2000" {
		t.Errorf("after two edits: %v", edited.Fields("form[action='"+path+"']"))
	}

	// A plan without tenants can be deleted, one in use can't.
	ask := k.Get(path + "/delete")
	if ask.Text("h1") != "Delete “Growth”?" || ask.Find("form[action='"+path+"/delete'] .btn-danger").Length() != 1 {
		t.Errorf("delete: %q", ask.Text("main"))
	}
	if gone := k.Submit(path+"/delete", nil); !gone.Flashed(ui.Done, "Growth") {
		t.Errorf("deleted: %q", gone.Text("#flashes"))
	}
	if w := k.Ask(http.MethodGet, path); w.Code != http.StatusNotFound {
		t.Errorf("a deleted plan = %d", w.Code)
	}

	used := k.planInUse()
	page := k.Get(used)
	if _, readonly := page.Find("#field-currency").Attr("readonly"); !readonly || page.Find("[href$='/delete']").Length() > 0 || !strings.Contains(page.Text(".form-note"), "1 tenant") {
		t.Errorf("a plan in use: %q", page.Text("main"))
	}
	if kept := k.Refused(used, webtest.With(page.Fields("form[action='"+used+"']"), "currency", "SEK")); !strings.Contains(kept.Text("main"), webtest.Message("Currency", core.Violation{Rule: "plan_in_use"})) {
		t.Errorf("another currency: %q", kept.Text("main"))
	}
	if no := k.Refused(used+"/delete", nil); !strings.Contains(no.Text("main [role=alert]"), "Retire it instead") || no.Find(".btn-danger").Length() > 0 {
		t.Errorf("deleting a plan in use: %q", no.Text("main"))
	}
	if ask := k.Get(used + "/retire"); !strings.Contains(ask.Text("main"), "1 tenant") {
		t.Errorf("retire: %q", ask.Text("main"))
	}
	if retired := k.Submit(used+"/retire", nil); !strings.Contains(retired.Text("tbody"), "Retired") {
		t.Errorf("retired: %q", retired.Text("tbody"))
	}
	if open := k.Submit(used+"/reopen", nil); strings.Contains(open.Text("tbody"), "Retired") {
		t.Errorf("reopened: %q", open.Text("tbody"))
	}
	for _, p := range []string{"/platform/plans/999999", "/platform/plans/999999/retire", "/platform/plans/x/delete"} {
		if w := k.Ask(http.MethodGet, p); w.Code != http.StatusNotFound {
			t.Errorf("GET %s = %d", p, w.Code)
		}
		if w := k.Post(p, webtest.Form("name", "Mine")); w.Code != http.StatusNotFound {
			t.Errorf("POST %s = %d", p, w.Code)
		}
	}
}

// planInUse puts the tenant on a plan of its own and returns its path.
func (k desk) planInUse() string {
	k.T.Helper()
	path := k.plan("Starter")
	id, err := strconv.ParseInt(path[strings.LastIndex(path, "/")+1:], 10, 64)
	if err != nil {
		k.T.Fatal(err)
	}
	k.shop.Exec("update loyalty.tenant set plan_id = $1 where id = $2", id, k.shop.By.Tenant.ID)
	return path
}
