package clients_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// reply is one response: its status, 0 to break the connection after the request was read, its body and headers.
type reply struct {
	status  int
	body    string
	headers map[string]string
}

const (
	record    = `{"data":{"ulid":"01J"}}`
	proxyPage = "<html><h1>Bad gateway</h1></html>"
)

func after(status int, retryAfter string) reply {
	return reply{status, `{"status":503,"detail":"Not now."}`, map[string]string{"Retry-After": retryAfter}}
}

func afterDate(retryAfter, date string) reply {
	r := after(http.StatusServiceUnavailable, retryAfter)
	r.headers["Date"] = date
	return r
}

func compressed(body string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(body)) // a buffer takes everything
	_ = w.Close()
	return b.String()
}

// conversations are what a server responds to one call after the other, and what the clients make of it: seconds that
// they wait, then "ok" or the problem's status, or "lost" without a response. The call is a GET, a POST with a key of the
// client's own, or the one POST without a key, which creates a token.
var conversations = []struct {
	name, call string
	replies    []reply
	want       string
}{
	{"seconds", "GET", []reply{after(503, "7"), {200, record, nil}}, "7 ok"},
	{"at once", "GET", []reply{after(503, "0"), {200, record, nil}}, "1 ok"},
	{"missing", "GET", []reply{after(503, ""), {200, record, nil}}, "1 ok"},
	{"a date, by the server's clock", "GET", []reply{afterDate("Wed, 21 Oct 2015 07:28:30 GMT", "Wed, 21 Oct 2015 07:28:00 GMT"), {200, record, nil}}, "30 ok"},
	{"RFC 850", "GET", []reply{afterDate("Wednesday, 21-Oct-15 07:28:30 GMT", "Wed, 21 Oct 2015 07:28:00 GMT"), {200, record, nil}}, "30 ok"},
	{"asctime", "GET", []reply{afterDate("Wed Oct 21 07:28:30 2015", "Wed, 21 Oct 2015 07:28:00 GMT"), {200, record, nil}}, "30 ok"},
	{"a date that has passed", "GET", []reply{after(503, "Wed, 21 Oct 2015 07:28:00 GMT"), {200, record, nil}}, "1 ok"},
	{"a date, without a clock", "GET", []reply{afterDate("Fri, 31 Dec 2100 23:59:59 GMT", ""), {200, record, nil}}, "120 ok"},
	{"a date that never comes", "GET", []reply{after(503, "Fri, 31 Dec 9999 23:59:59 GMT"), {200, record, nil}}, "120 ok"},
	{"absurd seconds", "GET", []reply{after(429, strings.Repeat("9", 400)), {200, record, nil}}, "120 ok"},
	{"words", "GET", []reply{after(503, "soon"), after(503, "-5"), after(503, "1e9"), after(503, "Infinity"), {200, record, nil}}, "1 2 4 8 ok"},
	{"given up", "GET", []reply{after(503, "5")}, "5 5 5 8 503"},

	{"a lost GET", "GET", []reply{{}, {200, record, nil}}, "1 ok"},
	{"a lost sale", "POST", []reply{{}, after(500, ""), after(409, ""), after(429, ""), {201, record, nil}}, "1 2 4 8 ok"},
	{"a lost token", "TOKEN", []reply{{}, {201, record, nil}}, "lost"},
	{"a token that failed", "TOKEN", []reply{{500, proxyPage, nil}, {201, record, nil}}, "500"},
	{"a token while the server is busy", "TOKEN", []reply{after(503, "1"), {201, record, nil}}, "503"},
	{"a token above the limit", "TOKEN", []reply{after(429, "3"), {201, record, nil}}, "3 ok"},

	{"compressed", "GET", []reply{{200, compressed(record), map[string]string{"Content-Encoding": "gzip"}}}, "ok"},
	{"a page of a proxy", "GET", []reply{{502, proxyPage, nil}}, "1 2 4 8 502"},
	{"a refusal of a proxy", "GET", []reply{{403, proxyPage, nil}}, "403"},
	{"an empty refusal", "GET", []reply{{403, "", nil}}, "403"},
	{"a refusal that is a list", "GET", []reply{{403, `["no"]`, nil}}, "403"},
	{"a refusal that is null", "GET", []reply{{403, `null`, nil}}, "403"},
	{"a refusal with words of its own", "GET", []reply{{403, `{"message":"no","status":"bad"}`, nil}}, "403"},
	{"a page instead of a record", "GET", []reply{{200, proxyPage, nil}}, "200"},
	{"nothing instead of a record", "GET", []reply{{200, "", nil}}, "200"},
	{"not modified", "GET", []reply{{304, "", nil}}, "304"},
	{"revoked", "DELETE", []reply{{204, "", nil}}, "ok"},
	{"revoked later", "DELETE", []reply{{}, after(503, ""), {204, "", nil}}, "1 2 ok"},
}

// Both clients wait as long as they are asked, by seconds or by a date, but not forever. They repeat what is safe to
// repeat and nothing else, and a response that isn't from the API is a problem with its status.
func TestClientsThroughTrouble(t *testing.T) {
	t.Parallel()
	var names []string
	for _, c := range conversations {
		names = append(names, c.call+" "+c.name)
	}
	cases, err := json.Marshal(names)
	if err != nil {
		t.Fatal(err)
	}
	for language, program := range map[string]string{
		"Python": `
import json
for each in json.loads(r'''CASES'''):
    call, name = each.split(" ", 1)
    print(name, end=":")
    try:
        if call == "GET":
            assert client().find_customer(name)["ulid"] == "01J"
        elif call == "POST":
            assert client().void_transaction(name)["ulid"] == "01J"
        elif call == "TOKEN":
            assert client().create_token(name=name, scopes=[])["ulid"] == "01J"
        else:
            assert client().revoke_token(name) is None
        print(" ok")
    except Problem as problem:
        print(f" {problem.status}" if isinstance(str(problem), str) and str(problem) else " silent")
    except (OSError, loyalty.HTTPException):
        print(" lost")`,
		"TypeScript": `
const calls = {
  GET: (ulid) => client().GET('/api/v1/customers/{ulid}', { params: { path: { ulid } } }),
  POST: (ulid) => client().POST('/api/v1/transactions/{ulid}/void', { params: { path: { ulid } } }),
  TOKEN: (name) => client().POST('/api/v1/tokens', { body: { name, scopes: [] } }),
  DELETE: (id) => client().DELETE('/api/v1/tokens/{id}', { params: { path: { id } } }),
}
for (const each of CASES) {
  const [call] = each.split(' ')
  const name = each.slice(call.length + 1)
  process.stdout.write(name + ':')
  try {
    const got = await result(calls[call](name))
    console.log((call === 'DELETE' ? got === undefined : got.data.ulid === '01J') ? ' ok' : ' wrong')
  } catch (error) {
    console.log(!(error instanceof Problem) ? ' lost' : error.message === '' ? ' silent' : ' ' + error.status)
  }
}`,
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			s := newTroubled(t)
			var want []string
			for _, c := range conversations {
				want = append(want, c.name+": "+c.want)
			}
			got := strings.Split(strings.TrimSpace(run(t, language, strings.ReplaceAll(program, "CASES", string(cases)), s.address, s.ca)), "\n")
			for i, line := range want {
				if i >= len(got) || got[i] != line {
					t.Fatalf("prints %q, want %q", got[min(i, len(got)):], line)
				}
			}
			s.keepsKeys(t)
		})
	}
}

// troubled is a server that responds as the conversations say.
type troubled struct {
	*server
	mu   sync.Mutex
	keys map[string][]string // of the requests of each conversation
}

func newTroubled(t *testing.T) *troubled {
	t.Helper()
	s := &troubled{keys: map[string][]string{}}
	s.server = serve(t, func(w http.ResponseWriter, r *http.Request) {
		name := strings.Split(r.URL.Path, "/")[4:]
		if len(name) == 0 {
			var token struct{ Name string }
			_ = json.NewDecoder(r.Body).Decode(&token) // without a name, no conversation is found
			name = []string{token.Name}
		}
		_, _ = io.Copy(io.Discard, r.Body)
		for _, c := range conversations {
			if c.name == name[0] {
				s.respond(w, r, c.name, c.replies)
				return
			}
		}
		http.Error(w, "unknown: "+name[0], http.StatusNotFound)
	})
	return s
}

func (s *troubled) respond(w http.ResponseWriter, r *http.Request, name string, replies []reply) {
	s.mu.Lock()
	at := len(s.keys[name])
	s.keys[name] = append(s.keys[name], r.Header.Get("Idempotency-Key"))
	s.mu.Unlock()
	now := replies[min(at, len(replies)-1)]
	if now.status == 0 {
		panic(http.ErrAbortHandler)
	}
	for header, value := range now.headers {
		w.Header()[header] = nil // no header, not one of the server's own
		if value != "" {
			w.Header().Set(header, value)
		}
	}
	w.WriteHeader(now.status)
	_, _ = io.WriteString(w, now.body)
}

// keepsKeys checks that each repeated POST had one key, and that only those have keys which take one.
func (s *troubled) keepsKeys(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range conversations {
		keys := s.keys[c.name]
		if slices.Sort(keys); len(slices.Compact(keys)) != 1 || (keys[0] == "") == (c.call == "POST") {
			t.Errorf("%s was sent with the keys %q", c.name, keys)
		}
	}
}

// The address may be that of the installation or of the API. Every request asks for strict handling, and a list is read
// from the address alone, although its links lead elsewhere.
func TestClientsReadLists(t *testing.T) {
	t.Parallel()
	for language, program := range map[string]string{
		"Python": `
address = os.environ["LOYALTY_URL"]
for base_url in (address, address + "/", address + "/api/v1", address + "/api/v1/"):
    found = client(base_url).list_rewards(per_page=2)
    assert found.meta == {}
    print([reward["name"] for reward in found], found.meta["resume_cursor"], found.meta["retry_after"])
print([len(page["data"]) for page in client().list_rewards(per_page=2).pages()], next(client().list_rewards())["name"])`,
		"TypeScript": `
import { pages, records } from './client.js'
const { LOYALTY_URL: address } = process.env
const list = (baseUrl) => (cursor) => client(baseUrl).GET('/api/v1/rewards', { params: { query: { per_page: 2, cursor } } })
for (const baseUrl of [address, address + '/', address + '/api/v1', address + '/api/v1/']) {
  const names = []
  let meta
  for await (const page of pages(list(baseUrl))) {
    names.push(...page.data.map((reward) => reward.name))
    meta = page.meta
  }
  console.log("['" + names.join("', '") + "']", meta.resume_cursor, meta.retry_after)
}
const sizes = []
for await (const page of pages(list())) sizes.push(page.data.length)
for await (const first of records(list())) {
  console.log('[' + sizes.join(', ') + ']', first.name)
  break
}`,
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("Prefer"); got != "handling=strict" {
					t.Errorf("Prefer: %q", got)
				}
				if r.FormValue("cursor") == "c/2" {
					_, _ = io.WriteString(w, `{"data":[{"name":"c"}],"links":{"next":null},"meta":{"resume_cursor":"c3","retry_after":60}}`)
					return
				}
				_, _ = io.WriteString(w, `{"data":[{"name":"a"},{"name":"b"}],"links":{"next":"https://elsewhere.example/api/v1/rewards?cursor=c%2F2&per_page=2"},"meta":{}}`)
			})
			want := strings.Repeat("['a', 'b', 'c'] c3 60\n", 4) + "[2, 1] a\n"
			if got := run(t, language, program, s.address, s.ca); got != want {
				t.Errorf("prints %q, want %q", got, want)
			}
			for _, request := range s.got() {
				if !strings.HasPrefix(request, "GET /api/v1/rewards") {
					t.Errorf("asked for %s", request)
				}
			}
		})
	}
}

// Programs learn what headers say, of every attempt.
func TestClientsTellHeaders(t *testing.T) {
	t.Parallel()
	for language, program := range map[string]string{
		"Python": `
told = []
Loyalty(os.environ["LOYALTY_URL"], "1|secret", on_response=told.append).void_transaction("01J")
for each in told:
    print(each.method, each.path, each.status, each.request_id, each.replayed, each.remaining, each.reset and each.reset.isoformat(),
          each.etag, each.deprecated, each.sunset and each.sunset.isoformat())`,
		"TypeScript": `
import { details } from './client.js'
const path = '/api/v1/transactions/{ulid}/void'
const show = (d) => console.log('POST', path.replace('{ulid}', '01J'), d.status, d.requestId, d.replayed ? 'True' : 'False', d.remaining ?? 'None',
  d.reset?.toISOString().replace('.000Z', '+00:00') ?? 'None', d.etag ?? 'None', d.deprecated ? 'True' : 'False', d.sunset?.toISOString().replace('.000Z', '+00:00') ?? 'None')
const loyalty = createLoyaltyClient({ baseUrl: process.env.LOYALTY_URL, token: '1|secret', onResponse: (d) => d.status === 503 && show(d) })
show(details((await loyalty.POST(path, { params: { path: { ulid: '01J' } } })).response))`,
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			s := serve(t, nil)
			s.answer = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Request-Id", fmt.Sprintf("request-%c", 'a'+len(s.got())-1))
				if len(s.got()) == 1 {
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				for name, value := range map[string]string{
					"Idempotent-Replayed": "true", "X-RateLimit-Remaining": "58", "X-RateLimit-Reset": "1790000000", "ETag": `"v1"`,
					"Deprecation": "true", "Sunset": "Thu, 01 Apr 2027 00:00:00 GMT",
				} {
					w.Header().Set(name, value)
				}
				_, _ = io.WriteString(w, record)
			}
			const path = "POST /api/v1/transactions/01J/void "
			want := path + "503 request-a False None None None False None\n" +
				path + "200 request-b True 58 2026-09-21T14:13:20+00:00 \"v1\" True 2027-04-01T00:00:00+00:00\n"
			got := run(t, language, program, s.address, s.ca)
			if strings.Replace(got, " 1", "", 1) != want { // without the wait
				t.Errorf("prints %q, want %q", got, want)
			}
		})
	}
}

// Node loads the client with require as well as with import.
func TestTypeScriptClientInCommonJS(t *testing.T) {
	t.Parallel()
	dir := compiledClient(t)
	for kind, program := range map[string]string{
		"commonjs": `const { createLoyaltyClient, Problem } = require('loyalty-client'); console.log(typeof createLoyaltyClient({ baseUrl: 'https://loyalty.example', token: '1|a' }).GET, Problem.name)`,
		"module":   `import { createLoyaltyClient, Problem } from 'loyalty-client'; console.log(typeof createLoyaltyClient({ baseUrl: 'https://loyalty.example', token: '1|a' }).GET, Problem.name)`,
	} {
		cmd := exec.CommandContext(t.Context(), "node", "--input-type="+kind, "--eval", program)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != "function Problem\n" {
			t.Errorf("%s: %v: %s", kind, err, out)
		}
	}
}
