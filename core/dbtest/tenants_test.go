package dbtest_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// "Functions that work on all tenants refuse when a tenant is set": called as the role that
// serves, in a transaction of a tenant. They are in PL/pgSQL and take a limit, so that a
// backlog of millions is worked off in batches.
func TestCleanUpsOfAllTenantsRefuseInsideOne(t *testing.T) {
	t.Parallel()
	conn := owner(t)
	for name, call := range map[string]string{
		"expire_vouchers": "loyalty.expire_vouchers(now(), 1)",
		"forget_pins":     "loyalty.forget_pins(now(), 1)",
		"stalled_imports": "loyalty.stalled_imports(now(), 1)",
		"forget_imports":  "loyalty.forget_imports(now(), now(), now(), 1)",
		"forget_links":    "loyalty.forget_links(now(), 1)",
		"forget_audit":    "loyalty.forget_audit(now(), 1)",
	} {
		if got := strs(t, conn, "select lanname from pg_proc p join pg_language l on l.oid = p.prolang where p.pronamespace = 'loyalty'::regnamespace and proname = $1", name); len(got) != 1 || got[0] != "plpgsql" {
			t.Errorf("%s is in %v", name, got)
		}
		for tenant, refuses := range map[string]bool{"1": true, "": false} {
			err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
				if _, err := tx.Exec(t.Context(), "select set_config('role', 'loyalty_app', true), set_config('app.tenant_id', $1, true)", tenant); err != nil {
					return err
				}
				_, err := tx.Exec(t.Context(), "select "+call)
				return err
			})
			if refused := err != nil && strings.Contains(err.Error(), "works on all tenants"); refused != refuses || (!refuses && err != nil) {
				t.Errorf("%s with tenant %q: %v", name, tenant, err)
			}
		}
	}
}
