package api_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/loyalty/api"
	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/token"
)

const (
	sixty     = "60 requests a minute for a token, 10 a minute for an address without a valid token."
	theMinute = "The minute starts at the caller's first request; the 61st (11th) within it is 429 with `Retry-After`, and waiting that long always succeeds; refused requests do not count."
	headers   = "API answers carry `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset` (Unix time), and the same as `RateLimit` and `RateLimit-Policy`."
)

// hands is a clock that the test moves.
type hands struct{ now atomic.Int64 }

func (h *hands) time() time.Time         { return time.Unix(0, h.now.Load()) }
func (h *hands) advance(d time.Duration) { h.now.Add(int64(d)) }

// limited is a shop on a server with the limits of the specification and its own clock.
// Requests can set their IP address.
func limited(t *testing.T, perToken, perAddress int) (*shop, *hands) {
	t.Helper()
	clock := &hands{}
	clock.now.Store(time.Date(2026, 5, 1, 12, 0, 0, 300_000_000, time.UTC).UnixNano())
	o := newServer(t, dbtest.DB(t), func(c *api.Config) {
		c.PerToken, c.PerAddress = limit.NewWindow(perToken, time.Minute, clock.time), limit.NewWindow(perAddress, time.Minute, clock.time)
		c.Address = func(r *http.Request) string { return "192.0.2." + r.Header.Get("X-Test-Address") }
		c.AddressKey = func(address string) string { return strings.TrimSuffix(address, "9") }
	})
	return shopAt(t, o), clock
}

// flood makes many requests at once and counts the responses by status.
func (s *shop) flood(n int, token string, headers ...string) map[int]int {
	s.T.Helper()
	var lock sync.Mutex
	var all sync.WaitGroup
	counts := map[int]int{}
	for range n {
		all.Go(func() {
			got, err := s.try(s.T.Context(), "GET", "/api/v1/tokens", token, strings.NewReader(""), headers...)
			lock.Lock()
			defer lock.Unlock()
			counts[got.status]++
			if err != nil {
				s.T.Error(err)
			}
		})
	}
	all.Wait()
	return counts
}

func TestTokenLimit(t *testing.T) {
	t.Parallel()
	proves(t, sixty, theMinute, headers, "| Authenticated requests | 60 per minute per user (token) |",
		"| Exceeding either | 429 with `Retry-After` (seconds) |",
		"| 429 | Too Many Requests | `Too Many Attempts.` | Rate limit exceeded; header `Retry-After` gives seconds. |",
		"Retry on 429 after `Retry-After` seconds")
	s, clock := limited(t, 60, 10)
	if got := s.flood(150, s.token); got[200] != 60 || got[429] != 90 {
		t.Errorf("150 at once: %v, want 60 successful", got)
	}
	clock.advance(12_345 * time.Millisecond)
	got := s.call("GET", "/api/v1/tokens", s.token, "")
	got.is(t, 429, tooMany)
	// 47.655 seconds are left, so waiting 47 is too short.
	ends := time.Date(2026, 5, 1, 12, 1, 1, 0, time.UTC).Unix()
	for name, want := range map[string]string{
		"Retry-After": "48", "X-Ratelimit-Limit": "60", "X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": strconv.FormatInt(ends, 10),
		"Ratelimit-Policy": `"token";q=60;w=60`, "Ratelimit": `"token";r=0;t=48`,
	} {
		if got.header.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, got.header.Get(name), want)
		}
	}
	clock.advance(47 * time.Second)
	if got := s.call("GET", "/api/v1/tokens", s.token, ""); got.status != 429 || got.header.Get("Retry-After") != "1" {
		t.Errorf("after 47 seconds: %d, Retry-After %q", got.status, got.header.Get("Retry-After"))
	}
	clock.advance(time.Second)
	if got := s.call("GET", "/api/v1/tokens", s.token, ""); got.status != 200 || got.header.Get("X-Ratelimit-Remaining") != "59" ||
		got.header.Get("Ratelimit") != `"token";r=59;t=60` || got.header.Get("Retry-After") != "" {
		t.Errorf("after 48 seconds: %d, %v", got.status, got.header)
	}
	if got := s.flood(60, s.token); got[200] != 59 {
		t.Errorf("in the new minute: %v; want refused requests not to count", got)
	}
	// Another token of the same person has its own limit.
	if got := s.call("GET", "/api/v1/tokens", s.makeToken().Secret, ""); got.status != 200 || got.header.Get("X-Ratelimit-Remaining") != "59" {
		t.Errorf("another token: %d, %v", got.status, got.header)
	}
}

func TestAddressLimit(t *testing.T) {
	t.Parallel()
	proves(t, sixty, theMinute, "| Unauthenticated requests | 10 per minute per IP address |",
		"A valid token never touches the address's limit.", "→ who calls (valid token, else the address) → that caller's limit (429) →")
	s, clock := limited(t, 60, 10)
	revoked := s.makeToken(token.Abilities...)
	s.must(core.Result(s.tokens.Revoke(t.Context(), s.By, revoked.ID, nil)))
	for range 30 {
		s.call("GET", "/api/v1/tokens", s.token, "", "X-Test-Address: 1")
	}
	if got := s.flood(8, "", "X-Test-Address: 1"); got[401] != 8 {
		t.Errorf("the first eight: %v", got)
	}
	// Invalid tokens and unknown paths count for the address, too.
	s.call("GET", "/api/v1/nope", "", "", "X-Test-Address: 1").is(t, 404, notFound)
	got := s.call("GET", "/api/v1/tokens", revoked.Secret, "", "X-Test-Address: 1")
	got.is(t, 401, unauthorized)
	if got.header.Get("X-Ratelimit-Limit") != "10" || got.header.Get("X-Ratelimit-Remaining") != "0" {
		t.Errorf("headers %v", got.header)
	}
	if got := s.flood(30, "", "X-Test-Address: 1"); got[429] != 30 {
		t.Errorf("more: %v", got)
	}
	s.call("GET", "/api/v1/tokens", "1|wrong", "", "X-Test-Address: 1").is(t, 429, tooMany)
	if got := s.call("GET", "/api/v1/tokens", s.token, "", "X-Test-Address: 1"); got.status != 200 || got.header.Get("X-Ratelimit-Remaining") != "29" {
		t.Errorf("a valid token from there: %d %v", got.status, got.header)
	}
	s.call("GET", "/api/v1/tokens", "", "", "X-Test-Address: 2").is(t, 401, unauthorized)
	// IPv6 addresses with the same prefix share a limit.
	s.call("GET", "/api/v1/tokens", "", "", "X-Test-Address: 19").is(t, 429, tooMany)
	clock.advance(time.Minute)
	if got := s.flood(11, "", "X-Test-Address: 1"); got[401] != 10 || got[429] != 1 {
		t.Errorf("a minute later: %v", got)
	}
}

func TestUnlimited(t *testing.T) {
	t.Parallel()
	proves(t, "`LOYALTY_RATE_TOKEN` and `LOYALTY_RATE_IP` change them; 0 turns one off.")
	s, _ := limited(t, 0, 3)
	if got := s.flood(100, s.token); got[200] != 100 {
		t.Errorf("of 100 with a token: %v", got)
	}
	if got := s.call("GET", "/api/v1/tokens", s.token, ""); len(got.header.Values("X-Ratelimit-Limit"))+len(got.header.Values("X-Ratelimit-Remaining")) != 0 {
		t.Errorf("headers of no limit: %v", got.header)
	}
	if got := s.flood(10, ""); got[401] != 3 || got[429] != 7 {
		t.Errorf("of 10 without: %v", got)
	}
	s, _ = limited(t, 2, 0)
	if got := s.flood(100, ""); got[401] != 100 {
		t.Errorf("of 100 without a token: %v", got)
	}
	if got := s.flood(10, s.token); got[200] != 2 || got[429] != 8 {
		t.Errorf("of 10 with one: %v", got)
	}
}

// "Bad tokens cost the database a look-up each even when the address is over its limit: a budget
// for look-ups that fail." Above it, only recently valid tokens are looked up, so that a stranger on
// the shop's network can't block the shop's client.
func TestFailedLookUpsAreLimited(t *testing.T) {
	t.Parallel()
	clock := &hands{}
	clock.now.Store(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC).UnixNano())
	d, trips := dbtest.RoundTrips(t)
	s := shopAt(t, newServer(t, d, func(c *api.Config) {
		c.PerToken, c.PerAddress, c.Failures = limit.NewWindow(0, time.Minute, clock.time), limit.NewWindow(3, time.Minute, clock.time), limit.NewWindow(6, time.Minute, clock.time)
		c.Address = func(r *http.Request) string { return "192.0.2." + r.Header.Get("X-Test-Address") }
	}))
	const here, there = "X-Test-Address: 1", "X-Test-Address: 2"
	revoked, unused := s.makeToken(token.Abilities...), s.makeToken(token.Abilities...)
	s.must(core.Result(s.tokens.Revoke(t.Context(), s.By, revoked.ID, nil)))
	get := func(secret, from string) answer { return s.call("GET", "/api/v1/tokens", secret, "", from) }

	s.call("GET", "/api/v1/tokens", s.token, "", here)
	before := trips()
	for i := range 6 {
		if got, want := get(revoked.Secret, here).status, map[bool]int{true: 401, false: 429}[i < 3]; got != want {
			t.Errorf("bad token %d: %d, want %d", i, got, want)
		}
	}
	if got := trips() - before; got != 6 {
		t.Errorf("6 bad tokens cost %d round trips", got)
	}
	before = trips()
	for range 20 {
		got := get(revoked.Secret, here)
		got.is(t, 429, tooMany)
		if got.header.Get("Retry-After") != "60" {
			t.Errorf("Retry-After is %q", got.header.Get("Retry-After"))
		}
	}
	get(unused.Secret, here).is(t, 429, tooMany) // not looked up
	if got := trips() - before; got != 0 {
		t.Errorf("above the limit the database was queried %d times", got)
	}
	if got := get(s.token, here).status; got != 200 {
		t.Errorf("a recently valid token: %d", got)
	}
	if got := get(unused.Secret, there).status; got != 200 {
		t.Errorf("from another address: %d", got)
	}
	// It is still looked up each time.
	s.must(core.Result(s.tokens.Revoke(t.Context(), s.By, unused.ID, nil)))
	if got := get(unused.Secret, here).status; got != 429 {
		t.Errorf("revoked since: %d", got)
	}
	before = trips()
	if get(unused.Secret, here); trips() != before {
		t.Error("a revoked token is still looked up above the limit")
	}
	clock.advance(time.Minute)
	if got := get(revoked.Secret, here).status; got != 401 {
		t.Errorf("a minute later: %d", got)
	}
}
