package main

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// quickStarts are the programs of /docs/quickstart, and how each is run with the certificates
// in a file.
var quickStarts = map[string]struct {
	needs   string
	command func(file, certificates string) []string
}{
	"quickstart.sh":  {"curl", func(file, ca string) []string { return []string{"env", "CURL_CA_BUNDLE=" + ca, "bash", file} }},
	"quickstart.mjs": {"node", func(file, ca string) []string { return []string{"env", "NODE_EXTRA_CA_CERTS=" + ca, "node", file} }},
	"quickstart.py":  {"python3", func(file, ca string) []string { return []string{"env", "SSL_CERT_FILE=" + ca, "python3", file} }},
	"quickstart.php": {"php", func(file, ca string) []string { return []string{"php", "-d", "curl.cainfo=" + ca, file} }},
	"quickstart.go":  {"go", func(file, ca string) []string { return []string{"env", "SSL_CERT_FILE=" + ca, "go", "run", file} }},
}

// requireProgram skips the test where a program is missing, unless all tests must run (CI).
func requireProgram(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is not installed, and with CI set every test must run", program)
	}
	t.Skipf("%s is not installed: `make test` and `make test-long` install it where that is permitted", program)
}

// testQuickStart runs the programs of /docs/quickstart as they are served, against the running
// product and its own certificate authority. All run at once: most of the time they wait.
func testQuickStart(t *testing.T, s *server) {
	t.Helper()
	ends := map[string]chan error{}
	for file, program := range quickStarts {
		if _, err := exec.LookPath(program.needs); err != nil {
			continue
		}
		made := s.expect(t, http.StatusCreated, "POST", "/api/v1/tokens", s.token, `{"name":"`+file+`","scopes":["customers:write","transactions:write"]}`)
		q := quickStart{
			server: s, t: t, file: file, source: s.expect(t, http.StatusOK, "GET", "/docs/quickstart/"+file, "", "").body,
			token: decode[single[struct{ Token string }]](t, made.body).Data.Token,
		}
		// Each retry after trouble is with the same key, so that each receipt is one sale.
		stories := []func() error{
			q.runTwice,
			func() error {
				return q.recordThrough("receipt-4712", trouble{drop: true}, trouble{status: http.StatusServiceUnavailable, wait: 3})
			},
			func() error {
				return q.recordThrough("receipt-4713", trouble{status: http.StatusConflict}, trouble{status: http.StatusTooManyRequests, wait: 2})
			},
			func() error {
				return q.recordThrough("receipt-4714", trouble{status: http.StatusServiceUnavailable, wait: 3, dated: true}, trouble{status: http.StatusBadGateway, isPage: true})
			},
			q.waitsNotForever,
			q.isRefused,
			q.isRedirected,
		}
		end := make(chan error, len(stories))
		for _, story := range stories {
			go func() { end <- story() }()
		}
		ends[file] = end
	}
	for file, program := range quickStarts {
		t.Run(file, func(t *testing.T) {
			requireProgram(t, program.needs)
			for range cap(ends[file]) {
				if err := <-ends[file]; err != nil {
					t.Error(err)
				}
			}
		})
	}
}

type quickStart struct {
	*server
	t                   *testing.T
	file, source, token string
}

// run runs a source of the program, and returns what it prints.
func (q quickStart) run(ca, source string) (string, error) {
	dir := q.t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, q.file), []byte(source), 0o644); err != nil {
		return "", err
	}
	command := quickStarts[q.file].command(q.file, ca)
	cmd := exec.CommandContext(q.t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "LOYALTY_TOKEN="+q.token)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A customer who has risen earns more.
var recordedSale = regexp.MustCompile(`^Recorded sale ([0-9A-Z]{26}): (?:12|14|18) points\n$`)

// record runs the program, and returns the sale that it says it recorded.
func (q quickStart) record(ca, source string) (string, error) {
	out, err := q.run(ca, source)
	found := recordedSale.FindStringSubmatch(out)
	if err != nil || found == nil {
		return "", fmt.Errorf("%w: %q, want a recorded sale", err, out)
	}
	return found[1], nil
}

// runTwice records one sale, whose receipt is then refused with another amount.
func (q quickStart) runTwice() error {
	ca := filepath.Join(q.in.data, "ca.pem")
	sale, err := q.record(ca, q.source)
	if err != nil {
		return err
	}
	if again, err := q.record(ca, q.source); err != nil || again != sale {
		return fmt.Errorf("run twice: sales %s and %s, want the same: %w", sale, again, err)
	}
	out, err := q.run(ca, strings.ReplaceAll(q.source, "1250", "1350"))
	if refused := new(exec.ExitError); !errors.As(err, &refused) || !strings.HasPrefix(out, "Receipt 4711 was recorded before, with other details.\n") {
		return fmt.Errorf("another amount with the same key: %w, %q", err, out)
	}
	return nil
}

// trouble is what an attempt to record a sale meets: its response is lost after the sale was
// recorded, it is refused for now, or redirected.
type trouble struct {
	drop   bool
	status int
	wait   int    // seconds of Retry-After
	dated  bool   // it has the date instead
	after  string // it has this instead
	isPage bool   // a proxy responds
	target string
}

// refuse responds as the API does, or redirects.
func (tr trouble) refuse(w http.ResponseWriter) {
	if tr.target != "" {
		w.Header().Set("Location", tr.target)
	}
	if tr.wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(tr.wait))
	}
	if tr.dated {
		w.Header().Set("Retry-After", time.Now().Add(time.Duration(tr.wait+1)*time.Second).UTC().Format(http.TimeFormat))
	}
	if tr.after != "" {
		w.Header().Set("Retry-After", tr.after)
	}
	if tr.isPage {
		w.WriteHeader(tr.status)
		_, _ = fmt.Fprintf(w, "<html><h1>%s</h1></html>", http.StatusText(tr.status))
		return
	}
	w.Header().Set("Content-Type", problemJSON)
	w.WriteHeader(tr.status)
	_, _ = fmt.Fprintf(w, `{"type":"about:blank","title":%q,"status":%d,"detail":"Not now."}`, http.StatusText(tr.status), tr.status)
}

// lossyLine is a proxy in front of the product that makes trouble for the first attempts to
// record a sale.
type lossyLine struct {
	forward  http.Handler
	troubles []trouble

	mu       sync.Mutex
	attempts []time.Time
	keys     []string
	sales    []string // of the responses, also the lost ones
}

func (l *lossyLine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/api/v1/transactions" {
		l.forward.ServeHTTP(w, r)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at := len(l.attempts)
	l.attempts, l.keys = append(l.attempts, time.Now()), append(l.keys, r.Header.Get("Idempotency-Key"))
	if at < len(l.troubles) && !l.troubles[at].drop {
		l.troubles[at].refuse(w)
		return
	}
	got := httptest.NewRecorder()
	l.forward.ServeHTTP(got, r)
	var sale single[saleRecord]
	_ = json.Unmarshal(got.Body.Bytes(), &sale) // an empty one is none that was recorded
	l.sales = append(l.sales, sale.Data.ULID)
	if at < len(l.troubles) {
		panic(http.ErrAbortHandler) // the client gets no response
	}
	w.WriteHeader(got.Code)
	_, _ = w.Write(got.Body.Bytes())
}

// lossyLine opens a lossy line. Its certificate is in a file.
func (s *server) lossyLine(t *testing.T, troubles ...trouble) (line *lossyLine, address, ca string, err error) {
	t.Helper()
	product, err := url.Parse(s.in.base)
	if err != nil {
		return nil, "", "", err
	}
	line = &lossyLine{
		forward:  &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(product) }, Transport: s.http.Transport},
		troubles: troubles,
	}
	proxy := httptest.NewTLSServer(line)
	t.Cleanup(proxy.Close)
	ca = filepath.Join(t.TempDir(), "proxy.pem")
	return line, proxy.URL, ca, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: proxy.Certificate().Raw}), 0o644)
}

// isRedirected runs the program while a redirect leads elsewhere. The token must not go there; how it ends is
// the program's own way.
func (q quickStart) isRedirected() error {
	var followed atomic.Bool
	other := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
	defer other.Close()
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect} { // of a POST: followed with GET, with POST
		line, address, ca, err := q.lossyLine(q.t, trouble{status: status, target: other.URL})
		if err != nil {
			return err
		}
		out, _ := q.run(ca, strings.NewReplacer(q.in.base, address, "receipt-4711", "receipt-"+strconv.Itoa(status)).Replace(q.source))
		line.mu.Lock()
		attempts := len(line.attempts)
		line.mu.Unlock()
		if followed.Load() || attempts == 0 {
			return fmt.Errorf("redirected with %d: followed %t, after %d attempts: %q", status, followed.Load(), attempts, out)
		}
	}
	return nil
}

// isRefused runs the program while a proxy refuses its sale with a page. A retry would be refused, too.
func (q quickStart) isRefused() error {
	line, address, ca, err := q.lossyLine(q.t, trouble{status: http.StatusForbidden, isPage: true})
	if err != nil {
		return err
	}
	out, err := q.run(ca, strings.NewReplacer(q.in.base, address, "receipt-4711", "receipt-403").Replace(q.source))
	line.mu.Lock()
	defer line.mu.Unlock()
	if refused := new(exec.ExitError); !errors.As(err, &refused) || len(line.attempts) != 1 || !strings.Contains(out, "403") || strings.Contains(out, "Traceback") {
		return fmt.Errorf("refused by a proxy: %w after %d attempts: %q", err, len(line.attempts), out)
	}
	return nil
}

var longest = regexp.MustCompile(`(?i)(longest ?= ?)120`)

// waitsNotForever runs the program while Retry-After is absurd or has passed. The longest wait is shorter here than in the program.
func (q quickStart) waitsNotForever() error {
	shorter := longest.ReplaceAllString(q.source, "${1}2")
	if shorter == q.source {
		return errors.New("the program has no longest wait")
	}
	q.source = shorter
	return q.recordThrough("receipt-4715",
		trouble{status: http.StatusServiceUnavailable, wait: 2, after: "Fri, 31 Dec 9999 23:59:59 GMT"},
		trouble{status: http.StatusTooManyRequests, wait: 2, after: strings.Repeat("9", 30)},
		trouble{status: http.StatusServiceUnavailable, wait: 4, after: "Wed, 21 Oct 2015 07:28:00 GMT"})
}

// recordThrough runs the program with another receipt, through a lossy line.
func (q quickStart) recordThrough(receipt string, troubles ...trouble) error {
	line, address, ca, err := q.lossyLine(q.t, troubles...)
	if err != nil {
		return err
	}
	sale, err := q.record(ca, strings.NewReplacer(q.in.base, address, "receipt-4711", receipt).Replace(q.source))
	if err != nil {
		return err
	}
	line.mu.Lock()
	defer line.mu.Unlock()
	if len(line.attempts) != len(troubles)+1 {
		return fmt.Errorf("%d attempts after %+v, want %d", len(line.attempts), troubles, len(troubles)+1)
	}
	for i, tr := range troubles {
		// Go itself repeats a request with a key at once if its connection breaks.
		waited, want := line.attempts[i+1].Sub(line.attempts[i]), time.Duration(max(1, tr.wait))*time.Second
		if !tr.drop && waited < want {
			return fmt.Errorf("after %+v the next attempt came after %s", tr, waited)
		}
	}
	for _, each := range line.sales {
		if each != sale {
			return fmt.Errorf("recorded %v, want %s alone", line.sales, sale)
		}
	}
	for _, key := range line.keys {
		if key != receipt {
			return fmt.Errorf("keys %q, want %q alone", line.keys, receipt)
		}
	}
	return nil
}
