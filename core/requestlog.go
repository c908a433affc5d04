package core

import (
	"context"
	"log/slog"
)

// RequestLog collects what the log line of a request says besides its path and status, and by
// which route it is counted: the area that answers notes both.
type RequestLog struct {
	Attrs []slog.Attr
	Route string // the template: "/api/v1/customers/:ulid"; "" where there is no such route

	Refused string // what was refused, for the security line: "sign-in"; "" for nothing
}

type requestLogKey struct{}

// WithRequestLog gives a request a trail.
func WithRequestLog(ctx context.Context) (context.Context, *RequestLog) {
	t := &RequestLog{}
	return context.WithValue(ctx, requestLogKey{}, t), t
}

// SetLogRoute names the route that a request takes. It must be the router's template, of which
// there are few, and not the path.
func SetLogRoute(ctx context.Context, template string) {
	if t, ok := ctx.Value(requestLogKey{}).(*RequestLog); ok {
		t.Route = template
	}
}

// AddLogAttrs adds to the trail of the request, if it has one. Never a secret.
func AddLogAttrs(ctx context.Context, attrs ...slog.Attr) {
	if t, ok := ctx.Value(requestLogKey{}).(*RequestLog); ok {
		t.Attrs = append(t.Attrs, attrs...)
	}
}

// LogRefusal says what of a request was refused to its client, which then leaves a line of its
// own in the log, with these facts. Never a secret. An answer of 403 leaves one by itself.
func LogRefusal(ctx context.Context, what string, facts ...slog.Attr) {
	if t, ok := ctx.Value(requestLogKey{}).(*RequestLog); ok {
		t.Refused = what
		t.Attrs = append(t.Attrs, facts...)
	}
}
