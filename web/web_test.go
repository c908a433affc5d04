package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/web"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/webtest"
)

// site is the whole product with an API that reports that it was reached.
type site struct {
	web.Config
	log     *bytes.Buffer
	figures []string // what was observed
	routes  []string // by which they are counted
}

func newSite(t *testing.T) *site {
	t.Helper()
	d := &site{log: &bytes.Buffer{}}
	clock := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	openapi, err := os.ReadFile("../api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	d.Config = web.Config{
		Names: webtest.Names(t), Description: openapi,
		API: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			core.AddLogAttrs(r.Context(), slog.String("token", "17"), slog.Int64("tenant", 3))
			w.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(w, "the API")
		}),
		Gate:    web.NewGate(20),
		Portal:  says("a customer's page"),
		Tenants: says("the panel"),
		Address: host.ClientAddress(nil), RequestID: host.RequestID(nil),
		Ready: func(context.Context) (string, error) { return "", nil },
		Observe: func(a web.Answered) {
			d.figures = append(d.figures, fmt.Sprint(a.Area, " ", a.Method, " ", a.Status, " ", a.Took))
			d.routes = append(d.routes, a.Route)
		},
		Now: func() time.Time { clock = clock.Add(time.Second); return clock },
		Log: slog.New(slog.NewJSONHandler(d.log, nil)),
	}
	return d
}

// says answers with a text.
func says(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, text)
	})
}

func ask(h http.Handler, method, url string) *httptest.ResponseRecorder {
	if url[0] == '/' {
		url = webtest.Base + url
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, url, nil))
	return w
}

// line is the one log line of the only request.
func (d *site) line(t *testing.T) (line struct {
	Msg, Request, Method, Host, Path, Route, Address, Token string
	Status, Bytes, Tenant                                   int
	MS                                                      float64
},
) {
	t.Helper()
	if err := json.Unmarshal(d.log.Bytes(), &line); err != nil {
		t.Fatalf("%v: %s", err, d.log)
	}
	return line
}

// "the API by its path, everything else by its host"; "the line names no query and,
// outside the API, no path: links hold secrets"; "a stranger can make up any number".
func TestAreas(t *testing.T) {
	t.Parallel()
	const api, page, missing = "API", "text/html; charset=UTF-8", "missing"
	for _, r := range []struct {
		method, url string
		answers     string
		status      int
		path, area  string // in the log and in the figures
	}{
		{"GET", "/api/v1/customers?search=hush", api, 418, "/api/v1/customers", "api"},
		{"POST", "https://demo.loyalty.example/api/v1/customers", api, 418, "/api/v1/customers", "api"},
		{"GET", "/api", api, 418, "/api", "api"},
		{"GET", "/api/", api, 418, "/api/", "api"},
		{"GET", "/api/v1//customers", api, 418, "/api/v1//customers", "api"},
		{"DELETE", "/api/v1/../hush", api, 418, "/api/v1/../hush", "api"},
		{"GET", "/", page, 200, "/", ""},
		{"GET", "/docs?hush", page, 200, "/docs", "docs"},
		{"GET", "/docs/retries", page, 200, "/docs", "docs"},
		{"GET", "/problems?hush", page, 200, "/problems", "problems"},
		{"GET", "/problems/out-of-stock", page, 200, "/problems", "problems"},
		{"GET", "/problems/hush", page, 404, "/problems", "problems"},
		{"GET", "/mail/hush", page, 404, "/mail", "mail"},
		{"GET", "https://elsewhere.example/platform/hush", page, 404, "/platform", "platform"},
		{"GET", "/card/hush", page, 404, "/card", "card"},
		{"GET", "/w/hush", page, 404, "/w", "w"},
		{"GET", "/join/hush", page, 404, "/join", "join"},
		{"GET", "/hush", page, 404, "/other", "other"},
		{"POST", "/problems", page, 404, "/problems", "problems"},
		{"GET", "/static/hush", missing, 404, "/static", "static"},
	} {
		t.Run(r.method+" "+r.url, func(t *testing.T) {
			t.Parallel()
			d := newSite(t)
			got := ask(web.New(d.Config), r.method, r.url)
			kind := got.Header().Get("Content-Type")
			if got.Body.String() == "the API" {
				kind = api
			}
			if got.Code != r.status || (r.answers != missing && kind != r.answers) {
				t.Errorf("%d %s: %s", got.Code, kind, got.Body)
			}
			if r.answers == page && !strings.HasPrefix(got.Header().Get("Content-Security-Policy"), "default-src 'none'; ") {
				t.Errorf("a page with the policy %q", got.Header().Get("Content-Security-Policy"))
			}
			l := d.line(t)
			if l.Msg != "request" || l.Path != r.path || l.Method != r.method || l.Status != r.status || l.Bytes != got.Body.Len() ||
				l.MS != 1000 || l.Address != "192.0.2.1" || l.Request != got.Header().Get("X-Request-Id") {
				t.Errorf("logged %+v", l)
			}
			// The caller, if the handler knew it.
			if called := l.Token == "17" && l.Tenant == 3; called != (r.answers == api) {
				t.Errorf("logged %+v", l)
			}
			if want := fmt.Sprint(r.area, " ", r.method, " ", r.status, " 1s"); len(d.figures) != 1 || d.figures[0] != want {
				t.Errorf("observed %q, want %q", d.figures, want)
			}
			if !strings.Contains(r.path, "hush") && strings.Contains(d.log.String(), "hush") {
				t.Errorf("the log tells a secret: %s", d.log)
			}
		})
	}
}

// "Customers' own pages on the tenant's host, mounted beside the panel": links hold secrets, so
// the log names no more of a path than its first part.
func TestCustomersPages(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]struct{ says, path string }{
		"https://demo.loyalty.example/v/hush":                  {"a customer's page", "/v"},
		"https://demo.loyalty.example/v":                       {"a customer's page", "/v"},
		"https://demo.loyalty.example/unsubscribe/hush?hush":   {"a customer's page", "/unsubscribe"},
		"https://demo.loyalty.example/brand/165c47.css":        {"a customer's page", "/brand"},
		"https://demo.loyalty.example/vhush":                   {"the panel", "/other"},
		"https://demo.loyalty.example/admin/vouchers/hush":     {"the panel", "/admin"},
		"https://demo.loyalty.example/":                        {"a customer's page", "/"},
		"https://loyalty.example/v/hush":                       {"", "/v"},
		"https://loyalty.example/unsubscribe/hush":             {"", "/unsubscribe"},
		"https://demo.elsewhere.example/unsubscribe/hush":      {"", "/unsubscribe"},
		"https://deeper.demo.loyalty.example/unsubscribe/hush": {"", "/unsubscribe"},
	} {
		d := newSite(t)
		got := ask(web.New(d.Config), http.MethodGet, url)
		if want.says == "" && got.Code != http.StatusNotFound || want.says != "" && got.Body.String() != want.says {
			t.Errorf("%s: %d %s", url, got.Code, got.Body)
		}
		if l := d.line(t); l.Path != want.path || strings.Contains(d.log.String(), "hush") {
			t.Errorf("%s: logged %s", url, d.log)
		}
	}
}

// "The API takes any Host and echoes it in links: only hosts of the base URL": nor are there
// pages on others, as after a DNS name was pointed at this machine. Probes come by address.
func TestOtherHosts(t *testing.T) {
	t.Parallel()
	for _, other := range []string{"evil.example", "loyalty.example.evil.example", "127.0.0.1:8443", "loyalty.example:x", "a.b.loyalty.example"} {
		for path, want := range map[string]int{
			"/": 404, "/docs": 404, "/platform": 404, "/admin": 404, "/mail": 404, "/v/hush": 404, "/healthz": 200, "/readyz": 200,
		} {
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, webtest.Base+path, nil)
			r.Host = other
			web.New(newSite(t).Config).ServeHTTP(w, r)
			if w.Code != want || strings.Contains(w.Body.String(), other) {
				t.Errorf("%s on %s: %d %s, want %d", path, other, w.Code, w.Body, want)
			}
		}
	}
}

// "JSON answers carry a Content-Security-Policy of default-src 'none'".
func TestProbesHaveAPolicy(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/healthz", "/readyz"} {
		if got := ask(web.New(newSite(t).Config), http.MethodGet, path).Header().Get("Content-Security-Policy"); got != "default-src 'none'; frame-ancestors 'none'" {
			t.Errorf("%s has the policy %q", path, got)
		}
	}
}

// "403s and refused sign-ins leave a security line in the log": who, what, from where, and the
// request; and nothing else does.
func TestWhatIsRefusedIsLogged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		note   bool
		what   string // "": no line
	}{
		"a 403":             {403, false, "access"},
		"a refused sign-in": {422, true, "sign-in"},
		"a form that lacks": {422, false, ""},
		"a page":            {200, false, ""},
		"a stranger's":      {401, false, ""},
	} {
		d := newSite(t)
		d.Tenants = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			core.AddLogAttrs(r.Context(), slog.String("staff", "17"))
			if c.note {
				core.LogRefusal(r.Context(), "sign-in", slog.String("reason", "wrong password"))
			}
			w.WriteHeader(c.status)
		})
		got := ask(web.New(d.Config), http.MethodPost, "https://demo.loyalty.example/admin/hush?hush")
		var found []map[string]any
		for line := range strings.Lines(d.log.String()) {
			var l map[string]any
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatal(err)
			}
			if l["msg"] == "refused" {
				found = append(found, l)
			}
		}
		if len(found) != map[bool]int{true: 0, false: 1}[c.what == ""] || strings.Contains(d.log.String(), "hush") {
			t.Errorf("%s: the log is %s", name, d.log)
			continue
		}
		if c.what == "" {
			continue
		}
		l := found[0]
		if l["level"] != "WARN" || l["what"] != c.what || l["request"] != got.Header().Get("X-Request-Id") || l["address"] != "192.0.2.1" || l["staff"] != "17" ||
			l["path"] != "/admin" || l["status"] != float64(c.status) || c.note && l["reason"] != "wrong password" {
			t.Errorf("%s: %v", name, l)
		}
	}
}

// "Nothing is loaded from another host at run time": scripts are the product's own files, and no
// page can be framed.
func TestPolicies(t *testing.T) {
	t.Parallel()
	product := web.New(newSite(t).Config)
	for _, path := range []string{"/", "/docs", "/docs/quickstart", "/docs/retries", "/problems"} {
		h := ask(product, http.MethodGet, path).Header()
		policies := h.Values("Content-Security-Policy")
		if len(policies) != 1 || !strings.Contains(policies[0], "default-src 'none'; script-src 'self';") || !strings.Contains(policies[0], "frame-ancestors 'none'") ||
			h.Get("X-Frame-Options") != "DENY" || h.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("%s: %v", path, h)
		}
	}
}

// The pages are compressed, and the one that says that there is none like the others.
func TestPagesAreCompressed(t *testing.T) {
	t.Parallel()
	product := web.New(newSite(t).Config)
	for path, status := range map[string]int{"/docs/retries": 200, "/problems/out-of-stock": 200, "/problems/hush": 404, "/hush": 404} {
		r := httptest.NewRequest(http.MethodGet, webtest.Base+path, nil)
		r.Header.Set("Accept-Encoding", "gzip")
		packed := httptest.NewRecorder()
		product.ServeHTTP(packed, r)
		if packed.Code != status || packed.Header().Get("Content-Encoding") != "gzip" || !strings.Contains(packed.Header().Get("Vary"), "Accept-Encoding") {
			t.Fatalf("%s: %d %v", path, packed.Code, packed.Header())
		}
		text, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(text)
		if plain := ask(product, http.MethodGet, path); err != nil || plain.Header().Get("Content-Encoding") != "" || plain.Body.String() != string(page) {
			t.Errorf("%s: %v, another page when compressed", path, err)
		}
	}
}

// "Every answer carries `X-Request-Id`"; "every answer `X-Content-Type-Options: nosniff`";
// "HSTS of a year".
func TestEveryResponseHasItsHeaders(t *testing.T) {
	t.Parallel()
	d := newSite(t)
	secure := web.New(d.Config)
	plain := web.Plain(d.Config, host.PlainHandler(d.Names, http.NotFoundHandler()))
	ulid := regexp.MustCompile(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`)
	ids := map[string]bool{}
	for _, path := range []string{"/", "/nowhere", "/problems", "/api/v1/x", "/healthz", "/readyz", "/static/x", "/a//b"} {
		for hsts, door := range map[string]http.Handler{"max-age=31536000; includeSubDomains": secure, "": plain} {
			got := ask(door, http.MethodGet, path)
			h := got.Header()
			if !ulid.MatchString(h.Get("X-Request-Id")) || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Strict-Transport-Security") != hsts {
				t.Errorf("%s: %d %v, want HSTS %q", path, got.Code, h, hsts)
			}
			ids[h.Get("X-Request-Id")] = true
		}
	}
	// The two probes that were answered have no line.
	if len(ids) != 16 || strings.Count(d.log.String(), `"msg":"request"`) != 14 {
		t.Errorf("16 requests had %d ids\n%s", len(ids), d.log)
	}
}

// The id of a trusted proxy is in the response and in the log; a stranger's is replaced.
func TestTheRequestIDOfAProxyIsKept(t *testing.T) {
	t.Parallel()
	const id = "0198c1e6-7a31-4d0f-9f1b-2f6d3a1c5e77"
	for peer, kept := range map[string]bool{"10.0.0.1:4711": true, "192.0.2.7:4711": false} {
		d := newSite(t)
		d.RequestID = host.RequestID([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")})
		r, w := httptest.NewRequest(http.MethodGet, webtest.Base+"/api/v1/x", nil), httptest.NewRecorder()
		r.RemoteAddr = peer
		r.Header.Set("X-Request-Id", id)
		web.New(d.Config).ServeHTTP(w, r)
		if got := w.Header().Get("X-Request-Id"); (got == id) != kept || got == "" || d.line(t).Request != got {
			t.Errorf("the request of %s has the id %q, and %q in the log", peer, got, d.line(t).Request)
		}
	}
}

// "`/healthz` (process is up), `/readyz` (database reachable, migrations current)".
// Strangers learn what is wrong, and not where.
func TestProbes(t *testing.T) {
	t.Parallel()
	where := errors.New("dial tcp 10.0.0.7:5432: user=loyalty: hush")
	for _, test := range []struct {
		err  error
		want string
	}{
		{nil, `{"status":"ok"}`},
		{
			errors.New("the database is empty: run `loyalty migrate up`"),
			"{\"status\":\"unavailable\",\"reason\":\"the database is empty: run `loyalty migrate up`\"}",
		},
		{
			fmt.Errorf("the database cannot be reached: %w", where),
			`{"status":"unavailable","reason":"the database cannot be reached"}`,
		},
		{
			fmt.Errorf("the database cannot be reached: %w", fmt.Errorf("connect: %w", where)),
			`{"status":"unavailable","reason":"the database cannot be reached"}`,
		},
	} {
		d := newSite(t)
		d.Ready = func(context.Context) (string, error) { return "", test.err }
		product := web.New(d.Config)
		if up := ask(product, http.MethodGet, "/healthz"); up.Code != http.StatusOK || up.Body.String() != `{"status":"ok"}`+"\n" {
			t.Errorf("/healthz: %d %s", up.Code, up.Body)
		}
		got := ask(product, http.MethodGet, "/readyz")
		status, retry := http.StatusOK, ""
		if test.err != nil {
			status, retry = http.StatusServiceUnavailable, "2"
			if !strings.Contains(d.log.String(), `"msg":"not ready","error":`) {
				t.Errorf("the log does not say why: %s", d.log)
			}
		}
		if got.Code != status || got.Body.String() != test.want+"\n" || got.Header().Get("Retry-After") != retry ||
			got.Header().Get("Cache-Control") != "no-store" || got.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%v: %d %v %s", test.err, got.Code, got.Header(), got.Body)
		}
	}
}

// The line of a page has its route, which is the router's template: links contain secrets.
func TestLinesOfPagesHaveTheirRoute(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]struct{ path, route string }{
		"/docs":                    {"/docs", "/docs"},
		"/problems/out-of-stock":   {"/problems", "/problems/:slug"},
		"/problems/hush":           {"/problems", "/problems/:slug"},
		"/hush":                    {"/other", ""},
		"/static/hush":             {"/static", ""},
		"/api/v1/customers/hush-1": {"/api/v1/customers/hush-1", ""}, // of an API that sets none
	} {
		d := newSite(t)
		ask(web.New(d.Config), http.MethodGet, url)
		if l := d.line(t); l.Path != want.path || l.Route != want.route {
			t.Errorf("%s: logged %s", url, d.log)
		}
	}
	d := newSite(t)
	tenants := echo.New()
	tenants.GET("/card/:token", func(echo.Context) error { return echo.ErrForbidden }, page.Security{}.Headers)
	d.Portal = tenants
	ask(web.New(d.Config), http.MethodGet, "https://demo.loyalty.example/card/hush")
	if n := strings.Count(d.log.String(), `"path":"/card","status":403,"address":"192.0.2.1","route":"/card/:token"`); n != 2 || strings.Contains(d.log.String(), "hush") {
		t.Errorf("the lines of a refused request: %s", d.log)
	}
}

// "Successful checks of `/readyz` and `/healthz` aren't logged, a failing state once a minute": load balancers ask every
// second. A change is logged at once, and so is the recovery.
func TestProbesAreLoggedByState(t *testing.T) {
	t.Parallel()
	d := newSite(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	d.Now = func() time.Time { return now }
	var state error
	d.Ready = func(context.Context) (string, error) { return "", state }
	product := web.New(d.Config)
	checkFor := func(seconds int) {
		for range seconds {
			now = now.Add(time.Second)
			ask(product, http.MethodGet, "/healthz")
			ask(product, http.MethodHead, "/readyz")
		}
	}
	unreachable := func(port int) error {
		return fmt.Errorf("the database cannot be reached: %w", fmt.Errorf("dial tcp 10.0.0.7:%d: refused", port))
	}
	readOnly := errors.New("the database is read-only")
	for _, c := range []struct {
		state   error
		seconds int
		want    []string
	}{
		{nil, 100, nil},
		{unreachable(1), 1, []string{"WARN not ready: " + unreachable(1).Error()}},
		{unreachable(2), 59, nil}, // the same answer, whatever the cause behind it
		{unreachable(3), 61, []string{
			"WARN not ready: " + unreachable(3).Error() + " for 1m0s repeated 59",
			"WARN not ready: " + unreachable(3).Error() + " for 2m0s repeated 59",
		}},
		{readOnly, 2, []string{"WARN not ready: " + readOnly.Error()}},
		{nil, 100, []string{"INFO ready again after 2m3s"}},
		{readOnly, 1, []string{"WARN not ready: " + readOnly.Error()}},
		{nil, 1, []string{"INFO ready again after 1s"}},
	} {
		state = c.state
		checkFor(c.seconds)
		if got := probeLines(t, d.log); !slices.Equal(got, c.want) {
			t.Errorf("%d s of %v: logged %q, want %q", c.seconds, c.state, got, c.want)
		}
	}

	// A probe that isn't answered is a request like any other.
	d.Ready = func(context.Context) (string, error) { panic("hush") }
	ask(web.New(d.Config), http.MethodGet, "/readyz")
	if !strings.Contains(d.log.String(), `"path":"/readyz","status":500`) {
		t.Errorf("a probe that failed isn't logged: %s", d.log)
	}
}

// probeLines returns the lines of a log, and empties it.
func probeLines(t *testing.T, log *bytes.Buffer) (lines []string) {
	t.Helper()
	for text := range strings.Lines(log.String()) {
		var line struct {
			Level, Msg, Error string
			For, After        time.Duration
			Repeated          int
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		said := line.Level + " " + line.Msg
		if line.Error != "" {
			said += ": " + line.Error
		}
		if line.Repeated > 0 {
			said += fmt.Sprintf(" for %s repeated %d", line.For, line.Repeated)
		}
		if line.After > 0 {
			said += " after " + line.After.String()
		}
		lines = append(lines, said)
	}
	log.Reset()
	return lines
}

// Event streams flush and move their own deadlines.
func TestFlushAndDeadlinesReachTheConnection(t *testing.T) {
	t.Parallel()
	d := newSite(t)
	d.API = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		through := http.NewResponseController(w)
		if err := errors.Join(through.SetWriteDeadline(time.Time{}), through.Flush()); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewServer(web.New(d.Config))
	defer server.Close()
	got, err := server.Client().Get(server.URL + "/api/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	_ = got.Body.Close()
	if got.StatusCode != http.StatusOK {
		t.Errorf("%d", got.StatusCode)
	}
}

// "An answer that ended here would pass for a whole one": one that is broken off on
// purpose has its line in the log, and its client notices.
func TestAResponseThatBreaksOff(t *testing.T) {
	t.Parallel()
	d := newSite(t)
	d.API = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("half ", 10_000))
		panic(http.ErrAbortHandler)
	})
	server := httptest.NewServer(web.New(d.Config))
	defer server.Close()
	got, err := http.Get(server.URL + "/api/v1/customers")
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if body, err := io.ReadAll(got.Body); err == nil {
		t.Errorf("%d bytes look whole", len(body))
	}
	server.Close() // waits for the handler
	if line := d.line(t); line.Msg != "request" || line.Status != http.StatusOK {
		t.Errorf("log: %s", d.log)
	}
}

// A handler that panics costs its own request alone: an answer, a line in the log that
// says 500, and the cause in another.
func TestAPanicIsAnswered(t *testing.T) {
	t.Parallel()
	d := newSite(t)
	d.API = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("the till is on fire") })
	got := ask(web.New(d.Config), http.MethodGet, "/api/v1/customers")
	if got.Code != http.StatusInternalServerError || strings.Contains(got.Body.String(), "fire") {
		t.Errorf("%d %s, want 500 and no cause", got.Code, got.Body)
	}
	for _, want := range []string{`"msg":"panic"`, "the till is on fire", `"status":500`, got.Header().Get("X-Request-Id")} {
		if !strings.Contains(d.log.String(), want) {
			t.Errorf("the log lacks %s: %s", want, d.log)
		}
	}
}

// A client that left before its response is status 499, in the log's line of the request and in what is counted, and
// no fault: not when its page failed because of that, and not in a page of the base host.
func TestAClientThatLeftIs499(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"https://demo.loyalty.example/admin", "/?business=demo"} {
		d := newSite(t)
		d.Exists = func(ctx context.Context, _ string) (bool, error) { return false, ctx.Err() }
		tenants := echo.New()
		tenants.HTTPErrorHandler = func(err error, c echo.Context) {
			page.AnswerError(c, d.Log, func() error { return err })
		}
		tenants.GET("/*", func(c echo.Context) error { return c.Request().Context().Err() }, page.Compressed())
		d.Tenants = tenants
		ctx, leave := context.WithCancel(t.Context())
		leave()
		if url[0] == '/' {
			url = webtest.Base + url
		}
		w := httptest.NewRecorder()
		web.New(d.Config).ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, url, nil))
		if l := d.line(t); l.Msg != "request" || l.Status != 499 || w.Body.Len() > 0 {
			t.Errorf("%s: %s, logged %s", url, w.Body, d.log)
		}
		if len(d.figures) != 1 || !strings.Contains(d.figures[0], " GET 499 ") {
			t.Errorf("%s: counted %q", url, d.figures)
		}
	}
}

// However a path of the API is misspelled, its client gets the API's answer, never a page or a redirect in HTML.
func TestMisspelledPathsOfTheAPI(t *testing.T) {
	t.Parallel()
	product := web.New(newSite(t).Config)
	for path, isAPI := range map[string]bool{
		"/api/v1/customers": true, "//api/v1/customers": true, "/api//v1/customers": true, "/./api/v1/customers": true, "/api/./v1": true, "/api/../api/v1": true,
		"/x/../api/v1/customers": true, "/API/v1/customers": true, "///Api/v1": true, "/api": true, "/api/": true, "/%61pi/v1": true,
		"/apis": false, "/docs": false, "/x/api/v1": false,
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			r := httptest.NewRequest(method, webtest.Base+path, nil)
			w := httptest.NewRecorder()
			product.ServeHTTP(w, r)
			if (w.Body.String() == "the API") != isAPI || isAPI && w.Header().Get("Location") != "" {
				t.Errorf("%s %s: %d %v %.100s", method, path, w.Code, w.Header(), w.Body)
			}
		}
	}
}
