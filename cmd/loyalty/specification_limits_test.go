package main

import (
	"net/http"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"
)

const (
	tokenLimit   = "| Authenticated requests | 60 per minute per user (token) |"
	addressLimit = "| Unauthenticated requests | 10 per minute per IP address |"
	eitherLimit  = "| Exceeding either | 429 with `Retry-After` (seconds) |"
	otherHeaders = "Maximum page size and other headers about rate limits: not shown."
	tooManyRow   = "| 429 | Too Many Requests | `Too Many Attempts.` | Rate limit exceeded; header `Retry-After` gives seconds. |"
)

// exhausted is the result of more requests than a limit allows.
type exhausted struct {
	passed  map[int]int // answers, by status
	refused answer      // the last of them
	at      time.Time   // of that request
}

// limits are those of a token and of an address.
type limits struct{ token, address exhausted }

// exhaust makes one request more than each limit allows, and stores the results.
func (s *scene) exhaust(t *testing.T) {
	t.Helper()
	ask := func(n int, token string) exhausted {
		e := exhausted{passed: map[int]int{}}
		for range n + 1 {
			got, err := s.call("GET", "/api/v1/tokens", token, "")
			if err != nil {
				t.Fatal(err)
			}
			e.passed[got.status]++
			e.refused, e.at = got, time.Now()
		}
		return e
	}
	s.in.moveLimitClock(t, time.Minute) // earlier requests don't count
	s.limits = limits{ask(60, s.file.Tenants[0].Tokens["all"]), ask(10, "")}
}

// says checks that n requests were within the limit, and the next one was not.
func (e exhausted) says(v *visit, n, status int) {
	v.t.Helper()
	if e.passed[status] != n || e.passed[http.StatusTooManyRequests] != 1 {
		v.t.Errorf("of %d requests: %v, want %d answered %d", n+1, e.passed, n, status)
	}
	v.is(e.refused, http.StatusTooManyRequests, tooMany)
}

// wait returns the Retry-After of the refused request.
func (e exhausted) wait(t *testing.T) time.Duration {
	t.Helper()
	seconds, err := strconv.Atoi(e.refused.header.Get("Retry-After"))
	if err != nil || seconds < 1 || seconds > 60 {
		t.Errorf("Retry-After: %q", e.refused.header.Get("Retry-After"))
	}
	return time.Duration(seconds) * time.Second
}

var limitSentences = []sentence{
	{says: tokenLimit, when: atTheLimits, story: func(v *visit) { v.limits.token.says(v, 60, 200) }},
	{says: tokenLimit, when: atTheLimits, with: "another token of the same person", story: func(v *visit) {
		v.is(v.ask("GET", "/customers?per_page=1", "customers:read", ""), 200, "<anything>")
	}},
	{says: addressLimit, when: atTheLimits, story: func(v *visit) { v.limits.address.says(v, 10, 401) }},
	{says: addressLimit, when: atTheLimits, with: "another address", story: func(v *visit) {
		if runtime.GOOS != "linux" {
			v.t.Skip("this machine has one loopback address")
		}
		in := v.in
		c := clientFrom(v.t, "127.0.0.2", in.addr, trusting(v.t, filepath.Join(in.data, "ca.pem")))
		got, err := call(c, "GET", in.base+"/api/v1/tokens", "", "")
		if err != nil {
			v.t.Fatal(err)
		}
		v.is(got, 401, unauthorized)
	}},
	{says: eitherLimit, when: atTheLimits, with: "a token's", story: func(v *visit) { v.limits.token.wait(v.t) }},
	{says: eitherLimit, when: atTheLimits, with: "an address's", story: func(v *visit) { v.limits.address.wait(v.t) }},
	{says: tooManyRow, when: atTheLimits, with: "a token's", story: func(v *visit) { v.is(v.limits.token.refused, 429, tooMany) }},
	{says: tooManyRow, when: atTheLimits, with: "an address's", story: func(v *visit) { v.is(v.limits.address.refused, 429, tooMany) }},
	{says: otherHeaders, when: atTheLimits, story: func(v *visit) {
		got := v.ask("GET", "/tokens", "reports:read", "")
		left, err := strconv.Atoi(got.header.Get("X-RateLimit-Remaining"))
		if got.header.Get("X-RateLimit-Limit") != "60" || err != nil || left < 0 || left > 59 {
			v.t.Errorf("%v", got.header)
		}
		refused := v.limits.token.refused.header
		if reset, err := strconv.ParseInt(refused.Get("X-RateLimit-Reset"), 10, 64); err != nil || time.Unix(reset, 0).Before(v.limits.token.at) {
			v.t.Errorf("%v", refused)
		}
	}},
	{says: retryLater, with: "429", when: afterTheLimits, story: func(v *visit) {
		token, address := v.limits.token, v.limits.address
		v.in.moveLimitClock(v.t, time.Minute+max(token.wait(v.t), address.wait(v.t)))
		v.expect(v.t, http.StatusOK, "GET", "/api/v1/tokens", v.file.Tenants[0].Tokens["all"], "")
		v.expect(v.t, http.StatusUnauthorized, "GET", "/api/v1/tokens", "", "")
	}},
}
