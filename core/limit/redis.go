package limit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Redis counts requests for all processes that use it. While it can't be reached, each process counts for
// itself, in memory.
type Redis struct {
	client   scripter
	patience time.Duration
	log      *slog.Logger
	closed   context.Context //nolint:containedctx // ends with Close
	close    context.CancelFunc

	trouble atomic.Pointer[string] // why it can't be reached; nil: it can
}

// scripter is what is used of a *redis.Client. Because that type has generic parts, the compiler would compile its hundreds of methods anew for
// every package that knows a type with a field of it.
type scripter interface {
	redis.Scripter
	io.Closer
}

const (
	redisPatience = time.Second // how long a request waits for Redis at most
	redisRetry    = time.Second // after a failure, Redis is tried again so often
)

// OpenRedis returns the server at a URL such as redis://:password@host:6379/0, or rediss:// with TLS. It
// connects with the first request.
func OpenRedis(ctx context.Context, url string, log *slog.Logger) (*Redis, error) {
	return openRedis(ctx, url, redisPatience, log)
}

func openRedis(ctx context.Context, url string, patience time.Duration, log *slog.Logger) (*Redis, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = patience, patience, patience, patience
	o.ContextTimeoutEnabled = true
	o.MaxRetries, o.DialerRetries = -1, 1 // a request must not count twice
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	logging.Disable() // what matters is logged here
	r := &Redis{client: redis.NewClient(o), patience: patience, log: log}
	r.closed, r.close = context.WithCancel(context.WithoutCancel(ctx))
	return r, nil
}

// UnencryptedHost returns the host to which connections by a URL are not encrypted, or "".
func UnencryptedHost(url string) (string, error) {
	o, err := redis.ParseURL(url)
	if err != nil || o.TLSConfig != nil || o.Network == "unix" {
		return "", err
	}
	host, _, err := net.SplitHostPort(o.Addr)
	return host, err
}

// Check asks the server for an answer, so that Trouble is known before the first request.
func (r *Redis) Check() { r.note(r.try()) }

// try counts a request of its own, because a server that is full or read-only still answers other commands.
func (r *Redis) try() error {
	_, err := r.run(key("try", ""), 1, time.Second, 1)
	return err
}

// Trouble returns why the server can't be reached, or "". A nil r has none.
func (r *Redis) Trouble() string {
	if r == nil {
		return ""
	}
	if trouble := r.trouble.Load(); trouble != nil {
		return *trouble
	}
	return ""
}

// Close closes the connections.
func (r *Redis) Close() error {
	r.close()
	return r.client.Close()
}

// countScript counts a request of KEYS[1] if less than ARGV[1] were counted since the window opened, ARGV[2]
// milliseconds ago at most. With ARGV[3] = 0 it only looks, with -1 it takes back a request. It returns whether
// the request is allowed, the number of counted ones, when the window closes and the server's time, both in
// milliseconds since 1970: all processes have one clock.
var countScript = redis.NewScript(`
	local time = redis.call('TIME')
	local now = time[1] * 1000 + math.floor(time[2] / 1000)
	local limit, length, by = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
	local window = redis.call('HMGET', KEYS[1], 'used', 'ends')
	local used, ends = tonumber(window[1]), tonumber(window[2])
	if not ends or ends <= now then
		used, ends = 0, now + length
	end
	local allowed = used < limit and 1 or 0
	if (by > 0 and allowed == 1) or (by < 0 and used > 0) then
		used = used + by
		redis.call('HSET', KEYS[1], 'used', used, 'ends', ends)
		redis.call('PEXPIREAT', KEYS[1], ends)
	end
	return {allowed, used, ends, now}`)

// count runs the script for a caller of a window. It returns false if Redis can't be asked.
func (r *Redis) count(w *Window, caller string, by int) (Verdict, bool) {
	if r.trouble.Load() != nil {
		return Verdict{}, false
	}
	got, err := r.run(key(w.name, caller), w.limit, w.length, by)
	r.note(err)
	if err != nil {
		return Verdict{}, false
	}
	return Verdict{
		Allowed: got[0] == 1, Limit: w.limit, Length: w.length, Remaining: max(0, w.limit-int(got[1])),
		Reset: time.UnixMilli(got[2]), Wait: time.Duration(got[2]-got[3]) * time.Millisecond,
	}, true
}

// run runs the script, also for a caller who leaves.
func (r *Redis) run(key string, limit int, length time.Duration, by int) ([]int64, error) {
	ctx, cancel := context.WithTimeout(r.closed, r.patience)
	defer cancel()
	got, err := countScript.Run(ctx, r.client, []string{key}, limit, length.Milliseconds(), by).Int64Slice()
	const values = 4
	if err == nil && len(got) != values {
		err = fmt.Errorf("got %d values, want %d", len(got), values)
	}
	return got, err
}

// key names a window in Redis. It doesn't contain the caller, who may be an address or a session.
func key(window, caller string) string {
	sum := sha256.Sum256([]byte(caller))
	return "loyalty:limit:" + window + ":" + hex.EncodeToString(sum[:16])
}

// note remembers and logs that Redis can't be reached, and tries it in the background until it can, so that no
// request waits for it meanwhile.
func (r *Redis) note(err error) {
	if err == nil || r.closed.Err() != nil {
		return
	}
	trouble := err.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		trouble = "no answer within " + r.patience.String()
	}
	if !r.trouble.CompareAndSwap(nil, &trouble) {
		return
	}
	r.log.Warn("Redis can't be reached: this process limits requests, sign-ins and PINs for itself", slog.String("error", trouble))
	go r.reconnect()
}

func (r *Redis) reconnect() {
	retry := time.NewTicker(redisRetry)
	defer retry.Stop()
	for {
		select {
		case <-r.closed.Done():
			return
		case <-retry.C:
		}
		if r.try() == nil {
			r.trouble.Store(nil)
			r.log.Info("Redis answers again: limits are shared")
			return
		}
	}
}
