package admin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/webtest"
)

// A refused form "keeps what was typed", shows the error next to each field, and links to it.
func TestAddCustomer(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cashier := s.signedIn(core.Cashier)
	refused := cashier.Post("/admin/customers/new", webtest.Form("first_name", "Elsa <b>", "last_name", "", "phone", "08-465 004 12", "email", "elsa"))
	if refused.Code != http.StatusUnprocessableEntity {
		t.Fatalf("answered %d", refused.Code)
	}
	if got := refused.Text(".invalid-feedback"); got != webtest.Message("Last name", core.Required)+" "+webtest.Message("E-mail", core.MustBeEmail) {
		t.Errorf("beside the fields: %q", got)
	}
	if typed := refused.Value("#field-first_name"); typed != "Elsa <b>" {
		t.Errorf("first name is now %q", typed)
	}
	if link, _ := refused.Find(".alert a").Last().Attr("href"); refused.Find(link).Length() != 1 {
		t.Errorf("the summary leads to %q", link)
	}

	made := cashier.Post("/admin/customers/new", webtest.Form("first_name", "Elsa", "last_name", "Berg", "phone", "08-465 004 12", "email", ""))
	if made.Code != http.StatusSeeOther || !strings.HasPrefix(made.Header().Get("Location"), "/admin/customers/") {
		t.Fatalf("answered %d, to %s", made.Code, made.Header().Get("Location"))
	}
	list := cashier.Get("/admin/customers?search=erg")
	if !list.Flashed(ui.Done, "Elsa Berg") {
		t.Errorf("flash = %q", list.Text("#flashes"))
	}
	if got := list.Text("tbody .row-link"); got != "Elsa B erg" || list.Text("tbody .row-link mark") != "erg" {
		t.Errorf("list = %q", got)
	}
}

// Opened from the till, the form returns there with the new customer.
func TestAddCustomerFromTheTill(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cashier := s.signedIn(core.Cashier)
	if got := cashier.Get("/admin/customers/new?phone=+47+912+34+567").Value("[name=phone]"); got != "+47 912 34 567" {
		t.Errorf("a link with a bare plus: %q", got)
	}
	shown := cashier.Get("/admin/customers/new?phone=08-465+004+99&to=till")
	if shown.Value("#field-phone") != "08-465 004 99" || shown.Value("input[name=to]") != "till" {
		t.Errorf("the form begins with %q and leads to %q", shown.Value("#field-phone"), shown.Value("input[name=to]"))
	}
	made := cashier.Post("/admin/customers/new", webtest.Form("first_name", "Elsa", "last_name", "Berg", "phone", "08-465 004 99", "email", "", "to", "till"))
	if to := made.Header().Get("Location"); made.Code != http.StatusSeeOther || !strings.HasPrefix(to, "/till/customers/") {
		t.Errorf("answered %d, to %s", made.Code, to)
	}
	other := cashier.Post("/admin/customers/new", webtest.Form("first_name", "Bo", "last_name", "Ek", "phone", "08-465 004 98", "email", "", "to", "https://evil.example"))
	if to := other.Header().Get("Location"); !strings.HasPrefix(to, "/admin/customers/") {
		t.Errorf("led to %s", to)
	}
}

// add adds a customer to the shop.
func (s *shop) add(first, last, phone string) customer.Customer {
	s.T.Helper()
	return s.AddCustomer(customer.New{FirstName: first, LastName: last, Phone: phone})
}

// names joins the customers' names in a list, in order.
func names(a webtest.Page) string {
	var list []string
	a.Find("tbody tr a.row-link").Each(func(_ int, link *goquery.Selection) { list = append(list, link.Text()) })
	return strings.Join(list, ", ")
}

// "Search by any part of name, phone or e-mail, filters, sort".
func TestCustomerList(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	dbtest.Tick(s.DB)
	s.add("Åke", "Ahl", "070 174 06 05")
	dbtest.Tick(s.DB)
	gone := s.add("Zoe", "Bergman", "070 174 06 06")
	if _, err := s.Customers.Edit(t.Context(), s.By, gone.ID, customer.Edit{Status: core.Set("inactive")}); err != nil {
		t.Fatal(err)
	}
	manager := s.signedIn(core.Manager)
	s.sold(manager, "5")
	s.Exec("update loyalty.customer set created_at = '2020-01-31 12:00Z' where tenant_id = $1 and id = $2", s.By.Tenant.ID, s.elsa.ID)
	for query, want := range map[string]string{
		"": "Zoe Bergman, Åke Ahl, Elsa Berg <b>", "sort=name": "Åke Ahl, Elsa Berg <b>, Zoe Bergman",
		"search=erg": "Zoe Bergman, Elsa Berg <b>", "search=070174": "Zoe Bergman, Åke Ahl", "search=4+06+05": "Åke Ahl",
		"search=erg&status=active": "Elsa Berg <b>", "status=inactive": "Zoe Bergman",
		"created_from=2020-02-01": "Zoe Bergman, Åke Ahl", "created_to=2020-01-31": "Elsa Berg <b>", "created_from=2020-01-31&created_to=2020-01-31": "Elsa Berg <b>",
		"created_from=2020-02-01&search=erg": "Zoe Bergman", "created_to=2020-01-30": "",
	} {
		if got := names(manager.Get("/admin/customers?" + query)); got != want {
			t.Errorf("%q shows %s, want %s", query, got, want)
		}
	}
	list := manager.Get("/admin/customers?sort=name")
	if got := list.Text("tbody tr:nth-child(2)"); got != "EB Elsa Berg <b> 08-465 004 12 08-465 004 12 5 0 just now 31 Jan 2020" {
		t.Errorf("Elsa's line is %q", got)
	}
	if got := list.Links("th:not([aria-sort]) a"); len(got) != 1 || got[0] != "/admin/customers?sort=newest" || list.Text("th[aria-sort=ascending]") != "Customer" {
		t.Errorf("sorted by name, the other order leads to %q", got)
	}
	if got := manager.Get("/admin/customers?search=erg"); got.Find("th a").Length() != 0 || got.Text("th[aria-sort=descending]") != "Added" {
		t.Error("a search offers orders that it doesn't have")
	}
	if got := list.Text("tbody tr:nth-child(3)"); !strings.Contains(got, "Inactive") {
		t.Errorf("Zoe's line is %q", got)
	}
	if got := list.Text(".card-footer p"); got != "3 customers" {
		t.Errorf("the foot says %q", got)
	}
	if got := manager.Get("/admin/customers?sort=name&search=erg").Text(".card-footer p"); got == "2 customers" || !strings.HasPrefix(got, "2 customers") {
		t.Errorf("a search sorted by name doesn't say its order: %q", got)
	}
}

// An invalid filter gets an error, and what was typed is kept.
func TestFilterCustomersByDate(t *testing.T) {
	t.Parallel()
	b := newTill(t).signedIn(core.Cashier)
	for query, want := range map[string]string{
		"created_from=2026-02-02&created_to=2026-02-01": webtest.Message("Created to", core.AfterOrEqual("from")),
		"created_from=soon&created_to=2026-02-01":       webtest.Message("Created from", core.MustBeDate),
	} {
		a := b.Ask(http.MethodGet, "/admin/customers?"+query)
		if a.Code != http.StatusUnprocessableEntity || a.Text(".days .invalid-feedback") != want || a.Find(".alert a").Length() != 1 || a.Value("[name=created_to]") != "2026-02-01" {
			t.Errorf("%s: %d %q %q", query, a.Code, a.Text(".days .invalid-feedback"), a.Text(".alert"))
		}
	}
}

// Search as you type: htmx gets the list, and the export links that go with it.
func TestCustomerListAsFragment(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	manager := s.signedIn(core.Manager)
	part := manager.Get("/admin/customers?search=erg&status=active&cursor=", "Hx-Request", "true")
	if part.Find("header, aside, form").Length() > 0 || names(part) != "Elsa Berg <b>" {
		t.Errorf("htmx got %s", part.Body)
	}
	files := part.Find("#export-files[hx-swap-oob] a")
	csv, _ := files.First().Attr("href")
	xlsx, _ := files.Last().Attr("href")
	if csv != "/admin/customers/export.csv?search=erg&status=active" || xlsx != "/admin/customers/export.xlsx?search=erg&status=active" {
		t.Errorf("the exports are %s and %s", csv, xlsx)
	}
	if whole := manager.Get("/admin/customers"); whole.Find("#export-files").Length() != 1 || whole.Find("[hx-swap-oob]").Length() != 0 {
		t.Error("the page has its exports twice, or swaps them")
	}
	if got := s.signedIn(core.Cashier).Get("/admin/customers", "Hx-Request", "true"); got.Find("#export-files").Length() != 0 {
		t.Error("a cashier is offered exports")
	}
	wrong := manager.Ask(http.MethodGet, "/admin/customers?sort=points&status=new&search="+strings.Repeat("x", 300))
	if wrong.Code != http.StatusUnprocessableEntity || wrong.Find("#customers [role=alert] p").Length() != 3 {
		t.Errorf("an invalid filter: %d %q", wrong.Code, wrong.Text("#customers"))
	}
}

// Cursor paging shows every customer once, and its links keep the filter.
func TestPagesOfCustomers(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for i := range 60 {
		s.add("Anna", fmt.Sprintf("Ek %02d", i), fmt.Sprintf("070 100 00 %02d", i))
	}
	cashier := s.signedIn(core.Cashier)
	for _, query := range []string{"sort=name", "search=ek", "status=active"} {
		seen, path := map[string]bool{}, "/admin/customers?"+query
		for pages := 1; path != ""; pages++ {
			list := cashier.Get(path)
			if got := list.Text(".card-footer p"); got != []string{"1–25 of 60", "26–50 of 60", "51–60 of 60"}[pages-1] {
				t.Errorf("%s: page %d says %q", query, pages, got)
			}
			for name := range strings.SplitSeq(names(list), ", ") {
				if seen[name] {
					t.Errorf("%s: %s twice", query, name)
				}
				seen[name] = true
			}
			path = list.Attr(".card-footer nav a:last-child", "href")
			if path != "" && !strings.Contains(path, query) {
				t.Errorf("%s: the next page is %s", query, path)
			}
		}
		if len(seen) != 60 {
			t.Errorf("%s: %d customers", query, len(seen))
		}
	}
}

// "Empty states that say what to do": a search without results offers to add that customer.
func TestNoCustomersFound(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cashier := s.signedIn(core.Cashier)
	if got := cashier.Get("/admin/customers").Links(".empty-action a"); !slices.Equal(got, []string{"/admin/customers/new"}) {
		t.Errorf("without customers: %q", got)
	}
	for search, field := range map[string]string{
		"070-112 13": "phone", "elsa@example.com": "email", "Elsa": "first_name", "Elsa von Berg": "last_name",
	} {
		none := cashier.Get("/admin/customers?search="+url.QueryEscape(search), "Hx-Request", "true")
		link := none.Find(".empty-action a").First()
		if got := strings.Join(strings.Fields(link.Text()), " "); !strings.Contains(got, search) {
			t.Errorf("%s: offers %q", search, got)
		}
		path, _ := link.Attr("href")
		want := search
		if field == "last_name" {
			want = "von Berg"
		}
		if got, _ := cashier.Get(path).Find("#field-" + field).Attr("value"); got != want {
			t.Errorf("%s leads to %s, where %s is %q", search, path, field, got)
		}
	}
	if got := cashier.Get("/admin/customers?status=inactive").Links(".empty-action a"); !slices.Equal(got, []string{"/admin/customers"}) {
		t.Errorf("without a search: %q", got)
	}
	odd := cashier.Get("/admin/customers?search=%3Cb%3E%22%26x", "Hx-Request", "true")
	if odd.Find(".empty b").Length() > 0 || !strings.Contains(odd.Text(".empty"), `<b>"&x`) {
		t.Errorf("what was typed is %s", odd.Body)
	}
}
