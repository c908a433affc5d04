package core

import (
	"context"
	"log/slog"
)

// RequestLog collects what the log line of a request has besides path and status.
type RequestLog struct {
	Attrs []slog.Attr
	Route string // the template, by which requests are counted: "/api/v1/customers/:ulid"; "": none

	Refused string // what was refused, for a line of the security log: "sign-in"; "": nothing
}

type requestLogKey struct{}

// WithRequestLog adds a RequestLog to a request's context.
func WithRequestLog(ctx context.Context) (context.Context, *RequestLog) {
	t := &RequestLog{}
	return context.WithValue(ctx, requestLogKey{}, t), t
}

// SetLogRoute sets the route of a request: the router's template, not the path, since routes are counted.
func SetLogRoute(ctx context.Context, template string) {
	if t, ok := ctx.Value(requestLogKey{}).(*RequestLog); ok {
		t.Route = template
	}
}

// AddLogAttrs adds attributes to the request's log line. Never a secret.
func AddLogAttrs(ctx context.Context, attrs ...slog.Attr) {
	if t, ok := ctx.Value(requestLogKey{}).(*RequestLog); ok {
		t.Attrs = append(t.Attrs, attrs...)
	}
}

// LogRefusal writes a line of the security log with what the request was refused. Never a secret. A
// response with status 403 is logged without it.
func LogRefusal(ctx context.Context, what string, attrs ...slog.Attr) {
	if t, ok := ctx.Value(requestLogKey{}).(*RequestLog); ok {
		t.Refused = what
		t.Attrs = append(t.Attrs, attrs...)
	}
}
