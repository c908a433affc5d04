package db_test

import (
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
)

// Not parallel, like the next one, because lists are registered without a lock.
func TestPositionsOfAPage(t *testing.T) {
	l := db.NewList("select from fruit where tenant_id = @tenant_id {filters} {position} {page}", db.Descending("at, id", "@at, @number"), nil)
	c := core.NumberCursor(time.UnixMilli(1_750_000_000_000), 7)
	back := c
	back.Back = true
	const begin = "select from fruit where tenant_id = @tenant_id  "
	for _, want := range []struct {
		name   string
		cursor *core.Cursor
		sql    string
		args   db.Args
	}{
		{"first", nil, begin + " order by at desc, id desc\n\tlimit @limit", db.Args{"limit": 16}},
		{
			"after", &c, begin + "and (at, id) < (@at, @number) order by at desc, id desc\n\tlimit @limit",
			db.Args{"limit": 16, "at": c.At, "number": int64(7)},
		},
		{
			"before", &back, begin + "and (at, id) > (@at, @number) order by at, id\n\tlimit @limit",
			db.Args{"limit": 16, "at": c.At, "number": int64(7)},
		},
	} {
		sql, args := l.Statement(core.Page{Size: 15, Cursor: want.cursor}, nil)
		if sql != want.sql {
			t.Errorf("%s: %q, want %q", want.name, sql, want.sql)
		}
		if diff := gocmp.Diff(want.args, args); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want.name, diff)
		}
	}
}

func TestFiltersOfAList(t *testing.T) {
	l := db.NewList("select from fruit where true {filters}", db.Order{}, db.Filters{
		"name": "name = @name", "colour": "colour = @colour", "ripe": "ripe",
	})
	given := db.Args{"name": new("plum"), "colour": (*string)(nil), "ripe": true, "other": 1}
	sql, args := l.Statement(core.Page{}, given)
	if want := "select from fruit where true \n\t\tand name = @name\n\t\tand ripe"; sql != want {
		t.Errorf("%q, want %q", sql, want)
	}
	if diff := gocmp.Diff(db.Args{"name": new("plum"), "other": 1}, args); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(given) != 4 {
		t.Errorf("the arguments given were changed: %v", given)
	}
}

// "1–25 of 397": a page says where it is, unless counting takes long; then the page doesn't wait for it.
func TestPlaceOfAPage(t *testing.T) {
	b := newBusiness(t)
	type number struct{ N int64 }
	position := func(n number) core.Cursor { return core.NumberCursor(time.UnixMilli(n.N), n.N) }
	hurried, err := db.Open(t.Context(), dbtest.Serving(b.db.OwnerURL()), db.Options{OwnerURL: b.db.OwnerURL(), CountTimeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hurried.Close)
	list := func(from string, p core.Page) core.List[number] {
		t.Helper()
		l := db.NewList("select n from "+from+" where n > @tenant_id::bigint * 0 {filters} {position} {page}", db.Ascending("n", "@number"), nil)
		p.Counted = true
		d := b.db
		if strings.Contains(from, "pg_sleep") {
			d = hurried
		}
		page, err := db.ListPage(t.Context(), d, b.by, l, nil, p, position)
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	for name, c := range map[string]struct {
		records string
		want    [2]*core.Place // of the first page of ten, and of the one after it
	}{
		"a few":         {"generate_series(1, 7) n", [2]*core.Place{{First: 1, Total: 7}}},
		"two pages":     {"generate_series(1, 17) n", [2]*core.Place{{First: 1, Total: 17}, {First: 11, Total: 17}}},
		"1,000":         {"generate_series(1, 1000) n", [2]*core.Place{{First: 1, Total: 1000}, {First: 11, Total: 1000}}},
		"more":          {"generate_series(1, 1001) n", [2]*core.Place{{First: 1, Total: 1000, More: true}, {First: 11, Total: 1000, More: true}}},
		"slow to count": {"(select n from generate_series(1, 100) n where pg_sleep(0.004) is not null offset 0) s", [2]*core.Place{}},
	} {
		first := list(c.records, core.Page{Size: 10})
		if diff := gocmp.Diff(c.want[0], first.Place); diff != "" {
			t.Errorf("%s, first page (-want +got):\n%s", name, diff)
		}
		if first.Next == nil {
			continue
		}
		if diff := gocmp.Diff(c.want[1], list(c.records, core.Page{Size: 10, Cursor: first.Next}).Place); diff != "" {
			t.Errorf("%s, second page (-want +got):\n%s", name, diff)
		}
	}
	everywhere := db.NewList("select n from generate_series(1, 17) n where true {position} {page}", db.Ascending("n", "@number"), nil)
	platform, err := db.ListPage(t.Context(), b.db, core.Actor{}, everywhere, nil, core.Page{Size: 10, Counted: true}, position)
	if diff := gocmp.Diff(&core.Place{First: 1, Total: 17}, platform.Place); err != nil || diff != "" {
		t.Errorf("a list of the platform: %v (-want +got):\n%s", err, diff)
	}
	beyond := core.NumberCursor(time.UnixMilli(1), 2500)
	if p := list("generate_series(1, 3000) n", core.Page{Size: 10, Cursor: &beyond}).Place; p != nil {
		t.Errorf("a page after 2,500 records is at %v, want not counted", p)
	}
}
