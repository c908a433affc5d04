package web

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"
)

// failuresLogged is how often a failing state is logged while it lasts.
const failuresLogged = time.Minute

// readiness is what /readyz answered last. Load balancers ask every second, so the log has the changes of the answer and,
// while it is a refusal, a line a minute.
type readiness struct {
	mu      sync.Mutex
	reason  string    // why it last refused, as it was answered; "": it was ready
	since   time.Time // when it began to refuse
	logged  time.Time // when the reason was last logged
	counted int       // refusals since then
}

// refused logs a refusal, unless the same reason was logged in the last minute.
func (s *readiness) refused(ctx context.Context, log *slog.Logger, now time.Time, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason == "" {
		s.since = now
	}
	reason := publicMessage(cause)
	isSame := reason == s.reason
	if isSame && now.Sub(s.logged) < failuresLogged {
		s.counted++
		return
	}
	about := []slog.Attr{slog.Any("error", cause)}
	if isSame {
		about = append(about, slog.Duration("for", now.Sub(s.since)), slog.Int("repeated", s.counted))
	}
	log.LogAttrs(ctx, slog.LevelWarn, "not ready", about...)
	s.reason, s.logged, s.counted = reason, now, 0
}

// ready logs that the process is ready again, if it wasn't.
func (s *readiness) ready(ctx context.Context, log *slog.Logger, now func() time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason == "" {
		return
	}
	log.InfoContext(ctx, "ready again", slog.Duration("after", now().Sub(s.since)))
	s.reason = ""
}

// isProbe reports whether a request is a probe with its usual answer, which has no line in the log: probes come every second.
func isProbe(path string, status int) bool {
	return (path == "/healthz" || path == "/readyz") && slices.Contains([]int{http.StatusOK, http.StatusServiceUnavailable}, status)
}
