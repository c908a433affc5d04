package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// leftOut are the tables with rows of tenants that stay behind, with the reasons.
var leftOut = map[string]string{
	"session":            "people sign in again: a session belongs to a browser and the host of an installation",
	"pin":                "PINs are valid for 90 seconds; what they did is in the sales and the audit log",
	"mail":               "e-mails that wait are sent by the installation that has their jobs; the others are only the log of its mail server",
	"token_request":      "what programs did at the other installation in the last days",
	"token_refusal":      "what programs were refused at the other installation in the last days",
	"tenant_usage":       "counted again within ten minutes",
	"days_counted":       "says what was counted at the other installation; this one counts again",
	"day_cohort":         "follows from the records, and is counted again",
	"day_coupon":         "follows from the records, and is counted again",
	"day_flow":           "follows from the records, and is counted again",
	"day_hour":           "follows from the records, and is counted again",
	"day_joined":         "follows from the records, and is counted again",
	"day_level":          "follows from the records, and is counted again",
	"day_mark":           "follows from the records, and is counted again",
	"day_reward":         "follows from the records, and is counted again",
	"day_rule":           "follows from the records, and is counted again",
	"day_sales":          "follows from the records, and is counted again",
	"day_sales_hour":     "follows from the records, and is counted again",
	"day_staff":          "follows from the records, and is counted again",
	"day_visit":          "follows from the records, and is counted again",
	"month_flow":         "follows from the records, and is counted again",
	"customer_year":      "follows from the records, and is counted again",
	"year_counted":       "says what was counted at the other installation; this one counts again",
	"year_group":         "follows from the records, and is counted again",
	"invoice":            "belongs to the issuer who numbered it",
	"billing_period":     "is on the invoices of the issuer",
	"billing_item":       "is on the invoices of the issuer, or waits for the next one there",
	"deprecation_notice": "is about requests that the other installation deprecated",
}

// table is a table whose rows move.
type table struct {
	Name     string
	Columns  []column
	Key      []string // its primary key
	Parents  []string // tables that its rows refer to
	Earliest []string // columns that refer to other rows of the table itself
}

type column struct {
	Name     string
	Sequence *string // which its numbers come from
}

// Generated columns are computed again.
const columnsSQL = `
	select c.relname as table_name, a.attname as name, (
			select s.oid::regclass::text
			from pg_attrdef f
			join pg_depend p on p.classid = 'pg_attrdef'::regclass and p.objid = f.oid and p.refclassid = 'pg_class'::regclass
			join pg_class s on s.oid = p.refobjid and s.relkind = 'S'
			where f.adrelid = a.attrelid
				and f.adnum = a.attnum
		) as sequence
	from pg_class c
	join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
	where c.relnamespace = 'loyalty'::regnamespace
		and c.relkind in ('r', 'p')
	order by c.relname, a.attnum`

const keysSQL = `
	select c.relname as table_name, a.attname as name
	from pg_index i
	join pg_class c on c.oid = i.indrelid
	cross join unnest(i.indkey) with ordinality k (attnum, place)
	join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
	where c.relnamespace = 'loyalty'::regnamespace
		and i.indisprimary
	order by c.relname, k.place`

// The last column of a foreign key is the one that differs between its rows.
const referencesSQL = `
	select c.relname as table_name, p.relname as parent, a.attname as name
	from pg_constraint f
	join pg_class c on c.oid = f.conrelid
	join pg_class p on p.oid = f.confrelid
	join pg_attribute a on a.attrelid = c.oid and a.attnum = f.conkey[cardinality(f.conkey)]
	where f.contype = 'f'
		and f.connamespace = 'loyalty'::regnamespace
	order by 1, 2, 3`

// readCatalog returns the tables that move, each after those that it refers to.
func readCatalog(ctx context.Context, tx pgx.Tx) ([]table, error) {
	tables := map[string]*table{}
	err := each(ctx, tx, columnsSQL, func(r struct {
		TableName, Name string
		Sequence        *string
	},
	) {
		if tables[r.TableName] == nil {
			tables[r.TableName] = &table{Name: r.TableName}
		}
		tables[r.TableName].Columns = append(tables[r.TableName].Columns, column{r.Name, r.Sequence})
	})
	if err != nil {
		return nil, err
	}
	for name, t := range tables {
		if leftOut[name] != "" || name != "tenant" && !t.has("tenant_id") {
			delete(tables, name)
		}
	}
	err = each(ctx, tx, keysSQL, func(r struct{ TableName, Name string }) {
		if t := tables[r.TableName]; t != nil {
			t.Key = append(t.Key, r.Name)
		}
	})
	if err != nil {
		return nil, err
	}
	err = each(ctx, tx, referencesSQL, func(r struct{ TableName, Parent, Name string }) {
		switch t := tables[r.TableName]; {
		case t == nil || tables[r.Parent] == nil:
		case r.Parent == r.TableName:
			t.Earliest = append(t.Earliest, r.Name)
		default:
			t.Parents = append(t.Parents, r.Parent)
		}
	})
	if err != nil {
		return nil, err
	}
	return inOrder(tables)
}

// each calls fn with every row of a statement.
func each[T any](ctx context.Context, tx pgx.Tx, sql string, fn func(T)) error {
	rows, err := tx.Query(ctx, sql)
	if err != nil {
		return err
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[T])
	for _, r := range list {
		fn(r)
	}
	return err
}

func (t *table) has(name string) bool {
	return slices.ContainsFunc(t.Columns, func(c column) bool { return c.Name == name })
}

// inOrder returns tables so that each follows its parents, the tenant first.
func inOrder(tables map[string]*table) (ordered []table, err error) {
	placed := map[string]bool{}
	ready := func(t *table) bool {
		return !placed[t.Name] && !slices.ContainsFunc(t.Parents, func(parent string) bool { return !placed[parent] })
	}
	for len(ordered) < len(tables) {
		next := ""
		for name, t := range tables {
			if ready(t) && (next == "" || name == "tenant" || next != "tenant" && name < next) {
				next = name
			}
		}
		if next == "" {
			return nil, errors.New("transfer: the foreign keys of the tables form a circle")
		}
		placed[next] = true
		ordered = append(ordered, *tables[next])
	}
	return ordered, nil
}

// The names in statements come from the catalog, and are quoted nevertheless.
func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

func (t *table) columnList(prefix string) string {
	list := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		list[i] = prefix + quoted(c.Name)
	}
	return strings.Join(list, ", ")
}

// of returns the condition on the rows of a tenant.
func (t *table) of() string {
	if t.Name == "tenant" {
		return "id = @tenant_id"
	}
	return "tenant_id = @tenant_id"
}

func (t *table) countSQL() string {
	return "select count(*) from loyalty." + quoted(t.Name) + " where " + t.of()
}

// selectSQL reads the rows as JSON, in the order of the primary key, and rows that others of the table refer to first.
func (t *table) selectSQL() string {
	var order []string
	for _, name := range t.Earliest {
		order = append(order, quoted(name)+" is not null")
	}
	for _, name := range t.Key {
		order = append(order, quoted(name))
	}
	return fmt.Sprintf("select row_to_json(r)::text from (select %s from loyalty.%s where %s order by %s) r",
		t.columnList(""), quoted(t.Name), t.of(), strings.Join(order, ", "))
}

// insertSQL writes rows in JSON (@rows), with their numbers here. It returns a row for each: otherwise a distributed
// database would copy them, which policies refuse (docs/scale.md).
func (t *table) insertSQL() string {
	values := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		values[i] = t.valueHere(c.Name)
	}
	return fmt.Sprintf("insert into loyalty.%s (%s) select %s from json_populate_recordset(null::loyalty.%s, @rows::text::json) r returning 1",
		quoted(t.Name), t.columnList(""), strings.Join(values, ", "), quoted(t.Name))
}
