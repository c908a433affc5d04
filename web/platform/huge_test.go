package platform_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/web/platform"
)

// "Extreme (but valid) records break no page or export": every page of the platform, with a business
// whose texts and invoices are as long and as large as they can be.
func TestNoExtremeBreaksAPage(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	plan, err := core.Result(k.Billing.CreatePlan(t.Context(), k.Person, billing.PlanInput{
		Name: strings.Repeat("🦊", 100), MonthlyCents: new(int64(1_000_000_000_000)), YearlyCents: new(int64(1_000_000_000_000)), Currency: "KWD",
	}, nil))
	if err != nil {
		t.Fatal(err)
	}
	invoice := shoptest.Query[int64](k.shop, `
		insert into loyalty.invoice (tenant_id, currency, lines, amount_cents, tax_cents, total_cents, period_start, period_end, created_at,
			number, status, issued_at, due_at, issuer, recipient)
		values ($1, 'KWD', jsonb_build_array(jsonb_build_object('description', repeat('W', 255), 'quantity', 1, 'unit_cents', 1000000000000, 'amount_cents', 1000000000000)),
			1, 0, 1, '1926-02-28', '9999-12-31', '1926-02-28', 999999999, 'issued', '1926-02-28', '9999-12-30',
			jsonb_build_object('name', repeat('W', 100), 'address', repeat('W', 500), 'tax_number', repeat('W', 255), 'email', 'a@example.com'),
			jsonb_build_object('name', 'Café', 'address', '', 'tax_number', '', 'email', 'b@example.com'))
		returning id`, k.shop.By.Tenant.ID)
	k.shop.Exec("update loyalty.tenant set plan_id = $2 where id = $1", k.shop.By.Tenant.ID, plan.ID)
	dbtest.Extreme(t, k.shop.DB, k.shop.By)
	if err := k.Tenants.Count(t.Context()); err != nil {
		t.Fatal(err)
	}
	records := map[string]string{
		"/platform/tenants/": strconv.FormatInt(int64(k.shop.By.Tenant.ID), 10), "/platform/plans/": strconv.FormatInt(plan.ID, 10), "/platform/invoices/": strconv.FormatInt(invoice, 10),
	}
	paths := k.paths(records)
	for _, path := range paths {
		w := k.Ask(http.MethodGet, path)
		if w.Code >= http.StatusBadRequest && w.Code != http.StatusConflict { // a question that is not to be asked now
			t.Errorf("%s = %d", path, w.Code)
		}
		if said := dbtest.Nonsense(w.Body.String()); said != "" {
			t.Errorf("%s says %s", path, said)
		}
		if said := dbtest.Turned(w.Body.String()); said != "" {
			t.Errorf("%s turns %s", path, said)
		}
	}
	if len(paths) < 25 {
		t.Errorf("walked %d pages", len(paths))
	}
}

// paths are those of every page, for these records by the path before their id.
func (k desk) paths(records map[string]string) (paths []string) {
	paths = append(paths, "/platform/invoices?tenant_id="+records["/platform/tenants/"], "/platform/tenants?plan_id="+records["/platform/plans/"])
	for _, r := range platform.Routes() {
		noun, rest, names := strings.Cut(r.Path, ":")
		if r.Method != http.MethodGet || r.Who.Everyone || names && records[noun] == "" {
			continue
		}
		path := r.Path
		if names {
			_, action, _ := strings.Cut(rest, "/")
			path = strings.TrimSuffix(noun+records[noun]+"/"+action, "/")
		}
		paths = append(paths, path)
	}
	return paths
}

// Whatever is sent with a form of the platform, a message that asks to fill in a field is at that field. The browser
// of the tests checks each page.
func TestRefusalsAreAtTheirFields(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	plan, err := core.Result(k.Billing.CreatePlan(t.Context(), k.Person, billing.PlanInput{
		Name: "Basic", MonthlyCents: new(int64(900)), YearlyCents: new(int64(9000)), Currency: "EUR",
	}, nil))
	if err != nil {
		t.Fatal(err)
	}
	paths := k.paths(map[string]string{
		"/platform/tenants/": strconv.FormatInt(int64(k.shop.By.Tenant.ID), 10), "/platform/plans/": strconv.FormatInt(plan.ID, 10),
	})
	if refused := k.RefuseForms(paths, "sign-out", "/account", "/queues/"); refused < 40 {
		t.Errorf("%d refusals of %d pages", refused, len(paths))
	}
}
