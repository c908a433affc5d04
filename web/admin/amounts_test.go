package admin_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/webtest"
)

// sales is the number of the shop's sales.
func (s *till) sales() int {
	s.T.Helper()
	return shoptest.Query[int](s.Shop, "select count(*) from loyalty.transaction where tenant_id = $1", s.By.Tenant.ID)
}

// question is what the panel asks about an ambiguous amount, with the spaces of the page's text.
func question(typed, currency string) string {
	return strings.Join(strings.Fields(forms.ParseAmount(typed, currency).Question()), " ")
}

// "What can be read in two ways (`12,505`, `12.505`) is refused with both readings offered":
// nothing is recorded until one is chosen, with or without scripts.
func TestAmbiguousAmountIsAsked(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	cashier := s.signedIn(core.Cashier)
	refused := cashier.Post("/admin/transactions/new", s.sale(cashier, "12,505"))
	asked := question("12,505", "EUR")
	if refused.Code != http.StatusUnprocessableEntity || !strings.HasPrefix(refused.Text("#field-spend_amount_cents-read"), asked) || refused.Text(".alert a") != "Amount" {
		t.Errorf("refused: %d %q %q", refused.Code, refused.Text("#field-spend_amount_cents-read"), refused.Text(".alert"))
	}
	if got := strings.Join(refused.Texts(".readings label"), "|"); got != "€ 12,505.00|€ 12.50" {
		t.Errorf("offered: %q", got)
	}
	if refused.Value("#field-spend_amount_cents") != "12,505" || s.sales() != 0 {
		t.Errorf("the amount is now %q, and there are %d sales", refused.Value("#field-spend_amount_cents"), s.sales())
	}
	sent := refused.Fields("form.form-card")
	if sent.Has("spend_amount_cents_choice") {
		t.Errorf("a reading is preselected: %v", sent)
	}
	second := refused.Find(".readings input").Last()
	sent.Set(second.AttrOr("name", ""), second.AttrOr("value", ""))
	if a := cashier.Submit("/admin/transactions/new", sent); !a.Flashed(ui.Done, "€ 12.50") {
		t.Errorf("flash = %q", a.Text("#flashes"))
	}
	sent = webtest.With(refused.Fields("form.form-card"), "form_key", s.sale(cashier, "").Get("form_key"))
	sent.Set("spend_amount_cents", "13") // corrected, with the earlier choice still sent
	sent.Set(second.AttrOr("name", ""), second.AttrOr("value", ""))
	if a := cashier.Submit("/admin/transactions/new", sent); !a.Flashed(ui.Done, "€ 13.00") {
		t.Errorf("flash = %q", a.Text("#flashes"))
	}
}

// "The amount is shown back as read", while it is typed.
func TestAmountIsShownAsRead(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	cashier := s.signedIn(core.Cashier)
	for query, want := range map[string]string{
		"24,5":   "€ 24.50",
		"1 234":  "€ 1,234.00",
		"":       "",
		"x":      "",
		"12.505": "€ 12,505.00 € 12.50",
		"12.505&spend_amount_cents_choice=12.505%3D1250": "€ 12.50",
	} {
		shown := cashier.Get("/admin/transactions/earns?transaction_type_id="+s.typeID+"&spend_amount_cents="+strings.ReplaceAll(query, " ", "+"), "Hx-Request", "true")
		if got := shown.Text("#field-spend_amount_cents-read[hx-swap-oob]"); !strings.HasSuffix(got, want) || want == "" && got != "" {
			t.Errorf("%s is shown as %q, want %q", query, got, want)
		}
		if shown.Find("#earns").Length() != 1 {
			t.Errorf("%s: the answer doesn't say what it earns", query)
		}
	}
	form := webtest.With(s.sale(cashier, "24,5"), "transaction_type_id", "999999999")
	if got := cashier.Post("/admin/transactions/new", form).Text("#field-spend_amount_cents-read"); !strings.HasSuffix(got, "€ 24.50") {
		t.Errorf("a refused form shows %q", got)
	}
}

// Every form of the panel asks about ambiguous amounts in the same way.
func TestAmbiguousAmountInEveryForm(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	typeDraft := webtest.Form("name", "Lunch", "rule_type", "points", "points_per_unit", "1", "unit_cents", "1.00", "stamps_per_transaction", "1", "example", "24.50")
	for _, c := range []struct {
		path, field string
		draft       url.Values
		done        string // selector of an element that shows the saved amount
	}{
		{"/admin/types/new", "unit_cents", typeDraft, "tbody tr"},
		{"/admin/types/new", "min_spend_cents", typeDraft, "tbody tr:last-child"},
		{"/admin/coupons/new", "amount_cents", webtest.Form("name", "One off", "benefit_type", "amount", "max_per_customer", "1"), "main"},
		{business, "confirm_above_cents", webtest.Form("confirm_above_cents", ""), "main"},
	} {
		draft := url.Values{}
		for name, values := range c.draft {
			draft[name] = values
		}
		draft.Set(c.field, "2,505")
		refused := owner.Post(c.path, draft)
		if got := strings.Join(refused.Texts("label[for^=field-"+c.field+"-reading]"), "|"); refused.Code != http.StatusUnprocessableEntity || got != "€ 2,505.00|€ 2.50" {
			t.Errorf("%s of %s: %d, offered %q", c.field, c.path, refused.Code, got)
		}
		if got := refused.Text("#field-" + c.field + "-error"); got != question("2,505", "EUR") {
			t.Errorf("%s of %s: %q", c.field, c.path, got)
		}
		draft.Set(c.field+"_choice", "2,505=250500")
		done := owner.Submit(c.path, draft)
		if got := done.Text(c.done); c.path != business && !strings.Contains(got, "2,505.00") {
			t.Errorf("%s of %s: then %q", c.field, c.path, got)
		}
	}
	if got := owner.Get(business).Value("#field-confirm_above_cents"); got != "2505.00" {
		t.Errorf("the ceiling is %q", got)
	}
	example := webtest.Form("rule_type", "points", "points_per_unit", "1", "unit_cents", "1.00", "stamps_per_transaction", "1", "example", "24,505")
	if got := owner.Post("/admin/types/earns", example, "Hx-Request", "true").Text("#earns"); !strings.Contains(got, "24.50") {
		t.Errorf("an ambiguous example: %q", got)
	}
}

// In a currency of three decimals, a point is the decimal mark and a comma is asked about. The panel reads its own
// amounts without asking.
func TestAmountsOfThreeDecimals(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	owner.Submit(business, webtest.Form("currency", "KWD"))
	draft := webtest.With(owner.Get("/admin/types/new").Fields("main form.row"), "name", "Lunch", "unit_cents", "12,505")
	refused := owner.Post("/admin/types/new", draft)
	if got := refused.Text("#field-unit_cents-error"); got != question("12,505", "KWD") {
		t.Errorf("refused: %q", got)
	}
	webtest.With(draft, "unit_cents_choice", "12,505=12505", "example", "25.010")
	if got := owner.Post("/admin/types/earns", draft, "Hx-Request", "true").Text("#earns"); !strings.Contains(got, "2 points") {
		t.Errorf("the preview says %q", got)
	}
	path := owner.Submit("/admin/types/new", draft).Attr("tbody a", "href")
	edit := owner.Get(path).Fields("main form.row")
	if edit.Get("unit_cents") != "12.505" {
		t.Errorf("the form begins with %v", edit)
	}
	edit.Set("name", "Dinner")
	if got := owner.Submit(path, edit).Text("tbody tr"); !strings.HasPrefix(got, "Dinner ") || !strings.Contains(got, "KWD 12.505") {
		t.Errorf("edited: %q", got)
	}
}

// large sends a sale above the ceiling and returns the confirmation and its form.
func (s *till) large(b *browser, spend string) (asked webtest.Page, confirm url.Values) {
	s.T.Helper()
	asked = b.Post("/admin/transactions/new", s.sale(b, spend))
	if asked.Code != http.StatusOK || s.sales() != 0 {
		s.T.Fatalf("asked: %d %s; %d sales", asked.Code, asked.Text("main"), s.sales())
	}
	confirm = asked.Fields("form.form-card")
	button := asked.Find("form.form-card button.btn-primary")
	confirm.Set(button.AttrOr("name", ""), button.AttrOr("value", ""))
	return asked, confirm
}

// "Above a tenant's ceiling (setting, default 1,000.00) the panel and the till ask once more": nothing is
// recorded before the confirmation, which shows amount and points. A double click records once.
func TestLargeSaleIsConfirmed(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	cashier := s.signedIn(core.Cashier)
	asked, confirm := s.large(cashier, "12505")
	got := asked.Text("main form")
	for _, want := range []string{"€ 12,505.00", "12,505 points", "Purchase", "€ 1,000.00"} {
		if !strings.Contains(got, want) {
			t.Errorf("the confirmation %q doesn't contain %q", got, want)
		}
	}
	if key := confirm.Get("form_key"); key == "" || confirm.Get("confirmed") != "1250500" {
		t.Errorf("confirms %v", confirm)
	}
	var clicks sync.WaitGroup
	for range 10 {
		again := cashier.Clone()
		clicks.Go(func() {
			if a := again.Post("/admin/transactions/new", confirm); a.Code != http.StatusSeeOther {
				t.Errorf("a click is answered %d %s", a.Code, a.Text(".alert"))
			}
		})
	}
	clicks.Wait()
	if s.sales() != 1 || s.balance() != 12505 {
		t.Errorf("%d sales, balance %d", s.sales(), s.balance())
	}
}

func TestLargeSaleIsCorrected(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	cashier := s.signedIn(core.Cashier)
	asked, confirm := s.large(cashier, "12505")
	correct := webtest.With(asked.Fields("form.form-card"), asked.Attr("form.form-card button:not(.btn-primary)", "name"), "1")
	back := cashier.Post("/admin/transactions/new", correct)
	sent := back.Fields("form.form-card")
	if back.Code != http.StatusOK || sent.Get("spend_amount_cents") != "12505" || sent.Get("transaction_type_id") != s.typeID || sent.Has("confirmed") || sent.Has("correct") {
		t.Errorf("back: %d %v", back.Code, sent)
	}
	if _, focused := back.Find("#field-spend_amount_cents").Attr("autofocus"); !focused || back.Find(".alert").Length() != 0 {
		t.Errorf("back: %s", back.Text("main"))
	}
	sent.Set("spend_amount_cents", "125.05")
	if a := cashier.Submit("/admin/transactions/new", sent); !a.Flashed(ui.Done, "€ 125.05") {
		t.Errorf("flash = %q", a.Text("#flashes"))
	}
	// The confirmation holds only for its amount.
	confirm.Set("spend_amount_cents", "12506")
	if a := cashier.Post("/admin/transactions/new", confirm); a.Code != http.StatusOK || s.sales() != 1 {
		t.Errorf("another amount: %d, %d sales", a.Code, s.sales())
	}
}

// Owners set the ceiling or turn it off. It doesn't apply to the API, and invalid sales are refused
// without a confirmation.
func TestCeilingSetting(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	owner, cashier := s.signedIn(core.Owner), s.signedIn(core.Cashier)
	const field = "#field-confirm_above_cents"
	records := func(spend string) bool {
		t.Helper()
		before := s.sales()
		a := cashier.Post("/admin/transactions/new", s.sale(cashier, spend))
		if a.Code != http.StatusSeeOther && a.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", spend, a.Code, a.Text(".alert"))
		}
		return s.sales() > before
	}
	if got := owner.Get(business).Value(field); got != "1000.00" {
		t.Errorf("at first: %q", got)
	}
	if !records("1000") || records("1000.01") {
		t.Error("1,000.00 needs a confirmation, or a cent more doesn't")
	}
	owner.Submit(business, webtest.Form("confirm_above_cents", "20"))
	if got := owner.Get(business).Value(field); got != "20.00" || !records("20") || records("20,01") {
		t.Errorf("a ceiling of %q", got)
	}
	for typed, want := range map[string]string{
		"0": "€ 0.01", "-5": "24.50",
	} {
		refused := owner.Post(business, webtest.Form("confirm_above_cents", typed))
		if got := refused.Text(field + "-error"); refused.Code != http.StatusUnprocessableEntity || !strings.Contains(got, want) {
			t.Errorf("%s: %d %q", typed, refused.Code, got)
		}
	}
	wrong := webtest.With(s.sale(cashier, "500"), "transaction_type_id", "999999999")
	if a := cashier.Post("/admin/transactions/new", wrong); a.Code != http.StatusUnprocessableEntity || a.Text(".alert") == "" {
		t.Errorf("a sale of no type: %d %q", a.Code, a.Text(".alert"))
	}
	owner.Submit(business, webtest.Form("confirm_above_cents", ""))
	if got := owner.Get(business).Value(field); got != "" || !records("5000") {
		t.Errorf("without a ceiling: %q", got)
	}
	owner.Submit(business, webtest.Form("confirm_above_cents", "20"))
	if _, err := core.Result(s.Sales.Record(t.Context(), s.By, transaction.Sale{
		CustomerID: s.elsa.ID, TransactionTypeID: *number(t, s.typeID), SpendAmountCents: 900_000, Source: transaction.API,
	}, nil, nil)); err != nil {
		t.Errorf("a sale of the API = %v", err)
	}
}

// "One award is at most 10^12": the error is shown next to the amount.
func TestAwardTooLarge(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	owner := s.signedIn(core.Owner)
	lavish := webtest.Form("name", "Lavish", "rule_type", "points", "points_per_unit", "1000000000", "unit_cents", "0.01", "stamps_per_transaction", "1", "example", "10.01")
	if got := owner.Post("/admin/types/earns", lavish, "Hx-Request", "true").Text("#earns"); !strings.Contains(got, "1,000,000,000,000 points") {
		t.Errorf("the rule's preview says %q", got)
	}
	path := owner.Submit("/admin/types/new", lavish).Attr("tbody tr:last-child a", "href")
	s.typeID = path[strings.LastIndex(path, "/")+1:]
	earns := owner.Get("/admin/transactions/earns?spend_amount_cents=10.01&transaction_type_id="+s.typeID, "Hx-Request", "true")
	if got := earns.Text("#earns"); !strings.Contains(got, "1,000,000,000,000 points") {
		t.Errorf("the preview says %q", got)
	}
	for _, spend := range []string{"10.01", "50000"} { // below the ceiling, and above it
		refused := owner.Post("/admin/transactions/new", s.sale(owner, spend))
		if got := refused.Text(".invalid-feedback"); refused.Code != http.StatusUnprocessableEntity || !strings.Contains(got, "€ 10.00") {
			t.Errorf("%s: %d %q", spend, refused.Code, got)
		}
	}
}

func number(t *testing.T, text string) *int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return &n
}
