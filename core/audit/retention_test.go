package audit_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/dbtest"
)

// Old entries are deleted from the logs of tenants and platform, but never those younger than 90
// days.
func TestOldEntriesAreDeleted(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	by := dbtest.Tenant(t, d)
	const day = 24 * time.Hour
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := dbtest.Owner(d).Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec("delete from loyalty.audit_entry")
	exec("delete from loyalty.platform_audit_entry")
	for _, age := range []time.Duration{0, 89 * day, 91 * day, 399 * day, 401 * day} {
		at := d.Now().Add(-age)
		const columns = "id, action, subject_kind, subject_id, actor_kind, actor_id, actor_name, address, request_id, created_at"
		const values = "loyalty.new_ulid($1), 'reward.create', 'reward', '', 'system', '', '', '', '', $1"
		exec("insert into loyalty.audit_entry (tenant_id, "+columns+") select $2, "+values, at, by.Tenant.ID)
		exec("insert into loyalty.platform_audit_entry ("+columns+") select "+values, at)
	}
	left := func() (list string) {
		t.Helper()
		for _, table := range []string{"audit_entry", "platform_audit_entry"} {
			var n int
			if err := dbtest.Owner(d).QueryRow(t.Context(), "select count(*) from loyalty."+table).Scan(&n); err != nil {
				t.Fatal(err)
			}
			list += fmt.Sprint(n, " ")
		}
		return list
	}
	for _, step := range []struct {
		period time.Duration
		want   string
	}{{0, "5 5 "}, {400 * day, "4 4 "}, {day, "2 2 "}} {
		if err := audit.DeleteOlder(t.Context(), d, step.period); err != nil {
			t.Fatal(err)
		}
		if got := left(); got != step.want {
			t.Errorf("kept for %s: %s are left, want %s", step.period, got, step.want)
		}
	}
}
