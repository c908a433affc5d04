package api_test

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"example.com/loyalty/api"
	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/token"
	"example.com/loyalty/web/route"
)

// operation is an operation of the document.
type operation struct {
	*openapi3.Operation
	method, path string
}

func (o operation) name() string { return o.method + " " + o.path }

func operations() (all []operation) {
	for path, item := range described().Paths.Map() {
		for method, op := range item.Operations() {
			all = append(all, operation{op, method, path})
		}
	}
	return all
}

// "`{base_url}/api/v1/openapi.json`; no token needed": on every known host, without a rate limit.
func TestDescriptionIsServed(t *testing.T) {
	t.Parallel()
	o := newServer(t, dbtest.DB(t), func(c *api.Config) {
		c.PerToken, c.PerAddress = limit.NewWindow(1, time.Minute, time.Now), limit.NewWindow(1, time.Minute, time.Now)
	})
	ask := func(method string, headers ...string) answer {
		t.Helper()
		r, err := http.NewRequest(method, o.url+"/api/v1/openapi.json", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = domain
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			if r.Header.Set(name, value); name == "Host" {
				r.Host = value
			}
		}
		got, err := send(o.client, r)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	var served struct{ Servers []struct{ URL string } }
	plain := ask("GET", "Accept-Encoding: identity")
	if err := json.Unmarshal([]byte(plain.body), &served); err != nil || len(served.Servers) != 1 || served.Servers[0].URL != "https://"+domain {
		t.Errorf("%v: servers %v, want this installation alone", err, served.Servers)
	}
	if strings.Contains(plain.body, "localhost") {
		t.Error("an address is another installation's")
	}
	tag := plain.header.Get("ETag")
	for name, want := range map[string]string{
		"Content-Type": "application/json", "Cache-Control": "public, max-age=300", "Vary": "Accept-Encoding", "Content-Encoding": "", "X-Ratelimit-Limit": "",
	} {
		if got := plain.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if plain.status != 200 || plain.header.Get("X-Request-Id") == "" || tag == "" {
		t.Errorf("%d %v", plain.status, plain.header)
	}
	if got := ask("GET", "Host: unknown."+domain, "Authorization: Bearer 1|wrong"); got.status != 200 || got.body != plain.body {
		t.Errorf("on another host, with a bad token: %d", got.status)
	}
	if got := ask("HEAD"); got.status != 200 || got.body != "" {
		t.Errorf("HEAD: %d %s", got.status, got.body)
	}
	if got := ask("GET", "Accept-Encoding: identity", "If-None-Match: "+tag); got.status != 304 || got.body != "" {
		t.Errorf("what is known: %d", got.status)
	}
	short := ask("GET", "Accept-Encoding: gzip", "If-None-Match: "+tag)
	if short.status != 200 || short.header.Get("Content-Encoding") != "gzip" || short.header.Get("ETag") == tag || len(short.body) > len(plain.body)/5 {
		t.Errorf("compressed: %d %v, %d bytes of %d", short.status, short.header, len(short.body), len(plain.body))
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		if got := ask(method); got.status != 405 || got.body != notAllowed+"\n" || got.header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d %v %s", method, got.status, got.header, got.body)
		}
	}
	// It doesn't count against a rate limit.
	if got := o.call(t, "GET", "/api/v1/tokens", "", ""); got.status != 401 {
		t.Errorf("a first request: %d", got.status)
	}
}

// openapi.yaml has the same content, and is served in the same way.
func TestDescriptionInYAML(t *testing.T) {
	t.Parallel()
	o := sharedServer(t)
	ask := func(path string, headers ...string) answer {
		t.Helper()
		r, err := http.NewRequest(http.MethodGet, o.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = domain
		for _, h := range append(headers, "Accept-Encoding: identity") {
			name, value, _ := strings.Cut(h, ": ")
			r.Header.Set(name, value)
		}
		got, err := send(o.client, r)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	served := ask("/api/v1/openapi.yaml")
	if served.status != 200 || served.header.Get("Content-Type") != "application/yaml" || !strings.HasPrefix(served.body, "openapi: 3.1.0\ninfo:\n  title: Loyalty\n") {
		t.Fatalf("%d %v: %.60s", served.status, served.header, served.body)
	}
	if got := ask("/api/v1/openapi.yaml", "If-None-Match: "+served.header.Get("ETag")); got.status != 304 {
		t.Errorf("what is known: %d", got.status)
	}
	var inYAML, inJSON any
	if err := yaml.Unmarshal([]byte(served.body), &inYAML); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(ask("/api/v1/openapi.json").body), &inJSON); err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(inYAML) // numbers of the same type
	if err != nil || json.Unmarshal(asJSON, &inYAML) != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(inJSON, inYAML); diff != "" {
		t.Errorf("(-JSON +YAML):\n%s", diff)
	}
	// YAML 1.1 reads these words as true and false.
	if found := regexp.MustCompile(`(?im)(: |- |^\s*)(y|n|yes|no|on|off)(:| *$)`).FindString(served.body); found != "" {
		t.Errorf("%q without quotes", found)
	}
}

// The document is a good one, and every example in it is what its schema says.
func TestDescriptionIsValid(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation(), openapi3.EnableSchemaFormatValidation()); err != nil {
		t.Error(err)
	}
	for name, schema := range doc.Components.Schemas {
		for _, example := range schema.Value.Examples {
			if err := doc.ValidateSchemaJSON(schema.Value, example, openapi3.EnableJSONSchema2020()); err != nil {
				t.Errorf("an example of %s: %v", name, err)
			}
		}
	}
}

// Every parameter has an example, which tools send that import the document: it is one that the API takes.
func TestParametersHaveExamples(t *testing.T) {
	t.Parallel()
	for _, op := range operations() {
		for _, p := range slices.Concat(op.Parameters, described().Paths.Value(op.path).Parameters) {
			example, isText := p.Value.Example.(string)
			if p.Value.Example == nil && len(p.Value.Examples) == 0 {
				t.Errorf("%s: no example of %s", op.name(), p.Value.Name)
			}
			if _, err := core.ParseCursor(example); p.Value.Name == "cursor" && isText && err != nil && p.Ref == "#/components/parameters/Cursor" {
				t.Errorf("%s: a cursor such as %s: %v", op.name(), example, err)
			}
		}
	}
}

// The document and the router know the same operations, for the same callers.
func TestDescriptionHasEveryRoute(t *testing.T) {
	t.Parallel()
	routes := map[string]route.Route{}
	for _, e := range sharedServer(t).api.Endpoints() {
		routes[e.Method+" "+regexp.MustCompile(`:(\w+)`).ReplaceAllString(e.Path, "{$1}")] = e
	}
	for _, op := range operations() {
		route, found := routes[op.name()]
		delete(routes, op.name())
		if !found {
			t.Errorf("%s is described, and no route", op.name())
			continue
		}
		op.allowsThoseOf(t, route)
	}
	for route := range routes {
		t.Errorf("%s is not described", route)
	}
}

// allowsThoseOf compares who may call an operation with who may call its route.
func (o operation) allowsThoseOf(t *testing.T, endpoint route.Route) {
	t.Helper()
	callers := []token.Caller{{}, {Actor: core.Actor{Role: core.SuperAdmin}}}
	for _, role := range []core.Role{core.Owner, core.Manager, core.Cashier} {
		callers = append(callers, token.Caller{Actor: core.Actor{Kind: core.ByStaff, Role: role}})
	}
	for _, a := range token.Abilities {
		callers = append(callers, token.Caller{Abilities: []token.Ability{a}})
	}
	for _, c := range callers {
		want := len(o.scopes()) == 0 || !c.IsPlatform() && slices.ContainsFunc(o.scopes(), func(scope string) bool { return c.May(token.Ability(scope)) })
		if o.isPlatform() {
			want = c.IsPlatform()
		}
		if c.Kind == core.ByStaff {
			want = o.takesSessions() && c.Role == core.Owner
		}
		if endpoint.Who.Admits(c) != want {
			t.Errorf("%s: a caller with %v (%s, platform %v) may: %v; the document says %v", o.name(), c.Abilities, c.Kind, c.IsPlatform(), !want, want)
		}
	}
}

// scopes are the roles of which the operation asks for one; none: it needs no scope.
func (o operation) scopes() (scopes []string) {
	for _, way := range *o.Security {
		scopes = append(scopes, way["bearer"]...)
	}
	return scopes
}

// takesSessions reports whether a session in the panel serves as well as a token.
func (o operation) takesSessions() bool {
	return slices.ContainsFunc(*o.Security, func(r openapi3.SecurityRequirement) bool { return r["session"] != nil })
}

func (o operation) isPlatform() bool { return strings.HasPrefix(o.path, "/api/v1/platform/") }

// keyed reports whether the operation takes an idempotency key: "on every POST but /tokens", and but a preview, which has no effect.
func (o operation) keyed() bool {
	return o.method == http.MethodPost && o.path != "/api/v1/tokens" && !strings.HasSuffix(o.path, "/preview")
}

// Every operation's description says who may call it, and lists exactly its possible refusals.
func TestOperationsDescribeTheirRefusals(t *testing.T) {
	t.Parallel()
	for _, op := range operations() {
		want := []string{"401", "422", "429", "500", "503"}
		words := "Any valid token can call it."
		switch {
		case op.isPlatform():
			words = "Needs a platform token, which a super-admin creates."
		case len(op.scopes()) > 0:
			words = "Needs the scope `" + strings.Join(op.scopes(), "`, `") + "`"
			if i := strings.LastIndex(words, ", "); i >= 0 {
				words = words[:i] + " or " + words[i+2:]
			}
		}
		if op.takesSessions() {
			words += " An owner who is signed in to the panel can, too"
		}
		if !strings.Contains(op.Description, words) {
			t.Errorf("%s does not say: %s", op.name(), words)
		}
		if op.isPlatform() || len(op.scopes()) > 0 || op.takesSessions() {
			want = append(want, "403")
		}
		if strings.Contains(op.path, "{") {
			want = append(want, "404")
		}
		if op.RequestBody != nil {
			want = append(want, "400", "413", "415")
		}
		if op.keyed() {
			want = append(want, "400", "409")
		}
		if op.method == http.MethodPatch {
			want = append(want, "412")
		}
		if strings.HasSuffix(op.path, "/batch") { // its items have that
			want = slices.DeleteFunc(want, func(status string) bool { return status == "409" })
		}
		for _, p := range op.Parameters {
			if p.Value.In == openapi3.ParameterInQuery {
				want = append(want, "400")
			}
		}
		slices.Sort(want)
		var have []string
		for status := range op.Responses.Map() {
			if status >= "400" {
				have = append(have, status)
			}
		}
		slices.Sort(have)
		if diff := cmp.Diff(slices.Compact(want), have); diff != "" {
			t.Errorf("%s: refusals (-want +described):\n%s", op.name(), diff)
		}
		takesKey := op.Parameters.GetByInAndName(openapi3.ParameterInHeader, "Idempotency-Key") != nil
		if takesKey != op.keyed() {
			t.Errorf("%s takes a key: %v", op.name(), takesKey)
		}
	}
}

// Rules that no request to the API can break: they are about sending a coupon, merging customers, people, the
// sales of a cashier, counting a stock, promotions, plans and invoices.
var ofThePanel = []string{
	"coupon-expired", "coupon-not-started", "send-begun", "last-owner", "already-joined", "two-step-verification-on", "void-not-allowed", "refund-not-allowed", "stock-changed",
	"country-required", "import-step", "import-running", "merged-balance-too-large", "send-in-progress", "pin-invalid", "joining-closed", "card-inactive", "sale-changed",
	"plan-in-use", "invoice-not-draft", "invoice-not-open", "invoice-not-voidable", "invoice-issuer-missing", "invoice-not-issued",
	"tenant-suspended", "tenant-not-suspended", "too-many-categories", "too-many-promotions",
}

// Every rule of core that the API can refuse by is described, in core's own sentence,
// and some operation is refused by it.
func TestDescriptionHasEveryRule(t *testing.T) {
	t.Parallel()
	rules := rulesOfCore(t)
	examples := described().Components.Examples
	for code, detail := range rules {
		example := examples[code]
		if example == nil {
			if !slices.Contains(ofThePanel, code) {
				t.Errorf("%s is not described", code)
			}
			continue
		}
		want := map[string]any{
			"type": "https://localhost:8443/problems/" + code, "title": "Unprocessable Entity", "status": 422.0, "detail": detail, "code": code,
		}
		if diff := cmp.Diff(want, example.Value.Value); diff != "" {
			t.Errorf("%s (-core +described):\n%s", code, diff)
		}
	}
	used := map[string]bool{}
	for _, op := range operations() {
		response := op.Responses.Status(http.StatusUnprocessableEntity)
		if response == nil {
			continue
		}
		for code, example := range response.Value.Content["application/problem+json"].Examples {
			used[code] = true
			document, _ := example.Value.Value.(map[string]any)
			named, explained := strings.Contains(op.Description, "`"+code+"`"), examples[code] != nil || document["errors"] != nil
			if code != "invalid" && (!named || !explained) {
				t.Errorf("%s: %s is named %v, and is an example %v", op.name(), code, named, explained)
			}
		}
	}
	for code := range examples {
		if rules[code] == "" && code != "invalid" || !used[code] {
			t.Errorf("%s: a rule of core %v, of an operation %v", code, rules[code] != "", used[code])
		}
	}
}

var refusal = regexp.MustCompile(`\bRefuse\("([a-z-]+)", "([^"]+)"\)`)

// rulesOfCore are the sentences of the rules that core declares.
func rulesOfCore(t *testing.T) map[string]string {
	t.Helper()
	rules := map[string]string{}
	err := filepath.WalkDir("../core", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, found := range refusal.FindAllStringSubmatch(string(source), -1) {
			rules[found[1]] = found[2]
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return rules
}
