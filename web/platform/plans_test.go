package platform_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
)

func form(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return v
}

// with is a form with another value of a field.
func with(v url.Values, name, value string) url.Values {
	v.Set(name, value)
	return v
}

// follow opens where something leads, and returns the page.
func (k desk) follow(t *testing.T, path string, v url.Values) *goquery.Document {
	t.Helper()
	return k.get(t, k.posted(t, path, v))
}

// mistakes are what is wrong with the fields of a page, by the field's name.
func mistakes(page *goquery.Document) map[string]string {
	found := map[string]string{}
	page.Find(".is-invalid").Each(func(_ int, field *goquery.Selection) {
		found[field.AttrOr("name", "")] = words(page.Find("#" + field.AttrOr("id", "") + "-error"))
	})
	return found
}

// plan makes a plan by its form and returns its path.
func (k desk) plan(t *testing.T, name string) string {
	t.Helper()
	list := k.follow(t, "/platform/plans/new", form("name", name, "currency", "EUR", "monthly_cents", "49", "yearly_cents", "490,00"))
	path := ""
	list.Find("tbody a").Each(func(_ int, a *goquery.Selection) {
		if words(a) == name {
			path = a.AttrOr("href", "")
		}
	})
	if path == "" {
		t.Fatalf("no plan %s in %s", name, words(list.Find("tbody")))
	}
	return path
}

// "Plans: name, price per month and per year in cents, currency, optional limits (customers,
// staff, sends per month) … a plan in use can be retired, not deleted."
func TestPlans(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	draft := sends(k.get(t, "/platform/plans/new").Find("form[action='/platform/plans/new']"))
	if draft.Get("currency") != "EUR" || draft.Get("form_key") == "" {
		t.Fatalf("an empty form sends %v", draft)
	}
	draft.Set("name", "Growth <b>")
	draft.Set("monthly_cents", "€ 49.00")
	draft.Set("yearly_cents", "490,00")
	draft.Set("customers_limit", "2 000")
	made := k.follow(t, "/platform/plans/new", draft)
	if got := flash(made); !strings.Contains(got, "Growth <b>") {
		t.Errorf("flash = %q", got)
	}
	k.posted(t, "/platform/plans/new", draft) // a double click
	list := k.get(t, "/platform/plans")
	rows := list.Find("tbody tr").FilterFunction(func(_ int, r *goquery.Selection) bool { return strings.Contains(words(r), "Growth") })
	if rows.Length() != 1 || words(rows.Find("td.num")) != "€ 49.00 € 490.00 2,000 No limit No limit 0" || list.Find("tbody b").Length() > 0 {
		t.Errorf("the list has %d of it: %q", rows.Length(), words(rows))
	}
	path := rows.Find("a").AttrOr("href", "")

	// Refused, beside the fields, with what was typed.
	refused := k.refused(t, "/platform/plans/new", form("name", "growth <b>", "currency", "JPY", "monthly_cents", "4.5", "yearly_cents", "", "staff_limit", "-1"))
	got := mistakes(refused)
	for field, want := range map[string]string{
		"monthly_cents": says("Monthly price", core.Violation{Rule: "amount", Other: "2450"}),
		"yearly_cents":  says("Yearly price", core.Required),
		"staff_limit":   says("Staff", core.Min(0)),
	} {
		if got[field] != want {
			t.Errorf("%s: %q, want %q", field, got[field], want)
		}
	}
	if v := refused.Find("#field-monthly_cents").AttrOr("value", ""); v != "4.5" {
		t.Errorf("what was typed is now %q", v)
	}
	if again := k.refused(t, "/platform/plans/new", form("name", "Growth <b>", "currency", "EUR", "monthly_cents", "1", "yearly_cents", "1")); mistakes(again)["name"] == "" {
		t.Errorf("a name twice: %q", words(again.Find("main")))
	}
	// An amount that can be read in two ways is asked about.
	asked := k.refused(t, "/platform/plans/new", form("name", "Odd", "currency", "EUR", "monthly_cents", "12,505", "yearly_cents", "1"))
	if asked.Find("input[name=monthly_cents_choice]").Length() != 2 {
		t.Errorf("12,505: %q", words(asked.Find("main")))
	}

	// Its price changes; unchanged fields stay as a colleague changed them.
	shown := sends(k.get(t, path).Find("form[action='" + path + "']"))
	k.posted(t, path, with(sends(k.get(t, path).Find("form[action='"+path+"']")), "monthly_cents", "59"))
	k.posted(t, path, with(shown, "name", "Growth"))
	edited := k.get(t, path)
	if words(edited.Find("h1")) != "Growth" || edited.Find("#field-monthly_cents").AttrOr("value", "") != "59.00" || edited.Find("#field-customers_limit").AttrOr("value", "") != "2000" {
		t.Errorf("after two edits: %v", sends(edited.Find("form[action='"+path+"']")))
	}

	// A plan without tenants can be deleted, one in use can't.
	ask := k.get(t, path+"/delete")
	if words(ask.Find("h1")) != "Delete “Growth”?" || ask.Find("form[action='"+path+"/delete'] .btn-danger").Length() != 1 {
		t.Errorf("delete: %q", words(ask.Find("main")))
	}
	if gone := k.follow(t, path+"/delete", nil); !strings.Contains(flash(gone), "Growth") {
		t.Errorf("deleted: %q", flash(gone))
	}
	if w := k.ask(http.MethodGet, path, nil); w.Code != http.StatusNotFound {
		t.Errorf("a deleted plan = %d", w.Code)
	}

	used := k.planInUse(t)
	page := k.get(t, used)
	if _, readonly := page.Find("#field-currency").Attr("readonly"); !readonly || page.Find("[href$='/delete']").Length() > 0 || !strings.Contains(words(page.Find(".form-note")), "1 tenant") {
		t.Errorf("a plan in use: %q", words(page.Find("main")))
	}
	if kept := k.refused(t, used, with(sends(page.Find("form[action='"+used+"']")), "currency", "SEK")); !strings.Contains(words(kept.Find("main")), says("Currency", core.Violation{Rule: "plan_in_use"})) {
		t.Errorf("another currency: %q", words(kept.Find("main")))
	}
	if no := k.refused(t, used+"/delete", nil); !strings.Contains(words(no.Find("main [role=alert]")), "Retire it instead") || no.Find(".btn-danger").Length() > 0 {
		t.Errorf("deleting a plan in use: %q", words(no.Find("main")))
	}
	if ask := k.get(t, used+"/retire"); !strings.Contains(words(ask.Find("main")), "1 tenant") {
		t.Errorf("retire: %q", words(ask.Find("main")))
	}
	if retired := k.follow(t, used+"/retire", nil); !strings.Contains(words(retired.Find("tbody")), "Retired") {
		t.Errorf("retired: %q", words(retired.Find("tbody")))
	}
	if open := k.follow(t, used+"/reopen", nil); strings.Contains(words(open.Find("tbody")), "Retired") {
		t.Errorf("reopened: %q", words(open.Find("tbody")))
	}
	for _, p := range []string{"/platform/plans/999999", "/platform/plans/999999/retire", "/platform/plans/x/delete"} {
		if w := k.ask(http.MethodGet, p, nil); w.Code != http.StatusNotFound {
			t.Errorf("GET %s = %d", p, w.Code)
		}
		if w := k.post(p, form("name", "Mine")); w.Code != http.StatusNotFound {
			t.Errorf("POST %s = %d", p, w.Code)
		}
	}
}

// planInUse puts the tenant on a plan of its own and returns its path.
func (k desk) planInUse(t *testing.T) string {
	t.Helper()
	path := k.plan(t, "Starter")
	id, err := strconv.ParseInt(path[strings.LastIndex(path, "/")+1:], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dbtest.Owner(k.db).Exec(t.Context(), "update loyalty.tenant set plan_id = $1 where id = $2", id, k.by.Tenant.ID); err != nil {
		t.Fatal(err)
	}
	return path
}
