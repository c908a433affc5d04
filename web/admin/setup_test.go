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

// at is the step that the guide goes on with.
func (b *browser) at(step string) {
	b.t.Helper()
	want := guide + "/" + step
	if step == "" {
		want = "/admin"
	}
	if to := b.ask(http.MethodGet, guide, nil).Header().Get("Location"); to != want {
		b.t.Errorf("the guide goes on at %s, want %s", to, want)
	}
}

// filled is what the form of a step sends, with some fields changed.
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
	if got := owner.get("/admin").words("section[aria-label=Setup] h2"); got != "Finish setting up: step 1 of 5" {
		t.Errorf("the dashboard says %q", got)
	}

	next := owner.filled("business", "country", "FI", "currency", "EUR", "timezone", "Europe/Helsinki")
	if got := next.words(".setup-where"); got != "Step 2 of 5" {
		t.Errorf("after the business: %q", got)
	}
	// "five steps, each saved; a live example of the rule"
	wants(t, "three sales", next.each("#setup-example dd"), []string{"+3 points", "+8 points", "+14 points"})

	next = owner.filled("rule", "points_per_unit", "2")
	owner.at("reward")
	if got := next.words("#setup-example .setup-figure"); got != "" {
		t.Errorf("%q without any number typed", got)
	}
	if got := owner.filled("reward", "name", "Coffee", "points_cost", "75").words("h2.setup-heading"); got != "Who is your first customer?" {
		t.Errorf("after the reward: %q", got)
	}
	owner.filled("customer", "first_name", "Elsa", "last_name", "Berg", "phone", "040 174 06 05")
	sale := owner.filled("sale", "spend_amount_cents", "12.50")
	if got := sale.words(".setup-award"); got != "+24 points" {
		t.Errorf("the sale earned %q", got)
	}
	if got := sale.words(".setup-main dl"); got != "Customer Elsa Berg Sale € 12.50 Balance 24 points" {
		t.Errorf("the sale says %q", got)
	}
	owner.at("")
	if got := owner.get(guide + "/done").words(".setup-heading"); got != "Your programme is ready" {
		t.Errorf("at the end: %q", got)
	}
	if owner.get("/admin").Find("section[aria-label=Setup]").Length() != 0 {
		t.Error("the dashboard still leads to the guide")
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

// "about N sales of …" only where it follows from numbers the owner typed; for stamps from the
// cost alone.
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
	wants(t, "incomplete", rule("rule_type", "points", "points_per_unit", "1", "unit_cents", "").each("dd, #setup-example p:last-child"), []string{"Complete the rule to see what it earns."})
	// Without scripts the same button shows the whole page, and nothing is saved.
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
		{"75", "9", "About 9 sales of € 9.00, which earn 9 points each."},
		{"1", "9", "About 1 sale of"},
		{"75", "0.50", "A sale of € 0.50 earns nothing by your rule."},
		{"75", "", "Type what it costs and what a usual sale comes to."},
		{"", "9", "Type what it costs"},
		{"-4", "9", "Type what it costs"},
	} {
		if got := reward(c.cost, c.usual); !strings.Contains(got, c.want) {
			t.Errorf("cost %q, usual sale %q: %q, want %q", c.cost, c.usual, got, c.want)
		}
	}
}

// Two tabs, and two clicks, make one of each.
func TestSetupHappensOnce(t *testing.T) {
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

// Steps are skipped, gone back to, and what is missing is said where it is needed.
func TestSetupCanWait(t *testing.T) {
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
	// Other pages do steps, too.
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
		t.Error("the dashboard still leads to the guide")
	}
}

// What core refuses is said beside its field, and what was typed stays.
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
