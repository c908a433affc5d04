package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/api"
	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/token"
)

// Each request with a token is counted by endpoint and status, and each refusal is kept with its reason and the id of the
// request, and without what was sent.
func TestRequestsOfATokenAreCounted(t *testing.T) {
	var meter *token.Meter
	o := newServer(t, dbtest.OwnDB(t), func(c *api.Config) {
		meter = c.TokenMeter
		c.PerToken = limit.NewWindow(8, time.Minute, time.Now)
	})
	s := shopAt(t, o)
	made := s.makeToken(token.CustomersRead, token.CustomersWrite)
	s.call("GET", "/api/v1/customers", made.Secret, "").is(t, 200, "<anything>")
	s.call("GET", "/api/v1/customers/{anna}", made.Secret, "").is(t, 200, "<anything>")
	missing := s.call("GET", "/api/v1/customers/01J00000000000000000000000", made.Secret, "")
	s.call("GET", "/api/v1/nothing/here", made.Secret, "")
	s.call("DELETE", "/api/v1/customers", made.Secret, "")
	s.call("GET", "/api/v1/rewards", made.Secret, "")
	s.call("POST", "/api/v1/customers", made.Secret, `{"first_name":"Secretive","phone":"hush"}`)
	s.call("POST", "/api/v1/customers", made.Secret, `{"first_name":`)
	s.call("GET", "/api/v1/customers", made.Secret, "") // the ninth
	s.must(core.Result(s.Tokens.Revoke(t.Context(), s.By, made.ID, nil)))
	s.call("GET", "/api/v1/customers", made.Secret, "")
	s.call("GET", "/api/v1/customers", made.Secret[:20], "") // of no token
	s.call("GET", "/api/v1/customers", "", "")
	meter.Write(t.Context())
	u, err := s.Tokens.FindUse(t.Context(), s.By, made.ID)
	s.must(u, err)
	var got []string
	for _, e := range u.Endpoints {
		got = append(got, fmt.Sprint(e.Method, " ", e.Endpoint, " ", e.Statuses))
	}
	slices.Sort(got)
	want := []string{
		"DELETE /api/v1/customers map[405:1]",
		"GET  map[404:1]",
		"GET /api/v1/customers map[200:1 401:1 429:1]",
		"GET /api/v1/customers/{ulid} map[200:1 404:1]",
		"GET /api/v1/rewards map[403:1]",
		"POST /api/v1/customers map[400:1 422:1]",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("counted\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var reasons []string
	for _, r := range slices.Backward(u.Refusals) {
		reasons = append(reasons, fmt.Sprint(r.Status, " ", r.Detail, r.Fields))
	}
	wantReasons := []string{
		"404 The requested resource was not found.[]", "404 The requested resource was not found.[]",
		"405 The method is not allowed for this resource.[]", "403 Invalid ability provided.[]",
		"422 The given data was invalid.[last_name phone]", "400 An error occurred.[]", "429 Too Many Attempts.[]", "401 Authentication required.[]",
	}
	if strings.Join(reasons, "\n") != strings.Join(wantReasons, "\n") {
		t.Errorf("refused\n%s\nwant\n%s", strings.Join(reasons, "\n"), strings.Join(wantReasons, "\n"))
	}
	if len(u.Refusals) == 0 || u.Refusals[len(u.Refusals)-1].RequestID != missing.header.Get("X-Request-Id") || u.LastAddress != "127.0.0.1" {
		t.Errorf("the first refusal is %+v, the last address %s", u.Refusals, u.LastAddress)
	}
	if text := fmt.Sprintf("%+v", u); strings.Contains(text, "hush") || strings.Contains(text, "Secretive") {
		t.Errorf("what was sent is kept: %s", text)
	}
}
