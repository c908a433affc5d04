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

// List describes a list once: its statement, its filters and its order. The statements of its pages
// are made from these constants, so nothing that a user typed becomes part of them. Markers in SQL,
// which may occur more than once, are replaced:
//
//	{filters}  by the conditions of the filters that are given, each after an "and"
//	{position} by the condition that begins the page after or before a record
//	{page}     by the order of the page and its limit
type List struct {
	SQL     string
	Order   Order
	Filters Filters

	names []string // of the filters; sorted, so that equal pages have equal statements
}

// Filters maps the name of an argument to the condition that is added where the argument is given
// and not nil. A condition need not use its argument: a partial index needs constants.
type Filters map[string]string

// Order replaces {position} and {page}. The position is the page's cursor: @at, @id, or @number for
// integer ids.
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

// Lists returns the lists of all imported packages.
func Lists() []*List { return lists }

// Statement returns the statement of a page, and its arguments: those given, @limit, and those of
// the position.
func (l *List) Statement(p core.Page, args Args) (string, Args) {
	all := Args{}
	maps.Copy(all, args)
	var filters strings.Builder
	for _, name := range l.names {
		condition := ""
		if !isNil(args[name]) {
			condition = "\n\t\tand " + l.Filters[name]
		}
		filters.WriteString(condition)
		if !strings.Contains(condition, "@"+name) {
			delete(all, name)
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
		for name, value := range map[string]any{"at": p.Cursor.At, "id": p.Cursor.ID, "number": p.Cursor.Number()} {
			if strings.Contains(position, "@"+name) {
				all[name] = value
			}
		}
	}
	if strings.Contains(l.SQL, "{page}") || strings.Contains(l.SQL, "@limit") {
		all["limit"] = p.Limit()
	}
	page := order + "\n\tlimit @limit"
	return strings.NewReplacer("{filters}", filters.String(), "{position}", position, "{page}", page).Replace(l.SQL), all
}

func isNil(value any) bool {
	v := reflect.ValueOf(value)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// ListPage reads a page of a list, in the actor's tenant or, for an actor without one, with no tenant
// set. position returns a record's position. One round trip.
func ListPage[T any](ctx context.Context, d *DB, by core.Actor, l *List, args Args, p core.Page, position func(T) core.Cursor) (core.List[T], error) {
	if err := p.Err(); err != nil {
		return core.List[T]{}, err
	}
	sql, args := l.Statement(p, args)
	rows, err := ReadAllWithin[T](ctx, d, by, sql, args)
	return core.NewList(p, rows, position), err
}

// OfExisting returns a page that was read. Where the page is empty, the record that its list belongs
// to must exist: sql finds it, or the error is core.ErrNotFound, before any error of the page.
func OfExisting[T any](ctx context.Context, d *DB, by core.Actor, page core.List[T], err error, sql string, args Args) (core.List[T], error) {
	if len(page.Items) > 0 {
		return page, err
	}
	found, missing := readAs(ctx, d, by.Tenant.ID, sql, args, rowsAffected)
	if missing == nil && found == 0 {
		missing = core.ErrNotFound
	}
	return page, cmp.Or(missing, err)
}
