package host_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"example.com/loyalty/web/host"
)

// "the API answers 400 problem+json … and never redirects (that would leak the
// token); a browser page gets 308 to https".
func TestPlainHandler(t *testing.T) {
	t.Parallel()
	const refusedAPI, page, refused = http.StatusTeapot, http.StatusPermanentRedirect, http.StatusBadRequest
	h := host.PlainHandler(names(t, "https://localhost:8443"), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(refusedAPI)
	}))
	for _, c := range []struct {
		method, host, path, token string
		want                      int
		location                  string
	}{
		{"GET", "demo.localhost:8443", "/admin/customers?q=%C3%85&x", "", page, "https://demo.localhost:8443/admin/customers?q=%C3%85&x"},
		{"HEAD", "localhost", "/", "", page, "https://localhost:8443/"},
		{"GET", "LOCALHOST:80", "/a%2Fb", "", page, "https://localhost:8443/a%2Fb"},
		{"GET", "example.org", "/docs", "", page, "https://localhost:8443/docs"},
		{"GET", "demo.localhost", "//example.org/x", "", page, "https://demo.localhost:8443//example.org/x"},
		{"GET", "localhost", "/apiary", "", page, "https://localhost:8443/apiary"},
		{"POST", "localhost", "/platform/sign-in", "", refused, ""},
		{"GET", "localhost", "/api/v1/customers", "", refusedAPI, ""},
		{"POST", "localhost", "/api/v1/customers", "1|x", refusedAPI, ""},
		{"GET", "demo.localhost", "/api", "", refusedAPI, ""},
		{"GET", "localhost", "//api/v1/customers", "", refusedAPI, ""},
		{"GET", "localhost", "/docs/../api/v1/customers", "", refusedAPI, ""},
		{"GET", "localhost", "/v1/customers", "1|x", refusedAPI, ""},
	} {
		r := httptest.NewRequest(c.method, "/", http.NoBody)
		u, err := url.ParseRequestURI(c.path)
		if err != nil {
			t.Fatal(err)
		}
		r.Host, r.URL = c.host, u
		if c.token != "" {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Header().Get("Location"); w.Code != c.want || got != c.location {
			t.Errorf("%s %s%s = %d %q, want %d %q", c.method, c.host, c.path, w.Code, got, c.want, c.location)
		}
	}
}

func TestRequestLineCannotNameAnotherHost(t *testing.T) {
	t.Parallel()
	h := host.PlainHandler(names(t, "https://loyalty.example"), http.NotFoundHandler())
	for _, line := range []string{"x:@example.org", "http://example.org/x", "*"} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		u, err := url.ParseRequestURI(line)
		if err != nil {
			t.Fatal(err)
		}
		r.Host, r.URL = "loyalty.example", u
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		location, err := w.Result().Location()
		if err != nil || location.Host != "loyalty.example" {
			t.Errorf("GET %s leads to %v (%v)", line, location, err)
		}
	}
}

// "HSTS of a year", "with includeSubDomains where the base URL is not localhost".
func TestHSTS(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://loyalty.example":        "max-age=31536000; includeSubDomains",
		"https://localhost.example:8443": "max-age=31536000; includeSubDomains",
		"https://localhost:8443":         "max-age=31536000",
		"https://shop.localhost":         "max-age=31536000",
		"https://192.0.2.1":              "max-age=31536000",
	} {
		w := httptest.NewRecorder()
		host.HSTS(names(t, base), http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
		if got := w.Header().Get("Strict-Transport-Security"); got != want {
			t.Errorf("%s sends %q, want %q", base, got, want)
		}
	}
}
