package admin_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/web/webtest"
)

// logged writes an entry into the audit log at a time.
func (m *market) logged(when string, by core.Actor, e audit.Entry) {
	m.T.Helper()
	e.Subject, _, _ = strings.Cut(e.Action, ".")
	_, err := db.In(m.T.Context(), m.at(when).DB.Tenant(by), func(tx *db.Tx) (int, error) { return 0, audit.Write(tx, by, e) })
	if err != nil {
		m.T.Fatal(err)
	}
}

// "Who did what to what, in words": old and new values, when, from which address, and a link to
// each record that has a page.
func TestAuditLog(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	anna := m.customer("2026-06-01 09:00", "Anna <b>", "Lindqvist")
	maja := m.By
	maja.Name, maja.Address, maja.RequestID = "Maja <i> Sund", "192.0.2.7", "01JXREQUEST"
	if _, err := m.at("2026-06-02 09:00").Customers.Edit(t.Context(), maja, anna, customer.Edit{Email: core.Set("anna@example.com")}); err != nil {
		t.Fatal(err)
	}
	sale := m.sale("2026-06-03 09:00", anna, m.purchase, 2_450)
	m.void("2026-06-03 23:30", sale)
	m.redeemed("2026-06-04 09:00", anna)
	m.logged("2026-06-05 09:00", core.Actor{Kind: core.ByToken, ID: "17", Name: "Till 2", Tenant: m.By.Tenant}, audit.Entry{
		Action: "reward.edit", ID: m.espresso.String(), Name: "Espresso", Old: map[string]any{"active": true, "stock": 5}, New: map[string]any{"active": false, "stock": nil},
	})
	m.logged("2026-06-06 09:00", core.System(m.By.Tenant, "sign-in"), audit.Entry{Action: "staff.sign_in_refused", New: map[string]any{"email": "x@example.com"}})
	m.logged("2026-06-07 09:00", m.By, audit.Entry{
		Action: "transaction_type.edit", ID: "987654321", Old: map[string]any{"min_spend_cents": 500}, New: map[string]any{"min_spend_cents": 123_450},
	})
	m.logged("2026-06-08 09:00", m.By, audit.Entry{
		Action: "token.create", ID: "987654321", Name: "Pocket till", New: map[string]any{"abilities": []string{"a", "b"}, "expires_at": "2026-06-08T22:30:00Z"},
	})
	m.logged("2026-06-09 09:00", m.By, audit.Entry{Action: "till.open", ID: "1"})
	m.logged("2026-06-09 10:00", m.By, audit.Entry{Action: "customer.export", New: map[string]any{"filter": map[string]any{"search": true, "sort": "name"}, "note": "[x"}})

	shown := m.signedIn(core.Owner).Get("/admin/audit?from=2026-06-01&to=2026-06-09")
	wants(t, "sentences", unspaced(shown.Texts(".audit-words")), unspaced([]string{
		sentence("customer.export", "{who}", "A owner"),
		"A owner: till, open.",
		sentence("token.create", "{who}", "A owner", "{name}", "Pocket till"),
		sentence("transaction_type.edit", "{who}", "A owner", "{name}", "987654321"),
		sentence("staff.sign_in_refused", "{name}", "an unknown person"),
		sentence("reward.edit", "{who}", "Till 2", "{name}", "Espresso"),
		sentence("redemption.fulfil", "{who}", "A owner", "{name}", "Espresso", "{customer}", "Anna <b> Lindqvist"),
		sentence("transaction.void", "{who}", "A owner", "{customer}", "Anna <b> Lindqvist", "{sale}", "€ 24.50 sale"),
		sentence("customer.replace_link", "{who}", "Maja <i> Sund", "{name}", "Anna <b> Lindqvist"),
		sentence("customer.edit", "{who}", "Maja <i> Sund", "{name}", "Anna <b> Lindqvist"),
		sentence("customer.create", "{who}", "A owner", "{name}", "Anna <b> Lindqvist"),
	}))
	wants(t, "links", shown.Links(".audit-words a"), []string{
		"/admin/settings/tokens", "/admin/types/987654321",
		"/admin/rewards/" + m.espresso.String(), "/admin/customers/" + anna.String(), "/admin/customers/" + anna.String(), "/admin/transactions/" + sale.String(),
		"/admin/customers/" + anna.String(), "/admin/customers/" + anna.String(), "/admin/customers/" + anna.String(),
	})
	changes := func(row int) []string {
		return shown.Find(".audit-row").Eq(row - 1).Find("tr").Map(func(_ int, tr *goquery.Selection) string { return webtest.Text(tr) })
	}
	wants(t, "a filter", changes(1), []string{"Field Value", "Filter Search: yes, Sort: name", "Note [x"})
	wants(t, "a new record", changes(3), []string{"Field Value", "Abilities a, b", "Expires at 9 Jun 2026, 00:30"})
	wants(t, "money", changes(4), []string{"Field Before After", "Min spend € 5.00 € 1,234.50"})
	wants(t, "yes and no", changes(6), []string{"Field Before After", "Active yes no", "Stock 5 – nothing"})
	wants(t, "no old value", changes(10), []string{"Field Value", "E-mail anna@example.com"})
	row := func(n int) *goquery.Selection { return shown.Find(".audit-row").Eq(n - 1) }
	if got := webtest.Text(row(10).Find(".audit-when, .audit-facts dd:first-of-type")); !strings.HasPrefix(got, "09:00 192.0.2.7") {
		t.Errorf("time and address = %q", got)
	}
	if got := webtest.Text(row(8).Find(".audit-when")); got != "23:30" {
		t.Errorf("time in the shop's zone = %q", got)
	}
	if got := shown.Texts(".day-band"); !slices.Contains(got, "Wed 3 Jun") || got[0] != "Tue 9 Jun" {
		t.Errorf("days = %q", got)
	}
	if got := webtest.Text(row(10).Find("code")); got != "01JXREQUEST" || webtest.Text(row(6).Find(".audit-by")) != "by API token" {
		t.Errorf("request = %q, %q", got, webtest.Text(row(6)))
	}
	if shown.Find(".audit i, .audit b").Length() > 0 {
		t.Error("a name was rendered as a tag")
	}
	wants(t, "links to related entries", row(6).Find("a.btn").Map(func(_ int, a *goquery.Selection) string { return a.AttrOr("href", "") }), []string{
		"/admin/audit?actor=token%3A17", "/admin/audit?subject=reward&subject_id=" + m.espresso.String(),
	})
}

// "A logo is a picture, not a digest". Only the present one is kept.
func TestAuditShowsTheLogo(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	m.Exec("insert into loyalty.tenant_look (tenant_id, updated_at, logo, logo_type, logo_hash) values ($1, now(), '\\x01', 'image/png', '\\x00ff')", m.By.Tenant.ID)
	m.logged("2026-06-08 10:00", m.By, audit.Entry{Action: "tenant.edit", ID: "1", Old: map[string]any{"logo": "aaff"}, New: map[string]any{"logo": "00ff"}})
	shown := m.signedIn(core.Owner).Get("/admin/audit?from=2026-06-01&to=2026-06-09")
	if got := shown.Attr(".audit-changes ins img", "src"); got != "/admin/logo/00ff" || !strings.Contains(shown.Text(".audit-changes del"), "Earlier logo") || strings.Contains(shown.Text(".audit-changes"), "ff") {
		t.Errorf("the logos are %q and %q", got, shown.Text(".audit-changes"))
	}
}

// sentence is an entry's sentence with its placeholders filled.
func sentence(action string, fill ...string) string {
	return strings.NewReplacer(fill...).Replace(panelviews.AuditSentences[action])
}

// unspaced removes all spaces: the text of a page has one at the end of each element.
func unspaced(texts []string) (list []string) {
	for _, text := range texts {
		list = append(list, strings.Join(strings.Fields(text), ""))
	}
	return list
}

// redeemed records a sale, redeems an espresso with its points, and fulfils the redemption.
func (m *market) redeemed(when string, by core.ID) {
	m.T.Helper()
	m.sale(when, by, m.purchase, 10)
	id := m.redemption(when, by)
	if _, err := core.Result(m.at(when).Rewards.Fulfil(m.T.Context(), m.By, id, nil)); err != nil {
		m.T.Fatal(err)
	}
}

// "Filters by what (noun), who, from/to; cursor paging", as a page and as a fragment.
func TestAuditFilters(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	emre := dbtest.Person(t, m.DB, m.By, core.Manager)
	var customers []core.ID
	for range 30 {
		customers = append(customers, m.customer("2026-06-02 09:00", "Anna", "Lindqvist"))
	}
	m.logged("2026-06-01 23:59", emre, audit.Entry{Action: "reward.edit", ID: m.espresso.String()})
	m.logged("2026-06-03 00:00", emre, audit.Entry{Action: "customer.edit", ID: customers[0].String()})
	owner := m.signedIn(core.Owner)
	count := func(query string) int {
		t.Helper()
		return owner.Get("/admin/audit?" + query).Find(".audit-row").Length()
	}
	for query, want := range map[string]int{
		"subject=reward&from=2026-06-01&to=2026-06-14": 1, "actor=staff%3A" + emre.ID: 2, "actor=staff%3A" + emre.ID + "&subject=customer": 1,
		"from=2026-06-01&to=2026-06-01": 1, "from=2026-06-03&to=2026-06-03": 1, "from=2026-06-02&to=2026-06-02": 25,
		"subject=customer&subject_id=" + customers[0].String(): 2, "subject=customer&subject_id=" + customers[1].String(): 1,
		"from=2020-01-01&to=2020-01-02": 0,
	} {
		if got := count(query); got != want {
			t.Errorf("%s shows %d entries, want %d", query, got, want)
		}
	}
	first := owner.Get("/admin/audit?subject=customer&from=2026-06-02&to=2026-06-02")
	next := owner.Get(first.Links("nav[aria-label=Pages] a")[0], "Hx-Request", "true")
	if next.Find("header, form").Length() > 0 || next.Find("#audit .audit-row").Length() != 5 || next.Text(".card-footer p") != "26–30 of 30" {
		t.Errorf("the second page: %s", next.Text("#audit"))
	}
	if got := first.Texts("#field-subject option[selected]"); !slices.Equal(got, []string{"Customers"}) {
		t.Errorf("selected record type = %q", got)
	}
	picked := owner.Get("/admin/audit?actor=staff%3A" + emre.ID)
	if got := picked.Text("#field-actor option[selected]"); got != "A manager" || !slices.Contains(picked.Texts("#field-actor option"), "The system") {
		t.Errorf("selected person = %q of %q", got, picked.Texts("#field-actor option"))
	}
	m.logged("", core.Actor{Kind: core.ByAdmin, ID: "3", Name: "Root", Tenant: m.By.Tenant}, audit.Entry{Action: "tenant.edit", ID: "1"})
	other := owner.Get("/admin/audit?actor=admin%3A3")
	if got := other.Text("#field-actor option[selected]"); got != "Root" || !strings.HasPrefix(other.Text(".audit-words"), "Root ") || other.Text(".audit-by") != "by the platform" {
		t.Errorf("a super-admin = %q, %q", got, other.Text(".audit-row"))
	}
	record := owner.Get("/admin/audit?subject=customer&subject_id=" + customers[0].String())
	if got := record.Text("#audit .card-body"); !strings.Contains(got, "Anna Lindqvist") || record.Value("input[name=subject_id]") != customers[0].String() {
		t.Errorf("filtered by one record: %q", got)
	}
	nothing := owner.Get("/admin/audit?from=2020-01-01&to=2020-01-02")
	if got := nothing.Links(".empty a"); len(got) != 1 || got[0] != "/admin/audit" {
		t.Errorf("an empty result links to %v", got)
	}
	wrong := owner.Ask(http.MethodGet, "/admin/audit?from=2026-06-10&to=2026-06-01")
	if wrong.Code != http.StatusUnprocessableEntity || wrong.Text("#field-to-error") != webtest.Message("To", core.AfterOrEqual("from")) || wrong.Attr("#audit .alert a", "href") != "#field-to" ||
		wrong.Value("#field-from") != "2026-06-10" || !wrong.Find("#field-to").HasClass("is-invalid") {
		t.Errorf("from after to = %d %s", wrong.Code, wrong.Text("#audit"))
	}
	if a := owner.Ask(http.MethodGet, "/admin/audit?subject=weather&actor=wind&cursor=x", "Hx-Request", "true"); a.Code != http.StatusUnprocessableEntity || len(a.Texts(".alert p")) != 3 {
		t.Errorf("nonsense = %d %s", a.Code, a.Text("#audit"))
	}
}

// "Managers as core allows": managers don't see people, tokens, sessions and settings, and other
// businesses see nothing.
func TestWhoReadsTheAuditLog(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	m.customer("2026-06-02 09:00", "Anna", "Lindqvist")
	m.logged("2026-06-03 09:00", m.By, audit.Entry{Action: "tenant.edit", ID: "1"})
	manager := m.signedIn(core.Manager)
	page := manager.Get("/admin/audit")
	got := page.Text(".audit-words")
	if !strings.Contains(got, "Anna Lindqvist") || strings.Contains(got, "settings") || strings.Contains(got, "staff") {
		t.Errorf("a manager reads %q", got)
	}
	wants(t, "a manager's record types", page.Texts("#field-subject option")[1:], []string{
		"Customers", "Imports", "Sales", "Transaction types", "Rewards", "Redemptions", "Coupons", "Vouchers", "Locations", "Promotions", "Categories", "Daily limits", "PINs",
	})
	for _, subject := range []string{"staff", "token", "session", "tenant"} {
		if a := manager.Ask(http.MethodGet, "/admin/audit?subject="+subject); a.Code != http.StatusForbidden {
			t.Errorf("a manager filters by %s: %d, want 403", subject, a.Code)
		}
	}
	stranger := newShop(t).signedIn(core.Owner)
	if got := stranger.Get("/admin/audit").Text(".audit-words"); strings.Contains(got, "Anna") {
		t.Errorf("a stranger reads %q", got)
	}
	empty := newShop(t)
	if got := empty.signedIn(core.Manager).Get("/admin/audit").Find("#audit .empty").Length(); got != 1 {
		t.Error("an empty log has no empty state")
	}
}
