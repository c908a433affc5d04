package dbtest_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core/dbtest"
)

var update = flag.Bool("update", false, "write docs/statements instead of comparing with it")

// header begins each file.
const header = `-- The statements of core/%[1]s, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/%[1]s.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;
`

// statementFiles returns the files of docs/statements, by name.
func statementFiles(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, s := range constantsAndLists(t) {
		name := s.pkg + ".sql"
		if texts[name] == "" {
			texts[name] = fmt.Sprintf(header, s.pkg)
		}
		text, err := s.text()
		if err != nil {
			t.Fatal(err)
		}
		texts[name] += "\n" + text
	}
	return texts
}

// text returns what the file has of a statement. One that can't be prepared is a comment.
func (s statement) text() (string, error) {
	sql, names, err := placed(s.sql)
	if err != nil {
		return "", err
	}
	about := comment(strings.Fields(s.name + " (" + s.file + ")" + s.comment))
	var arguments []string
	for i, name := range names {
		arguments = append(arguments, fmt.Sprintf("$%d=%s", i+1, name))
	}
	about += comment(arguments)
	if s.list != nil {
		for _, name := range slices.Sorted(maps.Keys(s.list.Filters)) {
			about += comment(strings.Fields("filter: and " + s.list.Filters[name]))
		}
	}
	if !s.hasPlan() || s.needsCitus() {
		return about + "-- " + strings.ReplaceAll(indented(sql, 0), "\n", "\n-- ") + "\n", nil
	}
	return about + "prepare " + s.name + " as\n" + indented(sql, 1) + ";\n", nil
}

// comment returns words as lines of a comment.
func comment(words []string) (lines string) {
	line := "--"
	for _, word := range words {
		if len(line)+len(word) > 120 {
			lines += line + "\n"
			line = "--"
		}
		line += " " + word
	}
	return lines + strings.TrimPrefix(line+"\n", "--\n")
}

// indented removes empty lines and the indentation that all lines have. Parts of a statement that are written elsewhere may be indented less
// than the parentheses around them. A tab would complete words in psql.
func indented(sql string, by int) string {
	var lines []string
	least := len(sql)
	for line := range strings.Lines(sql) {
		if line = strings.TrimRight(line, " \t\n"); line != "" {
			lines = append(lines, line)
			least = min(least, len(line)-len(strings.TrimLeft(line, "\t")))
		}
	}
	open := 0
	for i, line := range lines {
		text := strings.TrimLeft(line, "\t")
		inside := open
		if text[0] == ')' {
			inside--
		}
		lines[i] = strings.Repeat("  ", by+max(len(line)-len(text)-least, inside)) + text
		open += strings.Count(text, "(") - strings.Count(text, ")")
	}
	return strings.Join(lines, "\n")
}

const statementsDir = root + "/docs/statements"

// The files of docs/statements have every statement.
func TestStatementsAreWritten(t *testing.T) {
	t.Parallel()
	want := statementFiles(t)
	if *update {
		if err := os.RemoveAll(statementsDir); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(statementsDir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			if err := os.WriteFile(filepath.Join(statementsDir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	found, err := os.ReadDir(statementsDir)
	if err != nil || len(found) != len(want) {
		t.Errorf("docs/statements has %d files, want %d: run `make statements` (%v)", len(found), len(want), err)
	}
	for name, text := range want {
		if got, err := os.ReadFile(filepath.Join(statementsDir, name)); err != nil || string(got) != text {
			t.Errorf("docs/statements/%s is stale: run `make statements` (%v)", name, err)
		}
	}
}

// The server takes each file, and explains each of its statements as the header says: as the serving role or, for the checks of all tenants,
// as the owner.
func TestWrittenStatementsAreExplained(t *testing.T) {
	t.Parallel()
	dbtest.NeedsPlain(t, "Citus explains no insert with parameters")
	url := dbtest.OwnURL(t)
	explained := 0
	for name, text := range statementFiles(t) {
		conn := serving(t, url)
		if name == "verify.sql" {
			conn = connect(t, url)
		}
		if _, err := conn.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		calls := strs(t, conn, `
			select 'explain execute ' || name || case when parameter_types <> '{}' then '(' || array_to_string(array_fill('null'::text, array[cardinality(parameter_types)]), ', ') || ')' else '' end
			from pg_prepared_statements
			where from_sql`)
		if got, want := len(calls), strings.Count(text, "\nprepare "); got != want {
			t.Errorf("%s: %d statements are prepared, want %d", name, got, want)
		}
		for _, call := range calls {
			if _, err := conn.Exec(t.Context(), "set plan_cache_mode = force_generic_plan; "+call, pgx.QueryExecModeSimpleProtocol); err != nil {
				t.Errorf("%s: %s: %v", name, call, err)
			}
		}
		explained += len(calls)
	}
	if explained < 500 {
		t.Errorf("only %d statements were explained", explained)
	}
	t.Log(explained)
}
