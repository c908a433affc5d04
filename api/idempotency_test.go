package api_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/api"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/transaction"
)

const (
	keys = "`Idempotency-Key` (optional, 1–255 characters, quoted or bare) on every POST but /tokens (its secret is never returned again): the same key, caller (token) and fingerprint " +
		"(method, path, raw body) within 24 hours returns the first answer, status and bytes, with `Idempotent-Replayed: true`; another fingerprint is 422; still running is 409."
	keyReused  = "| 422 key reuse | Unprocessable Entity | `This idempotency key was used with a different request.` |"
	keyRunning = "| 409 | Conflict | `A request with this idempotency key is still running.` |"
	aSale      = `{"customer_ulid":"{anna}","transaction_type_id":{points},"spend_amount_cents":100}`
)

// replays repeats the request and checks that it gets the first response.
func (s *shop) replays(t *testing.T, first answer, method, path, token, body string, headers ...string) {
	t.Helper()
	got := s.call(method, path, token, body, headers...)
	if got.status != first.status || got.body != first.body || got.header.Get("Idempotent-Replayed") != "true" || got.header.Get("Content-Type") != first.header.Get("Content-Type") {
		t.Errorf("again: %d %s %v; first %d %s", got.status, got.body, got.header, first.status, first.body)
	}
}

func TestIdempotentRequestsTakeEffectOnce(t *testing.T) {
	t.Parallel()
	proves(t, keys, keyReused, "`idempotency-key-reused`", "and just before commit renders and stores the answer, so that a crash can never part them.")
	s := newShop(t)
	s.fill("{anna}{points}{sale}")
	reused := refused("idempotency-key-reused", "This idempotency key was used with a different request.")

	first := s.call("POST", "/api/v1/transactions", s.token, aSale, "Idempotency-Key: a sale")
	if first.status != 201 || first.header.Get("Idempotent-Replayed") != "" || s.rows("idempotency") != 1 {
		t.Fatal(first)
	}
	for _, spelled := range []string{`a sale`, `"a sale"`, `  a sale `} {
		s.replays(t, first, "POST", "/api/v1/transactions", s.token, aSale, "Idempotency-Key: "+spelled)
	}
	balance(13, 0, 2)(s, answer{})
	for _, other := range []string{aSale + " ", strings.Replace(aSale, "100", "200", 1), `{"a":1}`} {
		s.call("POST", "/api/v1/transactions", s.token, other, "Idempotency-Key: a sale").is(t, 422, reused)
	}
	s.call("POST", "/api/v1/customers", s.token, s.fill(aSale), "Idempotency-Key: a sale").is(t, 422, reused)

	// A replay has the first status: 201 stays 201, and a void isn't refused.
	body := `{"first_name":"A","last_name":"B","phone":"112"}`
	first = s.call("POST", "/api/v1/customers", s.token, body, "Idempotency-Key: a customer")
	s.replays(t, first, "POST", "/api/v1/customers", s.token, body, "Idempotency-Key: a customer")
	if first.status != 201 {
		t.Error(first)
	}
	first = s.call("POST", "/api/v1/transactions/{sale}/void", s.token, "", "Idempotency-Key: a void")
	if first.status != 200 {
		t.Error(first)
	}
	s.replays(t, first, "POST", "/api/v1/transactions/{sale}/void", s.token, "", "Idempotency-Key: a void")
	// Its body isn't read, so it isn't part of the fingerprint.
	s.replays(t, first, "POST", "/api/v1/transactions/{sale}/void", s.token, "{garbage", "Idempotency-Key: a void", "Content-Type: text/plain")
	s.call("POST", "/api/v1/transactions/{sale}/void", s.token, "").is(t, 422, refused("already-voided", "This transaction has already been voided."))

	// Keys belong to a token.
	second := s.makeToken(token.Abilities...).Secret
	got := s.call("POST", "/api/v1/transactions", second, aSale, "Idempotency-Key: a sale")
	if got.status != 201 || got.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("by another token: %d %v", got.status, got.header)
	}
	balance(2, 0, 4)(s, answer{})
}

func TestIdempotencyKeysExpireAfterADay(t *testing.T) {
	t.Parallel()
	proves(t, keys)
	s := newShop(t)
	first := s.call("POST", "/api/v1/transactions", s.token, aSale, "Idempotency-Key: k")
	at := func(shift time.Duration) *shop {
		o := newServer(t, dbtest.DB(t), func(c *api.Config) { c.Transactions = transaction.NewService(s.db.At(s.db.Now().Add(shift))) })
		later := *s
		later.server = o
		return &later
	}
	at(24*time.Hour-time.Minute).replays(t, first, "POST", "/api/v1/transactions", s.token, aSale, "Idempotency-Key: k")
	got := at(24*time.Hour+time.Second).call("POST", "/api/v1/transactions", s.token, aSale, "Idempotency-Key: k")
	if got.status != 201 || got.header.Get("Idempotent-Replayed") != "" || got.body == first.body || s.rows("transaction") != 2 {
		t.Errorf("after a day: %d %s", got.status, got.body)
	}
}

func TestRefusedRequestsStoreNoResponse(t *testing.T) {
	t.Parallel()
	proves(t, "Only 2xx are kept; a refusal frees the key.")
	s := newShop(t)
	for _, bad := range []struct {
		body   string
		status int
	}{{`{`, 400}, {`{}`, 422}, {strings.Replace(aSale, "{points}", "{lavish}", 1), 201}} {
		if bad.status == 201 { // above the limit of an award
			bad.body, bad.status = strings.Replace(bad.body, "100", "1000000000000", 1), 422
		}
		if got := s.call("POST", "/api/v1/transactions", s.token, bad.body, "Idempotency-Key: k"); got.status != bad.status {
			t.Errorf("%s: %d %s", bad.body, got.status, got.body)
		}
	}
	if s.rows("idempotency") != 0 {
		t.Error("a refusal was stored")
	}
	first := s.call("POST", "/api/v1/transactions", s.token, aSale, "Idempotency-Key: k")
	s.replays(t, first, "POST", "/api/v1/transactions", s.token, aSale, "Idempotency-Key: k")
	if first.status != 201 {
		t.Error(first)
	}
}

func TestRunningRequestIsAConflict(t *testing.T) {
	t.Parallel()
	proves(t, keyRunning, "the transaction takes `pg_try_advisory_xact_lock` on the key's hash (not got → 409),")
	s := newShop(t)
	s.fill("{anna}{points}")
	other := s.makeToken(token.Abilities...).Secret
	held := s.hold("account")
	first := s.callLater(t.Context(), "POST", "/api/v1/transactions", s.fill(aSale), "Idempotency-Key: k")
	held.waitFor(t, 1)
	s.call("POST", "/api/v1/transactions", s.token, aSale, "Idempotency-Key: k").is(t, 409, conflict)
	s.call("POST", "/api/v1/transactions/{missing}/void", s.token, "", "Idempotency-Key: k").is(t, 409, conflict)
	s.call("POST", "/api/v1/transactions/{missing}/void", other, "", "Idempotency-Key: k").is(t, 404, notFound)
	held.release()
	got := first.answer(t)
	if got.status != 201 {
		t.Error(got)
	}
	s.replays(t, got, "POST", "/api/v1/transactions", s.token, aSale, "Idempotency-Key: k")
}

func TestConcurrentRequestsWithAKeyTakeEffectOnce(t *testing.T) {
	t.Parallel()
	proves(t, keys)
	s := newShop(t)
	body := s.fill(aSale)
	var lock sync.Mutex
	var all sync.WaitGroup
	answers := map[int]map[string]int{}
	for range 50 {
		all.Go(func() {
			got, err := s.try(t.Context(), "POST", "/api/v1/transactions", s.token, strings.NewReader(body), "Idempotency-Key: k")
			lock.Lock()
			defer lock.Unlock()
			if err != nil {
				t.Error(err)
			}
			if answers[got.status] == nil {
				answers[got.status] = map[string]int{}
			}
			answers[got.status][got.body]++
		})
	}
	all.Wait()
	if len(answers[201]) != 1 || len(answers) > 2 || (len(answers) == 2 && len(answers[409]) != 1) {
		t.Errorf("answers: %v", answers)
	}
	balance(1, 0, 1)(s, answer{})
}

func TestIdempotencyKeyLength(t *testing.T) {
	t.Parallel()
	proves(t, keys)
	s := newShop(t)
	const body = `{"first_name":"A","last_name":"B","phone":"112"}`
	for _, key := range []string{"k", strings.Repeat("k", 255), `"` + strings.Repeat("q", 255) + `"`, `"`, `a"b`, "~ !"} {
		if got := s.call("POST", "/api/v1/customers", s.token, body, "Idempotency-Key: "+key); got.status > 201 {
			t.Errorf("%q: %d %s", key, got.status, got.body)
		}
	}
	for _, key := range []string{strings.Repeat("k", 256), `"` + strings.Repeat("q", 256) + `"`, `""`, "ö", "a\tb"} {
		s.call("POST", "/api/v1/customers", s.token, body, "Idempotency-Key: "+key).is(t, 400, badRequest)
	}
	s.raw(t, "POST /api/v1/customers HTTP/1.1\r\nIdempotency-Key:\r\nContent-Length: 48\r\n", body).is(t, 400, badRequest)
	s.raw(t, "POST /api/v1/customers HTTP/1.1\r\nIdempotency-Key: a\r\nIdempotency-Key: a\r\nContent-Length: 48\r\n", body).is(t, 400, badRequest)
}

func TestIgnoredIdempotencyKeys(t *testing.T) {
	t.Parallel()
	proves(t, keys, "Returned only in the creation response,")
	s := newShop(t)
	key := "Idempotency-Key: k"
	var secrets [2]string
	for i := range secrets {
		got := s.call("POST", "/api/v1/tokens", s.token, `{"name":"x","scopes":[]}`, key)
		got.is(t, 201, tokenMade(`"x"`, `[]`, "null"))
		secrets[i] = got.body
	}
	if secrets[0] == secrets[1] || s.rows("idempotency") != 0 {
		t.Errorf("a secret was returned twice: %s", secrets[0])
	}
	for _, name := range []string{"Ann", "Anne"} {
		if got := s.call("PATCH", "/api/v1/customers/{anna}", s.token, `{"first_name":"`+name+`"}`, key); !bytes.Contains([]byte(got.body), []byte(`"`+name+`"`)) {
			t.Errorf("PATCH: %s", got.body)
		}
	}
	for _, method := range []string{"GET", "DELETE"} {
		path := "/api/v1/tokens"
		if method == "DELETE" {
			path += "/{spare_token}"
		}
		if got := s.call(method, path, s.token, "", "Idempotency-Key: "+strings.Repeat("k", 300)); got.status > 204 {
			t.Errorf("%s: %d", method, got.status)
		}
	}
}
