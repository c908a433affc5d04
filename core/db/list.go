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

// List describes a list once: its statement, its filters and its order. The statement of each page
// is made from these constants, so nothing that a user typed becomes part of it. Markers in SQL say
// what goes where, and may occur more than once:
//
//	{filters}  the conditions of the filters that are given, each after an "and"
//	{position} where the page begins
//	{page}     its order and its limit
type List struct {
	SQL     string
	Order   Order
	Filters Filters

	filters []string // in the order in which they are added, so that equal pages have equal statements
}

// Filters maps an argument to the condition that is added where the argument is given and not nil. A
// condition need not use its argument: one that is spelt out is served by a partial index.
type Filters map[string]string

// Order is what the markers of a page become. Positions are those of core.Cursor: @at, @id, or
// @number for integer ids.
type Order struct {
	First, After, Before string // {position} on the first page, after a position, and before it
	Forward, Backward    string // {page} without its limit: "order by …"
}

// Descending is the order from the highest value to the lowest. A record with these columns is at
// this position: Descending("s.created_at, s.id", "@at, @id").
func Descending(columns, position string) Order {
	o := Ascending(columns, position)
	return Order{After: o.Before, Before: o.After, Forward: o.Backward, Backward: o.Forward}
}

// Ascending is the order from the lowest value to the highest.
func Ascending(columns, position string) Order {
	return Order{
		After:    "and (" + columns + ") > (" + position + ")",
		Before:   "and (" + columns + ") < (" + position + ")",
		Forward:  "order by " + columns,
		Backward: "order by " + strings.ReplaceAll(columns, ",", " desc,") + " desc",
	}
}

var lists []*List

// NewList makes a list. Lists are package variables: a test prepares every statement of each.
func NewList(sql string, order Order, filters Filters) *List {
	l := &List{SQL: sql, Order: order, Filters: filters, filters: slices.Sorted(maps.Keys(filters))}
	lists = append(lists, l)
	return l
}

// Lists returns all lists of the packages that the program is made of.
func Lists() []*List { return lists }

// Statement returns the statement of a page and its arguments: those given, and of the page @limit
// and what its position needs.
func (l *List) Statement(p core.Page, args Args) (string, Args) {
	all := Args{}
	maps.Copy(all, args)
	var filters strings.Builder
	for _, name := range l.filters {
		given := !isNil(args[name])
		if given {
			filters.WriteString("\n\t\tand " + l.Filters[name])
		}
		if !given || !strings.Contains(l.Filters[name], "@"+name) {
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

// ListPage reads a page of a list in the actor's tenant, or in the platform where the actor has none.
// position tells where a record is. One round trip.
func ListPage[T any](ctx context.Context, d *DB, by core.Actor, l *List, args Args, p core.Page, position func(T) core.Cursor) (core.List[T], error) {
	if err := p.Err(); err != nil {
		return core.List[T]{}, err
	}
	sql, args := l.Statement(p, args)
	rows, err := ReadAllWithin[T](ctx, d, by, sql, args)
	return core.NewList(p, rows, position), err
}

// OfExisting returns a page that was read, or core.ErrNotFound where it is empty and the record that
// its list belongs to does not exist: sql finds that record. A missing record comes before a query
// that can't be read. One round trip for an empty page.
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
