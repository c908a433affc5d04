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
)

// states are the states of an invoice's steps.
func states(page *goquery.Document) []string {
	return page.Find(".invoice-steps li").Map(func(_ int, step *goquery.Selection) string {
		return strings.TrimPrefix(step.AttrOr("class", ""), "invoice-step-")
	})
}

// issuer fills in who issues invoices.
func (k desk) issuer(t *testing.T) {
	t.Helper()
	_, err := k.Invoices.EditSettings(t.Context(), k.admin, billing.SettingsInput{
		IssuerName: new("Loyalty Platform AB"), IssuerAddress: new("Kungsgatan 12\n111 35 Stockholm"), IssuerTaxNumber: new("SE559900112201"),
		TaxName: new("VAT"), TaxRate: new(int64(2500)), PaymentText: new("Pay to SE45 5000"), PaymentDays: new(int64(30)),
	})
	if err != nil {
		t.Fatal(err)
	}
}

// draft makes a draft of 49.00 for a tenant and returns the path of its page.
func (k desk) draft(t *testing.T, of core.Actor) string {
	t.Helper()
	var id int64
	err := dbtest.Owner(k.db).QueryRow(t.Context(), `
		insert into loyalty.invoice (tenant_id, currency, lines, amount_cents, tax_cents, total_cents, period_start, period_end, created_at)
		values ($1, 'EUR', '[{"description": "Growth plan, 1–31 May 2026", "quantity": 1, "unit_cents": 4900, "amount_cents": 4900}]', 4900, 0, 4900,
			'2026-05-01', '2026-05-31', $2)
		returning id`, of.Tenant.ID, k.db.Now()).Scan(&id)
	if err != nil {
		t.Fatal(err)
	}
	return "/platform/invoices/" + strconv.FormatInt(id, 10)
}

// agreed sends the form that asks before something is done, with more of it filled in.
func (k desk) agreed(t *testing.T, path string, filled ...string) *goquery.Document {
	t.Helper()
	v := sends(k.get(t, path).Find("form[action='" + path + "']"))
	for i := 0; i+1 < len(filled); i += 2 {
		v.Set(filled[i], filled[i+1])
	}
	return k.follow(t, path, v)
}

func (k desk) mailsTo(t *testing.T, kind string) (n int) {
	t.Helper()
	if err := dbtest.Owner(k.db).QueryRow(t.Context(), "select count(*) from river.river_job where kind = $1", kind).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// "draft → issued → paid or overdue, void; mark paid by hand; PDF …, e-mailed to the owner."
func TestAnInvoiceFromDraftToPaid(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	path := k.draft(t, k.by)

	// The issuer isn't set yet.
	draft := k.get(t, path)
	if words(draft.Find(".title-line")) != "Draft "+path[len("/platform/invoices/"):]+" Draft" || draft.Find(".invoice-warning a[href='/platform/settings']").Length() != 1 ||
		draft.Find("[href$='/issue']").Length() > 0 {
		t.Errorf("a draft without an issuer: %q", words(draft.Find("main")))
	}
	if no := k.refused(t, path+"/issue", form()); words(no.Find("main [role=alert]")) != billing.ErrNoIssuer.Message {
		t.Errorf("issued without an issuer: %q", words(no.Find("main")))
	}

	k.issuer(t)
	draft = k.get(t, path)
	if got := words(draft.Find(".invoice-sums").First()); got != "Subtotal € 49.00 VAT 25 % € 12.25 Total € 61.25" {
		t.Errorf("the sums of a draft: %q", got)
	}
	ask := k.get(t, path+"/issue")
	if got := words(ask.Find("form p").First()); !strings.Contains(got, "owes € 61.25 for 1–31 May 2026. The invoice is e-mailed to owner@example.com.") {
		t.Errorf("issue asks %q", got)
	}
	tenant := "/platform/tenants/" + strconv.FormatInt(int64(k.by.Tenant.ID), 10)
	if draft.Find(".invoice-side a[href='"+tenant+"']").Length() != 1 || draft.Find(".invoice-side a[href^='/platform/invoices?tenant=']").Length() != 1 {
		t.Errorf("beside it: %q", words(draft.Find(".invoice-side")))
	}
	v := sends(ask.Find("form[action='" + path + "/issue']"))
	issued := k.follow(t, path+"/issue", v)
	number := strconv.Itoa(k.db.Now().Year()) + "-0001"
	if got := words(issued.Find("h1")); got != "Invoice "+number || words(issued.Find(".title-line .badge")) != "Due in 30 days" {
		t.Errorf("issued: %q", words(issued.Find(".title-line")))
	}
	if got := states(issued); !slices.Equal(got, []string{"done", "done", "waiting", "waiting", "ahead"}) { // draft, issued, e-mail, payment, paid
		t.Errorf("its steps are %q", got)
	}
	k.posted(t, path+"/issue", v) // a double click
	if n := k.mailsTo(t, "invoice_delivery"); n != 1 {
		t.Errorf("%d e-mails", n)
	}
	if again := k.refused(t, path+"/issue", form()); words(again.Find("main [role=alert]")) != billing.ErrNotDraft.Message || again.Find("[type=submit].btn-primary").Length() > 0 {
		t.Errorf("issued twice: %q", words(again.Find("main")))
	}

	// Sent again.
	v = sends(k.get(t, path+"/send").Find("form[action='" + path + "/send']"))
	k.posted(t, path+"/send", v)
	k.posted(t, path+"/send", v)
	if n := k.mailsTo(t, "invoice_delivery"); n != 2 {
		t.Errorf("%d e-mails after it was sent again", n)
	}

	// Paid: on a day that was.
	pay := k.get(t, path+"/pay")
	today := k.db.Now().In(k.by.Tenant.TimeZone).Format(time.DateOnly)
	if field := pay.Find("#field-paid_on"); field.AttrOr("value", "") != today || field.AttrOr("type", "") != "date" {
		t.Errorf("pay asks %q", words(pay.Find("main")))
	}
	for typed, want := range map[string]string{
		"":     says("Paid on", core.Required),
		"soon": says("Paid on", core.MustBeDate),
		k.db.Now().AddDate(0, 0, 2).Format(time.DateOnly): says("Paid on", core.MustBePast),
		"2020-01-01": says("Paid on", core.Violation{Rule: "not_before", Other: today}),
	} {
		page := k.refused(t, path+"/pay", form("paid_on", typed))
		if got := mistakes(page)["paid_on"]; got != want || page.Find("#field-paid_on").AttrOr("value", "") != typed {
			t.Errorf("paid on %q: %q", typed, got)
		}
	}
	paid := k.agreed(t, path+"/pay")
	if !strings.Contains(flash(paid), number) || words(paid.Find(".title-line .badge")) != "Paid" ||
		paid.Find("[href$='/pay'], [href$='/void']").Length() > 0 {
		t.Errorf("paid: %q", words(paid.Find("main")))
	}
	for move, sentence := range map[string]string{"pay": billing.ErrNotOpen.Message, "void": billing.ErrNoVoid.Message} {
		if late := k.get(t, path+"/"+move); words(late.Find("main [role=alert]")) != sentence || late.Find("main form [type=submit]").Length() > 0 {
			t.Errorf("%s of a paid invoice asks %q", move, words(late.Find("main")))
		}
	}

	w := k.ask(http.MethodGet, path+"/pdf", nil)
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/pdf" || !strings.HasPrefix(w.Body.String(), "%PDF-") ||
		w.Header().Get("Content-Disposition") != `attachment; filename="invoice-`+number+`.pdf"` {
		t.Errorf("PDF = %d %v", w.Code, w.Header())
	}
}

// A voided invoice says why, and an overdue one since when.
func TestInvoicesVoidAndOverdue(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	k.issuer(t)
	void, late := k.draft(t, k.by), k.draft(t, k.by)
	if no := k.refused(t, void+"/void", form("reason", " ")); mistakes(no)["reason"] != says("Reason", core.Required) {
		t.Errorf("without a reason: %q", words(no.Find("main")))
	}
	page := k.agreed(t, void+"/void", "reason", "Wrong <b>plan</b>")
	if words(page.Find(".title-line .badge")) != "Void" || !strings.HasSuffix(words(page.Find(".invoice-steps li").Last()), "· Wrong <b>plan</b>") ||
		page.Find("[href$='/issue'], [href$='/pay'], [href$='/send'], [href$='/void']").Length() > 0 {
		t.Errorf("void: %q", words(page.Find("main")))
	}
	if no := k.refused(t, void+"/send", form()); words(no.Find("main [role=alert]")) != billing.ErrNotSent.Message {
		t.Errorf("a voided one was sent: %q", words(no.Find("main")))
	}

	k.agreed(t, late+"/issue")
	_, err := dbtest.Owner(k.db).Exec(t.Context(), `
		update loyalty.invoice
		set created_at = now() - interval '40 d', issued_at = now() - interval '40 d', due_at = now() - interval '3 d', sent_at = now() - interval '40 d', sent_to = 'maja@example.com'
		where id = $1::text::bigint`, late[len("/platform/invoices/"):])
	if err != nil {
		t.Fatal(err)
	}
	page = k.get(t, late)
	if words(page.Find(".title-line .badge")) != "3 days overdue" || page.Find(".invoice-step-late").Length() != 1 || page.Find(".invoice-steps li").Length() != 5 ||
		!strings.Contains(words(page.Find(".invoice-steps")), "E-mailed to maja@example.com") {
		t.Errorf("overdue: %q", words(page.Find("main")))
	}
}

// "List with filters (status, tenant, period, search) and totals", at the cost of three round
// trips however many there are.
func TestInvoiceList(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	if empty := k.get(t, "/platform/invoices"); words(empty.Find(".empty-title")) != "No invoices yet" {
		t.Errorf("without invoices: %q", words(empty.Find("main")))
	}
	k.issuer(t)
	other := dbtest.Tenant(t, k.db)
	for range 3 {
		k.draft(t, k.by)
	}
	open, void := k.draft(t, other), k.draft(t, other)
	k.agreed(t, open+"/issue")
	k.agreed(t, void+"/void", "reason", "Twice")

	rows := func(query string) (names []string) {
		k.get(t, "/platform/invoices"+query).Find("#invoices tbody tr").Each(func(_ int, r *goquery.Selection) {
			names = append(names, r.AttrOr("id", ""))
		})
		return names
	}
	row := func(path string) string { return "invoice-" + path[len("/platform/invoices/"):] }
	for query, want := range map[string]int{
		"": 5, "?status=draft": 3, "?status=issued": 1, "?status=void": 1, "?status=paid": 0, "?search=" + strconv.Itoa(k.db.Now().Year()) + "-0001": 1, "?search=nothing": 0,
		"?tenant=" + strconv.FormatInt(int64(other.Tenant.ID), 10): 2, "?from=2026-05-01&to=2026-05-01": 5, "?from=2026-05-02": 0, "?to=2026-04-30": 0,
	} {
		if got := rows(query); len(got) != want {
			t.Errorf("%s: %v, want %d", query, got, want)
		}
	}
	if got := rows("?status=issued"); len(got) != 1 || got[0] != row(open) {
		t.Errorf("issued: %v", got)
	}
	list := k.get(t, "/platform/invoices?status=draft&tenant="+strconv.FormatInt(int64(k.by.Tenant.ID), 10))
	if got := words(list.Find(".invoice-tabs")); got != "All 3 Draft 3 Issued 0 Overdue 0 Paid 0 Void 0" {
		t.Errorf("the tabs of a tenant: %q", got)
	}
	if to := list.Find(".invoice-tabs a").First().AttrOr("href", ""); to != "/platform/invoices?tenant="+strconv.FormatInt(int64(k.by.Tenant.ID), 10) {
		t.Errorf("all of a tenant: %q", to)
	}
	if list.Find("input[name=status][form=invoice-filter]").AttrOr("value", "") != "draft" || !strings.Contains(words(list.Find("#invoices")), "Only invoices of "+k.by.Tenant.Name) {
		t.Errorf("the filter is %q", words(list.Find("#invoices")))
	}
	if got := words(k.get(t, "/platform/invoices").Find(".invoice-totals")); got != "Unpaid € 61.25 Overdue None Paid None" {
		t.Errorf("totals: %q", got)
	}
	for _, query := range []string{"?status=open", "?from=soon", "?from=2026-05-02&to=2026-05-01", "?cursor=x", "?tenant=x"} {
		w := k.ask(http.MethodGet, "/platform/invoices"+query, nil)
		if page := k.read(t, w); w.Code != http.StatusUnprocessableEntity || page.Find("main [role=alert]").Length() != 1 {
			t.Errorf("%s = %d %q", query, w.Code, words(page.Find("main")))
		}
	}
	part := k.ask(http.MethodGet, "/platform/invoices?search=x", func(r *http.Request) { r.Header.Set("Hx-Request", "true") })
	if page := k.read(t, part); page.Find("header, #invoice-filter").Length() > 0 || page.Find("#invoices").Length() != 1 {
		t.Error("htmx gets more than the list")
	}
	for _, p := range []string{"/platform/invoices/999999", "/platform/invoices/x", "/platform/invoices/999999/pdf", "/platform/invoices/999999/void"} {
		if w := k.ask(http.MethodGet, p, nil); w.Code != http.StatusNotFound {
			t.Errorf("GET %s = %d", p, w.Code)
		}
	}
	for _, move := range []string{"issue", "pay", "send", "void"} {
		if w := k.post("/platform/invoices/999999/"+move, form("reason", "x", "paid_on", "2026-01-01")); w.Code != http.StatusNotFound {
			t.Errorf("POST %s of no invoice = %d", move, w.Code)
		}
	}
}

// No page of invoices or plans costs more the more there are of them.
func TestRoundTripsOfInvoices(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	k := newDeskOn(t, d)
	k.issuer(t)
	var last string
	for range 3 {
		last = k.draft(t, k.by)
	}
	for path, want := range map[string]int{"/platform/invoices": 3, last: 3, last + "/pdf": 2, last + "/issue": 2, "/platform/plans": 2, "/platform/settings": 2} {
		k.ask(http.MethodGet, path, nil)
		before := count()
		if w := k.ask(http.MethodGet, path, nil); w.Code != http.StatusOK {
			t.Errorf("%s = %d", path, w.Code)
		}
		if got := count() - before; got != want {
			t.Errorf("%s takes %d round trips, want %d", path, got, want)
		}
	}
}
