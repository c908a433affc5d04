package admin_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
)

const guide = "/admin/setup"

// at checks the step that the guide continues with; "" for a finished guide.
func (b *browser) at(step string) {
	b.t.Helper()
	want := guide + "/" + step
	if step == "" {
		want = "/admin"
	}
	if to := b.ask(http.MethodGet, guide, nil).Header().Get("Location"); to != want {
		b.t.Errorf("the guide continues at %s, want %s", to, want)
	}
}

// filled sends the form of a step with some fields changed.
func (b *browser) filled(step string, pairs ...string) answer {
	b.t.Helper()
	fields := b.get(guide + "/" + step).sends("#setup-form")
	for i := 0; i+1 < len(pairs); i += 2 {
		fields.Set(pairs[i], pairs[i+1])
	}
	return b.posted(guide+"/"+step, fields)
}

// "Setting one up guides its owner through country, currency and time zone (locked at the
// first sale), the earning rule, a first reward, a first customer, a first sale".
func TestSetupGuide(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(t, core.Owner)
	owner.at("business")
	if got := owner.get("/admin").words("section[aria-label=Setup] h2"); figures(got) != "1 5" {
		t.Errorf("the dashboard says %q", got)
	}

	next := owner.filled("business", "country", "FI", "currency", "EUR", "timezone", "Europe/Helsinki")
	if got := next.words(".setup-where"); figures(got) != "2 5" {
		t.Errorf("after the business: %q", got)
	}
	// "five steps, each saved; a live example of the rule"
	wants(t, "three sales", next.each("#setup-example dd"), []string{"+3 points", "+8 points", "+14 points"})

	next = owner.filled("rule", "points_per_unit", "2")
	owner.at("reward")
	if got := next.words("#setup-example .setup-figure"); got != "" {
		t.Errorf("%q without any number typed", got)
	}
	if got := owner.filled("reward", "name", "Coffee", "points_cost", "75").links(".setup-steps a[aria-current]"); len(got) != 1 || got[0] != guide+"/customer" {
		t.Errorf("after the reward: %q", got)
	}
	owner.filled("customer", "first_name", "Elsa", "last_name", "Berg", "phone", "040 174 06 05")
	sale := owner.filled("sale", "spend_amount_cents", "12.50")
	if got := sale.words(".setup-award"); got != "+24 points" {
		t.Errorf("the sale earned %q", got)
	}
	wants(t, "the sale", sale.each(".setup-main dd"), []string{"Elsa Berg", "€ 12.50", "24 points"})
	owner.at("")
	if owner.get(guide+"/done").Find(".setup-links a").Length() == 0 {
		t.Error("the end of the guide leads nowhere")
	}
	if owner.get("/admin").Find("section[aria-label=Setup]").Length() != 0 {
		t.Error("the dashboard still shows the guide")
	}

	// "locked at the first sale"
	business := owner.get(guide + "/business")
	if _, locked := business.Find("input[name=currency]").Attr("readonly"); !locked {
		t.Error("the currency can be changed after a sale")
	}
	fields := business.sends("#setup-form")
	fields.Set("currency", "SEK")
	if a := owner.post(guide+"/business", fields); a.Code != http.StatusUnprocessableEntity || a.Find("#field-currency-error").Length() != 1 {
		t.Errorf("another currency after a sale = %d", a.Code)
	}
}

// "about N sales of …" only from numbers the owner typed; for stamps from the cost alone.
func TestSetupExamples(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(t, core.Owner)
	live := []string{"Hx-Request", "true"}

	rule := func(pairs ...string) answer {
		t.Helper()
		return owner.post(guide+"/rule/preview", form(pairs...), live...)
	}
	wants(t, "by the points", rule("rule_type", "points", "points_per_unit", "3", "unit_cents", "2.00").each("dd"), []string{"+3 points", "+12 points", "+21 points"})
	wants(t, "by the visit", rule("rule_type", "stamps", "points_per_unit", "", "unit_cents", "").each("dd"), []string{"+1 stamp", "+1 stamp", "+1 stamp"})
	if got := rule("rule_type", "points", "points_per_unit", "1", "unit_cents", ""); got.Find("dd").Length() != 0 || got.words("#setup-example p:last-child") == "" {
		t.Errorf("an incomplete rule: %q", got.words("#setup-example"))
	}
	// Without scripts the same form shows the whole page, and nothing is saved.
	if a := owner.post(guide+"/rule/preview", form("rule_type", "points", "points_per_unit", "5", "unit_cents", "1.00")); a.words("#setup-example dd:first-of-type") == "" ||
		a.Find("input[name=points_per_unit]").AttrOr("value", "") != "5" {
		t.Errorf("without scripts = %d", a.Code)
	}
	owner.at("business")

	owner.filled("rule", "points_per_unit", "1")
	reward := func(cost, usual string) string {
		t.Helper()
		return owner.post(guide+"/reward/preview", form("name", "Bun", "points_cost", cost, "usual_sale", usual), live...).words("#setup-example")
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
}

// Two tabs or two clicks create one of each.
func TestSetupCreatesEachOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(t, core.Owner)
	first := owner.get(guide + "/rule").sends("#setup-form")
	second := owner.get(guide + "/rule").sends("#setup-form")
	sent := func(step string, forms ...url.Values) {
		t.Helper()
		for _, fields := range forms {
			if a := owner.post(guide+"/"+step, fields); a.Code != http.StatusSeeOther || !strings.HasPrefix(a.Header().Get("Location"), guide) {
				t.Errorf("%s = %d %s", step, a.Code, a.words(".alert"))
			}
		}
	}
	sent("rule", first, first, second)
	if types, err := s.Transactions.Types(t.Context(), s.by); err != nil || len(types) != 1 {
		t.Errorf("%d types, %v", len(types), err)
	}
	reward := owner.get(guide + "/reward").sends("#setup-form")
	reward.Set("name", "Coffee")
	reward.Set("points_cost", "10")
	other := owner.get(guide + "/reward").sends("#setup-form")
	other.Set("name", "Coffee")
	other.Set("points_cost", "10")
	sent("reward", reward, reward, other)
	if n := owner.get("/admin/rewards").Find("tbody tr").Length(); n != 1 {
		t.Errorf("%d rewards", n)
	}
	owner.filled("customer", "first_name", "Elsa", "last_name", "Berg", "phone", "08-465 004 12")
	one := owner.get(guide + "/sale").sends("#setup-form")
	one.Set("spend_amount_cents", "5")
	two := owner.get(guide + "/sale").sends("#setup-form")
	two.Set("spend_amount_cents", "6")
	sent("sale", one, one, two)
	if n := owner.get("/admin/transactions").Find("tbody tr").Length(); n != 1 {
		t.Errorf("%d sales", n)
	}
}

// Steps can be skipped and done later. The sale lists the steps that it needs first.
func TestSkipSetupSteps(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(t, core.Owner)
	for _, step := range []string{"business", "rule", "reward", "customer"} {
		owner.at(step)
		if owner.get(guide+"/"+step).Find("button[form=setup-skip]").Length() != 1 {
			t.Errorf("%s can't be skipped", step)
		}
		owner.posted(guide+"/skip", form("step", step))
	}
	sale := owner.get(guide + "/sale")
	wants(t, "what a sale needs", sale.links(".setup-main .card-body a"), []string{guide + "/rule", guide + "/customer"})
	if sale.Find("#setup-form").Length() != 0 {
		t.Error("a sale is offered without a rule")
	}
	// What is created on other pages counts.
	made, err := s.Customers.Upsert(t.Context(), s.by, customer.New{FirstName: new("Elsa"), LastName: new("Berg"), Phone: new("08-465 004 12")})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(owner.get(guide+"/customer").links(".setup-main a"), "/admin/customers/"+made.ID.String()) {
		t.Error("the customer is not the first one")
	}
	owner.at("sale")
	owner.posted("/admin/setup/dismiss", nil)
	owner.at("")
	if owner.get("/admin").Find("section[aria-label=Setup]").Length() != 0 {
		t.Error("the dashboard still shows the guide")
	}
}

// A violation is shown beside its field.
func TestSetupRefusals(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(t, core.Owner)
	refused := func(step, field string, pairs ...string) {
		t.Helper()
		a := owner.post(guide+"/"+step, form(pairs...))
		if a.Code != http.StatusUnprocessableEntity || a.Find("#field-"+field+"-error").Length() != 1 {
			t.Errorf("%s %v = %d %s", step, pairs, a.Code, a.words(".alert, .invalid-feedback"))
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
