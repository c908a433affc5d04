package api_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/loyalty/core/token"
	"example.com/loyalty/docs"
)

// scenario is one request to a fresh tenant, and its whole response.
type scenario struct {
	says string   // the sentence of the documents that it proves, if one says it
	with string   // the case
	also []string // further sentences

	before func(s *shop)

	method, path string // below /api/v1; {names} are filled in (shop.make)
	auth         string // abilities, comma-separated; "" all, "none", "platform"
	headers      []string
	body         string

	status int
	want   string   // the body, exact except {names} and <kinds> of values; "": empty
	header []string // "Name: value" that the response must have; "Name:" that it must not
	after  func(s *shop, got answer)
}

func (sc scenario) run(t *testing.T) {
	t.Helper()
	t.Run(docs.Plain(sc.says+" "+sc.with), func(t *testing.T) {
		t.Parallel()
		proves(t, sc.also...)
		if sc.says != "" {
			proves(t, sc.says)
		}
		s := newShop(t)
		if sc.before != nil {
			sc.before(s)
		}
		// Records in the response are created before the request.
		for _, name := range slices.Sorted(maps.Keys(recordsIn(sc.want))) {
			s.fill(name)
		}
		token := s.auth(sc.auth)
		got := s.call(sc.method, "/api/v1"+sc.path, token, sc.body, sc.headers...)
		got.is(t, sc.status, s.fill(sc.want))
		for _, h := range sc.header {
			name, want, _ := strings.Cut(h, ":")
			if have := got.header.Get(name); !matches(have, s.fill(strings.TrimSpace(want))) {
				t.Errorf("%s: %q, want %q", name, have, want)
			}
		}
		if slices.Contains(notRetried, sc.status) {
			again := s.call(sc.method, "/api/v1"+sc.path, token, sc.body, sc.headers...)
			again.is(t, sc.status, strings.TrimSuffix(got.body, "\n"))
		}
		if sc.after != nil {
			sc.after(s, got)
		}
	})
}

// "Retry guidance for clients: no retry on 400, 401, 403, 404 or 422": the answer stays the same.
var notRetried = []int{400, 401, 403, 404, 422}

// all checks several things afterwards.
func all(checks ...func(*shop, answer)) func(*shop, answer) {
	return func(s *shop, got answer) {
		for _, check := range checks {
			check(s, got)
		}
	}
}

// shows checks what a path answers afterwards.
func shows(path, want string) func(*shop, answer) {
	return func(s *shop, _ answer) {
		s.T.Helper()
		s.call("GET", "/api/v1"+path, s.token, "").is(s.T, 200, s.fill(want))
	}
}

func recordsIn(text string) map[string]bool {
	names := map[string]bool{}
	for _, name := range blank.FindAllString(text, -1) {
		names[name] = true
	}
	return names
}

func runScenarios(t *testing.T, table []scenario) {
	t.Helper()
	t.Parallel()
	for _, sc := range table {
		sc.run(t)
	}
}

// auth creates the token of a scenario.
func (s *shop) auth(wanted string) string {
	s.T.Helper()
	switch wanted {
	case "":
		return s.token
	case "none":
		return ""
	case "platform":
		return platformToken(s.T, s.server)
	}
	var abilities []token.Ability
	for ability := range strings.SplitSeq(wanted, ",") {
		abilities = append(abilities, token.Ability(ability))
	}
	return s.makeToken(abilities...).Secret
}

// Kinds of values that a test doesn't know.
var kinds = strings.NewReplacer(
	"<ulid>", `[0-7][0-9A-HJKMNP-TV-Z]{25}`,
	"<time>", `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`,
	"<date>", `\d{4}-\d\d-\d\d`,
	"<id>", `[1-9]\d*`,
	"<cursor>", `[A-Za-z0-9_-]{34}`,
	"<secret>", `[1-9]\d*\|[A-Za-z0-9]{40}[0-9a-f]{8}`,
	"<anything>", `.*`,
)

func matches(text, pattern string) bool {
	return regexp.MustCompile(`(?s)\A` + kinds.Replace(regexp.QuoteMeta(pattern)) + `\z`).MatchString(text)
}

// is checks status, content type and body, and that the response has a request id and is not
// cacheable, unless it has a tag by which its client asks whether it is current.
func (a answer) is(t testing.TB, status int, body string) {
	t.Helper()
	if a.status != status {
		t.Errorf("status %d, want %d: %s", a.status, status, a.body)
	}
	if body != "" {
		body += "\n"
	}
	if !matches(a.body, body) {
		t.Errorf("body\n%s want\n%s", a.body, body)
	}
	contentType := "application/json"
	switch {
	case status >= 400:
		contentType = "application/problem+json"
	case body == "":
		contentType = ""
	}
	if got := a.header.Get("Content-Type"); got != contentType {
		t.Errorf("content type %q, want %q", got, contentType)
	}
	stored := "no-store"
	if a.header.Get("ETag") != "" {
		stored = "private, no-cache"
	}
	if a.header.Get("X-Request-Id") == "" || a.header.Get("Cache-Control") != stored {
		t.Errorf("headers %v: X-Request-Id or Cache-Control: %s is missing", a.header, stored)
	}
}

// invalid is the response to invalid fields.
func invalid(errors string) string {
	return `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.5.21","title":"Validation Error","status":422,` +
		`"detail":"The given data was invalid.","errors":{` + errors + `}}`
}

// taken is the response of an external reference that another record has.
func taken(member, id string) string {
	document := invalid(`"external_reference":["The external reference has already been taken."]`)
	return strings.Replace(strings.TrimSuffix(document, "}"), `"errors"`, `"code":"reference-taken","errors"`, 1) + `,"` + member + `":"` + id + `"}`
}

// refused is the response of a business rule.
func refused(code, detail string) string {
	return `{"type":"https://` + domain + `/problems/` + code + `","title":"Unprocessable Entity","status":422,` +
		`"detail":"` + detail + `","code":"` + code + `"}`
}

// The problems with fixed texts.
const (
	badRequest   = `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.5.1","title":"Error","status":400,"detail":"An error occurred."}`
	unauthorized = `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.5.2","title":"Unauthorized","status":401,"detail":"Authentication required."}`
	forbidden    = `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.5.4","title":"Forbidden","status":403,"detail":"Invalid ability provided."}`
	notFound     = `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.5.5","title":"Not Found","status":404,"detail":"The requested resource was not found."}`
	notAllowed   = `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.5.6","title":"Method Not Allowed","status":405,"detail":"The method is not allowed for this resource."}`
	conflict     = `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.5.10","title":"Conflict","status":409,"detail":"A request with this idempotency key is still running."}`
	tooLarge     = `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.5.14","title":"Content Too Large","status":413,"detail":"The request body is too large."}`
	notJSON      = `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.5.16","title":"Unsupported Media Type","status":415,"detail":"The request body must be JSON."}`
	tooMany      = `{"type":"https://www.rfc-editor.org/rfc/rfc6585#section-4","title":"Too Many Requests","status":429,"detail":"Too Many Attempts."}`
	internal     = `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.6.1","title":"Internal Server Error","status":500,"detail":"An error occurred."}`
	unavailable  = `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.6.4","title":"Service Unavailable","status":503,"detail":"The service is temporarily unavailable."}`
)
