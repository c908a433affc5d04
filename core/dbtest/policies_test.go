package dbtest_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
)

// A policy is checked before any function that could tell what it is given. So in a table with one, PostgreSQL doesn't look in an index
// for what a condition computes from an outer row (`day = span.first_day + n`): it reads all of a tenant's entries. In 15.20, that is true of
// a lateral subquery, too. Such a value must be a column of the outer row, behind an "offset 0" if need be. The queue's own role has policies
// that are always true.
func TestNoStatementComputesWhatItLooksUp(t *testing.T) {
	t.Parallel()
	dbtest.NeedsPlain(t, "a node's plans aren't shown")
	d := dbtest.OwnDB(t)
	by := dbtest.Tenant(t, d)
	conn, err := dbtest.Owner(d).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	keys := strs(t, conn.Conn(), keysSQL)
	computedIn := func(sql string) (found []condition) {
		t.Helper()
		p, err := explained(t.Context(), conn.Conn(), int64(by.Tenant.ID), sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		for _, c := range p.filtered(p.relations(map[string]string{})) {
			if slices.Contains(keys, c.column) && !fewOthers[c.column] && isComputed(c.value) {
				found = append(found, c)
			}
		}
		return found
	}
	for _, s := range append(statements(t), pages(t)...) {
		if s.checksEverything() || !s.hasPlan() || s.pkg == "job" {
			continue
		}
		for _, c := range computedIn(s.sql) {
			t.Errorf("%s.%s looks for %s by what it computes from another row, %s: make that a column", s.pkg, s.name, c.column, c.value)
		}
	}
	const wrong = `
		select d.customers
		from unnest(@days::date[]) s (day)
		join loyalty.day_visit d on d.tenant_id = @tenant_id and d.location_id = 0 and d.day = s.day + 1`
	if found := computedIn(wrong); len(found) != 1 || found[0] != (condition{"day_visit.day", "(s.day + 1)"}) {
		t.Errorf("of a wrong statement, this was found: %v", found)
	}
}

// fewOthers are columns of an index after one that leaves few entries: a subject of the audit log, or a cause of an entry.
var fewOthers = map[string]bool{"audit_entry.action": true, "ledger_entry.kind": true, "ledger_entry.turn": true}

// ofOuterRow finds a column with the name of its row.
var ofOuterRow = regexp.MustCompile(`\w\.\w`)

// isComputed reports whether one side of a condition, as a plan shows it, is computed there from a column of another row. A plan shows a column
// that was computed before as its expression, in parentheses.
func isComputed(side string) bool {
	inner, wrapped := unwrapped(side)
	_, twice := unwrapped(inner)
	switch {
	case !ofOuterRow.MatchString(side), len(split(side, ".")) == 2 && !strings.ContainsAny(side, "( ["):
		return false
	case wrapped && (twice || strings.HasPrefix(inner, "CASE ") || len(split(inner, " ")) == 1):
		return false
	}
	return true
}

// unwrapped returns a text without the parentheses around all of it, if there are any.
func unwrapped(text string) (inner string, wrapped bool) {
	if !strings.HasPrefix(text, "(") || len(split(text, ")")) != 1 {
		return text, false
	}
	return text[1 : len(text)-1], true
}

// split divides a text by what is outside of parentheses, as strings.Split would. A closing one at the end belongs to what it closes.
func split(text, by string) (parts []string) {
	depth, from := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		closed := by == ")" && text[i] == ')'
		if depth == 0 && i < len(text)-1 && (closed || strings.HasPrefix(text[i:], by)) {
			parts = append(parts, text[from:i])
			from = i + len(by)
		}
	}
	return append(parts, text[from:])
}

// plan is a part of a statement's plan.
type plan struct {
	Relation   string `json:"Relation Name"`
	Alias      string
	Filter     string
	JoinFilter string `json:"Join Filter"`
	HashCond   string `json:"Hash Cond"`
	MergeCond  string `json:"Merge Cond"`
	Plans      []plan
}

// relations adds the tables of the plan by their aliases.
func (p plan) relations(by map[string]string) map[string]string {
	if p.Alias != "" {
		by[p.Alias] = p.Relation
	}
	for _, part := range p.Plans {
		part.relations(by)
	}
	return by
}

// condition is one on a column, as table.column, of rows that a plan reads.
type condition struct{ column, value string }

// filtered returns the conditions on rows that the plan reads.
func (p plan) filtered(relations map[string]string) (all []condition) {
	for _, shown := range []string{p.Filter, p.JoinFilter, p.HashCond, p.MergeCond} {
		cond, _ := unwrapped(shown)
		for _, c := range split(cond, " AND ") {
			c, _ := unwrapped(c)
			for _, operator := range []string{" = ", " < ", " > ", " <= ", " >= "} {
				sides := split(c, operator)
				if len(sides) != 2 {
					continue
				}
				for i := range 2 {
					alias, name, qualified := strings.Cut(sides[i], ".")
					if !qualified {
						alias, name = p.Alias, sides[i]
					}
					if shown != p.Filter || alias == p.Alias { // else it is of the outer row
						all = append(all, condition{relations[alias] + "." + name, sides[1-i]})
					}
				}
			}
		}
	}
	for _, part := range p.Plans {
		all = append(all, part.filtered(relations)...)
	}
	return all
}

// explained returns the plan of a statement for a tenant and any other arguments. It looks up what it can, though the tables have no rows.
func explained(ctx context.Context, conn *pgx.Conn, tenant int64, sql string) (plan, error) {
	text, _, err := placed(sql)
	if err != nil {
		return plan{}, err
	}
	if _, err := conn.Exec(ctx, "prepare looked as "+text, pgx.QueryExecModeSimpleProtocol); err != nil {
		return plan{}, err
	}
	defer conn.Exec(ctx, "deallocate looked") //nolint:errcheck // the database goes with the test
	var plans []struct{ Plan plan }
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var call string
		if err := tx.QueryRow(ctx, callSQL).Scan(&call); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, lookUpSQL, tenant, db.Role); err != nil {
			return err
		}
		return tx.QueryRow(ctx, call, pgx.QueryExecModeSimpleProtocol).Scan(&plans)
	})
	if err != nil {
		return plan{}, err
	}
	return plans[0].Plan, nil
}

const (
	keysSQL = `
	select distinct t.relname || '.' || a.attname
	from pg_index x
	join pg_class t on t.oid = x.indrelid and t.relrowsecurity
	join pg_attribute a on a.attrelid = x.indexrelid and a.attnum <= x.indnkeyatts
	where t.relnamespace = 'loyalty'::regnamespace
		and a.attname <> 'tenant_id'`

	callSQL = `
	select 'explain (format json, costs off) execute looked' || coalesce('(null' || repeat(', null', nullif(cardinality(parameter_types), 0) - 1) || ')', '')
	from pg_prepared_statements
	where name = 'looked'`

	lookUpSQL = `
	select loyalty.enter($1), set_config('role', $2, true), set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
		set_config('enable_bitmapscan', 'off', true), set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
		set_config('enable_material', 'off', true), set_config('enable_memoize', 'off', true)`
)
