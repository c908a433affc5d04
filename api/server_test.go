package api_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/api"
	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/deprecation"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// domain is the host of the base URL.
const domain = "loyalty.example"

// server serves the API over TLS: a server of the test's process, or the running product.
type server struct {
	address string // to which all hosts are connected
	url     string
	client  *http.Client
	close   func()

	db           *db.DB
	api          *api.API
	tokens       *token.Service
	people       *staff.Service
	tenants      *tenant.Service
	deprecations *deprecation.Service
	invitation   string // the subject of an owner's invitation
	log          *journal
}

// journal is a log that tests can read.
type journal struct {
	sync.Mutex
	bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.Lock()
	defer j.Unlock()
	return j.Buffer.Write(b)
}

func (j *journal) String() string {
	j.Lock()
	defer j.Unlock()
	return j.Buffer.String()
}

var shared struct {
	sync.Mutex
	server *server
}

// theProduct is the running product: its address, the file with its authority's certificate, and its database's URL.
// cmd/loyalty's TestSpecification sets it, and so runs these tests over TLS against the product. Without it, the server
// is in this process.
var theProduct = strings.Fields(os.Getenv("LOYALTY_TEST_PRODUCT"))

// sharedServer returns the server that tests share: without limits, with the default scope.
func sharedServer(t testing.TB) *server {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	switch {
	case shared.server != nil:
	case len(theProduct) > 0:
		shared.server = reachProduct(t)
	default:
		shared.server = startServer(t, dbtest.DB(t), nil)
	}
	return shared.server
}

// newServer returns the test's own server, with its configuration changed.
func newServer(t testing.TB, d *db.DB, change func(*api.Config)) *server {
	t.Helper()
	if len(theProduct) > 0 {
		t.Skip("changes the server: in process alone")
	}
	own := startServer(t, d, change)
	t.Cleanup(own.close)
	return own
}

// reachProduct returns the running product.
func reachProduct(t testing.TB) *server {
	t.Helper()
	authority, err := os.ReadFile(theProduct[1])
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	d, err := db.Open(context.Background(), dbtest.Serving(theProduct[2]), db.Options{OwnerURL: theProduct[2]})
	if err != nil {
		t.Fatal(err)
	}
	o := prepareServer(t, d, nil)
	o.address, o.url, o.invitation = theProduct[0], "https://"+domain, "You're invited to <anything> on Loyalty"
	o.client = &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 100,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, o.address)
		},
	}}
	return o
}

func startServer(t testing.TB, d *db.DB, change func(*api.Config)) *server {
	t.Helper()
	o := prepareServer(t, d, change)
	h := httptest.NewUnstartedServer(o.handler())
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	h.StartTLS()
	o.address, o.url, o.client, o.close = h.Listener.Addr().String(), h.URL, h.Client(), h.Close
	o.client.Transport.(*http.Transport).MaxIdleConnsPerHost = 100
	return o
}

// prepareServer returns a server that doesn't serve yet.
func prepareServer(t testing.TB, d *db.DB, change func(*api.Config)) *server {
	t.Helper()
	services := shoptest.Of(t, d, core.Actor{}).Services
	o := &server{
		db: d, tokens: services.Tokens, people: services.Staff, tenants: services.Tenants, deprecations: services.Deprecations, log: &journal{},
		invitation: "auth.InvitationEmail", // an e-mail without words
	}
	c := api.Config{
		Services:   services,
		BaseURL:    "https://" + domain,
		Slug:       slug,
		Address:    func(r *http.Request) string { a, _, _ := net.SplitHostPort(r.RemoteAddr); return a },
		AddressKey: func(address string) string { return address },
		PerToken:   limit.NewWindow(0, time.Minute, time.Now), PerAddress: limit.NewWindow(0, time.Minute, time.Now),
		Failures:               limit.NewWindow(0, time.Minute, time.Now),
		TransactionCreateScope: token.TransactionsWrite,
		Timeout:                15 * time.Second,
		Log:                    slog.New(core.LogRequests(slog.NewTextHandler(o.log, nil))),
	}
	if change != nil {
		change(&c)
	}
	o.api = api.New(c)
	return o
}

// handler gives each request its id, as package web does.
func (o *server) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := core.NewID(o.db.Now()).String()
		w.Header().Set("X-Request-Id", id)
		ctx, _ := core.WithRequestLog(r.Context(), id)
		o.api.ServeHTTP(w, r.WithContext(ctx))
	})
}

func slug(host string) (string, bool) {
	name, _, _ := strings.Cut(host, ":")
	label, below := strings.CutSuffix(name, "."+domain)
	if !below {
		return "", name == domain
	}
	return label, true
}

// answer is a response of the API.
type answer struct {
	status int
	header http.Header
	body   string
}

// call makes a request. Headers are "Name: value"; a body is JSON unless they say otherwise;
// token "" means without a token.
func (o *server) call(t testing.TB, method, path, token, body string, headers ...string) answer {
	t.Helper()
	got, err := o.try(t.Context(), method, path, token, strings.NewReader(body), headers...)
	switch {
	case got.status == 0:
		t.Fatal(err)
	case err != nil:
		t.Error(err)
	}
	return got
}

// try makes a request, and checks it and its response against openapi.json.
func (o *server) try(ctx context.Context, method, path, token string, body io.Reader, headers ...string) (answer, error) {
	if s, ok := body.(*strings.Reader); ok && s.Len() == 0 {
		body = nil
	}
	r, err := http.NewRequestWithContext(ctx, method, o.url+path, body)
	if err != nil {
		return answer{}, err
	}
	r.Host = domain
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		value = strings.TrimSpace(value)
		switch {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
	sent := record(r)
	got, err := send(o.client, r)
	if err != nil {
		return answer{}, err
	}
	err = described().check(r, sent(), got)
	if h := got.header; len(theProduct) > 0 && (h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Strict-Transport-Security") != "max-age=31536000; includeSubDomains") {
		err = errors.Join(err, fmt.Errorf("%s %s: nosniff or HSTS is missing: %v", method, path, h))
	}
	return got, err
}

func send(c *http.Client, r *http.Request) (answer, error) {
	response, err := c.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(text)}, err
}

// record stores the body of a request.
func record(r *http.Request) (sent func() string) {
	var kept journal
	switch {
	case r.GetBody != nil: // a body in memory
		body, _ := r.GetBody() // which cannot fail
		_, _ = io.Copy(&kept, body)
	case r.Body != nil:
		r.Body = io.NopCloser(io.TeeReader(r.Body, &kept))
	}
	return kept.String
}
