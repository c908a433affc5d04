package dbtest_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
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
	for _, s := range append(statements(t), pages(t)...) {
		if s.checksEverything() || !regexp.MustCompile(`(?i)^\s*(with|select|insert|update|delete)\b`).MatchString(s.sql) {
			continue
		}
		plan, err := explain(t, dbtest.Serving(d.OwnerURL()), int64(by.Tenant.ID), s.sql)
		switch {
		case err != nil:
			t.Errorf("%s.%s: %v", s.pkg, s.name, err)
		case locksRows.MatchString(s.sql) && !strings.Contains(plan, "LockRows"):
			t.Errorf("%s.%s locks no row:\n%s", s.pkg, s.name, plan)
		}
	}
}

// explain returns the plan of a statement in a transaction of a tenant or, if it doesn't name @tenant_id, of the platform.
func explain(t *testing.T, url string, tenant int64, sql string) (string, error) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		return "", err
	}
	defer conn.Close(t.Context())
	names := pgx.NamedArgs{}
	for _, found := range regexp.MustCompile(`@(\w+)`).FindAllStringSubmatch(sql, -1) {
		names[found[1]] = found[1]
	}
	text, ordered, err := names.RewriteQuery(t.Context(), nil, sql, nil)
	if err != nil {
		return "", err
	}
	home := tenant
	if names["tenant_id"] == nil {
		home = 0
	}
	prepared, err := conn.Prepare(t.Context(), "described", text)
	if err != nil {
		return "", err
	}
	values := make([]string, len(ordered))
	for i, name := range ordered {
		values[i] = example(prepared.ParamOIDs[i], name.(string), tenant)
	}
	execute := "execute planned"
	if len(values) > 0 {
		execute += "(" + strings.Join(values, ", ") + ")"
	}
	results, err := conn.PgConn().Exec(t.Context(), fmt.Sprintf("begin; select loyalty.enter(%d); prepare planned as %s; explain (verbose, costs off) %s", home, text, execute)).ReadAll()
	if err != nil {
		return "", err
	}
	var plan strings.Builder
	for _, row := range results[len(results)-1].Rows {
		plan.Write(row[0])
		plan.WriteByte('\n')
	}
	return plan.String(), nil
}

// example returns a value of a parameter, as a literal.
func example(oid uint32, name string, tenant int64) string {
	switch oid {
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.NumericOID:
		if name == "tenant_id" || name == "tenant" {
			return fmt.Sprint(tenant)
		}
		return "1"
	case pgtype.UUIDOID:
		return "'019a0000-0000-7000-8000-000000000000'"
	case pgtype.TimestamptzOID, pgtype.TimestampOID, pgtype.DateOID:
		return "'2026-11-24'"
	case pgtype.BoolOID:
		return "true"
	case pgtype.TextOID, pgtype.VarcharOID, pgtype.ByteaOID:
		return "'ab'"
	case pgtype.IntervalOID:
		return "'1 day'"
	}
	return "'{}'" // an array or an object
}
