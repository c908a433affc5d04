package deprecation

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"example.com/loyalty/core/db"
)

const (
	maxAge   = time.Minute
	readTime = 2 * time.Second // while a request waits
)

type request struct{ method, path string }

// knowledge is the deprecations that were last read.
type knowledge struct {
	at           time.Time
	deprecations map[request]Deprecation
}

// Find returns the deprecation of a request, whose path is as documented, and whether there is one. At
// most once a minute one request reads the deprecations; others use what was read before.
func (s *Service) Find(ctx context.Context, method, path string) (Deprecation, bool) {
	d, found := s.current(ctx).deprecations[request{method, path}]
	return d, found
}

// Operations lists the deprecated requests, sorted, such as "GET /api/v1/customers".
func (s *Service) Operations(ctx context.Context) (list []string) {
	for r := range s.current(ctx).deprecations {
		list = append(list, r.method+" "+r.path)
	}
	slices.Sort(list)
	return list
}

func (s *Service) current(ctx context.Context) *knowledge {
	known := s.known.Load()
	if known == nil {
		s.reading.Lock() // nothing was read yet: all wait for the first
	} else if s.db.Now().Sub(known.at) < maxAge || !s.reading.TryLock() {
		return known
	}
	defer s.reading.Unlock()
	if latest := s.known.Load(); latest != nil && latest != known {
		return latest // another request has just read it
	}
	fresh := s.read(ctx, known)
	s.known.Store(fresh)
	return fresh
}

// read reads all deprecations. If that fails, those from before are kept for another minute.
func (s *Service) read(ctx context.Context, before *knowledge) *knowledge {
	// Not cancelled with the request: the result is for all requests.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTime)
	defer cancel()
	fresh := &knowledge{at: s.db.Now(), deprecations: map[request]Deprecation{}}
	all, err := db.All[Deprecation](ctx, s.db.Platform(), allSQL, nil)
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

// forget makes the next request read again.
func (s *Service) forget() { s.known.Store(nil) }
