package dbtest_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"example.com/loyalty/core/dbtest"
)

var locksRows = regexp.MustCompile(`\bfor (?:no key )?update\b|\bfor (?:key )?share\b`)

// In a distributed database, each statement has a plan, and one that locks rows still does: if Citus puts the table
// with the row into a subquery of its own, it drops the lock without a word.
func TestEveryStatementHasADistributedPlan(t *testing.T) {
	t.Parallel()
	dbtest.NeedsCitus(t)
	d := dbtest.OwnDB(t)
	by := dbtest.Tenant(t, d)
	conn, err := pgx.Connect(t.Context(), dbtest.Serving(d.OwnerURL()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	for _, s := range append(statements(t), pages(t)...) {
		if s.checksEverything() || !regexp.MustCompile(`(?i)^\s*(with|select|insert|update|delete)\b`).MatchString(s.sql) {
			continue
		}
		switch plan, err := try(t.Context(), conn, int64(by.Tenant.ID), s.sql); {
		case conn.IsClosed():
			t.Fatalf("%s.%s ended the connection: %v", s.pkg, s.name, err)
		case err != nil:
			t.Errorf("%s.%s: %v", s.pkg, s.name, err)
		case locksRows.MatchString(s.sql) && !strings.Contains(plan, "LockRows"):
			t.Errorf("%s.%s locks no row:\n%s", s.pkg, s.name, plan)
		}
	}
}

// try executes a statement in a transaction of a tenant or, if it doesn't name @tenant_id, of the platform, and
// undoes it. A statement that the rows refuse has a plan, too. If it locks rows, its plan is returned.
func try(ctx context.Context, conn *pgx.Conn, tenant int64, sql string) (plan string, err error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	names := pgx.NamedArgs{}
	for _, found := range regexp.MustCompile(`@(\w+)`).FindAllStringSubmatch(sql, -1) {
		names[found[1]] = found[1]
	}
	text, ordered, err := names.RewriteQuery(ctx, nil, sql, nil)
	if err != nil {
		return "", err
	}
	home := tenant
	if names["tenant_id"] == nil {
		home = 0
	}
	if _, err := tx.Exec(ctx, "select loyalty.enter($1)", home); err != nil {
		return "", err
	}
	prepared, err := tx.Prepare(ctx, "", text)
	if err != nil {
		return "", err
	}
	values := make([]string, len(prepared.ParamOIDs))
	arguments := make([][]byte, len(values))
	for i, oid := range prepared.ParamOIDs {
		name := ""
		if i < len(ordered) {
			name = ordered[i].(string)
		}
		values[i] = example(oid, name, tenant)
		arguments[i] = []byte(values[i])
	}
	if locksRows.MatchString(sql) {
		literal := regexp.MustCompile(`\$\d+`).ReplaceAllStringFunc(text, func(place string) string {
			i, _ := strconv.Atoi(place[1:])
			kind, _ := conn.TypeMap().TypeForOID(prepared.ParamOIDs[i-1])
			return "'" + values[i-1] + "'::" + kind.Name
		})
		rows, _ := tx.Query(ctx, "explain (verbose, costs off) "+literal, pgx.QueryExecModeSimpleProtocol)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return "", err
		}
		plan = strings.Join(lines, "\n")
	}
	err = tx.Conn().PgConn().ExecParams(ctx, text, arguments, prepared.ParamOIDs, nil, nil).Read().Err
	var refused *pgconn.PgError
	if errors.As(err, &refused) && (strings.HasPrefix(refused.Code, "23") || strings.HasPrefix(refused.Code, "22") || refused.Code == "P0001") {
		return plan, nil
	}
	return plan, err
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
