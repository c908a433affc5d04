package core

import (
	"context"
	"log/slog"
)

// RequestLog collects what the log line of a request has besides path and status.
type RequestLog struct {
	ID    string // of the request, which every line about it has (LogRequests)
	Attrs []slog.Attr
	Route string // the template, by which requests are counted: "/api/v1/customers/:ulid"; "": none

	Refused string // what was refused, for a line of the security log: "sign-in"; "": nothing
}

type requestLogKey struct{}

// WithRequestLog adds a RequestLog to the context of a request or of work that a request caused. The ID must be safe to log.
func WithRequestLog(ctx context.Context, id string) (context.Context, *RequestLog) {
	t := &RequestLog{ID: id}
	return context.WithValue(ctx, requestLogKey{}, t), t
}

// RequestID returns the ID of the request that is worked on, or that caused the job; "": none, as for periodic jobs.
func RequestID(ctx context.Context) string {
	if t, ok := ctx.Value(requestLogKey{}).(*RequestLog); ok {
		return t.ID
	}
	return ""
}

// requestKey is the attribute of a log line that has the ID of its request.
const requestKey = "request"

// requestHandler adds the ID of the request to lines.
type requestHandler struct{ slog.Handler }

// LogRequests returns a log handler that adds the ID of the request to lines that don't have it.
func LogRequests(h slog.Handler) slog.Handler { return requestHandler{h} }

// Handle passes a line on.
func (h requestHandler) Handle(ctx context.Context, line slog.Record) error {
	id, has := RequestID(ctx), false
	line.Attrs(func(a slog.Attr) bool {
		has = a.Key == requestKey
		return !has
	})
	if id != "" && !has {
		line.AddAttrs(slog.String(requestKey, id))
	}
	return h.Handler.Handle(ctx, line)
}

// WithAttrs returns such a handler with attributes.
func (h requestHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup returns such a handler with a group.
func (h requestHandler) WithGroup(name string) slog.Handler {
	return requestHandler{h.Handler.WithGroup(name)}
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
