package db_test

import (
	"errors"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// "Named arguments are checked: pgx silently sends NULL for a missing one."
func TestArgumentsAreChecked(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	for _, c := range []struct {
		name, sql string
		args      db.Args
		fault     string
	}{
		{"missing", branchSQL, nil, "missing"},
		{"missing though another is given", renameBranchSQL, db.Args{"id": 1}, "missing"},
		{"superfluous", branchSQL, db.Args{"id": 1, "name": "x"}, "2 arguments given, 1 used"},
		{"misspelt", branchSQL, db.Args{"ID": 1}, "missing"},
		// Parsed statements are cached, and wrong arguments are still noticed.
		{"right", branchSQL, db.Args{"id": 1}, ""},
		{"missing after right", branchSQL, db.Args{}, "missing"},
		{"misspelt after right", branchSQL, db.Args{"ID": 1}, "missing"},
	} {
		read := func() error {
			_, err := db.All[branch](t.Context(), b.db.Tenant(b.by), c.sql, c.args)
			return err
		}
		queue := func() error {
			_, err := db.In(t.Context(), b.db.Tenant(b.by), func(tx *db.Tx) (int, error) { return 0, db.Queue(tx, c.sql, c.args) })
			return err
		}
		for _, try := range []func() error{read, queue} {
			err := try()
			if (err == nil) != (c.fault == "") || (err != nil && !strings.Contains(err.Error(), c.fault)) {
				t.Errorf("%s: %v, want %q", c.name, err, c.fault)
			}
		}
	}
}

// "Only db.Platform runs with none set": there, a statement can't use @tenant_id.
func TestThePlatformCannotNameATenant(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	if _, err := db.All[branch](t.Context(), b.db.Platform(), branchesSQL, nil); err == nil || !strings.Contains(err.Error(), "tenant_id is missing") {
		t.Errorf("PlatformAll = %v, want a missing argument", err)
	}
}

// "Find returns one or ErrNotFound"; two rows are a mistake in the code.
func TestOneNeedsExactlyOneRow(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	if _, err := db.One[branch](t.Context(), b.db.Tenant(b.by), branchesSQL, nil); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("no row = %v, want ErrNotFound", err)
	}
	b.open(t, "One")
	if got, err := db.One[branch](t.Context(), b.db.Tenant(b.by), branchesSQL, nil); err != nil || got.Name != "One" {
		t.Errorf("one row = %v, %v", got, err)
	}
	b.open(t, "Two")
	var refusal *core.Error
	if _, err := db.One[branch](t.Context(), b.db.Tenant(b.by), branchesSQL, nil); err == nil || errors.As(err, &refusal) {
		t.Errorf("two rows = %v, want a fault", err)
	}
}
