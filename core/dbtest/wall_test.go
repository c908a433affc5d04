package dbtest_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
)

// serving connects with the login that serves, like a pool.
func serving(t *testing.T, owner string) *pgx.Conn {
	t.Helper()
	return connect(t, dbtest.Serving(owner))
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// "A statement outside any transaction sees no row of any tenant table", nor of a table that only the platform
// sees, whether the connection's setting says so or is missing.
func TestOutsideOfTransactionsNothingIsSeen(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	by := dbtest.Tenant(t, d)
	shoptest.Of(t, d, by).WriteEverything()
	conn := serving(t, d.OwnerURL())
	walled := tables(t, owner(t))
	for name, sees := range globalTables {
		if sees.reads != allRows {
			walled = append(walled, name)
		}
	}
	for _, setting := range []string{"", "set app.tenant_id = '-1'"} {
		if _, err := conn.Exec(t.Context(), setting); err != nil {
			t.Fatal(err)
		}
		for _, table := range walled {
			var n int
			if err := conn.QueryRow(t.Context(), "select count(*) from loyalty."+table).Scan(&n); err != nil || n != 0 {
				t.Errorf("with %q, %s shows %d rows, %v", setting, table, n, err)
			}
		}
	}
}

// "Serving uses a login that owns nothing": it can't become the owner.
func TestTheServingLoginCannotBecomeTheOwner(t *testing.T) {
	t.Parallel()
	address := dbtest.OwnURL(t)
	conn := serving(t, address)
	for _, sql := range []string{
		"set role loyalty", "set session authorization loyalty", "alter table loyalty.customer disable row level security",
		"drop policy tenant on loyalty.customer", "create table loyalty.mine (id int)", "alter role loyalty_app bypassrls",
		"create function loyalty.mine() returns int language sql return 1", "truncate loyalty.customer",
	} {
		if _, err := conn.Exec(t.Context(), sql); err == nil {
			t.Errorf("the serving login may: %s", sql)
		}
	}
	for _, sql := range []string{"reset role", "set role none"} {
		var role string
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
		if err := conn.QueryRow(t.Context(), "select current_user::text").Scan(&role); err != nil || role != db.Role {
			t.Errorf("after %q it is %s, %v", sql, role, err)
		}
	}
}

// "The job tables are behind the wall too: a tenant's transaction can insert its own jobs and
// read none of another's".
func TestJobsAreIsolated(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	one, two := dbtest.Tenant(t, d), dbtest.Tenant(t, d)
	conn := serving(t, d.OwnerURL())
	const insert = `
		insert into river.river_job (kind, queue, state, args, max_attempts, metadata)
		values ('greeting', 'mail', 'available', '{"secret": 1}', 1, jsonb_build_object('tenant', $1::bigint))`
	in := func(tenant int64, sql string, args ...any) (affected int64, err error) {
		err = pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), "select loyalty.enter($1)", tenant); err != nil {
				return err
			}
			tag, err := tx.Exec(t.Context(), sql, args...)
			affected = tag.RowsAffected()
			return err
		})
		return affected, err
	}
	mine, other := int64(one.Tenant.ID), int64(two.Tenant.ID)
	for _, tenant := range []int64{mine, other} {
		if n, err := in(tenant, insert, tenant); err != nil || n != 1 {
			t.Fatalf("a tenant queues its own job: %d, %v", n, err)
		}
	}
	if _, err := in(mine, insert, other); err == nil {
		t.Error("a tenant may queue another's job")
	}
	const named = `
		insert into river.river_job (kind, queue, state, args, max_attempts, metadata)
		values ('named', 'mail', 'available', jsonb_build_object('tenant', $1::bigint), 1, jsonb_build_object('tenant', $2::bigint))`
	if n, err := in(mine, named, mine, mine); err != nil || n != 1 {
		t.Errorf("a tenant queues a job that names it: %d, %v", n, err)
	}
	if _, err := in(mine, named, other, mine); err == nil {
		t.Error("a tenant may queue a job of its own whose arguments name another tenant")
	}
	if _, err := in(mine, "update river.river_job set args = jsonb_build_object('tenant', $1::bigint) where kind = 'named'", other); err == nil {
		t.Error("a tenant may change the arguments of its job to another tenant")
	}
	for _, sql := range []string{
		"select from river.river_job where kind = 'greeting'", "update river.river_job set args = '{}' where kind = 'greeting'",
		"select from river.river_job where kind = 'greeting' for update",
	} {
		if n, err := in(mine, sql); err != nil || n != 1 {
			t.Errorf("a tenant reaches %d jobs, want its own one: %s, %v", n, sql, err)
		}
	}
	if n, err := in(mine, "delete from river.river_job where metadata ->> 'tenant' = $1", strconv.FormatInt(other, 10)); err != nil || n != 0 {
		t.Errorf("a tenant deletes %d jobs of another, %v", n, err)
	}
	others := strs(t, owner(t), "select relname from pg_class where relnamespace = 'river'::regnamespace and relkind = 'r' and relname <> 'river_job'")
	if len(others) < 3 {
		t.Errorf("only these tables of the queue were found: %v", others)
	}
	for _, table := range others {
		if n, err := in(mine, "select from river."+table); err != nil || n != 0 {
			t.Errorf("a tenant sees %d rows of %s, %v", n, table, err)
		}
	}
	if n, err := in(0, "select from river.river_job where kind = 'greeting'"); err != nil || n != 2 {
		t.Errorf("the platform sees %d of 2 jobs, %v", n, err)
	}
}

// ofOneTenant lists the functions that run as the owner for the tenant that is entered.
var ofOneTenant = []string{"find_customers", "forget_customer", "forget_voucher_mails", "search_customer", "settle_changes"}

// "Functions that work on all tenants refuse when a tenant is set", and when nothing is entered.
func TestFunctionsOnAllTenantsAreThePlatforms(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	by := dbtest.Tenant(t, d)
	conn := serving(t, d.OwnerURL())
	calls := strs(t, owner(t), `
		select format('%I(%s)', p.proname, coalesce((
			select string_agg('null::' || format_type(a.type, null), ', ' order by a.place)
			from unnest(p.proargtypes::oid[]) with ordinality a (type, place)
		), ''))
		from pg_proc p
		where p.pronamespace = 'loyalty'::regnamespace
			and p.prosecdef
			and has_function_privilege('loyalty_app', p.oid, 'execute')
		order by 1`)
	if len(calls) < len(ofOneTenant)+5 {
		t.Fatalf("only these functions run as the owner: %v", calls)
	}
	for _, call := range calls {
		name, _, _ := strings.Cut(call, "(")
		if slices.Contains(ofOneTenant, name) {
			continue
		}
		for _, tenant := range []string{strconv.FormatInt(int64(by.Tenant.ID), 10), "-1", ""} {
			if _, err := conn.Exec(t.Context(), "select set_config('app.tenant_id', $1, false)", tenant); err != nil {
				t.Fatal(err)
			}
			_, err := conn.Exec(t.Context(), "select * from loyalty."+call)
			if err == nil || !strings.Contains(err.Error(), "this works on all tenants") {
				t.Errorf("loyalty.%s with app.tenant_id = %q: %v", call, tenant, err)
			}
		}
	}
}
