package platform_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"example.com/loyalty/core/sandbox"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/token"
	"example.com/loyalty/views/ui"
)

// A super-admin makes a business for tests. Its secrets are shown once, and it is marked and never billed.
func TestMakeTestBusiness(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	ask := k.Get("/platform/tenants/test")
	form := ask.Fields("main form")
	made := k.Post("/platform/tenants/test", form)
	var file sandbox.File
	if err := json.Unmarshal([]byte(made.Find("#file").Text()), &file); err != nil || made.Code != http.StatusOK || len(file.Tenants) != 1 {
		t.Fatalf("answered %d %q, %v", made.Code, made.Text("main"), err)
	}
	business := file.Tenants[0]
	caller, err := k.Tokens.Authenticate(t.Context(), business.Tokens["all"], business.Slug)
	if err != nil || len(caller.Abilities) != len(token.Abilities) || !caller.Tenant.Test || caller.Tenant.ID != business.ID {
		t.Errorf("its token is of %+v, %v", caller, err)
	}
	shown := made.Text("#tokens") + made.Text("#sign-ins")
	for _, want := range []string{business.Tokens["all"], business.Tokens["reports:read"], business.RevokedToken, business.Staff["owner"].Password, business.Staff["cashier"].Email} {
		if !strings.Contains(shown, want) {
			t.Errorf("%s is not shown: %s", want, shown)
		}
	}

	again := k.Submit("/platform/tenants/test", form)
	if !again.Flashed(ui.Warning, "") || strings.Contains(again.Text("main"), business.Staff["owner"].Password) || !strings.Contains(again.Text("h1"), business.Name) {
		t.Errorf("sent again: %s", again.Text("main"))
	}
	if got := shoptest.Query[int](k.shop, "select count(*) from loyalty.tenant where test"); got != 1 {
		t.Errorf("%d test businesses", got)
	}
	if again.Find("#test-business").Length() != 1 || again.Text(".title-line .badge") != "Test" {
		t.Errorf("its page doesn't say that it is a test: %s", again.Text("main"))
	}
	if all, _ := tabs(k.Get("/platform/tenants")); !slices.Equal(all, []string{"All 2", "Active 0", "Setting up 1", "Late 0", "Test 1", "Suspended 0"}) {
		t.Errorf("the tabs are %q", all)
	}
	if got := listed(k.Get("/platform/tenants?status=test")); len(got) != 1 || got[0] != business.Name {
		t.Errorf("of tests %q are listed", got)
	}
	if got := k.Get("/platform/audit").Text("main"); !strings.Contains(got, "added "+business.Name) && !strings.Contains(got, business.Name) {
		t.Errorf("the audit log doesn't name it: %s", got)
	}

	// A year later, it has no invoice.
	k.shop.Exec("update loyalty.tenant set created_at = now() - interval '1 year' where test")
	if err := k.Billing.Bill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := shoptest.Query[int](k.shop, "select count(*) from loyalty.billing_account where tenant_id = $1", business.ID); got != 0 {
		t.Error("it is billed")
	}
}
