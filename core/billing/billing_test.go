package billing_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/tenant"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// books is the billing of a platform in a separate database.
type books struct {
	shoptest.Shop
	*billing.Service
	tenants *tenant.Service
}

func newBooks(t *testing.T) books {
	t.Helper()
	return booksOf(t, dbtest.OwnDB(t))
}

func booksOf(t testing.TB, d *db.DB) books {
	t.Helper()
	s := shoptest.Of(t, d, root)
	return books{s, s.Billing, s.Tenants}
}

// root is a super-admin.
var root = core.Actor{Kind: core.ByAdmin, ID: "1", Name: "Root", StaffID: 1, Role: core.SuperAdmin}

// drafted inserts a draft.
func (b books) drafted(tenant core.TenantID) int64 {
	b.T.Helper()
	return shoptest.Query[int64](b.Shop, `
		insert into loyalty.invoice (tenant_id, currency, lines, amount_cents, tax_cents, total_cents, period_start, period_end, created_at)
		values ($1, 'SEK', '[{"description": "Plan", "quantity": 2, "unit_cents": 2450, "amount_cents": 4900}]', 4900, 1225, 6125,
			'2026-05-01', '2026-05-31', $2)
		returning id`, tenant, b.DB.Now())
}

// changeInvoice updates an invoice and returns the violated constraint.
func (b books) changeInvoice(id int64, set string) string {
	b.T.Helper()
	_, err := dbtest.Owner(b.DB).Exec(b.T.Context(), "update loyalty.invoice set "+set+" where id = $1", id)
	var pg *pgconn.PgError
	if err != nil && !errors.As(err, &pg) {
		b.T.Fatal(err)
	}
	if pg == nil {
		return ""
	}
	return pg.ConstraintName
}

func (b books) list(f billing.Filter, p core.Page) core.List[billing.Invoice] {
	b.T.Helper()
	l, err := b.List(b.T.Context(), root, f, p)
	b.Check(err)
	return l
}

func ids(l core.List[billing.Invoice]) (ids []int64) {
	for _, i := range l.Items {
		ids = append(ids, i.ID)
	}
	return ids
}

func TestInvoiceHasAllFields(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.Exec("update loyalty.platform_setting set tax_rate = 2500")
	by := dbtest.Tenant(t, b.DB)
	tenant := by.Tenant.ID
	id := b.drafted(tenant)
	b.changeInvoice(id, "tax_rate = 2500, created_at = '2026-06-01'")
	want := billing.Invoice{
		ID: id, TenantID: tenant, TenantName: by.Tenant.Name, TenantSlug: by.Tenant.Slug, TenantEmail: "owner@example.com", Timezone: "Europe/Stockholm",
		Recipient: billing.Party{Name: by.Tenant.Name, Email: "owner@example.com"}, TaxName: "VAT", TaxRate: 2500,
		Status: billing.Draft, Currency: "SEK",
		Lines:       []billing.Line{{Description: "Plan", Quantity: 2, UnitCents: 2450, AmountCents: 4900}},
		AmountCents: 4900, TaxCents: 1225, TotalCents: 6125,
		PeriodStart: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), PeriodEnd: time.Date(2026, 5, 31, 0, 0, 0, 0, time.UTC),
		CreatedAt: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC),
	}
	if diff := cmp.Diff([]billing.Invoice{want}, b.list(billing.Filter{}, core.Page{Size: 15}).Items); diff != "" {
		t.Errorf("a draft (-want +got):\n%s", diff)
	}
	b.changeInvoice(id, "status = 'paid', number = 7, issued_at = '2026-06-02', due_at = '2026-07-02', paid_at = '2026-06-03'")
	day := func(month time.Month, day int) *time.Time {
		return new(time.Date(2026, month, day, 0, 0, 0, 0, time.UTC))
	}
	want.Status, want.Number, want.IssuedAt, want.DueAt, want.PaidAt = billing.Paid, new(int64(7)), day(6, 2), day(7, 2), day(6, 3)
	if diff := cmp.Diff([]billing.Invoice{want}, b.list(billing.Filter{}, core.Page{Size: 15}).Items); diff != "" {
		t.Errorf("paid (-want +got):\n%s", diff)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	mine, other := dbtest.Tenant(t, b.DB).Tenant.ID, dbtest.Tenant(t, b.DB).Tenant.ID
	var all []int64
	for i := range 5 {
		id := b.drafted([]core.TenantID{mine, other}[i%2])
		if i > 2 {
			b.changeInvoice(id, "status = 'void', voided_at = now()")
		}
		all = append([]int64{id}, all...)
	}
	// At one instant, the id breaks ties.
	b.Exec("update loyalty.invoice set created_at = '2026-05-01'")
	for name, c := range map[string]struct {
		filter billing.Filter
		want   []int64
	}{
		"all":            {billing.Filter{}, all},
		"of a tenant":    {billing.Filter{TenantID: new(int64(mine))}, []int64{all[0], all[2], all[4]}},
		"of a status":    {billing.Filter{Status: new("void")}, all[:2]},
		"of both":        {billing.Filter{TenantID: new(int64(other)), Status: new("draft")}, all[3:4]},
		"of no tenant":   {billing.Filter{TenantID: new(int64(1 << 62))}, nil},
		"of none so far": {billing.Filter{Status: new("overdue")}, nil},
	} {
		p := core.Page{Size: 2}
		last := b.list(c.filter, p)
		forward := ids(last)
		for ; last.Next != nil; forward = append(forward, ids(last)...) {
			p.Cursor = last.Next
			last = b.list(c.filter, p)
		}
		back := ids(last)
		for ; last.Prev != nil; back = append(ids(last), back...) {
			p.Cursor = last.Prev
			last = b.list(c.filter, p)
		}
		if !slices.Equal(forward, c.want) || !slices.Equal(back, c.want) {
			t.Errorf("%s: forward %v, back %v, want %v", name, forward, back, c.want)
		}
	}
	_, err := b.List(t.Context(), root, billing.Filter{Status: new("open")}, core.Page{Malformed: core.Fields{"tenant_id": {core.MustBeInteger}}})
	var refusal *core.Error
	want := core.Fields{"status": {core.InvalidChoice}, "tenant_id": {core.MustBeInteger}}
	if !errors.As(err, &refusal) || cmp.Diff(want, refusal.Fields) != "" {
		t.Errorf("List = %v, want %v refused", err, want)
	}
}

// Counts by status use the other filters, and count overdue invoices before the job has marked
// them.
func TestCounts(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	by, other := dbtest.Tenant(t, b.DB), dbtest.Tenant(t, b.DB)
	b.drafted(by.Tenant.ID)
	b.drafted(other.Tenant.ID)
	late, open := b.drafted(by.Tenant.ID), b.drafted(by.Tenant.ID)
	b.changeInvoice(late, "status = 'issued', number = 1, issued_at = '2026-01-01', due_at = '2026-01-31'")
	b.changeInvoice(open, "status = 'issued', number = 2, issued_at = now(), due_at = now() + interval '30 d', period_start = '2026-06-01', period_end = '2026-06-30'")
	sek := func(s billing.Status, n int64) billing.Count {
		return billing.Count{Status: s, Currency: "SEK", Invoices: n, TotalCents: n * 6125}
	}
	for name, c := range map[string]struct {
		filter billing.Filter
		want   []billing.Count
	}{
		"all":              {billing.Filter{}, []billing.Count{sek(billing.Draft, 2), sek(billing.Issued, 1), sek(billing.Overdue, 1)}},
		"of a tenant":      {billing.Filter{TenantID: new(int64(other.Tenant.ID)), Status: new("paid")}, []billing.Count{sek(billing.Draft, 1)}},
		"of a period":      {billing.Filter{From: new(time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))}, []billing.Count{sek(billing.Issued, 1)}},
		"of a wide number": {billing.Filter{Search: new("２０２６－０００１")}, []billing.Count{sek(billing.Overdue, 1)}},
		"of a number":      {billing.Filter{Search: new("2026-0001")}, []billing.Count{sek(billing.Overdue, 1)}},
	} {
		got, err := b.Counts(t.Context(), root, c.filter)
		if err != nil || cmp.Diff(c.want, got) != "" {
			t.Errorf("%s: %v %s", name, err, cmp.Diff(c.want, got))
		}
	}
}

// The database refuses inconsistent invoices.
func TestInconsistentInvoicesAreRefused(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	id := b.drafted(dbtest.Tenant(t, b.DB).Tenant.ID)
	const issued = "status = 'issued', number = 1, issued_at = now(), due_at = now()"
	for _, c := range []struct{ set, refusedBy string }{
		{"total_cents = 6124", "invoice_total"},
		{"tax_cents = 0", "invoice_total"},
		{"amount_cents = 0, tax_cents = 0, total_cents = 0", "invoice_total_cents_check"}, // a zero total makes none
		{"tax_cents = -1, total_cents = 4899", "invoice_tax_cents_check"},
		{"period_end = '2026-04-30'", "invoice_period"},
		{strings.Replace(issued, "issued", "open", 1), "invoice_status_check"},
		{"lines = '{}'", "invoice_lines_check"},
		{"number = 1", "invoice_issued"},
		{"status = 'issued'", "invoice_issued"},
		{"status = 'overdue', issued_at = now(), due_at = now()", "invoice_issued"},
		{"status = 'paid', number = 1, issued_at = now(), due_at = now()", "invoice_paid"},
		{issued + ", paid_at = now()", "invoice_paid"},
		{"status = 'void'", "invoice_void"},
		{"voided_at = now()", "invoice_void"},
		{"status = 'void', voided_at = now()", ""},
		{issued + ", voided_at = null", ""},
		{"status = 'void', voided_at = now()", ""},
	} {
		if got := b.changeInvoice(id, c.set); got != c.refusedBy {
			t.Errorf("%s: refused by %q, want %q", c.set, got, c.refusedBy)
		}
	}
	other := b.drafted(dbtest.Tenant(t, b.DB).Tenant.ID)
	if got := b.changeInvoice(other, issued); got != "invoice_number_key" {
		t.Errorf("a number twice: refused by %q", got)
	}
}

// A tenant sees only its own invoices.
func TestATenantSeesItsOwnInvoices(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	mine, other := dbtest.Tenant(t, b.DB), dbtest.Tenant(t, b.DB)
	b.drafted(other.Tenant.ID)
	own := b.drafted(mine.Tenant.ID)
	seen, err := db.All[struct{ ID int64 }](t.Context(), b.DB.Tenant(mine), "select id from loyalty.invoice", nil)
	if err != nil || len(seen) != 1 || seen[0].ID != own {
		t.Errorf("sees %v, %v, want %d", seen, err, own)
	}
}
