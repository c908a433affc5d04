package dbtest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core/dbtest"
)

const policiesOf = `
	select coalesce(qual, 'true') as visible, coalesce(with_check, qual, 'true') as allowed, cmd
	from pg_policies
	where schemaname || '.' || tablename = $1
		and permissive = 'PERMISSIVE'
		and roles && '{public,loyalty_app}'::name[]`

type policy struct{ Visible, Allowed, Cmd string }

// may returns which of select, insert, update and delete a tenant's transaction may do with a row of a table. A policy
// is a condition on the row's columns, so an invented row answers as a stored one would.
func may(t *testing.T, conn *pgx.Conn, table, row string, tenant int64) (commands []string) {
	t.Helper()
	rows, err := conn.Query(t.Context(), policiesOf, table)
	if err != nil {
		t.Fatal(err)
	}
	policies, err := pgx.CollectRows(rows, pgx.RowToStructByName[policy])
	if err != nil {
		t.Fatal(err)
	}
	walled := len(strs(t, conn, "select relname from pg_class where oid = $1::regclass and relrowsecurity", table)) == 1
	for _, command := range []string{"select", "insert", "update", "delete"} {
		if len(strs(t, conn, "select $1 where has_table_privilege('loyalty_app', $2, $1)", command, table)) == 0 {
			continue
		}
		conditions := []string{"false"}
		for _, p := range policies {
			switch {
			case p.Cmd != "ALL" && !strings.EqualFold(p.Cmd, command):
			case command == "insert":
				conditions = append(conditions, p.Allowed)
			case command == "update":
				conditions = append(conditions, fmt.Sprintf("(%s) and (%s)", p.Visible, p.Allowed))
			default:
				conditions = append(conditions, p.Visible)
			}
		}
		if !walled {
			conditions = append(conditions, "true")
		}
		var passes *bool
		err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), "select set_config('app.tenant_id', $1::bigint::text, true)", tenant); err != nil {
				return err
			}
			name := table[strings.Index(table, ".")+1:]
			return tx.QueryRow(t.Context(), fmt.Sprintf("select (%s) from jsonb_populate_record(null::%s, $1) as %s",
				strings.Join(conditions, ") or ("), table, name), row).Scan(&passes)
		})
		if err != nil {
			t.Fatalf("%s of %s: %v", command, table, err)
		}
		if passes != nil && *passes {
			commands = append(commands, command)
		}
	}
	return commands
}

// What a tenant's transaction may do with each table of the database, by row: its own, another tenant's, the
// platform's.
func TestWhatATenantMayDoWithEachTable(t *testing.T) {
	t.Parallel()
	conn := owner(t)
	const mine, other = 7, 8
	columns := map[string]string{"tenant": "id"}
	for _, name := range strs(t, conn, "select relname from pg_class where relnamespace = 'loyalty'::regnamespace and relkind in ('r', 'p')") {
		want, global := globalTables[name]
		if !global {
			want = rights{ownRows, "insert update delete"}
		}
		table, column := "loyalty."+name, columns[name]
		if column == "" {
			column = "tenant_id"
		}
		row := func(tenant any) string { return fmt.Sprintf(`{"%s": %v}`, column, tenant) }
		own := may(t, conn, table, row(mine), mine)
		var wantOwn []string
		if want.reads != noRows {
			wantOwn = append(wantOwn, "select")
		}
		wantOwn = append(wantOwn, strings.Fields(want.writes)...)
		if !global { // some are only added to, or never deleted
			wantOwn = slices.DeleteFunc(wantOwn, func(c string) bool {
				return len(strs(t, conn, "select $1 where has_table_privilege('loyalty_app', $2, $1)", c, table)) == 0
			})
		}
		if !slices.Equal(own, wantOwn) {
			t.Errorf("%s: a tenant may %v its own row, want %v", name, own, wantOwn)
		}
		var wantOthers []string
		if want.reads == allRows {
			wantOthers = []string{"select"}
		}
		for whose, tenant := range map[string]any{"another tenant's": other, "the platform's": "null", "tenant 0's": 0} {
			if got := may(t, conn, table, row(tenant), mine); !slices.Equal(got, wantOthers) {
				t.Errorf("%s: a tenant may %v a row of %s, want %v", name, got, whose, wantOthers)
			}
		}
		if got := may(t, conn, table, row(mine), -1); want.reads != allRows && len(got) > 0 {
			t.Errorf("%s: outside of a transaction one may %v", name, got)
		}
	}
}

// Inside a tenant's transaction the serving login changes nothing of the platform's, whatever a statement forgets.
func TestATenantChangesNothingOfThePlatform(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	by := dbtest.Tenant(t, d)
	conn, owner := serving(t, d.OwnerURL()), connect(t, d.OwnerURL())
	if _, err := owner.Exec(t.Context(), `
		insert into loyalty.deprecation (method, path, sunset, link, created_at) values ('GET', '/api/v1/old', '2030-01-01', '/docs', now());
		insert into loyalty.billing_account (tenant_id, anchor_day, billed_through) select id, 1, '2020-01-01' from loyalty.tenant`); err != nil {
		t.Fatal(err)
	}
	facts := func() string {
		return strings.Join(strs(t, owner, `
			select to_jsonb(p)::text from loyalty.plan p
			union all select to_jsonb(s)::text from loyalty.platform_setting s
			union all select to_jsonb(e)::text from loyalty.deprecation e
			union all select to_jsonb(n)::text from loyalty.tenant n
			union all select to_jsonb(a)::text from loyalty.billing_account a
			order by 1`), "\n")
	}
	// A distributed database has no triggers.
	byTriggers := []string{
		"update loyalty.tenant set plan_id = plan_id, billing_cycle = 'yearly'",
		"update loyalty.tenant set status = 'suspended'",
		"update loyalty.tenant set slug = 'other'",
		"update loyalty.billing_account set billed_through = '2099-12-31'",
	}
	if dbtest.IsCitus(t) {
		byTriggers = nil
	}
	before := facts()
	for _, sql := range append([]string{
		"update loyalty.plan set monthly_cents = 1",
		"delete from loyalty.plan",
		"insert into loyalty.plan (name, monthly_cents, yearly_cents, currency) values ('Mine', 0, 0, 'EUR')",
		"insert into loyalty.plan (name, monthly_cents, yearly_cents, currency) values ('Free', 0, 0, 'EUR') on conflict (name) do update set customers_limit = 1",
		"update loyalty.platform_setting set issuer_name = 'Mine'",
		"insert into loyalty.platform_setting (issuer_name) values ('Mine')",
		"delete from loyalty.platform_setting",
		"insert into loyalty.deprecation (method, path, sunset, link, created_at) values ('GET', '/api/v1/customers', '2030-01-01', '/docs', now())",
		"update loyalty.deprecation set sunset = '2020-01-01'",
		"insert into loyalty.deprecation_notice (deprecation_id, tenant_id, created_at) select id, current_setting('app.tenant_id')::bigint, now() from loyalty.deprecation",
		"insert into loyalty.billing_period (tenant_id, period_start, period_end, billing_cycle, plan_id, rate_cents, price_cents, currency, created_at) select id, '2020-01-01', '2020-01-31', 'monthly', plan_id, 0, 0, 'EUR', now() from loyalty.tenant",
		"insert into loyalty.tenant (name, slug, email, plan_id, billing_cycle, payment_method, created_at) values ('Mine', 'mine', 'a@example.com', 1, 'monthly', 'manual', now())",
	}, byTriggers...) {
		err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), "select loyalty.enter($1)", int64(by.Tenant.ID)); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), sql)
			return err
		})
		if after := facts(); after != before {
			t.Errorf("%s: %v\nchanged\n%s\nto\n%s", sql, err, before, after)
			before = after
		}
	}
	for _, table := range []string{"plan", "platform_setting", "deprecation"} {
		var n int
		err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), "select loyalty.enter($1)", int64(by.Tenant.ID)); err != nil {
				return err
			}
			return tx.QueryRow(t.Context(), "select count(*) from loyalty."+table).Scan(&n)
		})
		if err != nil || n == 0 {
			t.Errorf("a tenant reads %d rows of %s, %v", n, table, err)
		}
	}
}
