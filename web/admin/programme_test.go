package admin_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/web/webtest"
)

const (
	programmePage = "/admin/settings/programme"
	pointsRule    = programmePage + "/points"
)

// yearRule is the form of a rule of 12 months, with other values.
func yearRule(pairs ...string) url.Values {
	form := webtest.Form("expiry", "after", "months", "12", "round_to", "month", "yearly_month", "12", "yearly_day", "31", "grace_days", "30", "before", "period", "version", "0")
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return form
}

// sent is the form of a page as a browser sends it.
func sent(p webtest.Page, selector string) url.Values {
	form := url.Values{}
	for _, input := range p.Find(selector + " input[type=hidden]").EachIter() {
		form.Add(input.AttrOr("name", ""), input.AttrOr("value", ""))
	}
	return form
}

// An owner sets a rule: what it does is shown with its numbers before it is saved, and read back as a sentence after.
func TestSettingARule(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := shoptest.Anna(shoptest.Phone())
	anna.Email = "anna@example.com"
	s.Adjust(s.AddCustomer(anna).ID, ledger.Points, 1200)
	s.Adjust(s.Customer().ID, ledger.Points, 34)
	owner := s.signedIn(core.Owner)
	overview := owner.Get(programmePage)
	if got := overview.Text("#points .rule-sentence"); got != "Points never expire." {
		t.Errorf("at first: %q", got)
	}
	wants(t, "the rules", overview.Links(".form-card .card-header a"), []string{pointsRule, programmePage + "/stamps"})
	form := owner.Get(pointsRule)
	if got := form.Attr("main form", "action"); got != pointsRule+"/preview" {
		t.Errorf("the form leads to %q", got)
	}

	preview := owner.Post(pointsRule+"/preview", yearRule())
	text := preview.Text("main form")
	for _, part := range []string{"Nothing is saved yet", "Points earned today can be spent until", "2 customers have 1,234 points", "1 customer with an e-mail address", "Save rule and e-mail 1 customer"} {
		if !strings.Contains(text, part) {
			t.Errorf("the preview doesn't say %q: %s", part, text)
		}
	}
	if preview.Code != http.StatusOK || s.Count("programme") != 0 {
		t.Errorf("the preview is %d, and %d rules are stored", preview.Code, s.Count("programme"))
	}
	saved := owner.Submit(preview.Attr("main form", "action"), sent(preview, "main form"))
	if got := saved.Text("#flashes"); got != "Rule saved." {
		t.Errorf("saved: %q", got)
	}
	if got := saved.Text("#points .rule-sentence"); !strings.HasPrefix(got, "Points earned today can be spent until ") {
		t.Errorf("read back: %q", got)
	}
	if got := saved.Text("#points .rule-facts"); !strings.Contains(got, "Nothing ends before ") || !strings.Contains(got, "12 months after they are earned, at the end of the month.") {
		t.Errorf("its facts: %q", got)
	}
	if got := saved.Text("#stamps .rule-sentence"); got != "Stamps never expire." {
		t.Errorf("the other unit: %q", got)
	}

	// The same again changes nothing, and asks nothing.
	if got := owner.Submit(pointsRule+"/preview", yearRule("version", "1")).Text("#flashes"); got != "Nothing changed." {
		t.Errorf("the same again: %q", got)
	}
	// Off: no e-mail, no date.
	preview = owner.Post(pointsRule+"/preview", webtest.Form("expiry", "never", "version", "1"))
	if got := preview.Text("main form"); !strings.Contains(got, "Points never expire.") || !strings.Contains(got, "No e-mail is sent.") {
		t.Errorf("off: %q", got)
	}
	if got := owner.Submit(pointsRule, sent(preview, "main form")).Text("#points"); !strings.Contains(got, "Points never expire.") || strings.Contains(got, "before") {
		t.Errorf("off: %q", got)
	}
	if got := owner.Get("/admin/audit").Text(".audit"); !strings.Contains(got, "Bo Ek changed how points expire.") {
		t.Errorf("the audit log: %q", got)
	}
}

// Each way has a sentence of its own.
func TestRulesInWords(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Adjust(s.Customer().ID, ledger.Stamps, 3)
	owner := s.signedIn(core.Owner)
	for _, c := range []struct {
		form url.Values
		want []string
	}{
		{yearRule("expiry", "yearly", "yearly_month", "2", "yearly_day", "29"), []string{"Stamps earned today can be spent until", "On 29 February of each year"}},
		{yearRule("expiry", "inactive", "months", "6"), []string{"All stamps of a customer who buys something today end on", "unless the customer buys or redeems something before."}},
		{yearRule("before", "never"), []string{"1 customer has 3 stamps. They never expire."}},
	} {
		got := owner.Post(programmePage+"/stamps/preview", c.form).Text("main form")
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%v: %q, want %q", c.form, got, want)
			}
		}
	}
}

// What is wrong is told at its field, before and after the preview; what was typed stays.
func TestRefusedRule(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	for name, c := range map[string]struct {
		form  url.Values
		wrong string
	}{
		"no rule":      {webtest.Form(), "#field-expiry"},
		"no months":    {yearRule("months", ""), "#field-months"},
		"many months":  {yearRule("months", "many"), "#field-months"},
		"30 February":  {yearRule("expiry", "yearly", "yearly_month", "2", "yearly_day", "30"), "#field-yearly_day"},
		"tomorrow":     {yearRule("before", "day", "before_on", "2026-01-01"), "#field-before_on"},
		"no day":       {yearRule("before", "day"), "#field-before_on"},
		"no more days": {yearRule("grace_days", "0"), "#field-grace_days"},
	} {
		for _, path := range []string{pointsRule + "/preview", pointsRule} {
			a := owner.Post(path, c.form)
			if a.Code != http.StatusUnprocessableEntity || a.Find(c.wrong+"-error").Length() != 1 || a.Attr("[name=months]", "value") != c.form.Get("months") {
				t.Errorf("%s at %s: %d, %q", name, path, a.Code, a.Text("main"))
			}
		}
	}
	// Fields of another rule aren't read.
	if a := owner.Post(pointsRule+"/preview", yearRule("yearly_day", "x", "before_on", "x")); a.Code != http.StatusOK {
		t.Errorf("a hidden field is refused: %q", a.Text("main"))
	}
}

// Of two tabs, the second sees what the first has saved, and can go on from there.
func TestRuleInTwoTabs(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	owner.Submit(pointsRule, yearRule())
	for _, path := range []string{pointsRule + "/preview", pointsRule} {
		second := owner.Post(path, yearRule("months", "24"))
		if second.Code != http.StatusUnprocessableEntity || second.Find("[data-refusal]").Length() != 1 || second.Attr("[name=months]", "value") != "24" {
			t.Errorf("the second tab: %d, %q", second.Code, second.Text("main"))
		}
		if got := second.Attr("[name=version]", "value"); got != "1" {
			t.Errorf("it goes on from version %q", got)
		}
	}
}

// Settings → Programme is the owner's, and of their own business.
func TestProgrammeIsTheOwners(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	s.signedIn(core.Owner).Submit(pointsRule, yearRule())
	if got := other.signedIn(core.Owner).Get(programmePage).Text("#points .rule-sentence"); got != "Points never expire." {
		t.Errorf("another business reads %q", got)
	}
	other.signedIn(core.Owner).Submit(pointsRule, yearRule("expiry", "inactive"))
	if got := shoptest.QueryAll[string](s.Shop, "select expiry from loyalty.programme where tenant_id = $1", s.By.Tenant.ID); !slices.Equal(got, []string{"after"}) {
		t.Errorf("another business changed the rule: %v", got)
	}
	for _, role := range []core.Role{core.Manager, core.Cashier} {
		b := s.signedIn(role)
		for _, a := range []webtest.Page{b.Ask(http.MethodGet, programmePage), b.Ask(http.MethodGet, pointsRule), b.Post(pointsRule+"/preview", yearRule()), b.Post(pointsRule, yearRule())} {
			if a.Code != http.StatusForbidden {
				t.Errorf("a %s: %d", role, a.Code)
			}
		}
	}
}

// Beside the session and the figures of the navigation, the overview and the preview make one round trip. A change makes three.
func TestRoundTripsOfTheProgramme(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := newShopOn(t, d)
	owner := s.signedIn(core.Owner)
	for _, c := range []struct {
		what string
		do   func(version, months string)
		want int64
	}{
		{"the overview", func(_, _ string) { owner.Get(programmePage) }, 3},
		{"a change", func(version, months string) { owner.Post(pointsRule, yearRule("version", version, "months", months)) }, 5},
		{"the preview", func(_, _ string) { owner.Post(pointsRule+"/preview", yearRule("version", "3")) }, 3},
	} {
		c.do("0", "6") // prepares its statements
		c.do("1", "7")
		before := count()
		c.do("2", "8")
		if got := int64(count() - before); got != c.want {
			t.Errorf("%s: %d round trips, want %d", c.what, got, c.want)
		}
	}
}
