package limit_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/limit/limittest"
)

// process is what one process knows of a limit.
type process struct {
	*limit.Window
	redis *limit.Redis
	log   *safeBuffer
}

// safeBuffer is a log that several goroutines write.
type safeBuffer struct {
	sync.Mutex
	bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.Lock()
	defer b.Unlock()
	return b.Buffer.Write(p)
}

func (b *safeBuffer) String() string {
	b.Lock()
	defer b.Unlock()
	return b.Buffer.String()
}

func startProcess(t *testing.T, url, name string, most int, length time.Duration) process {
	t.Helper()
	return startPatient(t, url, limit.RedisPatience, name, most, length)
}

// startPatient is startProcess for requests that wait as long for Redis.
func startPatient(t *testing.T, url string, patience time.Duration, name string, most int, length time.Duration) process {
	t.Helper()
	log := &safeBuffer{}
	r, err := limit.OpenRedisFor(t.Context(), url, patience, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return process{limit.NewWindow(most, length, time.Now).Shared(r, name), r, log}
}

// Exactly 60 of 2,000 concurrent requests to three processes are allowed, and all processes say the same of when
// the window closes. On a busy machine, the last of them waits longer than a second.
func TestProcessesShareALimit(t *testing.T) {
	t.Parallel()
	server := limittest.StartRedis(t)
	var processes [3]process
	for i := range processes {
		processes[i] = startPatient(t, server.URL, 30*time.Second, "token", 60, time.Minute)
	}
	var passed, last atomic.Int32
	var resets sync.Map
	var wg sync.WaitGroup
	for i := range 2000 {
		wg.Go(func() {
			v := processes[i%3].Take("a")
			resets.Store(v.Reset, true)
			if v.Allowed {
				passed.Add(1)
				if v.Remaining == 0 {
					last.Add(1)
				}
			}
			if v.Wait <= 0 || v.Wait > time.Minute || v.Limit != 60 {
				t.Errorf("%+v, want a wait of up to a minute and the limit", v)
			}
		})
	}
	wg.Wait()
	if passed.Load() != 60 || last.Load() != 1 {
		t.Errorf("%d passed, %d of them as the last, want 60 and 1", passed.Load(), last.Load())
	}
	times := 0
	resets.Range(func(any, any) bool { times++; return true })
	if times != 1 {
		t.Errorf("the window closes at %d times, want one", times)
	}
	if v := processes[0].Take("b"); !v.Allowed || v.Remaining != 59 {
		t.Errorf("another caller: %+v, want their own window", v)
	}
	if v := startProcess(t, server.URL, "address", 60, time.Minute).Take("a"); v.Remaining != 59 {
		t.Errorf("another limit: %+v, want its own window", v)
	}
	for _, p := range processes {
		if log := p.log.String(); log != "" {
			t.Errorf("logged: %s", log)
		}
	}
}

// A shared window works like one in memory: Peek doesn't count, Refund takes back, and refused requests don't
// count; a request after the wait is allowed.
func TestASharedWindowIsAWindow(t *testing.T) {
	t.Parallel()
	const length = 600 * time.Millisecond
	for name, w := range map[string]*limit.Window{
		"in memory": limit.NewWindow(2, length, time.Now),
		"shared":    startProcess(t, limittest.StartRedis(t).URL, "pin", 2, length).Window,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := func(what string, v limit.Verdict, allowed bool, remaining int) {
				t.Helper()
				if v.Allowed != allowed || v.Remaining != remaining {
					t.Errorf("%s: %+v, want allowed %t with %d remaining", what, v, allowed, remaining)
				}
			}
			w.Refund("a") // nothing to take back
			want("looking at first", w.Peek("a"), true, 2)
			want("first", w.Take("a"), true, 1)
			want("looking", w.Peek("a"), true, 1)
			want("second", w.Take("a"), true, 0)
			want("third", w.Take("a"), false, 0)
			w.Refund("a")
			want("after a refund", w.Take("a"), true, 0)
			refused := w.Take("a")
			want("again", refused, false, 0)
			time.Sleep(refused.Wait + 5*time.Millisecond)
			want("after the wait", w.Take("a"), true, 1)
		})
	}
}

// Without Redis, each process counts for itself and says so once; when Redis is back, they count together again.
func TestRedisIsGone(t *testing.T) {
	t.Parallel()
	server := limittest.StartRedis(t)
	one, two := startProcess(t, server.URL, "token", 2, time.Hour), startProcess(t, server.URL, "token", 2, time.Hour)
	if v := one.Take("a"); v.Remaining != 1 || one.redis.Trouble() != "" {
		t.Fatalf("the first request: %+v, trouble %q; want it counted in Redis", v, one.redis.Trouble())
	}
	server.Stop()
	for _, p := range []process{one, two} {
		for i := range 4 {
			if v := p.Take("a"); v.Allowed != (i < 2) {
				t.Errorf("request %d without Redis: allowed %t", i+1, v.Allowed)
			}
		}
		if got := strings.Count(p.log.String(), "level=WARN"); got != 1 || !strings.Contains(p.log.String(), "limits requests, sign-ins and PINs for itself") {
			t.Errorf("%d warnings, want one: %s", got, p.log.String())
		}
		if p.redis.Trouble() == "" {
			t.Error("no trouble is known")
		}
	}

	server.Start()
	for begun := time.Now(); one.redis.Trouble() != "" || two.redis.Trouble() != ""; time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatal("Redis is not used again")
		}
	}
	one.Take("c")
	if v := two.Take("c"); v.Remaining != 0 {
		t.Errorf("the second process: %+v, want the first one's request counted", v)
	}
	if !strings.Contains(one.log.String(), "Redis answers again") {
		t.Errorf("the log is %s", one.log.String())
	}
}

// A server that doesn't answer delays a request by a second; the next ones don't ask it.
func TestRedisHangs(t *testing.T) {
	t.Parallel()
	server := limittest.StartRedis(t)
	p := startProcess(t, server.URL, "token", 1000, time.Hour)
	p.Take("a")
	server.Hang()
	defer server.Resume()
	begun := time.Now()
	for range 100 {
		if !p.Take("a").Allowed {
			t.Fatal("refused")
		}
	}
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("100 requests took %s, as if each had waited", took)
	}
	if got := p.redis.Trouble(); !strings.Contains(got, "within 1s") && !strings.Contains(got, "timeout") {
		t.Errorf("the trouble is %q", got)
	}
}

// Redis keeps neither addresses nor names of sessions, and nothing longer than its window.
func TestWhatRedisKeeps(t *testing.T) {
	t.Parallel()
	server := limittest.StartRedis(t)
	startProcess(t, server.URL, "address", 5, time.Hour).Take("203.0.113.7")
	o, err := redis.ParseURL(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	keys, err := c.Keys(t.Context(), "*").Result()
	if err != nil || len(keys) != 1 || strings.Contains(keys[0], "203.0.113.7") || !strings.HasPrefix(keys[0], "loyalty:limit:address:") {
		t.Fatalf("the keys are %q, %v", keys, err)
	}
	if left, err := c.PTTL(t.Context(), keys[0]).Result(); err != nil || left <= 0 || left > time.Hour {
		t.Errorf("it is kept for %s, %v", left, err)
	}
}
