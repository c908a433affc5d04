package host_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"example.com/loyalty/web/host"
)

func proxies(tb testing.TB, s string) []netip.Prefix {
	tb.Helper()
	trusted, err := host.ParseProxies(s)
	if err != nil {
		tb.Fatal(err)
	}
	return trusted
}

func TestParseProxies(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"":                              "",
		" ":                             "",
		"10.0.0.7":                      "10.0.0.7/32",
		"10.1.2.3/8, 2001:db8::1":       "10.0.0.0/8 2001:db8::1/128",
		"::ffff:10.0.0.7":               "10.0.0.7/32",
		"::ffff:10.0.0.0/104, fd00::/8": "10.0.0.0/8 fd00::/8",
	} {
		var got []string
		for _, p := range proxies(t, s) {
			got = append(got, p.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("ParseProxies(%q) = %v, want %s", s, got, want)
		}
	}
	for s, culprit := range map[string]string{
		"10.0.0.0/33":         "10.0.0.0/33",
		"10.0.0.1,":           `""`,
		"10.0.0.1, localhost": "localhost",
		"10.0.0.1:80":         "10.0.0.1:80",
		"10.0.0.1 10.0.0.2":   "10.0.0.1 10.0.0.2",
		"fe80::%eth0/10":      "fe80::%eth0/10",
	} {
		if _, err := host.ParseProxies(s); err == nil || !strings.Contains(err.Error(), culprit) {
			t.Errorf("ParseProxies(%q) = %v, want an error that names %s", s, err, culprit)
		}
	}
}

// "proxy (plain listener; a request is taken only from LOYALTY_TRUSTED_PROXIES
// and only with X-Forwarded-Proto: https; /healthz and /readyz need no header)".
func TestBehindProxy(t *testing.T) {
	t.Parallel()
	const taken, refused = http.StatusOK, http.StatusBadRequest
	answer := func(status int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	}
	h := host.BehindProxy(proxies(t, "10.0.0.0/8, fd00::/8"), answer(taken), answer(refused))
	for _, c := range []struct {
		peer, path string
		proto      []string
		want       int
	}{
		{"10.0.0.7:4711", "/api/v1/customers", []string{"https"}, taken},
		{"10.0.0.7:4711", "/api/v1/customers", []string{"HTTPS"}, taken},
		{"[::ffff:10.0.0.7]:4711", "/", []string{"https"}, taken},
		{"[fd00::7]:4711", "/", []string{"https"}, taken},
		{"[fd00::7%eth0]:4711", "/", []string{"https"}, taken},
		{"10.0.0.7:4711", "/", []string{"https, https"}, taken},
		{"10.0.0.7:4711", "/", nil, refused},
		{"10.0.0.7:4711", "/", []string{""}, refused},
		{"10.0.0.7:4711", "/", []string{"http"}, refused},
		{"10.0.0.7:4711", "/", []string{"http, https"}, refused},
		{"10.0.0.7:4711", "/", []string{"https", "http"}, refused},
		{"192.0.2.7:4711", "/", []string{"https"}, refused},
		{"@", "/", []string{"https"}, refused},
		{"192.0.2.7:4711", "/healthz", nil, taken},
		{"192.0.2.7:4711", "/readyz", []string{"http"}, taken},
		{"192.0.2.7:4711", "/healthz/x", nil, refused},
	} {
		r := httptest.NewRequest(http.MethodGet, c.path, http.NoBody)
		r.RemoteAddr = c.peer
		for _, proto := range c.proto {
			r.Header.Add("X-Forwarded-Proto", proto)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s from %s with %q = %d, want %d", c.path, c.peer, c.proto, w.Code, c.want)
		}
	}
}

// "The client address for limits and audit comes from X-Forwarded-For only when
// the peer is a trusted proxy."
func TestClientAddress(t *testing.T) {
	t.Parallel()
	clientOf := host.ClientAddress(proxies(t, "10.0.0.0/8, 2001:db8:f::/48"))
	for _, c := range []struct {
		peer string
		xff  []string
		want string
	}{
		{"192.0.2.7:4711", nil, "192.0.2.7"},
		{"192.0.2.7:4711", []string{"203.0.113.1"}, "192.0.2.7"},
		{"[::ffff:192.0.2.7]:4711", nil, "192.0.2.7"},
		{"@", []string{"203.0.113.1"}, "@"},
		{"10.0.0.1:4711", nil, "10.0.0.1"},
		{"10.0.0.1:4711", []string{""}, "10.0.0.1"},
		{"10.0.0.1:4711", []string{"203.0.113.1"}, "203.0.113.1"},
		{"[::ffff:10.0.0.1]:4711", []string{"::ffff:203.0.113.1"}, "203.0.113.1"},
		{"10.0.0.1:4711", []string{"198.51.100.9, 203.0.113.1"}, "203.0.113.1"},
		{"10.0.0.1:4711", []string{"198.51.100.9, 203.0.113.1,10.0.0.2 , 10.0.0.3"}, "203.0.113.1"},
		{"10.0.0.1:4711", []string{"198.51.100.9", "203.0.113.1", "10.0.0.2"}, "203.0.113.1"},
		{"10.0.0.1:4711", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"10.0.0.1:4711", []string{"203.0.113.1, unknown, 10.0.0.2"}, "10.0.0.2"},
		{"10.0.0.1:4711", []string{"203.0.113.1, , 10.0.0.2"}, "10.0.0.2"},
		{"10.0.0.1:4711", []string{"203.0.113.1:5678"}, "203.0.113.1"},
		{"[2001:db8:f::1]:4711", []string{"2001:db8:1::7"}, "2001:db8:1::7"},
		{"10.0.0.1:4711", []string{"[2001:db8:1::7]:5678"}, "2001:db8:1::7"},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{"X-Forwarded-For": c.xff}}
		if got := clientOf(r); got != c.want {
			t.Errorf("peer %s, X-Forwarded-For %q = %s, want %s", c.peer, c.xff, got, c.want)
		}
	}
}

// The id that a trusted proxy has given a request is kept, if a log can have it. That of anyone else is not.
func TestRequestID(t *testing.T) {
	t.Parallel()
	idOf := host.RequestID(proxies(t, "10.0.0.0/8"))
	const proxy, uuid = "10.0.0.1:4711", "0198c1e6-7a31-4d0f-9f1b-2f6d3a1c5e77"
	for _, c := range []struct {
		peer string
		ids  []string
		want string
	}{
		{proxy, []string{uuid}, uuid},
		{"[::ffff:10.0.0.1]:4711", []string{uuid}, uuid},
		{proxy, []string{"Root_1.67891233-abcdef012345678912345678"}, "Root_1.67891233-abcdef012345678912345678"},
		{proxy, []string{strings.Repeat("x", 64)}, strings.Repeat("x", 64)},
		{"192.0.2.7:4711", []string{uuid}, ""},
		{"@", []string{uuid}, ""},
		{proxy, nil, ""},
		{proxy, []string{""}, ""},
		{proxy, []string{uuid, uuid}, ""},
		{proxy, []string{strings.Repeat("x", 65)}, ""},
		{proxy, []string{uuid + " status=200"}, ""},
		{proxy, []string{`x","level":"ERROR`}, ""},
		{proxy, []string{"x\ny"}, ""},
		{proxy, []string{"<script>"}, ""},
		{proxy, []string{"bröd"}, ""},
		{proxy, []string{"192.0.2.7:4711"}, ""},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{"X-Request-Id": c.ids}}
		if got := idOf(r); got != c.want {
			t.Errorf("peer %s, X-Request-Id %q = %q, want %q", c.peer, c.ids, got, c.want)
		}
	}
}

func TestLimitKey(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.7":              "192.0.2.7",
		"::ffff:192.0.2.7":       "192.0.2.7",
		"2001:db8:1:2:3:4:5:6":   "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::1":   "2001:db8:1:2::/64",
		"fe80::1%eth0":           "fe80::/64",
		"@":                      "@",
		"[2001:db8:1:2::1]:4711": "2001:db8:1:2::/64",
	} {
		if got := host.LimitKey(address); got != want {
			t.Errorf("LimitKey(%q) = %q, want %q", address, got, want)
		}
	}
}

func FuzzClientAddress(f *testing.F) {
	for _, xff := range []string{"", "203.0.113.1", "203.0.113.1, 10.0.0.2", "::ffff:10.0.0.2,[::1]:80", "unknown,,", "fe80::1%eth0"} {
		f.Add(xff)
	}
	trusted := proxies(f, "10.0.0.0/8")
	clientOf := host.ClientAddress(trusted)
	f.Fuzz(func(t *testing.T, xff string) {
		header := http.Header{"X-Forwarded-For": {xff}}
		if got := clientOf(&http.Request{RemoteAddr: "192.0.2.7:1", Header: header}); got != "192.0.2.7" {
			t.Fatalf("a stranger made himself %q with %q", got, xff)
		}
		got := clientOf(&http.Request{RemoteAddr: "10.0.0.1:1", Header: header})
		addr, err := netip.ParseAddr(got)
		if err != nil || addr.Is4In6() || addr.Zone() != "" {
			t.Fatalf("X-Forwarded-For %q made the client %q, which is no plain address (%v)", xff, got, err)
		}
		// What a client writes is pushed to the left and must not matter, once
		// a trusted proxy has appended whom it saw.
		header.Set("X-Forwarded-For", xff+", 203.0.113.9, 10.0.0.2")
		if got := clientOf(&http.Request{RemoteAddr: "10.0.0.1:1", Header: header}); got != "203.0.113.9" {
			t.Fatalf("X-Forwarded-For %q hid 203.0.113.9 behind %q", xff, got)
		}
	})
}
