package host_test

import (
	"strings"
	"testing"

	"example.com/loyalty/web/host"
)

func names(tb testing.TB, baseURL string) host.Names {
	tb.Helper()
	n, err := host.Parse(baseURL)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// "tenant panel: https://{slug}.{host}/admin (demo: https://demo.localhost:8443/admin)".
func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ baseURL, base, tenant string }{
		{"https://localhost:8443", "https://localhost:8443", "https://demo.localhost:8443"},
		{"https://localhost:8443/", "https://localhost:8443", "https://demo.localhost:8443"},
		{"https://Loyalty.Example.", "https://loyalty.example", "https://demo.loyalty.example"},
		{"https://loyalty.example:443", "https://loyalty.example", "https://demo.loyalty.example"},
		{"https://192.0.2.7:8443", "https://192.0.2.7:8443", "https://192.0.2.7:8443"},
		{"https://[2001:DB8::0:7]:8443", "https://[2001:db8::7]:8443", "https://[2001:db8::7]:8443"},
		{"https://[::1]", "https://[::1]", "https://[::1]"},
	} {
		n := names(t, c.baseURL)
		if got := n.Base(); got != c.base {
			t.Errorf("base of %s = %s, want %s", c.baseURL, got, c.base)
		}
		if got := n.Tenant("demo"); got != c.tenant {
			t.Errorf("tenant of %s = %s, want %s", c.baseURL, got, c.tenant)
		}
	}
}

func TestBaseURLIsOnlyAHost(t *testing.T) {
	t.Parallel()
	for baseURL, why := range map[string]string{
		"http://localhost:8443":      "https://",
		"localhost:8443":             "https://",
		"":                           "https://",
		"https://":                   "must name a host",
		"https:localhost":            "must name a host",
		"https://localhost/loyalty":  "path",
		"https://localhost?x=1":      "query",
		"https://localhost?":         "query",
		"https://localhost#x":        "fragment",
		"https://a:secret@localhost": "user name",
		"https://localhost:0":        "port",
		"https://localhost:65536":    "port",
		"https://a_b.example":        "must name a host",
		"https://café.example":       "xn--",
		"https://-a.example":         "must name a host",
		"https://a..example":         "must name a host",
		"https://127.1":              "must name a host",
		"https://[fe80::1%25eth0]":   "network interface",
	} {
		_, err := host.Parse(baseURL)
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("Parse(%q) = %v, want an error about %q", baseURL, err, why)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("Parse(%q) repeats the password: %v", baseURL, err)
		}
	}
}

func TestSlug(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		baseURL, host, slug string
		known               bool
	}{
		{"https://localhost:8443", "localhost:8443", "", true},
		{"https://localhost:8443", "localhost", "", true},
		{"https://localhost:8443", "localhost:9999", "", true},
		{"https://localhost:8443", "LocalHost.:8443", "", true},
		{"https://localhost:8443", "demo.localhost:8443", "demo", true},
		{"https://localhost:8443", "DEMO.localhost.", "demo", true},
		{"https://localhost:8443", "a.demo.localhost:8443", "", false},
		{"https://localhost:8443", ".localhost", "", false},
		{"https://localhost:8443", "-x.localhost", "", false},
		{"https://localhost:8443", "de mo.localhost", "", false},
		{"https://localhost:8443", "demolocalhost", "", false},
		{"https://localhost:8443", "localhost.example.org", "", false},
		{"https://localhost:8443", "127.0.0.1:8443", "", false},
		{"https://localhost:8443", "", "", false},
		{"https://192.0.2.7:8443", "192.0.2.7:8443", "", true},
		{"https://192.0.2.7:8443", "demo.192.0.2.7", "", false},
		{"https://[2001:db8::7]", "[2001:db8:0::7]:8443", "", true},
		{"https://[2001:db8::7]", "[2001:db8::7]", "", true},
		{"https://[2001:db8::7]", "[2001:db8::8]", "", false},
	} {
		slug, known := names(t, c.baseURL).Slug(c.host)
		if slug != c.slug || known != c.known {
			t.Errorf("%s: Slug(%q) = %q, %t, want %q, %t", c.baseURL, c.host, slug, known, c.slug, c.known)
		}
	}
}

func FuzzSlug(f *testing.F) {
	for _, h := range []string{"localhost", "demo.localhost:8443", "[::1]:8443", "a.b.localhost", "DEMO.LOCALHOST.", ":", "["} {
		f.Add(h)
	}
	n := names(f, "https://localhost:8443")
	f.Fuzz(func(t *testing.T, requestHost string) {
		slug, known := n.Slug(requestHost)
		if !known && slug != "" {
			t.Fatalf("Slug(%q) is unknown and yet %q", requestHost, slug)
		}
		if !known {
			return
		}
		// Whatever is known is a host that the product could itself have named.
		again, err := host.Parse(n.Tenant(slug))
		if err != nil {
			t.Fatalf("Slug(%q) = %q, which is no host: %v", requestHost, slug, err)
		}
		if got, ok := n.Slug(strings.TrimPrefix(again.Base(), "https://")); got != slug || !ok {
			t.Fatalf("Slug(%q) = %q, but its own host is %q", requestHost, slug, got)
		}
	})
}
