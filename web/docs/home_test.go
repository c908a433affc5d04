package docs_test

import (
	"context"
	"errors"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/web/docs"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/webtest"
)

// The start page leads people to the sign-in of their business, however they write its address.
func TestHomeLeadsToTheSignIn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for entered, want := range map[string]string{
		"cafe":                                 "https://cafe.loyalty.example/admin",
		"Cafe\n":                               "https://cafe.loyalty.example/admin",
		"cafe.loyalty.example":                 "https://cafe.loyalty.example/admin",
		"https://cafe.loyalty.example/till?x=": "https://cafe.loyalty.example/admin",
		"":                                     "",
		"bakery":                               "",
		"cafe.elsewhere.example":               "",
		"https://elsewhere.example/cafe":       "",
		"//elsewhere.example":                  "",
		"<b>":                                  "",
		strings.Repeat("a", 5000):              "",
	} {
		got := s.Ask(http.MethodGet, "/?business="+url.QueryEscape(entered))
		if want != "" {
			if got.Code != http.StatusSeeOther || got.Header().Get("Location") != want {
				t.Errorf("%q: %d %s, want a redirect to %s", entered, got.Code, got.Header().Get("Location"), want)
			}
			continue
		}
		body := html.UnescapeString(got.Body.String())
		if got.Code != http.StatusUnprocessableEntity || !strings.Contains(body, `role="alert"`) || !strings.Contains(body, `value="`+html.EscapeString(strings.TrimSpace(entered))) && entered != "<b>" {
			t.Errorf("%.40q: %d, want the form again, with what was entered", entered, got.Code)
		}
	}
}

// "status of the service": what the page says is what /readyz checks.
func TestHomeSaysWhetherTheServiceRuns(t *testing.T) {
	t.Parallel()
	for _, broken := range []error{nil, errors.New("the database is gone")} {
		c := config(t)
		c.Ready = func(context.Context) (string, error) { return "", broken }
		e := echo.New()
		e.Use(page.Security{Policy: "default-src 'none'; form-action 'self'; base-uri 'none'"}.Headers)
		docs.New(c).Mount(e)
		s := webtest.New(t, e, core.Tenant{})
		shown := htmlOf(s, "/", http.StatusOK)
		if up := strings.Contains(shown, "The service is running."); up != (broken == nil) || strings.Contains(shown, "gone") {
			t.Errorf("with %v the page says that the service runs: %t", broken, up)
		}
		policy := s.Ask(http.MethodGet, "/").Header().Get("Content-Security-Policy")
		if policy != "default-src 'none'; form-action 'self' https://*.loyalty.example; base-uri 'none'" {
			t.Errorf("the form can't lead to a business: %s", policy)
		}
	}
}
