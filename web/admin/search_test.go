package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/views/format"
)

// "`/` or Ctrl-K opens instant results of customers with Sell, Redeem and Open"; a voucher by its code; adding a
// customer by what was typed. Before anything is typed, who was here last.
func TestSearchFromEveryPage(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	cashier := s.signedIn(core.Cashier)
	if got := cashier.Get("/admin/search", "Hx-Request", "true"); got.Find("header, .search-row").Length() != 0 {
		t.Errorf("without sales: %q", got.Text("body"))
	}
	dbtest.Tick(s.DB)
	s.sold(cashier, "5")
	first := cashier.Get("/admin/search", "Hx-Request", "true")
	if got := first.Text(".search-row .row-link"); got != "Elsa Berg <b>" || !strings.Contains(first.Text(".search-row"), "Last visit just now") {
		t.Errorf("suggested: %q", first.Text("body"))
	}
	found := cashier.Get("/admin/search?search=BER", "Hx-Request", "true")
	path := "/admin/customers/" + s.elsa.ID.String()
	wants(t, "links", found.Links(".search-row a"), []string{
		path, "/admin/transactions/new?customer_ulid=" + s.elsa.ID.String(), "/admin/redemptions/new?customer_ulid=" + s.elsa.ID.String(), "/admin/customers/new?first_name=BER",
	})
	if got := found.Text("mark"); got != "Ber" || found.Text(".search-heading") != "Customers 1 customer" {
		t.Errorf("found: %q, marked %q", found.Text("body"), got)
	}
	none := cashier.Get("/admin/search?search=zzz", "Hx-Request", "true")
	if none.Find("[data-sell]").Length() != 0 || !strings.Contains(none.Text(".search-none"), "zzz") || none.Attr(".search-add a", "href") != "/admin/customers/new?first_name=zzz" {
		t.Errorf("no match: %q", none.Text("body"))
	}
	points := int64(5)
	voucher := s.Voucher(s.Coupon(coupon.New{Name: "Summer", BenefitType: "points", BenefitValue: &points}).ID, s.elsa.ID)
	byCode := cashier.Get("/admin/search?search="+voucher.String(), "Hx-Request", "true")
	if got := byCode.Attr(".search-row a", "href"); got != "/admin/vouchers/"+voucher.String() || !strings.Contains(byCode.Text(".search-row"), "Summer · Elsa Berg <b>") {
		t.Errorf("a voucher's code: %q", byCode.Text("body"))
	}
	printed := cashier.Get("/admin/search?search="+url.QueryEscape(strings.Join(format.CodeGroups(voucher), " ")), "Hx-Request", "true")
	if got := printed.Attr(".search-row a", "href"); got != "/admin/vouchers/"+voucher.String() {
		t.Errorf("a voucher's code as it is printed: %q", printed.Text("body"))
	}
	if other := newTill(t).signedIn(core.Owner).Get("/admin/search?search="+voucher.String(), "Hx-Request", "true"); other.Find("a[href*=vouchers]").Length() != 0 {
		t.Errorf("another business finds %q", other.Text("body"))
	}
	if plain := cashier.Get("/admin/search?search=ber"); plain.Find("main form [name=search]").Length() != 1 || plain.Text("tbody .row-link") != "Elsa Ber g <b>" || plain.Text("tbody .row-link mark") != "Ber" ||
		plain.Find("tbody .row-menu a[href='/admin/transactions/new?customer_ulid="+s.elsa.ID.String()+"']").Length() != 1 || plain.Text(".card-footer") != "1 customer" {
		t.Errorf("without scripts: %q", plain.Text("main"))
	}
	if plain := cashier.Get("/admin/search"); plain.Text("main h2") != "Here last" || plain.Text("tbody .row-link") != "Elsa Berg <b>" {
		t.Errorf("suggested without scripts: %q", plain.Text("main"))
	}
	if plain := cashier.Get("/admin/search?search=" + voucher.String()); plain.Attr("main .search-row a", "href") != "/admin/vouchers/"+voucher.String() {
		t.Errorf("a voucher's code without scripts: %q", plain.Text("main"))
	}
	if plain := cashier.Get("/admin/search?search=zzz"); plain.Attr(".empty a", "href") != "/admin/customers/new?first_name=zzz" {
		t.Errorf("no match without scripts: %q", plain.Text("main"))
	}
	if long := cashier.Ask(http.MethodGet, "/admin/search?search="+strings.Repeat("a", 300)); long.Code != http.StatusUnprocessableEntity || long.Text("[role=alert]") == "" {
		t.Errorf("a long search = %d %q", long.Code, long.Text("main"))
	}
}

// "Pickers have the focus; Enter takes the only match; suggestions are who was here last and, for redeeming,
// who can afford something."
func TestCustomerPicker(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	cashier := s.signedIn(core.Cashier)
	if before := cashier.Get("/admin/transactions/new"); before.Text("#found .fw-medium") != "Elsa Berg <b>" || before.Text("#found h2") != "Newest customers" {
		t.Errorf("before the first sale: %q", before.Text("#found"))
	}
	s.Reward(10, nil)
	poor := s.add("Bo", "Ek", "070 174 06 09")
	s.Sale(poor.ID, s.Points(100), 900)
	dbtest.Tick(s.DB)
	s.Sale(s.elsa.ID, s.Points(100), 1000)
	names := func(path string) string { return strings.Join(cashier.Get(path).Texts("#found .fw-medium"), ", ") }
	if got := names("/admin/transactions/new"); got != "Elsa Berg <b>, Bo Ek" {
		t.Errorf("to sell to: %q", got)
	}
	if got := names("/admin/redemptions/new"); got != "Elsa Berg <b>" {
		t.Errorf("to redeem for: %q", got)
	}
	if cashier.Get("/admin/redemptions/new").Find("#field-search[autofocus]").Length() != 1 {
		t.Error("the search has no focus")
	}
	enter := cashier.Ask(http.MethodGet, "/admin/transactions/new?search=elsa&enter=1", "Hx-Request", "true")
	if to := enter.Header().Get("Hx-Redirect"); to != "/admin/transactions/new?customer_ulid="+s.elsa.ID.String() {
		t.Errorf("Enter leads to %q", to)
	}
	if typed := cashier.Get("/admin/transactions/new?search=elsa", "Hx-Request", "true"); typed.Find("#found a").Length() != 1 {
		t.Errorf("typing chose: %q", typed.Text("body"))
	}
	if several := cashier.Get("/admin/transactions/new?search=e&enter=1", "Hx-Request", "true"); several.Find("#found a").Length() != 2 {
		t.Errorf("Enter of two: %q", several.Text("body"))
	}
}

// A search marks what it found, however its letters are written.
func TestSearchMarksEveryFormOfALetter(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	s.add("İrem", "Groß", "070 174 06 05")
	for search, want := range map[string]string{"irem": "İrem", "GROSS": "Groß", "ßen": ""} {
		found := s.signedIn(core.Cashier).Ask(http.MethodGet, "/admin/search?search="+url.QueryEscape(search), "Hx-Request", "true")
		if got := found.Text("mark"); got != want {
			t.Errorf("%q marks %q, want %q", search, got, want)
		}
	}
}
