package clients_test

import (
	"context"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The head of each program, in Python and in TypeScript's JavaScript. A wait before a retry takes no time, and shows:
// its seconds without the jitter.
const (
	pythonHead = `
import os, loyalty
from loyalty import Loyalty, Problem

def sleep(seconds):
    print(f" {seconds / 1.1:.0f}", end="")
loyalty.time.sleep = sleep
loyalty.random.uniform = lambda least, most: least

def client(base_url=os.environ["LOYALTY_URL"], token="1|secret"):
    return Loyalty(base_url, token)

def attempt(call):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, getattr(error, "status", ""), "secret" in str(error) and "tells the token")
`
	nodeHead = `
import { createLoyaltyClient, Problem, result } from './client.js'

const waiting = globalThis.setTimeout
globalThis.setTimeout = (call, milliseconds, ...rest) => {
  if (!new Error().stack.includes('client.js')) return waiting(call, milliseconds, ...rest) // of fetch
  process.stdout.write(' ' + Math.round(milliseconds / 1100))
  return waiting(call, 0, ...rest)
}
Math.random = () => 0

const client = (baseUrl = process.env.LOYALTY_URL, token = '1|secret') =>
  createLoyaltyClient({ baseUrl, token })

async function attempt(call) {
  try {
    await call()
  } catch (error) {
    console.log(error.name, error.status ?? '', error.message.includes('secret') && 'tells the token')
  }
}
`
)

// What programs pass can't make the clients ask for something else, send the token elsewhere, or repeat what
// can't be sent.
func TestClientsSendNothingElse(t *testing.T) {
	t.Parallel()
	const nothing = ""
	for name, c := range map[string]struct {
		python, node string
		prints       string   // by Python
		says         string   // by Node; "": the same
		requests     []string // that the server gets
	}{
		"an argument stays one segment of the path": {
			python:   `client().void_transaction("../transactions/01J/void?x=#é\r")`,
			node:     `await client().POST('/api/v1/transactions/{ulid}/void', { params: { path: { ulid: '../transactions/01J/void?x=#é\r' } } })`,
			requests: []string{"POST /api/v1/transactions/..%2Ftransactions%2F01J%2Fvoid%3Fx%3D%23%C3%A9%0D/void"},
		},
		"no argument steps out of the path": {
			python: `
for argument in ["", ".", ".."]:
    attempt(lambda: client().void_transaction(argument))`,
			node: `
for (const ulid of ['', '.', '..', undefined]) {
  await attempt(() => client().POST('/api/v1/transactions/{ulid}/void', { params: { path: { ulid } } }))
}`,
			prints: strings.Repeat("ValueError  False\n", 3),
			says:   strings.Repeat("TypeError  false\n", 4),
		},
		"only https": {
			python: `
for address in ["http://localhost", "HTTP://localhost", "localhost:8443", "//localhost", "https://", "ftp://localhost",
                "https://someone:secret@localhost", "https://localhost?a=", "https://localhost#a", "https://localhost\r", "https://local host"]:
    attempt(lambda: client(address))`,
			node: `
for (const address of ['http://localhost', 'HTTP://localhost', 'localhost:8443', '//localhost', 'https://', 'ftp://localhost',
  'https://someone:secret@localhost', 'https://localhost?a=', 'https://localhost#a', 'https://local host', '']) {
  await attempt(() => client(address))
}`,
			prints: strings.Repeat("ValueError  False\n", 11),
			says:   strings.Repeat("TypeError  false\n", 11),
		},
		"a token that can't be sent isn't told": {
			python: `
for token in ["1|secret\n", "1|sec\rret", "", "1|sécret"]:
    attempt(lambda: client(token=token).find_customer("01J"))`,
			node: `
for (const token of ['1|sec\nret', '', '1|sécret']) {
  await attempt(() => client(undefined, token))
}`,
			prints: strings.Repeat("ValueError  False\n", 4),
			says:   strings.Repeat("TypeError  false\n", 3),
		},
		"a key that can't be sent": {
			python: `
for key in ["receipt-1\r", "receipt\n 1", "receipt\x001", "reçu-1", "收据-1", "1" * 256]:
    attempt(lambda: client().redeem_reward(customer_ulid="01J", reward_ulid="01J", idempotency_key=key))`,
			node: `
for (const key of ['receipt\r1', 'receipt\n 1', 'receipt\x001', '收据-1']) {
  await attempt(() => client().POST('/api/v1/redemptions', { params: { header: { 'Idempotency-Key': key } }, body: {} }))
}`,
			prints: strings.Repeat("ValueError  False\n", 6),
			says:   strings.Repeat("TypeError  false\n", 4),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.says == nothing {
				c.says = c.prints
			}
			for language, program := range map[string]struct{ source, prints string }{
				"Python": {c.python, c.prints}, "TypeScript": {c.node, c.says},
			} {
				t.Run(language, func(t *testing.T) {
					t.Parallel()
					s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"data":{}}`)) })
					if got := run(t, language, program.source, s.address, s.ca); got != program.prints {
						t.Errorf("prints %q, want %q", got, program.prints)
					}
					if got := s.got(); !slices.Equal(got, c.requests) {
						t.Errorf("requests %q, want %q", got, c.requests)
					}
				})
			}
		})
	}
}

// A redirect is a problem that says so: the token goes to no other address, and nothing is repeated.
func TestClientsFollowNoRedirect(t *testing.T) {
	t.Parallel()
	for language, program := range map[string]string{
		"Python": `
try:
    client().find_customer("01J")
except Problem as problem:
    print(problem.status, "/elsewhere" in str(problem))`,
		"TypeScript": `
try {
  await client().GET('/api/v1/customers/{ulid}', { params: { path: { ulid: '01J' } } })
} catch (problem) {
  console.log(problem.status, problem instanceof Problem && problem.message.includes('/elsewhere') ? 'True' : problem)
}`,
	} {
		for _, status := range []string{"301", "302", "303", "307", "308"} {
			t.Run(language+" "+status, func(t *testing.T) {
				t.Parallel()
				other := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"data":{}}`)) })
				s := serve(t, func(w http.ResponseWriter, r *http.Request) {
					code := map[string]int{"301": 301, "302": 302, "303": 303, "307": 307, "308": 308}[status]
					http.Redirect(w, r, other.address+"/elsewhere", code)
				})
				if got, want := run(t, language, program, s.address, s.ca), status+" True\n"; got != want {
					t.Errorf("prints %q, want %q", got, want)
				}
				if got := other.got(); len(got) > 0 {
					t.Errorf("the other address got %q", got)
				}
				if got, want := s.got(), []string{"GET /api/v1/customers/01J"}; !slices.Equal(got, want) {
					t.Errorf("requests %q, want %q", got, want)
				}
			})
		}
	}
}

// A server whose certificate isn't trusted is asked once: a retry would meet the same certificate.
func TestClientsTrustNoOtherCertificate(t *testing.T) {
	t.Parallel()
	list := map[string]string{
		"Python":     `attempt(lambda: list(client().list_rewards()))`,
		"TypeScript": `await attempt(() => client().GET('/api/v1/rewards'))`,
	}
	for language, program := range list {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			s := serve(t, nil)
			own := filepath.Join(t.TempDir(), "none.pem")
			if err := os.WriteFile(own, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := run(t, language, program, s.address, own); got == "" || got[0] == ' ' {
				t.Errorf("with a certificate that isn't trusted: %q, want an error at once", got)
			}
			if n := s.connections.Load(); n != 1 {
				t.Errorf("%d connections, want one", n)
			}
		})
	}
}

// server is a server of our own, which remembers what it is asked for.
type server struct {
	address, ca string
	connections atomic.Int32
	answer      http.HandlerFunc // to every request

	mu       sync.Mutex
	requests []string
}

func serve(t *testing.T, answer http.HandlerFunc) *server {
	t.Helper()
	s := &server{answer: answer, ca: filepath.Join(t.TempDir(), "ca.pem")}
	h := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Method+" "+r.RequestURI)
		s.mu.Unlock()
		s.answer(w, r)
	}))
	h.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes that the client ends
	h.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	h.StartTLS()
	t.Cleanup(h.Close)
	s.address = h.URL
	pemFile := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})
	if err := os.WriteFile(s.ca, pemFile, 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *server) got() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// compiled is the TypeScript client as JavaScript.
var compiled = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "client")
	if err != nil {
		return "", err
	}
	return dir, exec.Command("../../.ci/clients/run", "build", dir).Run()
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := compiled(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// compiledClient returns the directory of the TypeScript client as JavaScript.
func compiledClient(t *testing.T) string {
	t.Helper()
	requireProgram(t, "node")
	if _, err := os.Stat("../../.ci/clients/node_modules"); err != nil {
		missing(t, "the packages of the TypeScript client")
	}
	dir, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// run runs a program with a client, and returns what it prints.
func run(t *testing.T, language, program, address, ca string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // a client that waits fails the test, and doesn't hang it
	defer cancel()
	var cmd *exec.Cmd
	switch language {
	case "Python":
		requireProgram(t, "python3")
		cmd = exec.CommandContext(ctx, "python3", "-B", "-c", pythonHead+program)
		cmd.Dir = "python"
	default:
		dir := compiledClient(t)
		cmd = exec.CommandContext(ctx, "node", "--input-type=module", "--eval", nodeHead+program)
		cmd.Dir = dir
	}
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+ca, "NODE_EXTRA_CA_CERTS="+ca, "LOYALTY_URL="+address)
	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%v: %s", err, errors.String())
	}
	return string(out)
}

func requireProgram(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		missing(t, program)
	}
}

// missing skips the test, unless all tests must run (CI).
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("%s: not installed, and with CI set every test must run", what)
	}
	t.Skipf("%s: not installed; `make test` installs it where that is permitted", what)
}
