package dbtest_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"math/bits"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	_ "example.com/loyalty/core/audit" // for its lists, as are the others without a name
	_ "example.com/loyalty/core/billing"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/shoptest"
	_ "example.com/loyalty/core/token"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// rights are what a tenant's transaction may do with a table: which rows it reads, and how it changes its own.
type rights struct{ reads, writes string }

// Which rows a tenant's transaction reads.
const (
	allRows = "all rows"
	ownRows = "its own rows"
	noRows  = "nothing"
)

// The tables without a tenant. Every other table is a tenant table. No transaction of a tenant changes a row that
// isn't its own.
var globalTables = map[string]rights{
	"plan":                 {allRows, ""},
	"tenant":               {ownRows, "insert update"}, // its primary key leaves nothing to insert
	"tenant_setup":         {ownRows, "insert update"},
	"tenant_usage":         {ownRows, ""},
	"programme":            {ownRows, "insert update"},
	"level_programme":      {ownRows, "insert update"},
	"days_counted":         {ownRows, "insert update"},
	"staff":                {ownRows, "insert update delete"},
	"token":                {ownRows, "insert update delete"},
	"token_request":        {ownRows, "insert update delete"},
	"token_refusal":        {ownRows, "insert update delete"},
	"credential":           {ownRows, "insert update"},
	"session":              {ownRows, "insert update delete"},
	"recovery_code":        {ownRows, "insert update delete"},
	"attempt":              {noRows, ""},
	"idempotency":          {ownRows, "insert update delete"},
	"mail":                 {ownRows, "insert update delete"},
	"weekly_mail":          {ownRows, "insert update delete"},
	"invoice":              {ownRows, ""},
	"invoice_counter":      {noRows, ""},
	"billing_account":      {ownRows, "insert update"}, // the details on its invoices
	"billing_period":       {ownRows, ""},
	"billing_item":         {ownRows, ""},
	"platform_setting":     {allRows, ""},
	"deprecation":          {allRows, ""},
	"deprecation_notice":   {ownRows, ""},
	"platform_audit_entry": {noRows, ""},
	"queue_pause":          {noRows, ""},
	"verify_run":           {noRows, ""},
	"secret_check":         {noRows, ""},
	"tls_file":             {noRows, ""},
	"tls_lock":             {noRows, ""},
	"write_check":          {noRows, ""},
	"backup":               {noRows, ""},
}

const root = "../.."

func owner(t *testing.T) *pgx.Conn {
	t.Helper()
	return connect(t, dbtest.OwnURL(t))
}

func strs(t *testing.T, conn *pgx.Conn, sql string, args ...any) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func tables(t *testing.T, conn *pgx.Conn) (tenant []string) {
	t.Helper()
	for _, name := range strs(t, conn, "select relname from pg_class where relnamespace = 'loyalty'::regnamespace and relkind in ('r', 'p') order by 1") {
		if _, global := globalTables[name]; !global {
			tenant = append(tenant, name)
		}
	}
	if len(tenant) < 6 {
		t.Fatalf("only these tenant tables found: %v", tenant)
	}
	return tenant
}

// "Every tenant table has `tenant_id bigint` first in its primary key, in every
// unique constraint and in every (composite) foreign key, and row-level security".
func TestTenantTablesAreIsolated(t *testing.T) {
	t.Parallel()
	conn := owner(t)
	for _, table := range tables(t, conn) {
		name := "loyalty." + table
		if got := strs(t, conn, "select format_type(atttypid, atttypmod) from pg_attribute where attrelid = $1::regclass and attname = 'tenant_id' and attnotnull", name); !slices.Equal(got, []string{"bigint"}) {
			t.Errorf("%s: tenant_id is %v, want bigint not null", table, got)
		}
		if got := strs(t, conn, "select relname from pg_class where oid = $1::regclass and relrowsecurity and not relforcerowsecurity", name); len(got) != 1 {
			t.Errorf("%s: row-level security must be enabled, not forced", table)
		}
		wall := "(tenant_id = (current_setting('app.tenant_id'::text, true))::bigint)"
		if dbtest.IsCitus(t) && len(strs(t, conn, "select logicalrelid::text from pg_dist_partition where logicalrelid = $1::regclass", name)) == 1 {
			wall = "((tenant_id)::text = current_setting('app.tenant_id'::text, true))"
		}
		if got := strs(t, conn, "select coalesce(qual, '') from pg_policies where schemaname = 'loyalty' and tablename = $1", table); !slices.Equal(got, []string{wall}) {
			t.Errorf("%s: policies %q, want the wall alone: select loyalty.wall('%s')", table, got, name)
		}
		for _, index := range strs(t, conn, `
			select i.indexrelid::regclass::text from pg_index i
			where i.indrelid = $1::regclass and (i.indisunique or i.indisprimary) and (
				select attname from pg_attribute a where a.attrelid = i.indrelid and a.attnum = i.indkey[0]) <> 'tenant_id'`, name) {
			t.Errorf("%s: tenant_id is not first in %s", table, index)
		}
		for _, key := range strs(t, conn, `
			select c.conname from pg_constraint c
			where c.conrelid = $1::regclass and c.contype = 'f'
				and c.confrelid <> all (select ('loyalty.' || g)::regclass from unnest($2::text[]) g)
				and (select attname from pg_attribute a where a.attrelid = c.conrelid and a.attnum = c.conkey[1]) <> 'tenant_id'`, name, names(globalTables)) {
			t.Errorf("%s: foreign key %s lets a row point at another tenant's: begin it with tenant_id", table, key)
		}
		for _, column := range strs(t, conn, "select attname from pg_attribute where attrelid = $1::regclass and attidentity <> ''", name) {
			t.Errorf("%s.%s is an identity column: use a sequence default", table, column)
		}
	}
}

// A business that the statistics don't know is expected to have no rows, so a customer's are looked for among those of all its customers.
func TestANewBusinessIsInTheStatisticsSoon(t *testing.T) {
	t.Parallel()
	late := strs(t, owner(t), `
		select distinct c.relname
		from pg_class c
		join pg_attribute a on a.attrelid = c.oid and a.attname in ('customer_id', 'transaction_id', 'voucher_id')
		where c.relnamespace = 'loyalty'::regnamespace
			and c.relkind in ('r', 'p')
			and c.relname <> 'checkout_item' -- of one sale
			and not coalesce(c.reloptions && '{autovacuum_analyze_scale_factor=0.002}', false)`)
	if len(late) > 0 {
		t.Errorf("%v grow with sales, but are analyzed only after a tenth of them changed: set autovacuum_analyze_scale_factor = 0.002", late)
	}
}

func names(m map[string]rights) (list []string) {
	for name := range m {
		list = append(list, name)
	}
	sort.Strings(list)
	return list
}

// "No foreign key from a global table into them."
func TestGlobalTablesPointAtNoTenantTable(t *testing.T) {
	t.Parallel()
	conn := owner(t)
	for _, name := range names(globalTables) {
		if got := strs(t, conn, "select relname from pg_class where oid = to_regclass($1)", "loyalty."+name); len(got) == 0 {
			t.Errorf("the list of global tables names %s, which does not exist", name)
		}
	}
	for _, key := range strs(t, conn, `
		select conrelid::regclass || ' → ' || confrelid::regclass from pg_constraint
		where contype = 'f' and connamespace = 'loyalty'::regnamespace
			and conrelid = any (select ('loyalty.' || g)::regclass from unnest($1::text[]) g)
			and confrelid <> all (select ('loyalty.' || g)::regclass from unnest($1::text[]) g)`, names(globalTables)) {
		t.Errorf("foreign key %s", key)
	}
}

// "Guards prove that the role owns nothing, cannot bypass policies, and that without
// a tenant every tenant table counts 0."
func TestTheServingRoleBypassesNothing(t *testing.T) {
	t.Parallel()
	conn := owner(t)
	if got := strs(t, conn, `
		select rolname from pg_roles
		where rolname in ('loyalty_app', 'loyalty_queue', 'loyalty_backup') and not rolsuper and not rolbypassrls and not rolcreaterole and not rolcreatedb`); len(got) != 3 {
		t.Error("loyalty_app, loyalty_queue or loyalty_backup may create or bypass")
	}
	if got := strs(t, conn, "select relname from pg_class where relowner = 'loyalty_app'::regrole union select proname from pg_proc where proowner = 'loyalty_app'::regrole"); len(got) != 0 {
		t.Errorf("loyalty_app owns %v", got)
	}
	if got := strs(t, conn, "select current_user::text where (select rolsuper from pg_roles where rolname = current_user)"); len(got) != 0 {
		t.Error("the tests run as a superuser: mistakes of policy stay hidden")
	}
	for _, table := range []string{"ledger_entry", "audit_entry", "platform_audit_entry"} {
		for _, right := range []string{"update", "delete"} {
			if got := strs(t, conn, "select $1::text where has_table_privilege('loyalty_app', 'loyalty.' || $2, $1)", right, table); len(got) != 0 {
				t.Errorf("loyalty_app may %s %s", right, table)
			}
		}
	}
	if got := strs(t, conn, "select proname from pg_proc where pronamespace = 'loyalty'::regnamespace and prosecdef and not coalesce(proconfig::text like '%search_path=%', false)"); len(got) != 0 {
		t.Errorf("security definer functions without a fixed search_path: %v", got)
	}
}

func TestWithoutATenantEveryTenantTableIsEmpty(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	by := dbtest.Tenant(t, d)
	shoptest.Of(t, d, by).WriteEverything()
	stranger := dbtest.Tenant(t, d)

	conn, err := dbtest.Owner(d).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	count := func(tenant int64, table string) (n int) {
		t.Helper()
		err := pgx.BeginFunc(t.Context(), conn.Conn(), func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), "select loyalty.enter($1)", tenant); err != nil {
				return err
			}
			return tx.QueryRow(t.Context(), "select count(*) from loyalty."+table).Scan(&n)
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, table := range tables(t, conn.Conn()) {
		if got := count(int64(by.Tenant.ID), table); got == 0 {
			t.Errorf("%s: its own tenant sees nothing: let WriteEverything write one row", table)
		}
		if got := count(0, table); got != 0 {
			t.Errorf("%s: %d rows are seen with no tenant set", table, got)
		}
		own := map[string]bool{"audit_entry": true}[table] // a new tenant's first person is in the log
		if got := count(int64(stranger.Tenant.ID), table); got != 0 && !own {
			t.Errorf("%s: another tenant sees %d rows", table, got)
		}
	}
	if got := count(int64(by.Tenant.ID), "tenant"); got != 1 {
		t.Errorf("a tenant sees %d tenants, want itself", got)
	}
	if got := count(int64(by.Tenant.ID), "staff"); got != 1 {
		t.Errorf("a tenant sees %d people, want its owner", got)
	}
}

// "A guard test has PostgreSQL prepare every one of them as the application role",
// and each that touches a tenant table names its tenant.
func TestEveryStatementPrepares(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	conn, err := dbtest.Owner(d).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	tenantTables := tables(t, conn.Conn())
	if _, err := conn.Exec(t.Context(), "set role "+db.Role); err != nil {
		t.Fatal(err)
	}
	defer conn.Exec(context.Background(), "reset role") //nolint:errcheck // the database goes with the test

	all := statements(t)
	if len(all) < 30 {
		t.Fatalf("only %d statements found", len(all))
	}
	all = append(all, pages(t)...)
	for _, s := range all {
		args := pgx.NamedArgs{}
		text, _, err := args.RewriteQuery(t.Context(), nil, s.sql, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.checksEverything() {
			continue // prepared as the owner below: it sees all tenants
		}
		if _, err := conn.Conn().Prepare(t.Context(), "", text); err != nil {
			t.Errorf("%s.%s: %v", s.pkg, s.name, err)
		}
		for _, table := range tenantTables {
			if regexp.MustCompile(`loyalty\.`+table+`\b`).MatchString(s.sql) && !strings.Contains(s.sql, "@tenant_id") {
				t.Errorf("%s.%s touches %s and does not name @tenant_id", s.pkg, s.name, table)
			}
		}
		if into := selectedInto.FindStringSubmatch(s.sql); into != nil && slices.Contains(tenantTables, into[1]) && !answers.MatchString(into[2]) {
			t.Errorf("%s.%s selects into %s without returning: a distributed database copies its rows, which policies refuse", s.pkg, s.name, into[1])
		}
	}
	if _, err := conn.Exec(t.Context(), "reset role"); err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if !s.checksEverything() {
			continue
		}
		if _, err := conn.Conn().Prepare(t.Context(), "", s.sql); err != nil {
			t.Errorf("%s.%s: %v", s.pkg, s.name, err)
		}
	}
}

// An insert … select that is the statement itself, its table and the rest; and what spares it the copy to a node (docs/scale.md).
var (
	selectedInto = regexp.MustCompile(`(?ms)^\tinsert into loyalty\.(\w+).*?\n\tselect (.*)`)
	answers      = regexp.MustCompile(`\b(returning|on conflict)\b`)
)

// "Each table is written by one package."
func TestEachTableHasOneWriter(t *testing.T) {
	t.Parallel()
	write := regexp.MustCompile(`(?i)\b(?:insert into|update|delete from)\s+loyalty\.(\w+)`)
	writers := map[string]string{}
	note := func(pkg, sql string) {
		for _, m := range write.FindAllStringSubmatch(sql, -1) {
			if known := writers[m[1]]; known != "" && known != pkg {
				t.Errorf("%s is written by %s and by %s", m[1], known, pkg)
			}
			writers[m[1]] = pkg
		}
	}
	// Parts that another package puts into its own statement.
	parts := map[string]string{db.StoreReplies: "db", ledger.AwardEach: "ledger", ledger.AwardEachKnown: "ledger", ledger.AwardOne: "ledger"}
	for _, s := range statements(t) {
		for part, pkg := range parts {
			if strings.Contains(s.sql, part) {
				note(pkg, part)
				s.sql = strings.ReplaceAll(s.sql, part, "")
			}
		}
		note(s.pkg, s.sql)
	}
	if writers["account"] != "ledger" {
		t.Errorf("account is written by %q, want ledger alone", writers["account"])
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	t.Parallel()
	for dir, files := range goFiles(t, token.NewFileSet()) {
		documented := false
		for _, file := range files {
			documented = documented || file.Doc != nil && len(file.Doc.Text()) > 40
		}
		if !documented {
			t.Errorf("%s has no package comment", dir)
		}
	}
}

// pages returns the statements that lists can make, with any filters and in both directions.
func pages(t *testing.T) (all []statement) {
	t.Helper()
	described := 0
	for _, files := range goFiles(t, token.NewFileSet()) {
		for _, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && isNewList(call) {
					described++
				}
				return true
			})
		}
	}
	if got := len(db.Lists()); got != described {
		t.Errorf("the program describes %d lists and %d were made here: are all packages with lists imported?", described, got)
	}
	at := core.NumberCursor(time.Now(), 1)
	back := at
	back.Back = true
	for n, l := range db.Lists() {
		if len(l.Filters) > 0 && !strings.Contains(l.SQL, "{filters}") {
			t.Errorf("a list has filters and does not say where they go: %s", l.SQL)
		}
		for _, args := range combinations(l.Filters) {
			for _, cursor := range []*core.Cursor{nil, &at, &back} {
				sql, _ := l.Statement(core.Page{Size: core.DefaultPageSize, Cursor: cursor}, args)
				all = append(all, statement{pkg: "list", name: strconv.Itoa(n) + sql, sql: sql})
			}
			if strings.Contains(l.SQL, "{page}") {
				sql, _ := l.CountStatement(args, &back)
				all = append(all, statement{pkg: "list", name: strconv.Itoa(n) + sql, sql: sql})
			}
		}
	}
	return all
}

// combinations returns all combinations of filters or, for more than six filters, none, each alone, and all.
func combinations(filters db.Filters) (given []db.Args) {
	names := slices.Sorted(maps.Keys(filters))
	for set := range 1 << len(names) {
		if n := bits.OnesCount(uint(set)); len(names) > 6 && n > 1 && n < len(names) {
			continue
		}
		args := db.Args{}
		for i, name := range names {
			if set&(1<<i) != 0 {
				args[name] = true
			}
		}
		given = append(given, args)
	}
	return given
}

// goFiles returns the product's own files, by directory.
func goFiles(t *testing.T, fset *token.FileSet) map[string][]*ast.File {
	t.Helper()
	byDir := map[string][]*ast.File{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && strings.HasPrefix(e.Name(), ".") && path != root {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_templ.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(fset, path, source, parser.ParseComments)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		byDir[filepath.Dir(path)] = append(byDir[filepath.Dir(path)], file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return byDir
}
