package till_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/web/route"
	"example.com/loyalty/web/till"
	"example.com/loyalty/web/webtest"
)

// "Extreme (but valid) records break no page": every page of the point of sale, with the largest
// amounts and balances, the longest texts and the oldest dates.
func TestNoExtremeBreaksAPage(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cashier := s.signedIn(core.Cashier)
	anna := s.customer("Anna", 500)
	bun := s.reward("Cinnamon bun", 200)
	off, _ := s.voucher(anna, 500)
	receipt := cashier.Submitted("/till/sale", saleForm(cashier.serve(anna), "spend_amount_cents", "100", "rewards", bun.String(), "vouchers", off.String()))
	_, pin := cashier.shows("100")
	code := s.card(anna).Code
	dbtest.Extreme(t, s.DB, s.By)
	s.Exec("update loyalty.pin set spend_amount_cents = 1000000000000 where tenant_id = $1 and direction = 'till'", s.By.Tenant.ID)

	records := map[string]string{
		"/till/customers/": anna.ID.String(), "/till/receipts/": strings.TrimPrefix(receipt, "/till/receipts/"),
		"/till/pins/": pin[strings.LastIndex(pin, "/")+1:], "/till/c/": code,
	}
	walked := 0
	for _, p := range route.Reading(till.Routes()) {
		noun, rest, names := strings.Cut(p.Path, ":")
		path := p.Path
		if names {
			record := records[noun]
			if record == "" {
				t.Errorf("there is no record for %s", p.Path)
			}
			_, action, _ := strings.Cut(rest, "/")
			path = strings.TrimSuffix(noun+record+"/"+action, "/")
		}
		if strings.HasSuffix(path, "/events") { // an endless answer, which is told of above
			continue
		}
		walked++
		a := cashier.Ask(http.MethodGet, path+"?customer_ulid="+anna.ID.String()+"&spend_amount_cents=1000000000000&transaction_type_id="+decimal(s.kind.ID))
		if a.Code >= http.StatusBadRequest {
			t.Errorf("%s = %d: %s", path, a.Code, a.Text("main"))
		}
		if said := dbtest.Nonsense(a.Body.String()); said != "" {
			t.Errorf("%s says %s", path, said)
		}
		if said := dbtest.Turned(a.Body.String()); said != "" {
			t.Errorf("%s turns %s", path, said)
		}
	}
	if walked < 8 {
		t.Errorf("walked %d pages", walked)
	}
}

// Whatever is sent with a form of the point of sale, a refusal says what is wrong: the page has fields for the amount
// and the customer alone. The browser of the tests checks each page.
func TestRefusalsAreAtTheirFields(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cashier := s.signedIn(core.Cashier)
	anna := s.customer("Anna", 500)
	s.reward("Cinnamon bun", 200)
	s.voucher(anna, 500)
	others, _ := s.voucher(s.customer("Bo", 0), 500)
	sale := shoptest.Of(t, s.DB, cashier.Person).Sale(anna.ID, s.kind, 100)
	paths := []string{"/till", "/till/customers/" + anna.ID.String(), "/till/customers/" + anna.ID.String() + "/card", "/till/receipts/" + sale.ID.String()}
	if refused := cashier.RefuseForms(paths); refused < 8 {
		t.Errorf("%d refusals", refused)
	}
	form := saleForm(cashier.serve(anna), "spend_amount_cents", "100")
	for field, c := range map[string]struct{ value, says string }{
		"customer_ulid":       {core.NewID(s.DB.Now()).String(), webtest.MessageApart("customer_ulid", core.InvalidChoice)},
		"transaction_type_id": {"999999", webtest.MessageApart("transaction_type_id", core.InvalidChoice)},
		"location_id":         {"999999", webtest.MessageApart("location_id", core.InvalidChoice)},
		"vouchers":            {others.String(), webtest.MessageApart("voucher_ulid", core.InvalidChoice)},
		"pending":             {core.NewID(s.DB.Now()).String(), webtest.MessageApart("redemption_ulid", core.InvalidChoice)},
		"rewards":             {core.NewID(s.DB.Now()).String(), webtest.MessageApart("reward_ulid", core.InvalidChoice)},
	} {
		spoiled := maps.Clone(form)
		spoiled.Set(field, c.value)
		spoiled.Set("form_key", core.NewID(s.DB.Now()).String())
		if a := cashier.script("/till/sale", spoiled); a.Code != http.StatusUnprocessableEntity || a.Text("p.problem") != c.says {
			t.Errorf("%s: %d %q, want %q", field, a.Code, a.Text("p.problem"), c.says)
		}
	}
}
