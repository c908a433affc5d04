package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core/dbtest"
)

// server is the running product, and a client that trusts it.
type server struct {
	*process
	in    *installation
	http  *http.Client
	token string // of the demo, "" without one
}

// serve starts the product and waits until it responds.
func (in *installation) serve() *server {
	in.t.Helper()
	s := in.served()
	s.http = client(in.t, in.addr, trusting(in.t, filepath.Join(in.data, "ca.pem")))
	s.expect(in.t, http.StatusOK, "GET", "/healthz", "", "")
	return s
}

// served starts the product and waits for the start-up screen or, with a JSON log, for its line.
func (in *installation) served() *server {
	in.t.Helper()
	s := &server{process: in.start("", "serve"), in: in}
	await(in.t, "the product is running", func() bool {
		if s.hasExited() {
			in.t.Fatalf("serve exited: %v\n%s", s.cmd.ProcessState, s.log.String())
		}
		return s.out.has("is running") && strings.HasSuffix(s.out.String(), "\n\n") || s.log.has(`"msg":"serving"`)
	})
	if token, err := os.ReadFile(filepath.Join(in.data, demoTokenFile)); err == nil {
		s.token = strings.TrimSpace(string(token))
		_, secret, _ := strings.Cut(s.token, "|")
		in.hidden = append(in.hidden, secret)
	}
	return s
}

// mailKeys lets tests open the mailbox one after the other: a key works once.
var mailKeys sync.Mutex

var mailAddress = regexp.MustCompile(`Mail +(https://\S+/mail\?key=\S+) `)

// mail calls open with the mailbox's address and key, and waits until the key was used.
func (s *server) mail(t *testing.T, open func(address string)) {
	t.Helper()
	mailKeys.Lock()
	defer mailKeys.Unlock()
	shown := func() []string {
		all := mailAddress.FindAllStringSubmatch(s.out.String(), -1)
		if all == nil {
			t.Fatalf("the screen has no mailbox address:\n%s", s.out.String())
		}
		return all[len(all)-1]
	}
	address := shown()[1]
	open(address)
	await(t, "the terminal shows the next key", func() bool { return shown()[1] != address })
}

// stop stops the server like Ctrl-C.
func (s *server) stop() {
	s.in.t.Helper()
	s.signal(syscall.SIGINT)
	if code := s.exit(); code != 0 {
		s.in.t.Errorf("serve ended with %d after Ctrl-C\n%s", code, s.log.String())
	}
}

func trusting(t *testing.T, file string) *tls.Config {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		t.Fatalf("%s has no certificate", file)
	}
	return &tls.Config{RootCAs: roots}
}

// client connects every host to one address, because Go doesn't resolve *.localhost.
func client(t *testing.T, addr string, config *tls.Config) *http.Client {
	t.Helper()
	transport := &http.Transport{
		TLSClientConfig: config, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 10,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport: transport, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) id() string { return a.header.Get("X-Request-Id") }

// call makes a request; a path is relative to the base URL.
func (s *server) call(method, path, token, body string, headers ...string) (answer, error) {
	if strings.HasPrefix(path, "/") {
		path = s.in.base + path
	}
	return call(s.http, method, path, token, body, headers...)
}

func call(c *http.Client, method, url, token, body string, headers ...string) (answer, error) {
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r, err := http.NewRequest(method, url, content)
	if err != nil {
		return answer{}, err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	got, err := c.Do(r)
	if err != nil {
		return answer{}, err
	}
	text, err := io.ReadAll(got.Body)
	return answer{got.StatusCode, got.Header, string(text)}, errors.Join(err, got.Body.Close())
}

// expect makes a request and checks its status.
func (s *server) expect(t *testing.T, status int, method, path, token, body string, headers ...string) answer {
	t.Helper()
	got, err := s.call(method, path, token, body, headers...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	if got.status != status {
		t.Errorf("%s %s: %d, want %d: %s", method, path, got.status, status, got.body)
	}
	return got
}

// is compares a whole response.
func (a answer) is(t *testing.T, status int, contentType, body string) {
	t.Helper()
	if a.status != status || a.header.Get("Content-Type") != contentType || a.body != body {
		t.Errorf("%d %s\n%s want %d %s\n%s", a.status, a.header.Get("Content-Type"), a.body, status, contentType, body)
	}
}

const (
	problemJSON = "application/problem+json"
	badRequest  = `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.5.1","title":"Error","status":400,"detail":"An error occurred."}` + "\n"
	notFound    = `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.5.5","title":"Not Found","status":404,"detail":"The requested resource was not found."}` + "\n"
	unavailable = `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.6.4","title":"Service Unavailable","status":503,"detail":"The service is temporarily unavailable."}` + "\n"
)

// isUnavailable reports whether a response is the 503 of an unreachable database.
func (a answer) isUnavailable() bool {
	return a.status == http.StatusServiceUnavailable && a.header.Get("Retry-After") != "" &&
		a.header.Get("Content-Type") == problemJSON && a.body == unavailable
}

func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

type single[T any] struct {
	Data T `json:"data"`
}

type many[T any] struct {
	Data []T `json:"data"`
}

type customerRecord struct {
	ULID   string `json:"ulid"`
	Points int64  `json:"points_balance"`
}

type saleRecord struct {
	ULID string `json:"ulid"`
}

// apiTill is a client of the API, with a token and the ids for a sale.
type apiTill struct {
	*server
	t        *testing.T
	token    string
	customer string
	typeID   string
}

// demoTill is a client for a customer who joined just now: of those of the demo, many earn more by their level.
func (s *server) demoTill(t *testing.T) apiTill {
	t.Helper()
	buyer, err := s.call("POST", "/api/v1/customers", s.token, `{"first_name":"Bror","last_name":"Brandt","phone":"+46 74 555 66 79"}`)
	if err != nil || buyer.status >= 300 { // another test may have added them
		t.Fatal(buyer, err)
	}
	return apiTill{s, t, s.token, decode[single[customerRecord]](t, buyer.body).Data.ULID, "1"}
}

func (s apiTill) sale(reference string) string {
	return `{"customer_ulid":"` + s.customer + `","transaction_type_id":` + s.typeID +
		`,"spend_amount_cents":1250,"external_reference":"` + reference + `"}`
}

// sell records a sale under an idempotency key.
func (s apiTill) sell(reference string) (answer, error) {
	return s.call("POST", "/api/v1/transactions", s.token, s.sale(reference), "Idempotency-Key: "+reference)
}

// begin sends a sale without waiting for its response.
func (s apiTill) begin(reference string) <-chan answer {
	answered := make(chan answer, 1)
	go func() {
		got, err := s.sell(reference)
		if err != nil {
			got.body = err.Error()
		}
		answered <- got
	}()
	return answered
}

func (s apiTill) points() int64 {
	s.t.Helper()
	found := s.expect(s.t, http.StatusOK, "GET", "/api/v1/customers/"+s.customer, s.token, "")
	return decode[single[customerRecord]](s.t, found.body).Data.Points
}

// database is the test's own connection to the database.
type database struct {
	*pgx.Conn
	t *testing.T
}

func connect(t *testing.T, url string) database {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.WithoutCancel(t.Context())) })
	return database{conn, t}
}

// url returns the URL of the private database, with the owner's login.
func (in *installation) url() string {
	return "postgres://loyalty@/loyalty?port=5432&host=" + in.cluster()
}

func (d database) exec(sql string, args ...any) {
	d.t.Helper()
	if _, err := d.Exec(d.t.Context(), sql, args...); err != nil {
		d.t.Fatal(err)
	}
}

func ask[T any](d database, sql string, args ...any) T {
	d.t.Helper()
	var v T
	if err := d.QueryRow(d.t.Context(), sql, args...).Scan(&v); err != nil {
		d.t.Fatal(err)
	}
	return v
}

// hold locks all balances until released.
func hold(t *testing.T, url string) (release func()) {
	t.Helper()
	d := connect(t, url)
	d.exec("begin")
	d.exec("update loyalty.account set points = points")
	return func() { d.exec("rollback") }
}

// awaitWaiter waits until the product waits for a lock.
func awaitWaiter(t *testing.T, url string) {
	t.Helper()
	d := connect(t, url)
	activity := "pg_stat_activity" // of a private database, too
	if ask[bool](d, "select exists (select from pg_extension where extname = 'citus')") {
		activity = dbtest.Activity(t)
	}
	await(t, "a request waits for the lock", func() bool {
		return ask[bool](d, `
			select exists (
				select from `+activity+`
				where datname = current_database() and wait_event_type = 'Lock')`)
	})
}

// awaitNoTransaction waits until nothing of a killed product is under way: its transactions end with its connections.
func awaitNoTransaction(t *testing.T, url string) {
	t.Helper()
	d := connect(t, url)
	await(t, "the killed process's transactions end", func() bool {
		return ask[bool](d, `
			select not exists (
				select from pg_stat_activity
				where datname = current_database() and application_name = 'loyalty' and xact_start is not null)`)
	})
}
