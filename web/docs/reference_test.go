package docs_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/api/description"
	"example.com/loyalty/core"
	"example.com/loyalty/web/docs"
	"example.com/loyalty/web/webtest"
)

// Every operation and field of openapi.json is in the reference, whose pages load nothing from
// other hosts.
func TestReferenceIsComplete(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	api, err := description.Parse(openapi(t))
	if err != nil {
		t.Fatal(err)
	}
	loaded := regexp.MustCompile(`(?:src|href)="([^"]*)"`)
	for _, tag := range api.Tags {
		page := htmlOf(s, "/docs/reference/"+strings.ToLower(tag.Name), http.StatusOK)
		for _, op := range api.Operations {
			if op.Tag != tag.Name {
				continue
			}
			for _, part := range []string{`<h2 id="` + op.ID + `">`, op.Method + `</b><code>` + op.Path + `</code>`, html.EscapeString(op.Summary)} {
				if !strings.Contains(page, part) {
					t.Errorf("the page of %s lacks %s of %s", tag.Name, part, op.ID)
				}
			}
			fields := slices.Clone(op.Parameters)
			if op.Body != nil {
				body, _ := api.Schemas.Find(op.Body.Name())
				for _, m := range body.Properties {
					fields = append(fields, description.Parameter{Name: m.Name})
				}
			}
			for _, f := range fields {
				if !strings.Contains(page, "<dt><code>"+f.Name+"</code>") {
					t.Errorf("the page of %s lacks %s of %s", tag.Name, f.Name, op.ID)
				}
			}
		}
		for _, m := range loaded.FindAllStringSubmatch(page, -1) {
			if !strings.HasPrefix(m[1], "/") && !strings.HasPrefix(m[1], "#") {
				t.Errorf("the page of %s loads %s", tag.Name, m[1])
			}
		}
		if strings.Contains(page, "](") || strings.Contains(page, "| `") {
			t.Errorf("the page of %s shows Markdown", tag.Name)
		}
	}
	shown := htmlOf(s, "/docs", http.StatusOK)
	for _, m := range api.Schemas {
		if isPage := strings.HasPrefix(m.Name, "Page") || m.Name == "Problem"; isPage != strings.Contains(shown, `id="record-`+strings.ToLower(m.Name)+`"`) {
			t.Errorf("the overview shows %s: %t, want %t", m.Name, !isPage, isPage)
		}
	}
	for _, path := range []string{"/docs/reference/nothing", "/docs/reference/", "/docs/quickstart/passwd", "/docs/clients/python/nothing", "/docs/clients/python/..%2Fclients.go", "/docs/clients/python/generate"} {
		htmlOf(s, path, http.StatusNotFound)
	}
}

// A search finds operations, fields, problems and guides by words in any order.
func TestSearchFinds(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for term, want := range map[string]string{
		"void transaction":                     "/docs/reference/transactions#voidTransaction",
		"transaction VOID":                     "/docs/reference/transactions#voidTransaction",
		"stamps_balance":                       "/docs/reference/customers#record-customer",
		"out-of-stock":                         "/problems/out-of-stock",
		"retries":                              "/docs/retries",
		"cors":                                 "/docs/browsers",
		"step copy":                            "/docs/sync",
		"/api/v1/reports/summary":              "/docs/reference/reports#reportSummary",
		"  retry-after  ":                      "/docs#limits",
		"zzz":                                  "",
		"":                                     "",
		"<script>" + strings.Repeat("x", 5000): "",
	} {
		page := htmlOf(s, "/docs/search?q="+url.QueryEscape(term), http.StatusOK)
		_, results, _ := strings.Cut(page, `<div id="found"`)
		results, _, _ = strings.Cut(results, "</main>")
		if want == "" != !strings.Contains(results, "<li>") || want != "" && !strings.Contains(results, `href="`+want+`"`) {
			t.Errorf("%.40q finds %s, want %q", term, results, want)
		}
	}
}

// The results have a heading for each kind, the kind of the best result first.
func TestSearchGroupsByKind(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for term, want := range map[string]string{"retries": "Guides, Reference", "phone": "Reference, Guides", "out-of-stock": "Problems"} {
		got := strings.Join(s.Get("/docs/search?q="+term).Texts("#found h2"), ", ")
		if got != want {
			t.Errorf("%s has the headings %s, want %s", term, got, want)
		}
	}
}

// The quick start shows the programs that it serves, which tests run, with the installation's
// address.
func TestQuickStartShowsWhatItServes(t *testing.T) {
	t.Parallel()
	e := echo.New()
	c := config(t)
	c.OwnCA = true
	docs.New(c).Mount(e)
	s := webtest.New(t, e, core.Tenant{})
	shown := html.UnescapeString(htmlOf(s, "/docs/quickstart", http.StatusOK))
	for _, file := range []string{"quickstart.sh", "quickstart.mjs", "quickstart.py", "quickstart.php", "quickstart.go"} {
		got := s.Ask(http.MethodGet, "/docs/quickstart/"+file)
		source := got.Body.String()
		if got.Code != http.StatusOK || !strings.Contains(source, "https://loyalty.example/api/v1") || !strings.Contains(shown, strings.TrimSpace(source)+"</code>") {
			t.Errorf("%s is %d, or not what the page shows:\n%s", file, got.Code, source)
		}
		if strings.Contains(source, "localhost") {
			t.Errorf("%s has the address of another installation", file)
		}
	}
	if n := strings.Count(shown, "data/ca.pem"); n != 6 {
		t.Errorf("the page names the certificate authority %d times, want once for each language and once to explain", n)
	}
	if plain := htmlOf(newSite(t), "/docs/quickstart", http.StatusOK); strings.Contains(plain, "ca.pem") {
		t.Error("an installation without its own certificate authority names one")
	}
}
