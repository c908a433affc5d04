package docs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"html"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/static"
	"example.com/loyalty/views/viewtest"
	"example.com/loyalty/web/docs"
	"example.com/loyalty/web/webtest"
)

// Every rule of decisions §3, and the ledger's own.
var slugs = []string{
	"already-voided", "reward-not-available", "reward-limit-reached", "insufficient-points", "insufficient-stamps", "out-of-stock", "already-fulfilled", "redemption-voided",
	"voucher-redeemed", "voucher-expired", "coupon-inactive", "voucher-not-available", "coupon-cap-reached", "idempotency-key-reused", "plan-limit-reached",
	"balance-too-large", "token-limit-reached",
}

// newSite is a browser at the base host, which serves the pages.
func newSite(t *testing.T) *webtest.Browser {
	t.Helper()
	e := echo.New()
	e.RouteNotFound("/*", docs.NotFound)
	docs.New(config(t)).Mount(e)
	return webtest.New(t, e, core.Tenant{})
}

// config is an installation with one business, "cafe".
func config(t *testing.T) docs.Config {
	t.Helper()
	return docs.Config{
		Names: webtest.Names(t), Description: openapi(t),
		Exists: func(_ context.Context, slug string) (bool, error) { return slug == "cafe", nil },
		Ready:  func(context.Context) (string, error) { return "", nil },
	}
}

// openapi returns the description of the API, as the installation serves it.
func openapi(t *testing.T) []byte {
	t.Helper()
	content, err := os.ReadFile("../../api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(content, []byte("https://localhost:8443"), []byte(webtest.Base))
}

// htmlOf opens a page with a status, and returns its HTML.
func htmlOf(s *webtest.Browser, path string, status int) string {
	s.T.Helper()
	got := s.Ask(http.MethodGet, path)
	if got.Code != status || got.Header().Get("Content-Type") != "text/html; charset=UTF-8" {
		s.T.Fatalf("%s = %d %s, want %d and HTML", path, got.Code, got.Header().Get("Content-Type"), status)
	}
	return got.Body.String()
}

func TestPages(t *testing.T) {
	t.Parallel()
	pages := map[string]string{
		"home": "/", "problems": "/problems", "notfound": "/nothing/here",
		"docs": "/docs", "reference": "/docs/reference/transactions", "search": "/docs/search?q=void", "quickstart": "/docs/quickstart", "clients": "/docs/clients", "retries": "/docs/retries", "versioning": "/docs/versioning", "changelog": "/docs/changelog",
		"sync": "/docs/sync", "customers": "/docs/customers", "scanning": "/docs/scanning", "tills": "/docs/tills", "vouchers": "/docs/vouchers", "promotions": "/docs/promotions", "refunds": "/docs/refunds", "browsers": "/docs/browsers",
	}
	for _, slug := range slugs {
		pages["problem-"+slug] = "/problems/" + slug
	}
	for name, path := range pages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := http.StatusOK
			if name == "notfound" {
				status = http.StatusNotFound
			}
			page := htmlOf(newSite(t), path, status)
			viewtest.WellFormed(t, page)
			for _, forbidden := range []string{"style=", "<style", "<script>", "javascript:", " on"} {
				if inTags(page, forbidden) {
					t.Errorf("the page has %q, which its Content-Security-Policy forbids", forbidden)
				}
			}
			for _, part := range []string{`<html lang="en">`, `<a class="skip" href="#content">`, `<main id="content"`, `<nav aria-label="Main">`} {
				if !strings.Contains(page, part) {
					t.Errorf("the page lacks %s", part)
				}
			}
			if n := strings.Count(page, "<h1"); n != 1 {
				t.Errorf("the page has %d main headings, want 1", n)
			}
			viewtest.Golden(t, name+".html", unhashed(page))
		})
	}
}

// inTags reports whether a tag has this text, descriptions excepted.
func inTags(page, what string) bool {
	for _, tag := range regexp.MustCompile(`<[^>]*>`).FindAllString(page, -1) {
		if strings.Contains(regexp.MustCompile(`(content|alt)="[^"]*"`).ReplaceAllString(tag, ""), what) {
			return true
		}
	}
	return false
}

// unhashed removes the hashes of static files, so that golden files don't change with style sheets.
func unhashed(page string) string {
	for _, name := range []string{
		"css/frame.css", "css/docs.css", "js/docs.js", "js/reference.js", "img/icon.svg",
	} {
		page = strings.ReplaceAll(page, static.Path(name), static.Prefix+name)
	}
	return page
}

func TestLinksWork(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	link := regexp.MustCompile(`(?:href|src)="(/[^"]*)"`)
	within := regexp.MustCompile(`href="#([^"]*)"`)
	pages := map[string]string{"/platform": "", "/readyz": "", "/api/v1/openapi.json": "", "/api/v1/openapi.yaml": ""} // not served by this package
	var follow func(from, page string)
	follow = func(from, page string) {
		for _, m := range within.FindAllStringSubmatch(page, -1) {
			if !strings.Contains(page, ` id="`+m[1]+`"`) {
				t.Errorf("%s links to its own #%s, which doesn't exist", from, m[1])
			}
		}
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			to, fragment, _ := strings.Cut(html.UnescapeString(m[1]), "#")
			if _, seen := pages[to]; !seen {
				switch {
				case strings.HasPrefix(to, static.Prefix):
					w := httptest.NewRecorder()
					static.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, to, nil))
					if w.Code != http.StatusOK {
						t.Errorf("%s links to %s, which is %d", from, to, w.Code)
					}
					pages[to] = ""
				case path.Ext(to) != "":
					if got := s.Ask(http.MethodGet, to); got.Code != http.StatusOK {
						t.Errorf("%s links to %s, which is %d", from, to, got.Code)
					}
					pages[to] = ""
				default:
					pages[to] = htmlOf(s, to, http.StatusOK)
					follow(to, pages[to])
				}
			}
			if fragment != "" && !strings.Contains(pages[to], ` id="`+fragment+`"`) {
				t.Errorf("%s links to %s, which has no #%s", from, to, fragment)
			}
		}
	}
	follow("/nothing", htmlOf(s, "/nothing", http.StatusNotFound))
	for _, slug := range slugs {
		if pages["/problems/"+slug] == "" {
			t.Errorf("no page links to %s", slug)
		}
	}
}

// refusals finds every rule in the source of core, so that no new rule is forgotten.
func refusals(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..", "core")
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, source, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isRefuse(call.Fun, filepath.Dir(path) == root) || len(call.Args) != 2 {
				return true
			}
			slug, detail := literal(call.Args[0]), literal(call.Args[1])
			if slug == "" || detail == "" {
				t.Errorf("%s: write a rule's slug and sentence as literals, so that this test finds them", path)
			}
			found[slug] = detail
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func isRefuse(f ast.Expr, inCore bool) bool {
	switch f := f.(type) {
	case *ast.Ident:
		return inCore && f.Name == "Refuse"
	case *ast.SelectorExpr:
		pkg, ok := f.X.(*ast.Ident)
		return ok && pkg.Name == "core" && f.Sel.Name == "Refuse"
	}
	return false
}

func literal(e ast.Expr) string {
	if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
		if s, err := strconv.Unquote(l.Value); err == nil {
			return s
		}
	}
	return ""
}

// A rule has a page if an operation of openapi.json declares it: those that only pages of the product can meet are
// nothing to a program.
func TestRulesOfTheAPIHavePages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var api struct {
		Components struct{ Examples map[string]any }
	}
	if err := json.Unmarshal(openapi(t), &api); err != nil {
		t.Fatal(err)
	}
	listed := htmlOf(s, "/problems", http.StatusOK)
	rules := refusals(t)
	if rules["already-voided"] == "" || rules["idempotency-key-reused"] == "" {
		t.Fatalf("rules of core = %v, some are missing", rules)
	}
	for slug, detail := range rules {
		_, declared := api.Components.Examples[slug]
		if got := strings.Contains(listed, `href="/problems/`+slug+`"`); got != declared {
			t.Errorf("%s is in the list: %t, want %t", slug, got, declared)
		}
		if !declared {
			htmlOf(s, "/problems/"+slug, http.StatusNotFound)
			continue
		}
		page := htmlOf(s, "/problems/"+slug, http.StatusOK)
		if want := `<blockquote class="detail"><p>` + html.EscapeString(detail) + `</p></blockquote>`; !strings.Contains(page, want) {
			t.Errorf("the page of %s does not say %q", slug, detail)
		}
	}
}

func TestExampleIsAProblemDocument(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	example := regexp.MustCompile(`(?s)<pre aria-labelledby="example"><code>(.*?)</code></pre>`)
	sentence := regexp.MustCompile(`<blockquote class="detail"><p>(.*?)</p></blockquote>`)
	for _, slug := range slugs {
		page := htmlOf(s, "/problems/"+slug, http.StatusOK)
		var got struct {
			Type, Title, Detail, Code string
			Status                    int
		}
		if err := json.Unmarshal([]byte(html.UnescapeString(example.FindStringSubmatch(page)[1])), &got); err != nil {
			t.Errorf("%s: %v", slug, err)
		}
		if got.Type != webtest.Base+"/problems/"+slug || got.Title != "Unprocessable Entity" || got.Status != http.StatusUnprocessableEntity ||
			got.Detail != html.UnescapeString(sentence.FindStringSubmatch(page)[1]) || got.Code != slug {
			t.Errorf("%s: example = %+v", slug, got)
		}
	}
}

func TestUnknownProblemIsNotFound(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, path := range []string{"/problems/no-such-rule", "/problems/%3Cb%3E", "/problems/already-voided/x"} {
		if page := htmlOf(s, path, http.StatusNotFound); !strings.Contains(page, `<a class="button" href="/">`) {
			t.Errorf("%s has no link to the home page", path)
		}
	}
}

func TestHeadIsAnswered(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, path := range []string{"/", "/docs", "/docs/reference/customers", "/docs/retries", "/problems", "/problems/already-voided"} {
		if got := s.Ask(http.MethodHead, path); got.Code != http.StatusOK {
			t.Errorf("HEAD %s = %d", path, got.Code)
		}
	}
}

// The guides promise what the specification does (§7, §9).
func TestGuidesMatchTheSpecification(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for path, facts := range map[string][]string{
		"/docs/versioning": {
			"/api/v1/", "/api/v2/", "at least 6 months", "at least 90 days", "Deprecation: true", "Sunset: Thu, 01 Apr 2027 00:00:00 GMT", "rel=\"deprecation\"",
			"owner address of every business with an active token", "new optional request fields", "new response fields", "new endpoints", "higher rate limits",
			"removing an endpoint", "required request field", "documented response field", "authentication", "of errors",
		},
		"/docs/changelog": {
			"May 2026", "customers:read", "customers:write", "transactions:write", "rewards:read", "coupons:read", "reports:read",
			"Planned, not committed", "/api/v1/customers/{ulid}/redemptions", "Webhooks", "read-only token", "POST /api/v1/transactions",
		},
		"/docs/retries": {
			"400, 401, 403, 404, 405, 412, 413, 415, 422, 431", "Retry-After", "1, 2, 4 and 8 seconds", "10 to 20 percent", "After those 4 attempts",
			"already-voided</code> is success", "Idempotency-Key", "external_reference", "look before you send it again",
		},
	} {
		page := html.UnescapeString(htmlOf(s, path, http.StatusOK))
		for _, fact := range facts {
			if !strings.Contains(page, fact) {
				t.Errorf("%s does not say: %s", path, fact)
			}
		}
	}
}

// An address that was typed with a slash at its end leads to the page.
func TestSlashAtTheEnd(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for path, want := range map[string]string{
		"/docs/": "/docs", "/docs/retries/": "/docs/retries", "/docs/search/?q=a%20b": "/docs/search?q=a%20b", "/problems/out-of-stock/": "/problems/out-of-stock",
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			if got := s.Ask(method, path); got.Code != http.StatusPermanentRedirect || got.Header().Get("Location") != want {
				t.Errorf("%s %s: %d to %q, want %q", method, path, got.Code, got.Header().Get("Location"), want)
			}
		}
	}
}
