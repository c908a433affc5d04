package web_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/web"
)

// crowd sends requests to a product whose pages take until release.
type crowd struct {
	*site
	product  http.Handler
	release  chan bool
	working  atomic.Int32
	answered sync.WaitGroup
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	c := &crowd{site: newSite(t), release: make(chan bool)}
	work := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		c.working.Add(1)
		defer c.working.Add(-1)
		select {
		case <-c.release:
		case <-r.Context().Done():
		}
	})
	c.Portal, c.Tenants, c.Till = work, work, work
	var mu sync.Mutex
	c.Now, c.Observe = time.Now, func(a web.Answered) { mu.Lock(); defer mu.Unlock() }
	c.product = web.New(c.Config)
	return c
}

type sent struct {
	*httptest.ResponseRecorder
	done  *atomic.Bool
	leave context.CancelFunc
}

// send sends a request in the background and waits until it works, waits or is answered.
func (c *crowd) send(t *testing.T, url, from string, body io.Reader) sent {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, url, body)
	r.RemoteAddr = from
	r.Header.Set("Accept", "text/html")
	s := sent{httptest.NewRecorder(), new(atomic.Bool), leave}
	c.answered.Go(func() {
		c.product.ServeHTTP(s, r)
		s.done.Store(true)
	})
	synctest.Wait()
	return s
}

func (c *crowd) finish() {
	close(c.release)
	c.answered.Wait()
}

const (
	shop  = "https://demo.loyalty.example"
	other = "https://other.loyalty.example"
)

// Of 500 requests of one address, 16 are worked on, by IPv6 network. The others wait; after five seconds they are
// told so by a page with Retry-After. Another address isn't held up, nor is the API.
func TestAnAddressHasItsPlaces(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]func(n int) string{
		"IPv4":            func(int) string { return "203.0.113.7:1" },
		"an IPv6 network": func(n int) string { return "[2001:db8::" + string(rune('a'+n%6)) + "]:1" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCrowd(t)
				var requests []sent
				for n := range 500 {
					requests = append(requests, c.send(t, shop+"/card/hush", from(n), nil))
				}
				if n := c.working.Load(); n != 16 {
					t.Errorf("%d are worked on, want 16", n)
				}
				c.send(t, shop+"/card/hush", "198.51.100.1:1", nil)
				if n := c.working.Load(); n != 17 {
					t.Errorf("%d are worked on with one of another address, want 17", n)
				}
				for range 100 {
					if got := c.send(t, "https://loyalty.example/api/v1/customers", from(0), nil); got.Code != http.StatusTeapot {
						t.Errorf("the API answers %d", got.Code)
					}
				}
				time.Sleep(5 * time.Second)
				synctest.Wait()
				refused := 0
				for _, r := range requests {
					if !r.done.Load() {
						continue
					}
					refused++
					h := r.Header()
					if r.Code != http.StatusServiceUnavailable || h.Get("Retry-After") != "5" || h.Get("Cache-Control") != "no-store" ||
						!strings.Contains(r.Body.String(), "<h1>Too busy</h1>") || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") {
						t.Fatalf("%d %v: %s", r.Code, h, r.Body)
					}
				}
				if refused != 484 {
					t.Errorf("%d were refused, want 484", refused)
				}
				c.finish()
			})
		})
	}
}

// However short their pages are, requests of one address leave time for others: 160 a second are answered, and
// after them an address that sends few isn't held up.
func TestAnAddressIsPaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t)
		close(c.release) // nothing takes time
		var requests []sent
		for range 500 {
			requests = append(requests, c.send(t, shop+"/card/hush", "203.0.113.7:1", nil))
		}
		for second, want := range []int{16, 176, 336} {
			answered := 0
			for _, r := range requests {
				if r.done.Load() {
					answered++
				}
			}
			if answered != want {
				t.Errorf("%d are answered after %d s, want %d", answered, second, want)
			}
			if !c.send(t, shop+"/card/hush", "198.51.100.1:1", nil).done.Load() {
				t.Error("another address waits")
			}
			time.Sleep(time.Second)
			synctest.Wait()
		}
		c.answered.Wait()
	})
}

// Requests of any number of addresses to one business leave places for others, and those for its customers' pages
// for its own till and panel.
func TestATenantHasItsPlaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t)
		address := func(n int) string { return "203.0.113." + string(rune('0'+n%10)) + ":1" }
		for n := range 300 {
			c.send(t, shop+"/card/hush", address(n), nil)
		}
		if n := c.working.Load(); n != 24 {
			t.Errorf("%d are worked on for one business, want 24", n)
		}
		for n, url := range []string{shop + "/till", shop + "/admin", other + "/card/hush"} {
			c.send(t, url, "198.51.100.1:1", nil)
			if got := c.working.Load(); int(got) != 25+n {
				t.Errorf("%s waits", url)
			}
		}
		c.finish()
	})
}

// A client that leaves while it waits frees its place in line, and is no error.
func TestAClientThatLeavesWaitsNoLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t)
		var requests []sent
		for range 40 {
			requests = append(requests, c.send(t, shop+"/till", "203.0.113.7:1", nil))
		}
		for _, r := range requests[16:39] {
			r.leave()
		}
		requests[0].leave()
		time.Sleep(time.Second) // until its place is free
		synctest.Wait()
		if n := c.working.Load(); n != 16 || requests[39].done.Load() {
			t.Errorf("%d are worked on, want 16 with the last one", n)
		}
		if log := c.log.String(); strings.Count(log, `"status":499`) != 24 || strings.Contains(log, "ERROR") || strings.Contains(log, "WARN") {
			t.Errorf("the log is %s", log)
		}
		c.finish()
	})
}

// What is slower than the work holds no place: a body that is still being sent, a response that a client
// receives, a gate for heavy work.
func TestWaitingHoldsNoPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t)
		for range 100 {
			slow, end := io.Pipe()
			defer end.Close() //nolint:errcheck // never fails
			c.send(t, shop+"/join", "203.0.113.7:1", slow)
		}
		heavy := limit.NewGate(1, 1, time.Minute, "Busy.")
		c.Tenants = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if leave, err := heavy.Enter(r.Context(), 1); err == nil {
				<-c.release
				leave()
			}
		})
		c.Till = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusOK) // a stream
			<-c.release
		})
		c.product = web.New(c.Config)
		for range 100 {
			c.send(t, shop+"/admin/reports", "203.0.113.7:1", nil)
			c.send(t, shop+"/till/stream", "203.0.113.7:1", nil)
		}
		time.Sleep(3 * time.Second) // at the pace of an address
		c.send(t, shop+"/card/hush", "203.0.113.7:1", nil)
		if n := c.working.Load(); n != 1 {
			t.Error("a card waits for slow requests")
		}
		close(c.release)
	})
}

// A request that is still sent after the line has become full is told to come again.
func TestABodyThatArrivesLateWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t)
		body, end := io.Pipe()
		late := c.send(t, shop+"/join", "203.0.113.7:1", body)
		for range 16 {
			c.send(t, shop+"/card/hush", "203.0.113.7:1", nil)
		}
		if err := end.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if !late.done.Load() || late.Code != http.StatusServiceUnavailable {
			t.Errorf("it was answered %t with %d, want a refusal", late.done.Load(), late.Code)
		}
		c.finish()
	})
}

// An address may have 1,024 requests that wait or are sent; further ones are refused at once. Scripts get a sentence.
func TestWaitingRequestsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t)
		for range 1024 {
			c.send(t, shop+"/card/hush", "203.0.113.7:1", nil)
		}
		r := httptest.NewRequestWithContext(core.CountAs(t.Context(), ""), http.MethodGet, shop+"/card/hush/pin/x/events", nil)
		r.RemoteAddr = "203.0.113.7:1"
		r.Header.Set("Accept", "text/event-stream")
		w := httptest.NewRecorder()
		c.product.ServeHTTP(w, r)
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "5" || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
			t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
		}
		c.finish()
	})
}
