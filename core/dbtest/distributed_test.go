package dbtest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
)

var locksRows = regexp.MustCompile(`\bfor (?:no key )?update\b|\bfor (?:key )?share\b`)

// In a distributed database, each statement has a plan, and one that locks rows still does: if Citus puts the table
// with the row into a subquery of its own, it drops the lock without a word. A result that one part of a statement hands
// to the next is binary; Citus expects it as text after a common table expression that locks one of several tables, and
// fails if there is a row.
func TestEveryStatementHasADistributedPlan(t *testing.T) {
	t.Parallel()
	dbtest.NeedsCitus(t)
	d := dbtest.OwnDB(t)
	by := dbtest.Tenant(t, d)
	conn := serving(t, d.OwnerURL())
	for _, s := range append(statements(t), pages(t)...) {
		if s.checksEverything() || !s.hasPlan() {
			continue
		}
		plan := ""
		err := inTenant(t.Context(), conn, int64(by.Tenant.ID), s.sql, func(x execution) (err error) {
			if locksRows.MatchString(s.sql) {
				if plan, err = x.explain(t.Context()); err != nil {
					return err
				}
			}
			return x.run(t.Context())
		})
		switch {
		case conn.IsClosed():
			t.Fatalf("%s.%s ended the connection: %v", s.pkg, s.name, err)
		case err != nil && s.refusesExamples():
		case err != nil:
			t.Errorf("%s.%s: %v", s.pkg, s.name, err)
		case locksRows.MatchString(s.sql) && !strings.Contains(plan, "LockRows"):
			t.Errorf("%s.%s locks no row:\n%s", s.pkg, s.name, plan)
		case locksRows.MatchString(s.sql) && strings.Contains(plan, "'text'::citus_copy_format"):
			t.Errorf("%s.%s can't read its own rows:\n%s", s.pkg, s.name, plan)
		}
	}
}

var advisoryLock = regexp.MustCompile(`advisory_xact_lock(?:_shared)?\(hashtextextended\((.*), (\d+)\)\)`)

// In a distributed database, an advisory lock holds on one node: the coordinator, if its statement names no table, or else
// the tenant's. All statements that lock the same do so on the same node.
func TestAdvisoryLocksMeetOnOneNode(t *testing.T) {
	t.Parallel()
	dbtest.NeedsCitus(t)
	d := dbtest.OwnDB(t)
	by := dbtest.Tenant(t, d)
	conn := serving(t, d.OwnerURL())
	first := map[string]string{}
	for _, s := range statements(t) {
		for _, lock := range advisoryLock.FindAllStringSubmatch(s.sql, -1) {
			node := "the coordinator"
			err := inTenant(t.Context(), conn, int64(by.Tenant.ID), s.sql, func(x execution) error {
				plan, err := x.explain(t.Context())
				if strings.Contains(plan, "Citus Adaptive") {
					node = "the tenant's node"
				}
				return err
			})
			if err != nil {
				t.Errorf("%s.%s: %v", s.pkg, s.name, err)
			}
			key := strings.NewReplacer("given.", "", "@", "").Replace(lock[1]) + lock[2]
			if first[key] == "" {
				first[key] = node
			}
			if first[key] != node {
				t.Errorf("%s.%s locks %s on %s, another statement on %s", s.pkg, s.name, key, node, first[key])
			}
		}
	}
	if len(first) < 8 {
		t.Errorf("only these locks were found: %v", first)
	}
	t.Log(first)
}

var taskNode = regexp.MustCompile(`\n\s+(Node: .*)`)

// A sale stays on one node, its tenant's: every task is sent there, and only the answer is put together at the
// coordinator.
func TestASaleStaysOnOneNode(t *testing.T) {
	t.Parallel()
	dbtest.NeedsCitus(t)
	d := dbtest.OwnDB(t)
	by := dbtest.Tenant(t, d)
	conn := serving(t, d.OwnerURL())
	for _, s := range statements(t) {
		if s.pkg != "transaction" || s.name != "recordOnItsNodeSQL" {
			continue
		}
		err := inTenant(t.Context(), conn, int64(by.Tenant.ID), s.sql, func(x execution) error {
			plan, err := x.explain(t.Context())
			tasks, answer, _ := strings.Cut(plan, "\n  Task Count: 1\n")
			nodes := map[string]bool{}
			for _, task := range taskNode.FindAllStringSubmatch(tasks, -1) {
				nodes[task[1]] = true
			}
			if len(nodes) != 1 || strings.Contains(answer, "loyalty.") || regexp.MustCompile(`Task Count: (?:[2-9]|1\d)|pull to coordinator`).MatchString(plan) {
				t.Errorf("%s runs on %d nodes:\n%s", s.name, len(nodes), plan)
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		return
	}
	t.Error("the statement that records sales was not found")
}

// refusesExamples reports whether a statement refuses the values that tests try it with. It has no table of a tenant's.
func (s statement) refusesExamples() bool {
	return slices.Contains([]string{
		"db.settleSQL", "db.enterAtSQL", "db.gateSQL", "transfer.drawSQL", "transfer.lastDrawnSQL",
	}, s.pkg+"."+s.name)
}

// writesEverywhere finds changes of a tenant's settings, and of how far its points, levels and days are counted: these are in tables that every
// node has.
var writesEverywhere = regexp.MustCompile(`(?:insert into|update) loyalty\.(?:tenant|programme|level_programme|days_counted)\b|loyalty\.set_earning_limits\(`)

// What a tenant does needs no node but its own, not even to hand it a result: so another node may be gone.
func TestATenantNeedsOneNode(t *testing.T) {
	t.Parallel()
	dbtest.NeedsCitus(t)
	d := dbtest.OwnDB(t)
	by := dbtest.Tenant(t, d)
	config, err := pgx.ParseConfig(dbtest.Serving(d.OwnerURL()))
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if _, node, found := strings.Cut(n.Detail, "@"); found { // on server loyalty_app@127.0.0.1:5432 connectionId: 1
			told[strings.Fields(node)[0]] = true
		}
	}
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), "set citus.log_remote_commands = on"); err != nil {
		t.Fatal(err)
	}
	alone := 0
	for _, s := range append(statements(t), pages(t)...) {
		switch {
		case s.checksEverything(), !strings.Contains(s.sql, "@tenant_id"), !s.hasPlan():
			continue
		case writesEverywhere.MatchString(s.sql), s.refusesExamples():
			continue
		case s.pkg == "daily" && slices.Contains([]string{"keepSalesSQL", "keepVisitsSQL"}, s.name):
			continue // they hand on a result, in a transaction that writes days_counted
		case s.pkg == "sample" && slices.Contains([]string{"setExpirySQL", "expiredThroughSQL"}, s.name):
			continue
		case s.pkg == "transaction" && slices.Contains([]string{"recordOneSQL", "recordEachSQL", "recordKnownSQL"}, s.name):
			continue // recordOnItsNodeSQL and recordKnownOnItsNodeSQL record sales there
		}
		clear(told)
		err := inTenant(t.Context(), conn, int64(by.Tenant.ID), s.sql, func(x execution) error { return x.run(t.Context()) })
		if err != nil {
			t.Errorf("%s.%s: %v", s.pkg, s.name, err)
		}
		if len(told) > 1 {
			t.Errorf("%s.%s needs the nodes %v", s.pkg, s.name, slices.Collect(maps.Keys(told)))
		}
		if len(told) == 1 {
			alone++
		}
	}
	if alone < 500 {
		t.Errorf("only %d statements needed a node", alone)
	}
}

// "A statement outside any transaction sees no row of any tenant table", on any node, nor of a table's part
// that a node has; and in a transaction of another tenant, neither.
func TestNoNodeShowsATenantsRows(t *testing.T) {
	t.Parallel()
	dbtest.NeedsCitus(t)
	d := dbtest.OwnDB(t)
	by, other := dbtest.Tenant(t, d), dbtest.Tenant(t, d)
	shoptest.Of(t, d, by).WriteEverything()
	rows := 0
	for _, node := range strs(t, connect(t, d.OwnerURL()), "select nodename || ':' || nodeport from pg_dist_node where noderole = 'primary'") {
		address, err := url.Parse(dbtest.Serving(d.OwnerURL()))
		if err != nil {
			t.Fatal(err)
		}
		address.Host = node
		conn := connect(t, address.String())
		if _, err := conn.Exec(t.Context(), "set citus.override_table_visibility = off"); err != nil {
			t.Fatal(err)
		}
		parts := strs(t, conn, `
			select c.relname
			from pg_class c
			join pg_policy p on p.polrelid = c.oid
			where c.relnamespace = 'loyalty'::regnamespace and c.relname ~ '_[0-9]{6,}$' and p.polname in ('tenant', 'tenant_or_platform')
			order by 1`)
		if len(parts) == 0 {
			t.Errorf("%s has no part of a table", node)
		}
		for _, part := range parts {
			// seen counts this tenant's rows in a transaction of a tenant, or of none.
			seen := func(in core.TenantID) (n int) {
				err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
					if in != 0 {
						if _, err := tx.Exec(t.Context(), fmt.Sprintf("set local app.tenant_id = '%d'", in)); err != nil {
							return err
						}
					}
					return tx.QueryRow(t.Context(), "select count(*) from loyalty."+part+" p where coalesce(to_jsonb(p) ->> 'tenant_id', to_jsonb(p) ->> 'id') = $1",
						fmt.Sprint(by.Tenant.ID)).Scan(&n)
				})
				if err != nil {
					t.Errorf("%s, %s: %v", node, part, err)
				}
				return n
			}
			rows += seen(by.Tenant.ID)
			if n := seen(0); n != 0 {
				t.Errorf("%s shows %d rows of %s", node, n, part)
			}
			if n := seen(other.Tenant.ID); n != 0 {
				t.Errorf("%s shows another tenant %d rows of %s", node, n, part)
			}
		}
	}
	if rows < 20 {
		t.Errorf("the tenant's own rows are not there: %d", rows)
	}
}

// execution is a statement in a transaction that is undone, with example values.
type execution struct {
	tx     pgx.Tx
	text   string
	oids   []uint32
	values []string
}

// inTenant calls f with a statement in a transaction of a tenant or, if it doesn't name @tenant_id, of the platform.
func inTenant(ctx context.Context, conn *pgx.Conn, tenant int64, sql string, f func(execution) error) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	text, ordered, err := placed(sql)
	if err != nil {
		return err
	}
	home := tenant
	if !slices.Contains(ordered, any("tenant_id")) {
		home = 0
	}
	if _, err := tx.Exec(ctx, "select loyalty.enter($1)", home); err != nil {
		return err
	}
	if strings.Contains(sql, "'app.settled'") {
		if _, err := tx.Exec(ctx, "select loyalty.settle_changes()"); err != nil {
			return err
		}
	}
	prepared, err := tx.Prepare(ctx, "", text)
	if err != nil {
		return err
	}
	values := make([]string, len(prepared.ParamOIDs))
	for i, oid := range prepared.ParamOIDs {
		name := ""
		if i < len(ordered) {
			name = ordered[i].(string)
		}
		values[i] = example(oid, name, tenant)
	}
	return f(execution{tx, text, prepared.ParamOIDs, values})
}

// explain returns the plan, with the values in the statement: Citus explains no insert with parameters.
func (x execution) explain(ctx context.Context) (plan string, err error) {
	literal := regexp.MustCompile(`\$\d+`).ReplaceAllStringFunc(x.text, func(place string) string {
		i, _ := strconv.Atoi(place[1:])
		kind, _ := x.tx.Conn().TypeMap().TypeForOID(x.oids[i-1])
		return "'" + x.values[i-1] + "'::" + kind.Name
	})
	rows, _ := x.tx.Query(ctx, "explain (verbose, costs off) "+literal, pgx.QueryExecModeSimpleProtocol) // collecting returns its error
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return strings.Join(lines, "\n"), err
}

// run executes the statement. One that the rows refuse has a plan, too.
func (x execution) run(ctx context.Context) error {
	arguments := make([][]byte, len(x.values))
	for i, v := range x.values {
		arguments[i] = []byte(v)
	}
	err := x.tx.Conn().PgConn().ExecParams(ctx, x.text, arguments, x.oids, nil, nil).Read().Err
	var refused *pgconn.PgError
	if errors.As(err, &refused) && (strings.HasPrefix(refused.Code, "23") || strings.HasPrefix(refused.Code, "22") || refused.Code == "P0001") {
		return nil
	}
	return err
}

// example returns a value of a parameter, as text.
func example(oid uint32, name string, tenant int64) string {
	switch oid {
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.NumericOID, pgtype.Float8OID:
		if name == "tenant_id" || name == "tenant" {
			return fmt.Sprint(tenant)
		}
		return "1"
	case pgtype.UUIDOID:
		return "019a0000-0000-7000-8000-000000000000"
	case pgtype.TimestamptzOID, pgtype.TimestampOID, pgtype.DateOID:
		return "2026-11-24"
	case pgtype.BoolOID:
		return "true"
	case pgtype.TextOID, pgtype.VarcharOID:
		return "ab"
	case pgtype.ByteaOID:
		return `\x6162`
	case pgtype.IntervalOID:
		return "1 day"
	case pgtype.TextArrayOID:
		return "{ab}"
	}
	return "{}" // an array or an object
}
