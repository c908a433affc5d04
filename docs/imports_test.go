package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// rule keeps packages from importing what the table in architecture.md would let them import: libraries and, in tests,
// packages of this module. Lists are separated by spaces; a name that ends in "/…" has all packages below it, too.
type rule struct {
	of     string // packages; "…": all
	but    string // packages and files of these that may
	never  string // packages
	except string // packages of these that they may import
	why    string
	tests  bool // tests may neither
}

var rules = []rule{
	{of: "core/…", never: "net/http/… github.com/labstack/echo/…", tests: true, why: "core knows no HTTP"},
	{of: "core/…", never: "api/… web/… views/…", tests: true, why: "core doesn't know its front ends"},
	{of: "core", never: "github.com/jackc/pgx/…", why: "core does no I/O"},
	{of: "api/… web/… views/…", but: "web/webtest", never: "github.com/jackc/pgx/…", why: "SQL is in core"},
	{of: "views/…", never: "web/… net/http/… github.com/labstack/echo/…", tests: true, why: "templates know nothing of requests"},
	{of: "views/…", never: "core/db", tests: true, why: "templates read and write nothing"},
	{of: "api/…", never: "web/… views/…", except: "web/route", tests: true, why: "what both front ends need belongs in core"},
	{of: "web/… views/…", never: "api/…", except: "api/clients api/description", tests: true, why: "what both front ends need belongs in core"},
	{of: "web/admin/… views/admin/…", never: "core/job", why: "the queue is the platform's: it shows the jobs of all tenants"},
	{of: "…", but: "core/currency.go", never: "github.com/bojanz/currency", tests: true, why: "core/currency.go has the currencies and their decimals"},
	{of: "…", never: "golang.org/x/text/currency", tests: true, why: "its table is of 2017: core/currency.go has the currencies of ISO 4217"},
	{of: "…", but: "core/limit", never: "github.com/redis/…", why: "Redis counts limits, and keeps nothing else"},
	{of: "…", but: "core/certificate web/host/acme.go", never: "github.com/caddyserver/certmagic/…", why: "web/host gets certificates, core/certificate stores them"},
	{of: "…", but: "web/host/acme.go", never: "go.uber.org/zap/…", why: "the product logs with slog; zap only silences certmagic"},
	{of: "…", but: "web/browsertest", never: "github.com/chromedp/…", why: "only tests drive a browser"},
}

// areas have templates of their own: those of views/admin are for web/admin and its features, those of
// views/admin/sales for web/admin/sales alone.
const areas = "admin/… platform/… till/… portal/…"

// TestImports compares the imports of every file with the table in architecture.md and the rules above.
func TestImports(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); lines > 150 {
		t.Errorf("architecture.md has %d lines: the way in has at most 150, the reference is in architecture/", lines)
	}
	_, part, _ := strings.Cut(string(text), "\n## Packages\n")
	part, _, _ = strings.Cut(part, "\n## ")
	for _, fault := range faults(parseTable(part), parsedSources(t)) {
		t.Error(fault)
	}
}

// table is the table of packages: a package imports only those of later rows.
type table []row

type row struct {
	packages []string // "web/admin/…" has every package below web/admin that has no row of its own
	core     string   // what they import of core: "`db`, `job`", "any" or "any but `db`"
}

var inCode = regexp.MustCompile("`([^`]+)`")

// names returns the words of a text that are written as code.
func names(text string) (all []string) {
	for _, found := range inCode.FindAllStringSubmatch(text, -1) {
		all = append(all, found[1])
	}
	return all
}

func parseTable(text string) (all table) {
	for line := range strings.Lines(text) {
		if cells := strings.Split(line, "|"); len(cells) == 5 && len(names(cells[1])) > 0 {
			all = append(all, row{names(cells[1]), strings.TrimSpace(cells[3])})
		}
	}
	return all
}

// find returns the number of a package's row; -1: none.
func (all table) find(pkg string) int {
	if i := slices.IndexFunc(all, func(r row) bool { return slices.Contains(r.packages, pkg) }); i >= 0 {
		return i
	}
	return slices.IndexFunc(all, func(r row) bool { return matches(strings.Join(r.packages, " "), pkg) })
}

// matches reports whether a list has a package.
func matches(list, pkg string) bool {
	return slices.ContainsFunc(strings.Fields(list), func(name string) bool {
		folder, isFolder := strings.CutSuffix(name, "…")
		return name == pkg || isFolder && strings.HasPrefix(pkg+"/", folder)
	})
}

// mayImport reports whether the row lets its packages import a package of core.
func (r row) mayImport(pkg string) bool {
	return strings.HasPrefix(r.core, "any") != slices.Contains(names(r.core), strings.TrimPrefix(pkg, "core/"))
}

// source is a file of Go code.
type source struct {
	name    string   // "core/coupon/send.go"
	imports []string // a package of this module is "core/db"
	test    bool
	text    string
	syntax  *ast.File
}

func (s source) pkg() string { return path.Dir(s.name) }

func parsedSources(t *testing.T) []source {
	t.Helper()
	all, err := readSources()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var readSources = sync.OnceValues(func() (all []source, err error) {
	root := os.DirFS("..")
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case d.IsDir() && (name == "data" || base == "testdata" || base == "node_modules" || len(base) > 1 && base[0] == '.'):
			return fs.SkipDir
		case err != nil || d.IsDir() || path.Ext(name) != ".go":
			return err
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		s, err := parse(name, text)
		all = append(all, s)
		return err
	})
	return all, err
})

// parse parses a file: of core and of templates all of it, of others the imports.
func parse(name string, text []byte) (source, error) {
	s := source{name: name, test: strings.HasSuffix(name, "_test.go"), text: string(text)}
	mode := parser.ImportsOnly
	if !s.test && matches("core/… views/…", s.pkg()) {
		mode = parser.SkipObjectResolution
	}
	var err error
	s.syntax, err = parser.ParseFile(token.NewFileSet(), name, text, mode)
	if err != nil {
		return source{}, err
	}
	for _, spec := range s.syntax.Imports {
		s.imports = append(s.imports, strings.TrimPrefix(strings.Trim(spec.Path.Value, `"`), "example.com/loyalty/"))
	}
	return s, nil
}

// faults returns where the files, the table and the rules disagree.
func faults(all table, sources []source) (found []string) {
	packages := map[string]map[string]bool{} // what each imports, outside of tests
	for _, s := range sources {
		if packages[s.pkg()] == nil {
			packages[s.pkg()] = map[string]bool{}
		}
		for _, imported := range s.imports {
			packages[s.pkg()][imported] = packages[s.pkg()][imported] || !s.test
		}
	}
	for _, s := range sources {
		for _, imported := range s.imports {
			if why := all.refusal(s, imported, packages); why != "" {
				found = append(found, fmt.Sprintf("%s imports %s: %s", s.name, imported, why))
			}
		}
	}
	for pkg := range packages {
		if all.find(pkg) < 0 {
			found = append(found, "the table lacks "+pkg)
		}
	}
	for _, r := range all {
		imports := map[string]bool{}
		for _, name := range r.packages {
			isThere := false
			for pkg, of := range packages {
				if matches(name, pkg) {
					isThere = true
					maps.Copy(imports, of)
				}
			}
			if !isThere {
				found = append(found, "the table has "+name+", which doesn't exist")
			}
		}
		for _, noun := range names(r.core) {
			if !strings.HasPrefix(r.core, "any") && !imports["core/"+noun] {
				found = append(found, fmt.Sprintf("the table has an import of core/%s by %s, which doesn't exist", noun, r.packages))
			}
		}
	}
	return found
}

// refusal returns why a file may not import a package; "": it may.
func (all table) refusal(s source, imported string, packages map[string]map[string]bool) string {
	for _, r := range rules {
		if r.refuses(s, imported) {
			return r.why
		}
	}
	if area, isTemplate := strings.CutPrefix(imported, "views/"); isTemplate && matches(areas, area) {
		for packages["web/"+area] == nil && strings.Contains(area, "/") {
			area = path.Dir(area)
		}
		if !matches("web/"+area+"/… views/"+area+"/…", s.pkg()) {
			return "these templates are for web/" + area
		}
	}
	own, its := all.find(s.pkg()), all.find(imported)
	switch {
	case own < 0, its < 0, imported == s.pkg():
		return ""
	case its == own:
		return "the packages of a row don't import each other"
	case s.test:
		return ""
	case its < own:
		return "the table has it above"
	case strings.HasPrefix(imported, "core/") && !all[own].mayImport(imported):
		return "its row doesn't list it"
	}
	return ""
}

func (r rule) refuses(s source, imported string) bool {
	return (r.tests || !s.test) && matches(r.of, s.pkg()) && !matches(r.but, s.pkg()) && !matches(r.but, s.name) &&
		matches(r.never, imported) && !matches(r.except, imported)
}

// Each kind of violation is found, and what is right isn't one.
func TestFaults(t *testing.T) {
	t.Parallel()
	const small = "| **Front ends** | | |\n| `api`, `web` | | any but `db` |\n| `web/admin` | | any but `db` |\n| `web/admin/…` | | any but `db` |\n" +
		"| `web/page` | | any but `db` |\n| `views/admin/…` | | any but `db` |\n| `core/coupon`, `core/reward` | | `customer`, `db` |\n" +
		"| `core/customer` | | `db` |\n| `core/db`, `core/limit` | | |\n| `core` | | |"
	right := map[string]string{
		"api/api.go": "core/coupon", "web/web.go": "web/admin", "web/admin/admin.go": "web/admin/sales", "web/admin/sales/sales.go": "views/admin/sales",
		"web/admin/people/people.go": "views/admin", "web/page/page.go": "core/reward", "views/admin/sales/list.go": "core/customer", "views/admin/frame.go": "html",
		"core/coupon/send.go": "core/customer", "core/reward/reward.go": "core/db", "core/customer/customer.go": "core/db", "core/customer/customer_test.go": "core/coupon",
		"core/db/db.go": "github.com/jackc/pgx/v5", "core/limit/redis.go": "github.com/redis/go-redis/v9", "core/currency.go": "github.com/bojanz/currency",
	}
	check := func(all string, files map[string]string) string {
		var sources []source
		for name, imported := range files {
			sources = append(sources, source{name: name, test: strings.HasSuffix(name, "_test.go"), imports: []string{imported}})
		}
		return strings.Join(faults(parseTable(all), sources), "\n")
	}
	if got := check(small, right); got != "" {
		t.Errorf("what is right is refused: %s", got)
	}
	for _, c := range []struct{ file, imported, want string }{
		{"core/walkin/walkin.go", "core/db", "the table lacks core/walkin"},
		{"core/customer/up.go", "core/coupon", "the table has it above"},
		{"web/admin/sales/up.go", "web/admin", "the table has it above"},
		{"core/id.go", "core/db", "the table has it above"},
		{"core/coupon/beside.go", "core/reward", "the packages of a row don't import each other"},
		{"web/admin/sales/beside_test.go", "web/admin/people", "the packages of a row don't import each other"},
		{"core/customer/limits.go", "core/limit", "its row doesn't list it"},
		{"api/db.go", "core/db", "its row doesn't list it"},
		{"web/admin/people/sales.go", "views/admin/sales", "these templates are for web/admin/sales"},
		{"web/page/frame.go", "views/admin", "these templates are for web/admin"},
		{"core/customer/page_test.go", "net/http/httptest", "core knows no HTTP"},
		{"core/customer/web_test.go", "web/page", "core doesn't know its front ends"},
		{"web/api_test.go", "api", "what both front ends need belongs in core"},
		{"api/pgx.go", "github.com/jackc/pgx/v5", "SQL is in core"},
		{"core/money.go", "github.com/bojanz/currency", "core/currency.go has the currencies"},
	} {
		files := maps.Clone(right)
		files[c.file] = c.imported
		if got := check(small, files); !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%s imports %s: %q, want %q alone", c.file, c.imported, got, c.want)
		}
	}
	if got := check(small+"\n| `core/gone` | | |", right); got != "the table has core/gone, which doesn't exist" {
		t.Errorf("a package without files: %q", got)
	}
	right["core/coupon/send.go"] = "core/db"
	if got := check(small, right); got != "the table has an import of core/customer by [core/coupon core/reward], which doesn't exist" {
		t.Errorf("an import that no file has: %q", got)
	}
}
