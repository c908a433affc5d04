package db_test

import (
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
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
