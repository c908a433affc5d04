package api_test

import (
	"bytes"
	"context"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/api"
	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/deprecation"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/transaction"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// domain is the host of the base URL.
const domain = "loyalty.example"

// server serves the API over TLS, as the process does.
type server struct {
	*httptest.Server
	db           *db.DB
	api          *api.API
	tokens       *token.Service
	people       *staff.Service
	tenants      *tenant.Service
	deprecations *deprecation.Service
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

// sharedServer returns the server that tests share: without limits, with the default scope.
func sharedServer(t testing.TB) *server {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		shared.server = startServer(t, dbtest.DB(t), nil)
	}
	return shared.server
}

// newServer returns the test's own server, with its configuration changed.
func newServer(t testing.TB, d *db.DB, change func(*api.Config)) *server {
	t.Helper()
	own := startServer(t, d, change)
	t.Cleanup(own.Close)
	return own
}

func startServer(t testing.TB, d *db.DB, change func(*api.Config)) *server {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	jobs, err := job.New(d, quiet)
	if err != nil {
		t.Fatal(err)
	}
	mails := shoptest.NewMails(d, jobs)
	signIns := dbtest.Auth(d, jobs, mails)
	o := &server{
		db: d, tokens: token.NewService(d, jobs, mails), people: staff.NewService(d, mails, signIns), tenants: tenant.NewService(d, mails), deprecations: deprecation.NewService(d, jobs, mails, quiet), log: &journal{},
	}
	c := api.Config{
		Tokens: o.tokens, Auth: signIns, Customers: customer.NewService(d), Transactions: transaction.NewService(d), Rewards: reward.NewService(d),
		Coupons: coupon.NewService(d, jobs, nil, dbtest.Links(), quiet), Reports: report.NewService(d),
		Tenants: o.tenants, Invoices: billing.NewService(d, jobs, mails, quiet), Deprecations: o.deprecations,
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
	o.Server = httptest.NewUnstartedServer(o.handler())
	o.Config.ErrorLog = log.New(io.Discard, "", 0)
	o.StartTLS()
	o.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = 100
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
	r, err := http.NewRequestWithContext(ctx, method, o.URL+path, body)
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
	got, err := send(o.Client(), r)
	if err != nil {
		return answer{}, err
	}
	return got, described().check(r, sent(), got)
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
