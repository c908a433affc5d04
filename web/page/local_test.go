package page_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/web/host"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/webtest"
)

// "Only for a browser on this machine that asks for the base host by its name."
func TestLocal(t *testing.T) {
	t.Parallel()
	names := webtest.Names(t)
	direct, proxied := []netip.Prefix(nil), []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	for _, c := range []struct {
		trusted  []netip.Prefix
		from, at string
		headers  map[string]string
		want     int
	}{
		{direct, "127.0.0.1:5000", "loyalty.example", nil, 200},
		{direct, "[::1]:5000", "loyalty.example:8443", nil, 200}, // through a tunnel, at another port
		{direct, "192.0.2.7:5000", "loyalty.example", nil, 404},
		{direct, "127.0.0.1:5000", "demo.loyalty.example", nil, 404},
		{direct, "127.0.0.1:5000", "evil.example", nil, 404},
		{direct, "127.0.0.1:5000", "127.0.0.1", nil, 404},
		{direct, "192.0.2.7:5000", "loyalty.example", map[string]string{"X-Forwarded-For": "127.0.0.1"}, 404},
		// Forwarded requests are refused, whether or not the proxy is trusted.
		{proxied, "127.0.0.1:5000", "loyalty.example", map[string]string{"X-Forwarded-Proto": "https", "X-Forwarded-For": "127.0.0.1"}, 404},
		{proxied, "127.0.0.1:5000", "loyalty.example", map[string]string{"X-Forwarded-For": "192.0.2.7"}, 404},
		{direct, "127.0.0.1:5000", "loyalty.example", map[string]string{"X-Forwarded-For": "127.0.0.1"}, 404},
		{direct, "127.0.0.1:5000", "loyalty.example", map[string]string{"X-Forwarded-Proto": "https"}, 404},
		{direct, "127.0.0.1:5000", "loyalty.example", map[string]string{"X-Forwarded-Host": "abc.ngrok.app"}, 404},
		{direct, "127.0.0.1:5000", "loyalty.example", map[string]string{"X-Real-IP": "192.0.2.7"}, 404},
		{direct, "127.0.0.1:5000", "loyalty.example", map[string]string{"Via": "1.1 proxy"}, 404},
		{direct, "127.0.0.1:5000", "loyalty.example", map[string]string{"Forwarded": "proto=https"}, 404},
		{direct, "127.0.0.1:5000", "loyalty.example", map[string]string{"CF-Connecting-IP": "192.0.2.7"}, 404},
	} {
		e := echo.New()
		e.GET("/", func(c echo.Context) error { return c.String(http.StatusOK, "here") }, page.Local(names.Slug, host.ClientAddress(c.trusted)))
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr, r.Host = c.from, c.at
		for name, value := range c.headers {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		e.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("from %s at %s %v, trusting %v = %d, want %d", c.from, c.at, c.headers, c.trusted, w.Code, c.want)
		}
		if w.Code == http.StatusOK && w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("the page may be kept: %v", w.Header())
		}
	}
}
