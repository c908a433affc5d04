package db

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"

	"example.com/loyalty/core"
)

// List describes a list: its statement, its filters and its order. The statement of a page is built
// from these constants alone, never from user input. Markers in SQL, which may occur more than once,
// are replaced:
//
//	{filters}  by the conditions of the given filters, each after an "and"
//	{position} by the condition that starts the page after or before a record
//	{page}     by the page's order and limit
//	{order}    by the page's order
type List struct {
	SQL     string
	Order   Order
	Filters Filters

	names []string // of the filters, sorted, so that equal pages have equal statements
}

// Filters maps the name of an argument to the condition that is added when the argument is not nil.
// A condition need not use its argument: a partial index needs constants.
type Filters map[string]string

// Order replaces {position} and {page}. The position is the page's cursor: @at, @id, or @number for
// integer IDs.
type Order struct {
	First, After, Before string // {position} on the first page, after a position, and before it
	Forward, Backward    string // {page} without its limit; backward before a position
}

// Descending orders by columns, the highest first. Each column is compared with its part of the
// position: Descending("s.created_at, s.id", "@at, @id").
func Descending(columns, position string) Order {
	o := Ascending(columns, position)
	return Order{After: o.Before, Before: o.After, Forward: o.Backward, Backward: o.Forward}
}

// Ascending orders by columns, the lowest first.
func Ascending(columns, position string) Order {
	return Order{
		After:    "and (" + columns + ") > (" + position + ")",
		Before:   "and (" + columns + ") < (" + position + ")",
		Forward:  "order by " + columns,
		Backward: "order by " + strings.ReplaceAll(columns, ",", " desc,") + " desc",
	}
}

var lists []*List

// NewList makes a list, for a package variable: a test prepares every statement of all lists.
func NewList(sql string, order Order, filters Filters) *List {
	l := &List{SQL: sql, Order: order, Filters: filters, names: slices.Sorted(maps.Keys(filters))}
	lists = append(lists, l)
	return l
}

// Lists returns every list of the imported packages.
func Lists() []*List { return lists }

// Statement returns the statement of a page and its arguments: the given ones, @limit, and the
// position's.
func (l *List) Statement(p core.Page, given Args) (string, Args) {
	args := Args{}
	maps.Copy(args, given)
	var filters strings.Builder
	for _, name := range l.names {
		condition := ""
		if !isNil(given[name]) {
			condition = "\n\t\tand " + l.Filters[name]
		}
		filters.WriteString(condition)
		if !strings.Contains(condition, "@"+name) {
			delete(args, name)
		}
	}
	position, order := l.Order.First, l.Order.Forward
	switch {
	case p.Back():
		position, order = l.Order.Before, l.Order.Backward
	case p.Cursor != nil:
		position = l.Order.After
	}
	if p.Cursor != nil {
		for name, part := range map[string]any{"at": p.Cursor.At, "id": p.Cursor.ID, "number": p.Cursor.Number()} {
			if strings.Contains(position, "@"+name) {
				args[name] = part
			}
		}
	}
	if strings.Contains(l.SQL, "{page}") || strings.Contains(l.SQL, "@limit") {
		args["limit"] = p.Limit()
	}
	page := order + "\n\tlimit @limit"
	return strings.NewReplacer("{filters}", filters.String(), "{position}", position, "{page}", page, "{order}", order).Replace(l.SQL), args
}

func isNil(argument any) bool {
	v := reflect.ValueOf(argument)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// ListPage reads a page of a list in the actor's tenant or, for an actor without one, on the platform.
// position returns a record's position.
func ListPage[T any](ctx context.Context, d *DB, by core.Actor, l *List, args Args, p core.Page, position func(T) core.Cursor) (core.List[T], error) {
	if err := p.Err(); err != nil {
		return core.List[T]{}, err
	}
	sql, bound := l.Statement(p, args)
	rows, err := All[T](ctx, d.Within(by), sql, bound)
	page := core.NewList(p, rows, position)
	if err != nil || !p.Counted || len(page.Items) == 0 {
		return page, err
	}
	if page.Prev == nil && page.Next == nil {
		page.Place = core.NewPlace(0, int64(len(page.Items)))
		return page, nil
	}
	page.Place, err = l.place(ctx, d, by, args, page.Prev)
	return page, err
}

// place counts the records of a list, and those before a page, where prev is the cursor of the page before
// (nil: none). It returns nil for a list that has no {page} and where counting takes longer than a page may.
func (l *List) place(ctx context.Context, d *DB, by core.Actor, given Args, prev *core.Cursor) (*core.Place, error) {
	if !strings.Contains(l.SQL, "{page}") {
		return nil, nil //nolint:nilnil // not counted
	}
	sql, args := l.CountStatement(given, prev)
	var count struct{ Before, Total int64 }
	err := Together(ctx, d.Within(by), OneInto(new(string), countTimeSQL, Args{"timeout": d.count}), OneInto(&count, sql, args))
	if errorCode(err) == queryCanceled && ctx.Err() == nil {
		return nil, nil //nolint:nilnil // took too long
	}
	return core.NewPlace(count.Before, count.Total), err
}

// A page must not wait for its count: with rare combinations of filters it reads many records.
const countTimeSQL = `
	select set_config('statement_timeout', @timeout, true) as set`

// CountStatement returns the statement that counts the records of a list and those before a position, each
// up to core.MaxCount+1, and its arguments. A nil position has none before it.
func (l *List) CountStatement(given Args, position *core.Cursor) (string, Args) {
	all, args := l.Statement(core.Page{Size: core.MaxCount}, given)
	sql := "select (select count(*) from (" + all + ") l) as total, 0::bigint as before"
	if position != nil {
		before, more := l.Statement(core.Page{Size: core.MaxCount, Cursor: position}, given)
		maps.Copy(args, more)
		sql = "select (select count(*) from (" + all + ") l) as total, (select count(*) from (" + before + ") l) as before"
	}
	return sql, args
}

// OfExisting returns a page that was read. If it is empty, sql must find the record that the list
// belongs to; otherwise the error is core.ErrNotFound, before any error of the page.
func OfExisting[T any](ctx context.Context, d *DB, by core.Actor, page core.List[T], err error, sql string, args Args) (core.List[T], error) {
	if len(page.Items) > 0 {
		return page, err
	}
	var found int64
	missing := Together(ctx, d.Within(by), into(&found, sql, args, rowsAffected))
	if missing == nil && found == 0 {
		missing = core.ErrNotFound
	}
	return page, cmp.Or(missing, err)
}
