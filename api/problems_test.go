package api_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/api"
	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
)

const (
	otherMethod = "Known path, other method: 405 with `Allow`."
	largeBody   = "Body limit 1 MiB: 413."
	otherType   = "Another content type on a request with a body: 415."
	noObject    = "No body where one is needed, a body that is not a JSON object, or trailing garbage: 400."
	sections    = "`type` of a generic error is the standard's own section for the status: `https://www.rfc-editor.org/rfc/rfc9110#section-15.5.1` (400), `15.5.2` (401), `15.5.4` (403), " +
		"`15.5.5` (404), `15.5.6` (405), `15.5.10` (409), `15.5.13` (412), `15.5.14` (413), `15.5.16` (415), `15.5.21` (422 validation), `15.6.1` (500), `15.6.4` (503), and " +
		"`https://www.rfc-editor.org/rfc/rfc6585#section-4` (429)."
)

func TestProblems(t *testing.T) {
	const good = `{"first_name":"A","last_name":"B","phone":"112"}`
	spaces := strings.Repeat(" ", api.MaxBody-len(good))
	table := []scenario{
		{says: "| 400 | Error | `An error occurred.` | Malformed request, e.g. invalid JSON. |", method: "POST", path: "/customers", body: `{"first_name":`, status: 400, want: badRequest},
		{says: "| 401 | Unauthorized | `Authentication required.` | Missing, misspelled, revoked or malformed token. |", method: "GET", path: "/customers", auth: "none", status: 401, want: unauthorized, header: []string{"WWW-Authenticate: Bearer"}},
		{says: "| 401 | Unauthorized | `Authentication required.` | Missing, misspelled, revoked or malformed token. |", with: "misspelled", method: "GET", path: "/customers", auth: "none", headers: []string{"Authorization: Bearer secret"}, status: 401, want: unauthorized, header: []string{`WWW-Authenticate: Bearer error="invalid_token"`}},
		{says: "| 403 | Forbidden | `Invalid ability provided.` | Token lacks the scope, or a platform endpoint is called without super-admin rights. |", method: "GET", path: "/customers", auth: "customers:write", status: 403, want: forbidden, header: []string{`WWW-Authenticate: Bearer error="insufficient_scope", scope="customers:read"`}},
		{says: "| 404 | Not Found | `The requested resource was not found.` |", with: "no such path", method: "GET", path: "/nope", status: 404, want: notFound, header: []string{"Allow:"}},
		{says: "GET /customers/{ulid}/redemptions (404)", also: []string{"A per-customer redemption history endpoint (`GET /api/v1/customers/{ulid}/redemptions`) does not exist yet and is only planned."}, method: "GET", path: "/customers/{anna}/redemptions", status: 404, want: notFound},
		{says: "| 405 | Method Not Allowed | `The method is not allowed for this resource.` |", method: "PUT", path: "/customers/{anna}", body: `{}`, status: 405, want: notAllowed, header: []string{"Allow: GET, HEAD, PATCH", "Accept-Patch: application/json, application/merge-patch+json"}},
		{says: "| 413 | Content Too Large | `The request body is too large.` |", method: "POST", path: "/customers", body: good + spaces + " ", status: 413, want: tooLarge},
		{says: otherType, with: "but there is none", method: "POST", path: "/customers", headers: []string{"Content-Type: text/plain"}, status: 400, want: badRequest},
		{says: largeBody, with: "exactly so much passes", method: "POST", path: "/customers", body: good + spaces, status: 201, want: made("A", "B", "112", "null")},
		{says: "| 415 | Unsupported Media Type | `The request body must be JSON.`, or `The request body must not be compressed.` |", method: "POST", path: "/customers", headers: []string{"Content-Type: text/plain"}, body: good, status: 415, want: notJSON},
		{says: "| 422 | Validation Error | `The given data was invalid.` plus `errors` |", method: "POST", path: "/transactions", body: `{"customer_ulid":"{anna}","transaction_type_id":{points},"spend_amount_cents":"1"}`, status: 422, want: invalid(`"spend_amount_cents":["The spend amount cents field must be an integer."]`)},
		{says: "`type` of a business rule is `{base_url}/problems/{slug}`, and `code` repeats the slug: `already-voided`,", with: "on any port", method: "POST", path: "/transactions/{voided}/void", headers: []string{"Host: " + domain + ":9443"}, status: 422, want: refused("already-voided", "This transaction has already been voided.")},
	}
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "application/jsonx", "application/vnd.api+json", "application/json; charset=latin1", "a/b/c", ";"} {
		table = append(table, scenario{says: otherType, with: kind, method: "POST", path: "/customers", headers: []string{"Content-Type: " + kind}, body: good, status: 415, want: notJSON, after: customers(0)})
	}
	for _, kind := range []string{"application/json", "Application/JSON", "application/json; charset=utf-8", `application/json;charset="UTF-8"`, ""} {
		table = append(table, scenario{says: otherType, with: "JSON is " + kind, method: "POST", path: "/customers", headers: []string{"Content-Type: " + kind}, body: good, status: 201, want: made("A", "B", "112", "null")})
	}
	runScenarios(t, table)
}

func TestProblemDocuments(t *testing.T) {
	t.Parallel()
	proves(t, sections, "Bodies are JSON (`Content-Type: application/json`). Errors follow the Errors part.", "Titles and details as in the specification;", "Every answer carries `X-Request-Id`.",
		"All errors use the RFC 7807 problem-details shape with `Content-Type: application/problem+json`.",
		"| type | string (URI) | A link to a reference for the HTTP status; business-rule errors may carry a service-specific error URI. |",
		"| title | string | Short name of the error class. |", "| status | integer | Same as the HTTP status. |",
		"| detail | string | Message for this occurrence. |",
		"| errors | object | Map of field name to array of messages; present only on validation 422. |")
	// The constants of scenario_test.go are compared with responses there, with the table here.
	for section, document := range map[string]string{
		"rfc9110#section-15.5.1": badRequest, "rfc9110#section-15.5.2": unauthorized, "rfc9110#section-15.5.4": forbidden,
		"rfc9110#section-15.5.5": notFound, "rfc9110#section-15.5.6": notAllowed, "rfc9110#section-15.5.10": conflict,
		"rfc9110#section-15.5.14": tooLarge, "rfc9110#section-15.5.16": notJSON, "rfc9110#section-15.5.21": invalid(""),
		"rfc9110#section-15.6.1": internal, "rfc9110#section-15.6.4": unavailable, "rfc6585#section-4": tooMany,
	} {
		if !strings.HasPrefix(document, `{"type":"https://www.rfc-editor.org/rfc/`+section+`","title":"`) {
			t.Errorf("%s: %s", section, document)
		}
	}
}

func TestMethodNotAllowed(t *testing.T) {
	t.Parallel()
	proves(t, otherMethod, "→ route (404, 405) → no valid token (401)")
	s := newShop(t)
	allowed := map[string][]string{}
	for _, e := range s.api.Endpoints() {
		allowed[e.Path] = append(allowed[e.Path], e.Method)
		if e.Method == "GET" {
			allowed[e.Path] = append(allowed[e.Path], "HEAD")
		}
	}
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "BREW"}
	for path, good := range allowed {
		slices.Sort(good)
		// By another method, the last part of these is the ULID of a record, which no record has.
		record := allowed[strings.NewReplacer("/batch", "/:ulid", "/preview", "/:ulid").Replace(path)]
		for _, method := range methods {
			if slices.Contains(good, method) || slices.Contains(record, method) {
				continue
			}
			for _, token := range []string{s.token, ""} {
				want := notAllowed
				if method == "HEAD" {
					want = ""
				}
				got := s.call(method, s.fill(strings.NewReplacer(":ulid", "{missing}", ":id", "1").Replace(path)), token, "")
				if got.status != 405 || strings.TrimSpace(got.body) != want || got.header.Get("Content-Type") != "application/problem+json" {
					t.Errorf("%s %s: %d %s %v", method, path, got.status, got.body, got.header)
				}
				if allow := strings.Join(got.header.Values("Allow"), "; "); allow != strings.Join(good, ", ") {
					t.Errorf("%s %s: Allow %q, want %v", method, path, allow, good)
				}
			}
		}
	}
}

// The cause of an internal error is only in the log, with the request id.
func TestInternalErrors(t *testing.T) {
	t.Parallel()
	proves(t, "| 500 | Internal Server Error | `An error occurred.` (never a cause; it is logged with the request id) |",
		"| 500 | - | - | Unexpected server error. |")
	s := newShop(t)
	for name, change := range map[string]func(*api.Config){
		"panic":       func(c *api.Config) { c.Changes = nil },
		"early panic": func(c *api.Config) { c.Slug = func(string) (string, bool) { panic("cause") } },
	} {
		o := newServer(t, s.db, change)
		got := o.call(t, "GET", "/api/v1/customers", s.token, "")
		got.is(t, 500, internal)
		if journal := o.log.String(); !strings.Contains(journal, got.header.Get("X-Request-Id")) || !strings.Contains(journal, "panic") {
			t.Errorf("%s: the log says %s", name, journal)
		}
	}
	closed, err := db.Open(t.Context(), dbtest.OwnURL(t), db.Options{})
	s.must(closed, err)
	o := newServer(t, closed, nil)
	closed.Close()
	got := o.call(t, "GET", "/api/v1/customers", s.token, "")
	got.is(t, 500, internal)
	if journal := o.log.String(); !strings.Contains(journal, "closed pool") || !strings.Contains(journal, got.header.Get("X-Request-Id")) {
		t.Errorf("the log says %s", journal)
	}
}

const gone = "| 503 | Service Unavailable | `The service is temporarily unavailable.` with `Retry-After` |"

func TestUnavailable(t *testing.T) {
	t.Parallel()
	proves(t, gone)
	url := dbtest.OwnURL(t)
	d, err := db.Open(t.Context(), url, db.Options{StatementTimeout: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	o := newServer(t, d, nil)
	s := shopAt(t, o)
	s.fill("{sale}")

	// The row is locked for longer than a statement may wait.
	held := s.hold("transaction")
	s.gone(s.call("POST", "/api/v1/transactions/{sale}/void", s.token, ""))
	held.release()
	s.call("POST", "/api/v1/transactions/{sale}/void", s.token, "").is(t, 200, s.fill(one(sale("{sale}", "points", "1250", "12", "null", voided, "{points}", "null"))))

	// The database becomes unavailable.
	dbtest.Drop(t, url)
	s.gone(s.server.call(t, "GET", "/api/v1/customers", s.token, ""))
	if journal := o.log.String(); !strings.Contains(journal, "database not available") {
		t.Errorf("the log says %s", journal)
	}
}

// "What waits too long is a 503 with Retry-After".
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"2": core.Unavailable(errors.New("cause")),
		"5": fmt.Errorf("report: %w", core.Busy("Other reports are being counted.", 4500*time.Millisecond)),
	} {
		if got := api.RetryAfter(err); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}

// gone checks the response without a database.
func (s *shop) gone(got answer) {
	s.T.Helper()
	got.is(s.T, 503, unavailable)
	if after := got.header.Get("Retry-After"); !matches(after, "<id>") {
		s.T.Errorf("Retry-After: %q", after)
	}
}

func TestSlowRequestsTimeOut(t *testing.T) {
	t.Parallel()
	proves(t, gone)
	o := newServer(t, dbtest.DB(t), func(c *api.Config) { c.Timeout = 500 * time.Millisecond })
	s := shopAt(t, o)
	s.fill("{sale}")
	held := s.hold("transaction")
	s.gone(s.call("POST", "/api/v1/transactions/{sale}/void", s.token, ""))
	held.release()
	s.call("POST", "/api/v1/transactions/{sale}/void", s.token, "").is(t, 200, s.fill(one(sale("{sale}", "points", "1250", "12", "null", voided, "{points}", "null"))))
}

func TestPlainHTTPIsRefused(t *testing.T) {
	t.Parallel()
	proves(t, "All requests must use TLS; plain HTTP is rejected.")
	w := httptest.NewRecorder()
	api.RefusePlainHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/customers", nil))
	got := w.Result()
	defer got.Body.Close()
	body, _ := io.ReadAll(got.Body)
	if got.StatusCode != 400 || string(body) != badRequest+"\n" || got.Header.Get("Content-Type") != "application/problem+json" || got.Header.Get("Location") != "" {
		t.Errorf("%d %s %v", got.StatusCode, body, got.Header)
	}
}

// A violation may have a code, and name the record that has the value already.
func TestViolationsWithACode(t *testing.T) {
	t.Parallel()
	taken := core.Invalid(core.Fields{"external_reference": {core.Duplicate}})
	taken.Code, taken.Existing = "reference-taken", &core.Existing{Member: "transaction_ulid", ID: core.NewID(time.Now())}
	want := `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.5.21","title":"Validation Error","status":422,"detail":"The given data was invalid.",` +
		`"code":"reference-taken","errors":{"external_reference":["The external reference has already been taken."]},` +
		`"transaction_ulid":"` + taken.Existing.ID.String() + `"}` + "\n"
	if got := sharedServer(t).api.Document(taken); got != want {
		t.Errorf("%s want\n%s", got, want)
	}
}
