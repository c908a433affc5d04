package admin_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/web/webtest"
)

// till is a shop with a customer and a type that earns a point for every euro.
type till struct {
	*shop
	elsa   customer.Customer
	typeID string
}

func newTill(t *testing.T) *till {
	t.Helper()
	return tillOn(t, dbtest.DB(t))
}

func tillOn(t *testing.T, d *db.DB) *till {
	t.Helper()
	s := &till{shop: newShopOn(t, d)}
	s.elsa = s.AddCustomer(customer.New{FirstName: "Elsa", LastName: "Berg <b>", Phone: "08-465 004 12"})
	s.typeID = strconv.FormatInt(s.Points(100).ID, 10)
	return s
}

// sale fills in the form of a sale to Elsa.
func (s *till) sale(b *browser, spend string) url.Values {
	b.T.Helper()
	key := b.Get("/admin/transactions/new?customer_ulid=" + s.elsa.ID.String()).Value("input[name=form_key]")
	return webtest.Form("form_key", key, "customer_ulid", s.elsa.ID.String(), "transaction_type_id", s.typeID, "spend_amount_cents", spend)
}

// sold records a sale as that person, and returns its path.
func (s *till) sold(b *browser, spend string) string {
	b.T.Helper()
	b.Submitted("/admin/transactions/new", s.sale(b, spend))
	return b.Get("/admin/transactions").Attr("tbody tr a", "href")
}

func (s *till) balance() int64 {
	s.T.Helper()
	return shoptest.Query[int64](s.Shop, "select points from loyalty.account where customer_id = $1", s.elsa.ID)
}

// "A newcomer records a first sale": find the customer, type the amount, done.
func TestRecordSale(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	cashier := s.signedIn(core.Cashier)
	found := cashier.Get("/admin/transactions/new?search=465+004", "Hx-Request", "true")
	if got := found.Text("a"); !strings.HasPrefix(got, "EB Elsa Berg <b> 08-465 004 12 0 points") || found.Find("b, html > body > header").Length() > 0 {
		t.Errorf("found %q", got)
	}
	earns := cashier.Get("/admin/transactions/earns?spend_amount_cents=24,50&transaction_type_id="+s.typeID, "Hx-Request", "true")
	if got := earns.Text("#earns"); !strings.Contains(got, "24 points") {
		t.Errorf("the preview says %q", got)
	}

	refused := cashier.Post("/admin/transactions/new", s.sale(cashier, "lots"))
	if refused.Code != http.StatusUnprocessableEntity || refused.Text(".invalid-feedback") != webtest.Message("Amount", core.Violation{Rule: "amount", Other: "24.50"}) {
		t.Errorf("refused: %d %q", refused.Code, refused.Text(".invalid-feedback"))
	}
	if typed := refused.Value("#field-spend_amount_cents"); typed != "lots" {
		t.Errorf("the amount is now %q", typed)
	}

	path := s.sold(cashier, "24,50")
	list := cashier.Get("/admin/transactions")
	if got := list.Text("#flashes"); got != "" {
		t.Errorf("the flash came twice: %q", got)
	}
	if got := list.Text("tbody tr"); !strings.Contains(got, "Elsa Berg <b>") || !strings.Contains(got, "24.50") || !strings.Contains(got, "24 points") || !strings.Contains(got, "Panel, Bo Ek") {
		t.Errorf("list = %q", got)
	}
	if got := cashier.Get(path).Text("main"); !strings.Contains(got, "24 points") || !strings.Contains(got, "+24 24") {
		t.Errorf("detail = %q", got)
	}
}

// "One submit for two clicks": the same form, sent twenty times at once, is one sale.
func TestDoubleClickRecordsOneSale(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	cashier := s.signedIn(core.Cashier)
	sent := s.sale(cashier, "12.50")
	var clicks sync.WaitGroup
	for range 20 {
		again := cashier.Clone()
		clicks.Go(func() {
			a := again.Post("/admin/transactions/new", sent)
			if a.Code != http.StatusSeeOther || a.Header().Get("Location") != "/admin/customers/"+s.elsa.ID.String() {
				t.Errorf("a click is answered %d to %q", a.Code, a.Header().Get("Location"))
			}
		})
	}
	clicks.Wait()
	if got := s.balance(); got != 12 {
		t.Errorf("balance = %d, want 12", got)
	}
}

// "Void with confirmation": asking changes nothing, and the void happens once.
func TestVoidSale(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	manager := s.signedIn(core.Manager)
	path := s.sold(manager, "24.50")

	asked := manager.Get(path+"/void", "Hx-Request", "true")
	if got := asked.Text("form p"); !strings.Contains(got, "24 points") || asked.Find("#dialog-title").Length() != 1 {
		t.Errorf("asked %q", got)
	}
	if whole := manager.Get(path + "/void"); whole.Find("main form[action='"+path+"/void'] button").Length() != 1 {
		t.Errorf("without scripts: %q", whole.Text("main"))
	}
	if got := s.balance(); got != 24 {
		t.Errorf("asking alone took points: %d", got)
	}
	done := manager.Submit(path+"/void", because)
	if got := done.Text("#flashes"); !strings.Contains(got, "24 points") {
		t.Errorf("flash = %q", got)
	}
	if got := done.Text("main"); !strings.Contains(got, "Bo Ek") || !strings.Contains(got, "−24 0") || done.Find("main a[href$=void]").Length() > 0 {
		t.Errorf("detail = %q", got)
	}
	again := manager.Post(path+"/void", because)
	if again.Code != http.StatusUnprocessableEntity || again.Text(".alert") != transaction.ErrAlreadyVoided.Message {
		t.Errorf("again: %d %q", again.Code, again.Text(".alert"))
	}
	if got := s.balance(); got != 0 {
		t.Errorf("balance = %d, want 0", got)
	}
}

// The page of a sale tells which rewards and vouchers were used with it, and that a void leaves them as they are.
func TestWhatWasUsedWithASale(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	manager := s.signedIn(core.Manager)
	coffee := s.Reward(30, nil)
	s.Adjust(s.elsa.ID, ledger.Points, 50)
	welcome := s.Coupon(coupon.New{Name: "Welcome back", BenefitType: "amount", BenefitValue: new(int64(500))})
	kind, err := strconv.ParseInt(s.typeID, 10, 64)
	s.Check(err)
	sale := walkin.Sale{
		CustomerID: s.elsa.ID, Sold: &transaction.Sale{TransactionTypeID: kind, SpendAmountCents: 1250},
		Rewards: []core.ID{coffee}, Vouchers: []core.ID{s.Voucher(welcome.ID, s.elsa.ID)},
	}
	receipt, err := core.Result(s.Walkins.Complete(t.Context(), s.By, "till", sale, nil, nil))
	s.Check(err)
	path := "/admin/transactions/" + receipt.ID.String()
	if got := manager.Get(path).Text("#used"); got != "Espresso Reward, 30 points € 5.00 off Voucher: Welcome back" {
		t.Errorf("used: %q", got)
	}
	if got := manager.Get(path + "/void").Text("main"); !strings.Contains(got, "The rewards and vouchers used with it stay redeemed") {
		t.Errorf("asked: %q", got)
	}
	s.Check(s.Walkins.Undo(t.Context(), s.By, receipt.ID))
	undone := manager.Get(path)
	if got := undone.Text("#used"); got != "Espresso Reward, 30 points, returned € 5.00 off Voucher: Welcome back, valid again" || undone.Find("#used .text-decoration-line-through").Length() != 2 {
		t.Errorf("undone: %q", got)
	}
	timeline := manager.Get("/admin/customers/" + s.elsa.ID.String()).Text("#history")
	for _, event := range []string{"Voided: Espresso", "Redeemed Espresso"} {
		if !strings.Contains(timeline, event) {
			t.Errorf("the timeline has no %q: %q", event, timeline)
		}
	}
	if got := manager.Get("/admin/audit").Text("main"); !strings.Contains(got, "voucher Welcome back valid again") {
		t.Errorf("the audit log says %q", got)
	}
}

// Decisions §9: a cashier may "void own last sale within 10 minutes" and is offered no other.
func TestCashierVoidsTheirLastSale(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	cashier := s.signedIn(core.Cashier)
	earlier := s.sold(cashier, "5")
	dbtest.Tick(s.DB)
	last := s.sold(cashier, "7")
	list := cashier.Get("/admin/transactions")
	offered := list.Attr("tbody a[href$=void]", "href")
	if list.Find("tbody a[href$=void]").Length() != 1 || offered != last+"/void" {
		t.Errorf("offered to void %d, %s", list.Find("tbody a[href$=void]").Length(), offered)
	}
	if a := cashier.Post(earlier+"/void", because); a.Code != http.StatusUnprocessableEntity || !strings.HasPrefix(a.Text(".alert"), "At the till only your own last sale") {
		t.Errorf("the earlier one: %d %q", a.Code, a.Text(".alert"))
	}
	cashier.Submit(last+"/void", because)
	if got := s.balance(); got != 5 {
		t.Errorf("balance = %d, want 5", got)
	}
}

// Filters narrow the list. A filter that can't be read is reported and keeps its value.
func TestFilterSales(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	manager := s.signedIn(core.Manager)
	voided := s.sold(manager, "5")
	manager.Submit(voided+"/void", because)
	s.sold(manager, "7")
	for query, want := range map[string]int{
		"": 2, "status=voided": 1, "status=completed": 1, "transaction_type_id=" + s.typeID: 2, "transaction_type_id=999999": 0,
		"source=panel": 2, "source=api": 0, "from=2020-01-01&to=2020-12-31": 0, "customer_ulid=" + s.elsa.ID.String(): 2, "search=nothing": 0,
		"search=7.00": 1, "search=" + url.QueryEscape("berg elsa"): 2,
	} {
		list := manager.Get("/admin/transactions?"+query, "Hx-Request", "true")
		if got := list.Find("tbody tr").Length(); got != want {
			t.Errorf("%q shows %d sales, want %d", query, got, want)
		}
		if list.Find("header, aside").Length() > 0 {
			t.Errorf("%q: htmx got the whole page", query)
		}
		if link := list.Links(".empty a"); want == 0 && (len(link) != 1 || link[0] != "/admin/transactions") {
			t.Errorf("%q shows nothing and leads to %q", query, link)
		}
	}
	wrong := manager.Ask(http.MethodGet, "/admin/transactions?from=yesterday")
	if wrong.Code != http.StatusUnprocessableEntity || wrong.Text("#field-from-error") != webtest.Message("From", core.MustBeDate) {
		t.Errorf("a wrong day: %d %q", wrong.Code, wrong.Text("#field-from-errors"))
	}
	if link := wrong.Links("[role=alert] a"); len(link) != 1 || wrong.Find("details.filters[open] "+link[0]+"[aria-invalid]").Length() != 1 {
		t.Errorf("the summary leads to %q", link)
	}
	// A part of the page brings the message of a filter, or takes it away.
	part := manager.Ask(http.MethodGet, "/admin/transactions?from=2026-02-02&to=2026-02-01", "Hx-Request", "true")
	if got := part.Text("[hx-swap-oob]#field-to-errors"); part.Code != http.StatusUnprocessableEntity || got != webtest.Message("To", core.AfterOrEqual("from")) || part.Find("input").Length() != 0 {
		t.Errorf("the part of a wrong range: %d %q", part.Code, got)
	}
	if part = manager.Get("/admin/transactions", "Hx-Request", "true"); part.Find("[hx-swap-oob]#field-to-errors").Length() != 1 || part.Text("#field-to-errors") != "" {
		t.Error("the message of an earlier filter stays")
	}
	// A filter without a place for its message has it in the summary.
	if forged := manager.Ask(http.MethodGet, "/admin/transactions?status=lost"); forged.Text("[role=alert]") != webtest.MessageApart("status", core.InvalidChoice) {
		t.Errorf("a forged status: %q", forged.Text("[role=alert]"))
	}
}

// The heading of the date leads to the opposite order, which the filters and the pages keep.
func TestSalesByDate(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	manager := s.signedIn(core.Manager)
	for i := range 30 {
		dbtest.Tick(s.DB)
		s.sold(manager, strconv.Itoa(i+1))
	}
	shown := func(list webtest.Page) (earned []string) {
		for _, points := range list.Texts("tbody tr td:nth-child(4)") {
			earned = append(earned, figures(points))
		}
		return earned
	}
	for query, want := range map[string][]string{
		"": {"30", "29"}, "sort=newest": {"30", "29"}, "sort=oldest": {"1", "2"}, "sort=oldest&search=elsa": {"1", "2"}, "sort=oldest&source=panel": {"1", "2"},
	} {
		wants(t, query, shown(manager.Get("/admin/transactions?" + query))[:2], want)
	}
	first := manager.Get("/admin/transactions?source=panel")
	to := first.Attr("th[aria-sort=descending] a", "href")
	if to != "/admin/transactions?sort=oldest&source=panel" {
		t.Fatalf("the heading leads to %q", to)
	}
	oldest := manager.Get(to)
	if back := oldest.Attr("th[aria-sort=ascending] a", "href"); back != "/admin/transactions?sort=newest&source=panel" || oldest.Value("form[role=search] input[name=sort]") != "oldest" {
		t.Errorf("oldest first, the heading leads to %q and the filters forget the order", back)
	}
	next := manager.Get(oldest.Attr("#page-next", "href"))
	wants(t, "the last page", shown(next), []string{"26", "27", "28", "29", "30"})
	if to := next.Attr("th[aria-sort=ascending] a", "href"); to != "/admin/transactions?sort=newest&source=panel" {
		t.Errorf("from the last page, the heading leads to %q", to)
	}
	if wrong := manager.Ask(http.MethodGet, "/admin/transactions?sort=spend"); wrong.Code != http.StatusUnprocessableEntity {
		t.Errorf("an unknown order = %d", wrong.Code)
	}
}

func TestSaleOfAnotherBusinessIsNotFound(t *testing.T) {
	t.Parallel()
	s, other := newTill(t), newShop(t)
	path := s.sold(s.signedIn(core.Owner), "5")
	stranger := other.signedIn(core.Owner)
	for _, p := range []string{path, path + "/void", "/admin/transactions/new?customer_ulid=" + s.elsa.ID.String()} {
		if a := stranger.Ask(http.MethodGet, p); a.Code != http.StatusNotFound {
			t.Errorf("GET %s = %d, want 404", p, a.Code)
		}
	}
	if a := stranger.Post(path+"/void", because); a.Code != http.StatusNotFound {
		t.Errorf("voided by a stranger: %d", a.Code)
	}
	if got := s.balance(); got != 5 {
		t.Errorf("balance = %d, want 5", got)
	}
}

// "Money in its currency": the amounts on the form of a type have the decimals of the currency.
func TestTypeFormInOtherCurrencies(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	for currency, want := range map[string]string{
		"EUR": "1.00 24.50 2.50 2.00 Enter € 0.01 or more Enter € 10,000,000,000.00 or less",
		"JPY": "100 2450 250 200 Enter ¥ 1 or more Enter ¥ 1,000,000,000,000 or less",
		"KWD": "0.100 2.450 0.250 0.200 Enter KWD 0.001 or more Enter KWD 1,000,000,000.000 or less",
	} {
		owner.Submit("/admin/settings/business", webtest.Form("currency", currency))
		page := owner.Get("/admin/types/new")
		draft := webtest.With(page.Fields("main form.row"), "name", "Drinks", "unit_cents", "", "min_spend_cents", "1000000000001")
		got := page.Value("#field-unit_cents") + " " + page.Value("#field-example") + " " + figures(page.Text(".only-points .form-hint")) + " " +
			owner.Post("/admin/types/new", draft).Text(".invalid-feedback")
		if got != want {
			t.Errorf("in %s: %q, want %q", currency, got, want)
		}
	}
}

// A live "what would 24.50 earn?" preview of a rule that is still being typed.
func TestTransactionTypes(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	manager := s.signedIn(core.Manager)
	if got := manager.Get("/admin/types").Links(".empty a"); len(got) != 1 || got[0] != "/admin/types/new" {
		t.Errorf("without types the list leads to %q", got)
	}
	draft := webtest.Form("name", "", "rule_type", "points", "points_per_unit", "3", "unit_cents", "2.00", "stamps_per_transaction", "1", "example", "24.50")
	if got := manager.Post("/admin/types/earns", draft, "Hx-Request", "true").Text("#earns"); !strings.Contains(got, "36 points") {
		t.Errorf("the preview says %q", got)
	}
	if got := manager.Post("/admin/types/try", draft).Text("#earns"); !strings.Contains(got, "36 points") {
		t.Errorf("without scripts it says %q", got)
	}
	draft.Set("form_key", manager.Get("/admin/types/new").Value("input[name=form_key]"))
	refused := manager.Post("/admin/types/new", draft)
	if refused.Code != http.StatusUnprocessableEntity || refused.Text(".invalid-feedback") != webtest.Message("Name", core.Required) {
		t.Errorf("without a name: %d %q", refused.Code, refused.Text(".invalid-feedback"))
	}
	webtest.With(draft, "name", "Catering <b>", "unit_cents", "0")
	if zero := manager.Post("/admin/types/new", draft); zero.Code != http.StatusUnprocessableEntity {
		t.Errorf("a rule with points for every 0.00 = %d", zero.Code)
	}
	webtest.With(draft, "unit_cents", "2.00", "min_spend_cents", "10", "max_award", "50")
	made := manager.Submit("/admin/types/new", draft)
	if got := made.Text("tbody td:nth-child(1), tbody td:nth-child(3)"); !strings.HasPrefix(got, "Catering <b> ") || figures(got) != "10.00 50" || !strings.Contains(made.Text("tbody tr"), "3 points for every € 2.00") {
		t.Errorf("list = %q", got)
	}
	if twice := manager.Submit("/admin/types/new", draft); twice.Find("tbody tr").Length() != 1 {
		t.Errorf("a double click makes %d types", twice.Find("tbody tr").Length())
	}
	path := made.Attr("tbody a", "href")
	webtest.With(draft, "points_per_unit", "4", "active", "1")
	if got := manager.Submit(path, draft).Text("tbody tr"); !strings.HasPrefix(got, "Catering <b> ") || !strings.Contains(got, "4 points") {
		t.Errorf("edited: %q", got)
	}
	if off := manager.Submit(path+"/active", webtest.Form("active", "0")); off.Value("tbody input[name=active]") != "1" {
		t.Errorf("deactivated: %q", off.Text("tbody tr"))
	}
	if a := newShop(t).signedIn(core.Owner).Ask(http.MethodGet, path); a.Code != http.StatusNotFound {
		t.Errorf("another business's type: %d", a.Code)
	}
}

// A customer picker finds inactive customers, too, and says that they are.
func TestPickersFindInactiveCustomers(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	s.manager.Submit("/admin/customers/"+s.elsa.ID.String()+"/deactivate", nil)
	for _, picker := range []string{"/admin/transactions/new", "/admin/redemptions/new"} {
		found := s.cashier.Get(picker+"?search="+url.QueryEscape(s.elsa.Phone), "Hx-Request", "true")
		if got := found.Text("#found"); !strings.Contains(got, s.elsa.LastName) || !strings.HasSuffix(got, "Inactive") {
			t.Errorf("%s finds %q", picker, got)
		}
		chosen := s.cashier.Get(found.Links("#found a")[0])
		if got := chosen.Text("main"); !strings.Contains(got, "is inactive") {
			t.Errorf("%s says %q", picker, got)
		}
	}
}
