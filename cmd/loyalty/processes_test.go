package main

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/limit/limittest"
	"example.com/loyalty/core/sandbox"
)

// cluster is several processes that serve one database behind one name and share a Redis server.
type cluster struct {
	servers []*server
	redis   *limittest.Redis
	shop    sandbox.Tenant
	url     string // of the database
	d       database
}

func newCluster(t *testing.T, size int, settings ...string) cluster {
	t.Helper()
	c := cluster{redis: limittest.StartRedis(t)}
	where := dbtest.OwnURL(t)
	settings = append(settings, "LOYALTY_REDIS_URL="+c.redis.URL)
	first := newInstallationOn(t, where, append(settings, "LOYALTY_SANDBOX=1")...)
	c.servers = append(c.servers, first.serve())
	c.shop = first.sandbox(t).Tenants[0]
	for len(c.servers) < size {
		next := newInstallationOn(t, where, append(settings, "LOYALTY_BASE_URL="+first.base)...)
		next.base = first.base
		c.servers = append(c.servers, next.serve())
	}
	c.url, c.d = where, connect(t, where)
	return c
}

// each makes n requests, one after the other at each process, and returns how many had each status.
func (c cluster) each(n int, ask func(at *server) int) map[int]int {
	var mu sync.Mutex
	var wg sync.WaitGroup
	statuses := map[int]int{}
	for _, s := range c.servers {
		wg.Go(func() {
			for range n {
				status := ask(s)
				mu.Lock()
				statuses[status]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return statuses
}

// Three processes share their limits, sessions and idempotency keys: whichever of them requests reach, the answers
// are those of one.
func TestThreeProcesses(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	buyer := decode[single[customerRecord]](t, c.servers[0].expect(t, http.StatusCreated, "POST", "/api/v1/customers", c.shop.Tokens["customers:write"],
		`{"first_name":"Elsa","last_name":"Berg","phone":"+46704128819"}`).body).Data.ULID
	request := func(token, key string) func(at *server) int {
		return func(at *server) int {
			var got answer
			var err error
			if key == "" {
				got, err = at.call("GET", "/api/v1/customers", token, "")
			} else {
				got, err = at.call("POST", "/api/v1/transactions", token, `{"customer_ulid":"`+buyer+
					`","transaction_type_id":`+strconv.FormatInt(c.shop.TransactionTypeID, 10)+`,"spend_amount_cents":1250}`, "Idempotency-Key: "+key)
			}
			if err != nil {
				t.Error(err)
			}
			return got.status
		}
	}

	// One sale, although three processes get the same request ten times each. Those that arrive while it is
	// recorded are asked to repeat it.
	before := ask[int64](c.d, "select count(*) from loyalty.transaction")
	sales := c.each(10, request(c.shop.Tokens["transactions:write"], "one sale"))
	if got := ask[int64](c.d, "select count(*) from loyalty.transaction") - before; got != 1 || sales[http.StatusCreated]+sales[http.StatusConflict] != 30 {
		t.Errorf("%d sales with one key, answered %v", got, sales)
	}

	// "60 per minute per user (token)", "10 per minute per IP address".
	if got := c.each(40, request(c.shop.Tokens["all"], "")); got[http.StatusOK] != 60 || got[http.StatusTooManyRequests] != 60 {
		t.Errorf("120 requests of one token were answered %v, want 60 of them", got)
	}
	if got := c.each(10, request("", "")); got[http.StatusUnauthorized] != 10 || got[http.StatusTooManyRequests] != 20 {
		t.Errorf("30 requests without a token were answered %v, want 10 of them", got)
	}

	// A session begins at one process and ends at another; wrong PINs count at all.
	cashier := cashierAt(t, c.shop, c.servers[0], c.servers...)
	see := func(at *server, path string) (int, string) {
		t.Helper()
		got, err := cashier.do(at, http.MethodGet, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close()
		text, err := io.ReadAll(got.Body)
		if err != nil {
			t.Fatal(err)
		}
		return got.StatusCode, cmp.Or(got.Header.Get("Location"), got.Header.Get("Hx-Redirect")) + string(text)
	}
	for i, s := range c.servers {
		if status, text := see(s, "/till"); status != http.StatusOK {
			t.Errorf("process %d answers a signed-in cashier %d %s", i+1, status, text)
		}
	}
	for i := range 20 {
		cashier.post(c.servers[i%3], "/till/take", url.Values{"pin": {"000000"}}, `This PIN is wrong`)
	}
	for _, s := range c.servers {
		cashier.post(s, "/till/take", url.Values{"pin": {"000000"}}, `Too many wrong PINs`)
	}
	cashier.post(c.servers[2], "/admin/sign-out", nil, `sign-in`)
	if _, text := see(c.servers[1], "/till"); !strings.Contains(text, "sign-in") {
		t.Errorf("after the sign-out at another process: %s", text)
	}

	// Without Redis, each process serves and limits for itself.
	c.redis.Stop()
	for i, s := range c.servers {
		s.expect(t, http.StatusOK, "GET", "/api/v1/customers", c.shop.Tokens["customers:read"], "")
		await(t, fmt.Sprintf("process %d warns", i+1), func() bool { return s.log.has("Redis can't be reached") })
	}
	for _, s := range c.servers {
		s.stop()
	}
	c.servers[0].in.succeed("verify")
}
