package platform_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/webtest"
)

// states are the states of an invoice's steps.
func states(page webtest.Page) []string {
	return page.Find(".invoice-steps li").Map(func(_ int, step *goquery.Selection) string {
		return strings.TrimPrefix(step.AttrOr("class", ""), "invoice-step-")
	})
}

// issuer fills in who issues invoices.
func (k desk) issuer() {
	k.T.Helper()
	_, err := k.Billing.EditSettings(k.T.Context(), k.Person, billing.SettingsInput{
		IssuerName: "Loyalty Platform AB", IssuerAddress: "Kungsgatan 12\n111 35 Stockholm", IssuerTaxNumber: "SE559900112201",
		TaxName: "VAT", TaxRate: new(int64(2500)), PaymentText: "Pay to SE45 5000", PaymentDays: new(int64(30)),
	})
	if err != nil {
		k.T.Fatal(err)
	}
}

// draft makes a draft of 49.00 for a tenant and returns the path of its page.
func (k desk) draft(of core.Actor) string {
	k.T.Helper()
	id := shoptest.Query[int64](k.shop, `
		insert into loyalty.invoice (tenant_id, currency, lines, amount_cents, tax_cents, total_cents, period_start, period_end, created_at)
		values ($1, 'EUR', '[{"description": "Growth plan, 1–31 May 2026", "quantity": 1, "unit_cents": 4900, "amount_cents": 4900}]', 4900, 0, 4900,
			'2026-05-01', '2026-05-31', $2)
		returning id`, of.Tenant.ID, k.shop.DB.Now())
	return "/platform/invoices/" + strconv.FormatInt(id, 10)
}

// agreed sends the form that asks before something is done, with more of it filled in.
func (k desk) agreed(path string, filled ...string) webtest.Page {
	k.T.Helper()
	return k.Submit(path, webtest.With(k.Get(path).Fields("form[action='"+path+"']"), filled...))
}

func (k desk) mailsTo(kind string) int {
	k.T.Helper()
	return shoptest.Query[int](k.shop, "select count(*) from river.river_job where kind = $1", kind)
}

// "draft → issued → paid or overdue, void; mark paid by hand; PDF …, e-mailed to the owner."
func TestAnInvoiceFromDraftToPaid(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	path := k.draft(k.shop.By)

	// The issuer isn't set yet.
	draft := k.Get(path)
	if draft.Text(".title-line") != "Draft "+path[len("/platform/invoices/"):]+" Draft" || draft.Find(".invoice-warning a[href='/platform/settings']").Length() != 1 ||
		draft.Find("[href$='/issue']").Length() > 0 {
		t.Errorf("a draft without an issuer: %q", draft.Text("main"))
	}
	if no := k.Refused(path+"/issue", nil); no.Text("main [role=alert]") != billing.ErrNoIssuer.Message {
		t.Errorf("issued without an issuer: %q", no.Text("main"))
	}

	k.issuer()
	draft = k.Get(path)
	if got := webtest.Text(draft.Find(".invoice-sums").First()); got != "Subtotal € 49.00 VAT 25 % € 12.25 Total € 61.25" {
		t.Errorf("the sums of a draft: %q", got)
	}
	ask := k.Get(path + "/issue")
	if got := webtest.Text(ask.Find("form p").First()); !strings.Contains(got, "owes € 61.25 for 1–31 May 2026. The invoice is e-mailed to owner@example.com.") {
		t.Errorf("issue asks %q", got)
	}
	tenant := "/platform/tenants/" + strconv.FormatInt(int64(k.shop.By.Tenant.ID), 10)
	if draft.Find(".invoice-side a[href='"+tenant+"']").Length() != 1 || draft.Find(".invoice-side a[href^='/platform/invoices?tenant=']").Length() != 1 {
		t.Errorf("beside it: %q", draft.Text(".invoice-side"))
	}
	v := ask.Fields("form[action='" + path + "/issue']")
	issued := k.Submit(path+"/issue", v)
	number := strconv.Itoa(k.shop.DB.Now().Year()) + "-0001"
	if got := issued.Text("h1"); got != "Invoice "+number || issued.Text(".title-line .badge") != "Due in 30 days" {
		t.Errorf("issued: %q", issued.Text(".title-line"))
	}
	if got := states(issued); !slices.Equal(got, []string{"done", "done", "waiting", "waiting", "ahead"}) { // draft, issued, e-mail, payment, paid
		t.Errorf("its steps are %q", got)
	}
	k.Submitted(path+"/issue", v) // a double click
	if n := k.mailsTo("invoice_delivery"); n != 1 {
		t.Errorf("%d e-mails", n)
	}
	if again := k.Refused(path+"/issue", nil); again.Text("main [role=alert]") != billing.ErrNotDraft.Message || again.Find("[type=submit].btn-primary").Length() > 0 {
		t.Errorf("issued twice: %q", again.Text("main"))
	}

	// Sent again.
	v = k.Get(path + "/send").Fields("form[action='" + path + "/send']")
	k.Submitted(path+"/send", v)
	k.Submitted(path+"/send", v)
	if n := k.mailsTo("invoice_delivery"); n != 2 {
		t.Errorf("%d e-mails after it was sent again", n)
	}

	// Paid: on a day that was.
	pay := k.Get(path + "/pay")
	today := k.shop.DB.Now().In(k.shop.By.Tenant.TimeZone).Format(time.DateOnly)
	if field := pay.Find("#field-paid_on"); field.AttrOr("value", "") != today || field.AttrOr("type", "") != "date" {
		t.Errorf("pay asks %q", pay.Text("main"))
	}
	for typed, want := range map[string]string{
		"":     webtest.Message("Paid on", core.Required),
		"soon": webtest.Message("Paid on", core.MustBeDate),
		k.shop.DB.Now().AddDate(0, 0, 2).Format(time.DateOnly): webtest.Message("Paid on", core.MustBePast),
		"2020-01-01": webtest.Message("Paid on", core.Violation{Rule: "not_before", Other: today}),
	} {
		page := k.Refused(path+"/pay", webtest.Form("paid_on", typed))
		if got := mistakes(page)["paid_on"]; got != want || page.Value("#field-paid_on") != typed {
			t.Errorf("paid on %q: %q", typed, got)
		}
	}
	paid := k.agreed(path + "/pay")
	if !paid.Flashed(ui.Done, number) || paid.Text(".title-line .badge") != "Paid" ||
		paid.Find("[href$='/pay'], [href$='/void']").Length() > 0 {
		t.Errorf("paid: %q", paid.Text("main"))
	}
	for move, sentence := range map[string]string{"pay": billing.ErrNotOpen.Message, "void": billing.ErrNoVoid.Message} {
		if late := k.Get(path + "/" + move); late.Text("main [role=alert]") != sentence || late.Find("main form [type=submit]").Length() > 0 {
			t.Errorf("%s of a paid invoice asks %q", move, late.Text("main"))
		}
	}

	// The audit log names the invoice and its business, with amounts as money.
	log, business := k.Get("/platform/audit?subject=invoice"), k.shop.By.Tenant.Name
	if got, want := log.Texts(".audit-words")[:3], []string{
		"Root marked the invoice " + number + " for " + business + " as paid.", "Root e-mailed the invoice " + number + " for " + business + ".",
		"Root issued the invoice " + number + " for " + business + ".",
	}; !slices.Equal(got, want) {
		t.Errorf("the audit log says %q, want %q", got, want)
	}
	if said := log.Text("#audit"); !strings.Contains(said, "€ 61.25") || strings.Contains(said, "6125") {
		t.Errorf("its amounts: %s", said)
	}

	w := k.Ask(http.MethodGet, path+"/pdf")
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/pdf" || !strings.HasPrefix(w.Body.String(), "%PDF-") ||
		w.Header().Get("Content-Disposition") != `attachment; filename="invoice-`+number+`.pdf"` {
		t.Errorf("PDF = %d %v", w.Code, w.Header())
	}
}

// A voided invoice says why, and an overdue one since when.
func TestInvoicesVoidAndOverdue(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	k.issuer()
	void, late := k.draft(k.shop.By), k.draft(k.shop.By)
	if no := k.Refused(void+"/void", webtest.Form("reason", " ")); mistakes(no)["reason"] != webtest.Message("Reason", core.Required) {
		t.Errorf("without a reason: %q", no.Text("main"))
	}
	page := k.agreed(void+"/void", "reason", "Wrong <b>plan</b>")
	if page.Text(".title-line .badge") != "Void" || !strings.HasSuffix(webtest.Text(page.Find(".invoice-steps li").Last()), "· Wrong <b>plan</b>") ||
		page.Find("[href$='/issue'], [href$='/pay'], [href$='/send'], [href$='/void']").Length() > 0 {
		t.Errorf("void: %q", page.Text("main"))
	}
	if no := k.Refused(void+"/send", nil); no.Text("main [role=alert]") != billing.ErrNotSent.Message {
		t.Errorf("a voided one was sent: %q", no.Text("main"))
	}

	k.agreed(late + "/issue")
	k.shop.Exec(`
		update loyalty.invoice
		set created_at = now() - interval '40 d', issued_at = now() - interval '40 d', due_at = now() - interval '3 d', sent_at = now() - interval '40 d', sent_to = 'maja@example.com'
		where id = $1::text::bigint`, late[len("/platform/invoices/"):])
	page = k.Get(late)
	if page.Text(".title-line .badge") != "3 days overdue" || page.Find(".invoice-step-late").Length() != 1 || page.Find(".invoice-steps li").Length() != 5 ||
		!strings.Contains(page.Text(".invoice-steps"), "E-mailed to maja@example.com") {
		t.Errorf("overdue: %q", page.Text("main"))
	}
}

// "List with filters (status, tenant, period, search) and totals", at the cost of three round
// trips however many there are.
func TestInvoiceList(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	if empty := k.Get("/platform/invoices"); empty.Text(".empty-title") != "No invoices yet" {
		t.Errorf("without invoices: %q", empty.Text("main"))
	}
	k.issuer()
	other := dbtest.Tenant(t, k.shop.DB)
	for range 3 {
		k.draft(k.shop.By)
	}
	open, void := k.draft(other), k.draft(other)
	k.agreed(open + "/issue")
	k.agreed(void+"/void", "reason", "Twice")

	rows := func(query string) (names []string) {
		k.Get("/platform/invoices" + query).Find("#invoices tbody tr").Each(func(_ int, r *goquery.Selection) {
			names = append(names, r.AttrOr("id", ""))
		})
		return names
	}
	row := func(path string) string { return "invoice-" + path[len("/platform/invoices/"):] }
	for query, want := range map[string]int{
		"": 5, "?status=draft": 3, "?status=issued": 1, "?status=void": 1, "?status=paid": 0, "?search=" + strconv.Itoa(k.shop.DB.Now().Year()) + "-0001": 1, "?search=nothing": 0,
		"?tenant=" + strconv.FormatInt(int64(other.Tenant.ID), 10): 2, "?from=2026-05-01&to=2026-05-01": 5, "?from=2026-05-02": 0, "?to=2026-04-30": 0,
	} {
		if got := rows(query); len(got) != want {
			t.Errorf("%s: %v, want %d", query, got, want)
		}
	}
	if got := rows("?status=issued"); len(got) != 1 || got[0] != row(open) {
		t.Errorf("issued: %v", got)
	}
	list := k.Get("/platform/invoices?status=draft&tenant=" + strconv.FormatInt(int64(k.shop.By.Tenant.ID), 10))
	if got := list.Text(".invoice-tabs"); got != "All 3 Draft 3 Issued 0 Overdue 0 Paid 0 Void 0" {
		t.Errorf("the tabs of a tenant: %q", got)
	}
	if to := list.Find(".invoice-tabs a").First().AttrOr("href", ""); to != "/platform/invoices?tenant="+strconv.FormatInt(int64(k.shop.By.Tenant.ID), 10) {
		t.Errorf("all of a tenant: %q", to)
	}
	if list.Value("input[name=status][form=invoice-filter]") != "draft" || !strings.Contains(list.Text("#invoices"), "Only invoices of "+k.shop.By.Tenant.Name) {
		t.Errorf("the filter is %q", list.Text("#invoices"))
	}
	if got := k.Get("/platform/invoices").Text(".invoice-totals"); got != "Unpaid € 61.25 Overdue None Paid None" {
		t.Errorf("totals: %q", got)
	}
	if wrong := k.Ask(http.MethodGet, "/platform/invoices?from=soon"); wrong.Text("#field-from-error") == "" || wrong.Attr(".alert a", "href") != "#field-from" {
		t.Errorf("a wrong day: %q, %q", wrong.Text("#field-from-errors"), wrong.Text(".alert"))
	}
	for _, query := range []string{"?status=open", "?from=soon", "?from=2026-05-02&to=2026-05-01", "?cursor=x", "?tenant=x"} {
		if page := k.Ask(http.MethodGet, "/platform/invoices"+query); page.Code != http.StatusUnprocessableEntity || page.Find("main [role=alert]").Length() != 1 {
			t.Errorf("%s = %d %q", query, page.Code, page.Text("main"))
		}
	}
	part := k.Ask(http.MethodGet, "/platform/invoices?search=x", "Hx-Request", "true")
	if part.Find("header, #invoice-filter").Length() > 0 || part.Find("#invoices").Length() != 1 {
		t.Error("htmx gets more than the list")
	}
	for _, p := range []string{"/platform/invoices/999999", "/platform/invoices/x", "/platform/invoices/999999/pdf", "/platform/invoices/999999/void"} {
		if w := k.Ask(http.MethodGet, p); w.Code != http.StatusNotFound {
			t.Errorf("GET %s = %d", p, w.Code)
		}
	}
	for _, move := range []string{"issue", "pay", "send", "void"} {
		if w := k.Post("/platform/invoices/999999/"+move, webtest.Form("reason", "x", "paid_on", "2026-01-01")); w.Code != http.StatusNotFound {
			t.Errorf("POST %s of no invoice = %d", move, w.Code)
		}
	}
}

// No page of invoices or plans costs more the more there are of them.
func TestRoundTripsOfInvoices(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	k := newDeskOn(t, d)
	k.issuer()
	var last string
	for range 3 {
		last = k.draft(k.shop.By)
	}
	for path, want := range map[string]int{"/platform/invoices": 3, last: 3, last + "/pdf": 2, last + "/issue": 2, "/platform/plans": 2, "/platform/settings": 2} {
		k.Ask(http.MethodGet, path)
		before := count()
		if w := k.Ask(http.MethodGet, path); w.Code != http.StatusOK {
			t.Errorf("%s = %d", path, w.Code)
		}
		if got := count() - before; got != want {
			t.Errorf("%s takes %d round trips, want %d", path, got, want)
		}
	}
}
