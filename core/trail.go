package core

import (
	"context"
	"log/slog"
)

// Trail collects what the log line of a request says besides its path and status, and by
// which route it is counted: the area that answers notes both.
type Trail struct {
	Attrs []slog.Attr
	Route string // the template: "/api/v1/customers/:ulid"; "" where there is no such route

	Refused string // what was refused, for the security line: "sign-in"; "" for nothing
}

type trailKey struct{}

// WithTrail gives a request a trail.
func WithTrail(ctx context.Context) (context.Context, *Trail) {
	t := &Trail{}
	return context.WithValue(ctx, trailKey{}, t), t
}

// NoteRoute names the route that a request takes. It must be the router's template, of which
// there are few, and not the path.
func NoteRoute(ctx context.Context, template string) {
	if t, ok := ctx.Value(trailKey{}).(*Trail); ok {
		t.Route = template
	}
}

// Note adds to the trail of the request, if it has one. Never a secret.
func Note(ctx context.Context, attrs ...slog.Attr) {
	if t, ok := ctx.Value(trailKey{}).(*Trail); ok {
		t.Attrs = append(t.Attrs, attrs...)
	}
}

// NoteRefused says what of a request was refused to its client, which then leaves a line of its
// own in the log, with these facts. Never a secret. An answer of 403 leaves one by itself.
func NoteRefused(ctx context.Context, what string, facts ...slog.Attr) {
	if t, ok := ctx.Value(trailKey{}).(*Trail); ok {
		t.Refused = what
		t.Attrs = append(t.Attrs, facts...)
	}
}
