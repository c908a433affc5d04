package core

import (
	"context"
	"log/slog"
)

// Trail collects what the log line of a request says besides its path and status:
// whoever answers the request notes who called.
type Trail struct{ Attrs []slog.Attr }

type trailKey struct{}

// WithTrail gives a request a trail.
func WithTrail(ctx context.Context) (context.Context, *Trail) {
	t := &Trail{}
	return context.WithValue(ctx, trailKey{}, t), t
}

// Note adds to the trail of the request, if it has one. Never a secret.
func Note(ctx context.Context, attrs ...slog.Attr) {
	if t, ok := ctx.Value(trailKey{}).(*Trail); ok {
		t.Attrs = append(t.Attrs, attrs...)
	}
}
