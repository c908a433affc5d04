package deprecation

import (
	"context"
	"log/slog"
	"time"

	"example.com/loyalty/core/db"
)

const (
	keptFor = time.Minute
	mayTake = 2 * time.Second // a request waits for it
)

type request struct{ method, path string }

// knowledge is what was read last, and when.
type knowledge struct {
	at           time.Time
	deprecations map[request]Deprecation
}

// Find tells whether a request is deprecated; its path is as documented. It reads what
// there is once a minute at most, in one request's time; the others go by what was
// read before.
func (s *Service) Find(ctx context.Context, method, path string) (Deprecation, bool) {
	d, found := s.current(ctx).deprecations[request{method, path}]
	return d, found
}

func (s *Service) current(ctx context.Context) *knowledge {
	known := s.known.Load()
	if known == nil {
		s.reading.Lock() // nothing is known yet: all wait for the first
	} else if s.db.Now().Sub(known.at) < keptFor || !s.reading.TryLock() {
		return known
	}
	defer s.reading.Unlock()
	if latest := s.known.Load(); latest != nil && latest != known {
		return latest // somebody has just read it
	}
	fresh := s.read(ctx, known)
	s.known.Store(fresh)
	return fresh
}

// read reads all there is. Where that fails, what was known before is as good for
// another minute.
func (s *Service) read(ctx context.Context, before *knowledge) *knowledge {
	// What is read is for everybody, not for the client that may go away.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), mayTake)
	defer cancel()
	fresh := &knowledge{at: s.db.Now(), deprecations: map[request]Deprecation{}}
	all, err := db.PlatformAll[Deprecation](ctx, s.db, allSQL, nil)
	if err != nil {
		s.log.WarnContext(ctx, "deprecations not read", slog.Any("error", err))
		if before != nil {
			fresh.deprecations = before.deprecations
		}
		return fresh
	}
	for _, d := range all {
		fresh.deprecations[request{d.Method, d.Path}] = d
	}
	return fresh
}

// forget lets the next request read anew.
func (s *Service) forget() { s.known.Store(nil) }
