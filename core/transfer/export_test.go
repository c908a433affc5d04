package transfer

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// LeftOut are the tables that stay behind, with the reasons.
var LeftOut = leftOut

// Numbered are the tables, besides the tenant's, whose numbers may change.
var Numbered = numbered

// ValueHere returns the expression for a column's value after an import, and the plain one.
func ValueHere(table, column string, siblings []string) (expression, plain string) {
	return tableOf(table, siblings).valueHere(column), "r." + quoted(column)
}

func tableOf(name string, columns []string) *table {
	t := table{Name: name}
	for _, c := range columns {
		t.Columns = append(t.Columns, column{Name: c})
	}
	return &t
}

// Tables returns the tables that move, in the order of a file.
func Tables(ctx context.Context, tx pgx.Tx) (names []string, err error) {
	tables, err := readCatalog(ctx, tx)
	for _, t := range tables {
		names = append(names, t.Name)
	}
	return names, err
}
