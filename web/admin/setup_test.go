package admin_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/web/webtest"
)

const guide = "/admin/setup"

// at checks the step that the guide continues with; "" for a finished guide.
func (b *browser) at(step string) {
	b.T.Helper()
	want := guide + "/" + step
	if step == "" {
		want = "/admin"
	}
	if to := b.Ask(http.MethodGet, guide).Header().Get("Location"); to != want {
		b.T.Errorf("the guide continues at %s, want %s", to, want)
	}
}

// filled sends the form of a step with some fields changed.
func (b *browser) filled(step string, pairs ...string) webtest.Page {
	b.T.Helper()
	return b.Submit(guide+"/"+step, webtest.With(b.Get(guide+"/"+step).Fields("#setup-form"), pairs...))
}

// "Setting one up guides its owner through country, currency and time zone (locked at the
// first sale), the earning rule, a first reward, a first customer, a first sale".
func TestSetupGuide(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	owner.at("business")
	if got := owner.Get("/admin").Text("#steps-title"); figures(got) != "1 5" {
		t.Errorf("the dashboard says %q", got)
	}

	next := owner.filled("business", "country", "FI", "currency", "EUR", "timezone", "Europe/Helsinki")
	if got := next.Text(".setup-where"); figures(got) != "2 5" {
		t.Errorf("after the business: %q", got)
	}
	// "five steps, each saved; a live example of the rule"
	wants(t, "three sales", next.Texts("#setup-example dd"), []string{"+3 points", "+8 points", "+14 points"})

	next = owner.filled("rule", "points_per_unit", "2")
	owner.at("reward")
	if got := next.Text("#setup-example .setup-figure"); got != "" {
		t.Errorf("%q without any number typed", got)
	}
	if got := owner.filled("reward", "name", "Coffee", "points_cost", "75").Links(".setup-steps a[aria-current]"); len(got) != 1 || got[0] != guide+"/customer" {
		t.Errorf("after the reward: %q", got)
	}
	owner.filled("customer", "first_name", "Elsa", "last_name", "Berg", "phone", "040 174 06 05")
	sale := owner.filled("sale", "spend_amount_cents", "12.50")
	if got := sale.Text(".setup-award"); got != "+24 points" {
		t.Errorf("the sale earned %q", got)
	}
	wants(t, "the sale", sale.Texts(".setup-main dd"), []string{"Elsa Berg", "€ 12.50", "24 points"})
	owner.at("")
	if owner.Get(guide+"/done").Find(".setup-links a").Length() == 0 {
		t.Error("the end of the guide leads nowhere")
	}
	if owner.Get("/admin").Find(".setup-banner").Length() != 0 {
		t.Error("the dashboard still shows the guide")
	}

	// "locked at the first sale"
	business := owner.Get(guide + "/business")
	if _, locked := business.Find("input[name=currency]").Attr("readonly"); !locked {
		t.Error("the currency can be changed after a sale")
	}
	fields := webtest.With(business.Fields("#setup-form"), "currency", "SEK")
	if a := owner.Post(guide+"/business", fields); a.Code != http.StatusUnprocessableEntity || a.Find("#field-currency-error").Length() != 1 {
		t.Errorf("another currency after a sale = %d", a.Code)
	}
}

// "about N sales of …" only from numbers the owner typed; for stamps from the cost alone.
func TestSetupExamples(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	live := []string{"Hx-Request", "true"}

	rule := func(pairs ...string) webtest.Page {
		t.Helper()
		return owner.Post(guide+"/rule/preview", webtest.Form(pairs...), live...)
	}
	wants(t, "by the points", rule("rule_type", "points", "points_per_unit", "3", "unit_cents", "2.00").Texts("dd"), []string{"+3 points", "+12 points", "+21 points"})
	wants(t, "by the visit", rule("rule_type", "stamps", "points_per_unit", "", "unit_cents", "").Texts("dd"), []string{"+1 stamp", "+1 stamp", "+1 stamp"})
	if got := rule("rule_type", "points", "points_per_unit", "1", "unit_cents", ""); got.Find("dd").Length() != 0 || got.Text("#setup-example p:last-child") == "" {
		t.Errorf("an incomplete rule: %q", got.Text("#setup-example"))
	}
	// Without scripts the same form shows the whole page, and nothing is saved.
	if a := owner.Post(guide+"/rule/preview", webtest.Form("rule_type", "points", "points_per_unit", "5", "unit_cents", "1.00")); a.Text("#setup-example dd:first-of-type") == "" ||
		a.Value("input[name=points_per_unit]") != "5" {
		t.Errorf("without scripts = %d", a.Code)
	}
	owner.at("business")

	owner.filled("rule", "points_per_unit", "1")
	reward := func(cost, usual string) string {
		t.Helper()
		return owner.Post(guide+"/reward/preview", webtest.Form("name", "Bun", "points_cost", cost, "usual_sale", usual), live...).Text("#setup-example")
	}
	for _, c := range []struct{ cost, usual, want string }{
		{"75", "9", "75 9 9.00 9"},
		{"1", "9", "1 1 9.00 9"},
		{"75", "0.50", "0.50"},
		{"75", "", ""},
		{"", "9", ""},
		{"-4", "9", ""},
	} {
		if got := reward(c.cost, c.usual); got == "" || figures(got) != c.want {
			t.Errorf("cost %q, typical sale %q: %q, want the figures %q", c.cost, c.usual, got, c.want)
		}
	}
	// "The reward's cost gives the share of sales given back": 1.50 of nine sales of 9.00.
	bun := webtest.Form("name", "Bun", "points_cost", "75", "usual_sale", "9", "cost_cents", "1.50")
	if got := owner.Post(guide+"/reward/preview", bun, live...).Text("#setup-example"); !strings.Contains(got, "1.9% of these sales") {
		t.Errorf("with a cost: %q", got)
	}
	owner.filled("reward", "name", "Bun", "points_cost", "75", "cost_cents", "1.50")
	if again := owner.Get(guide + "/reward"); again.Value("[name=cost_cents]") != "1.50" {
		t.Errorf("the cost is kept as %q", again.Value("[name=cost_cents]"))
	}
}

// Two tabs or two clicks create one of each.
func TestSetupCreatesEachOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	first := owner.Get(guide + "/rule").Fields("#setup-form")
	second := owner.Get(guide + "/rule").Fields("#setup-form")
	sent := func(step string, forms ...url.Values) {
		t.Helper()
		for _, fields := range forms {
			if a := owner.Post(guide+"/"+step, fields); a.Code != http.StatusSeeOther || !strings.HasPrefix(a.Header().Get("Location"), guide) {
				t.Errorf("%s = %d %s", step, a.Code, a.Text(".alert"))
			}
		}
	}
	sent("rule", first, first, second)
	if types, err := s.Sales.Types(t.Context(), s.By); err != nil || len(types) != 1 {
		t.Errorf("%d types, %v", len(types), err)
	}
	reward := webtest.With(owner.Get(guide+"/reward").Fields("#setup-form"), "name", "Coffee", "points_cost", "10")
	other := webtest.With(owner.Get(guide+"/reward").Fields("#setup-form"), "name", "Coffee", "points_cost", "10")
	sent("reward", reward, reward, other)
	if n := owner.Get("/admin/rewards").Find("tbody tr").Length(); n != 1 {
		t.Errorf("%d rewards", n)
	}
	owner.filled("customer", "first_name", "Elsa", "last_name", "Berg", "phone", "08-465 004 12")
	one := webtest.With(owner.Get(guide+"/sale").Fields("#setup-form"), "spend_amount_cents", "5")
	two := webtest.With(owner.Get(guide+"/sale").Fields("#setup-form"), "spend_amount_cents", "6")
	sent("sale", one, one, two)
	if n := owner.Get("/admin/transactions").Find("tbody tr").Length(); n != 1 {
		t.Errorf("%d sales", n)
	}
}

// Steps can be skipped and done later. The sale lists the steps that it needs first.
func TestSkipSetupSteps(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	for _, step := range []string{"business", "rule", "reward", "customer"} {
		owner.at(step)
		if owner.Get(guide+"/"+step).Find("button[form=setup-skip]").Length() != 1 {
			t.Errorf("%s can't be skipped", step)
		}
		owner.Submit(guide+"/skip", webtest.Form("step", step))
	}
	sale := owner.Get(guide + "/sale")
	wants(t, "what a sale needs", sale.Links(".setup-main .card-body a"), []string{guide + "/rule", guide + "/customer"})
	if sale.Find("#setup-form").Length() != 0 {
		t.Error("a sale is offered without a rule")
	}
	// What is created on other pages counts.
	made := s.AddCustomer(customer.New{FirstName: "Elsa", LastName: "Berg", Phone: "08-465 004 12"})
	if !slices.Contains(owner.Get(guide+"/customer").Links(".setup-main a"), "/admin/customers/"+made.ID.String()) {
		t.Error("the customer is not the first one")
	}
	owner.at("sale")
	owner.Submit("/admin/setup/dismiss", nil)
	owner.at("")
	if owner.Get("/admin").Find(".setup-banner").Length() != 0 {
		t.Error("the dashboard still shows the guide")
	}
}

// Skipped steps are left: the guide ends with a list of them, and the dashboard still leads there.
func TestSkippedStepsAreLeft(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	owner.filled("business")
	owner.filled("rule", "points_per_unit", "1")
	owner.Submit(guide+"/skip", webtest.Form("step", "reward"))
	owner.filled("customer", "first_name", "Elsa", "last_name", "Berg", "phone", "08-465 004 12")
	owner.Submit(guide+"/skip", webtest.Form("step", "sale"))
	done := owner.Get(guide + "/done")
	if got := done.Text("h1"); !strings.Contains(done.Text(".setup-main"), "2 steps left") || strings.Contains(done.Text(".setup-main"), "ready") {
		t.Errorf("the end of the guide says %q: %s", got, done.Text(".setup-main"))
	}
	wants(t, "the steps left", done.Links(".setup-links a"), []string{guide + "/reward", guide + "/sale"})
	if got := owner.Get("/admin").Text(".setup-banner"); !strings.Contains(got, "2 steps left") {
		t.Errorf("the dashboard says %q", got)
	}
	owner.at("done")
	owner.filled("reward", "name", "Coffee", "points_cost", "10")
	if got := owner.Get(guide + "/done").Text(".setup-main"); !strings.Contains(got, "1 step left") {
		t.Errorf("with one step left: %s", got)
	}
	owner.filled("sale", "spend_amount_cents", "5")
	if got := owner.Get(guide + "/done").Text(".setup-main"); !strings.Contains(got, "Your programme is ready") || strings.Contains(got, "left") {
		t.Errorf("when all is done: %s", got)
	}
	owner.at("")
}

// A violation is shown beside its field.
func TestSetupRefusals(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	refused := func(step, field string, pairs ...string) {
		t.Helper()
		a := owner.Post(guide+"/"+step, webtest.Form(pairs...))
		if a.Code != http.StatusUnprocessableEntity || a.Find("#field-"+field+"-error").Length() != 1 {
			t.Errorf("%s %v = %d %s", step, pairs, a.Code, a.Text(".alert, .invalid-feedback"))
		}
	}
	refused("business", "timezone", "timezone", "Mars/Olympus")
	refused("rule", "points_per_unit", "rule_type", "points", "points_per_unit", "", "unit_cents", "1")
	refused("rule", "unit_cents", "rule_type", "points", "points_per_unit", "1", "unit_cents", "0")
	refused("reward", "points_cost", "name", "Coffee", "points_cost", "")
	refused("customer", "phone", "first_name", "Elsa", "last_name", "Berg", "phone", "x")
	owner.filled("rule")
	owner.filled("customer", "first_name", "Elsa", "last_name", "Berg", "phone", "08-465 004 12")
	refused("sale", "spend_amount_cents", "spend_amount_cents", "twelve")
	owner.at("business")
}

// "A tenant without a country is asked for it before the first customer": every page that adds customers asks
// for it, and the first step of the guide can't be skipped.
func TestCountryIsAskedBeforeTheFirstCustomer(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner, cashier := s.signedIn(core.Owner), s.signedIn(core.Cashier)
	s.Exec("update loyalty.tenant set country = null where id = $1", s.By.Tenant.ID)
	for _, path := range []string{"/admin/customers/new", "/admin/customers/import", guide + "/customer"} {
		if asked := owner.Get(path); asked.Find("main [name=phone], main [name=file]").Length() != 0 || asked.Find("main a.btn-primary").Length() != 1 {
			t.Errorf("%s adds customers without a country", path)
		}
	}
	if asked := cashier.Get("/admin/customers/new"); asked.Find("main form, main a.btn").Length() != 0 || asked.Find("main .empty").Length() != 1 {
		t.Error("a cashier is asked for what only an owner can choose")
	}
	kari := webtest.Form("first_name", "Kari", "last_name", "Dahl", "phone", "912 34 567")
	if a := owner.Post("/admin/customers/new", kari); a.Code != http.StatusUnprocessableEntity {
		t.Errorf("added without a country: %d", a.Code)
	}
	if first := owner.Get(guide + "/business"); first.Find("[form=setup-skip]").Length() != 0 {
		t.Error("the step of the country can be skipped")
	}
	if a := owner.Post(guide+"/skip", webtest.Form("step", "business")); a.Code != http.StatusUnprocessableEntity {
		t.Errorf("skipped without a country: %d", a.Code)
	}
	if a := owner.Refused(guide+"/business", webtest.Form("country", "", "currency", "EUR", "timezone", "Europe/Oslo")); a.Find("#field-country-error").Length() != 1 {
		t.Error("saved without a country")
	}

	owner.filled("business", "country", "NO")
	owner.filled("customer", "first_name", "Kari", "last_name", "Dahl", "phone", "912 34 567")
	kari.Set("phone", "+47 912 34 567")
	owner.Submit("/admin/customers/new", kari)
	if n := shoptest.Query[int](s.Shop, "select count(*) from loyalty.customer where tenant_id = $1", s.By.Tenant.ID); n != 1 {
		t.Errorf("one number is %d customers", n)
	}
}
