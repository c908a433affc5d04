package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
)

// problem is an RFC 7807 document (specification §7).
type problem struct {
	Type   string              `json:"type"`
	Title  string              `json:"title"`
	Status int                 `json:"status"`
	Detail string              `json:"detail"`
	Code   string              `json:"code,omitempty"`   // of a business rule, and of a few violations
	Errors map[string][]string `json:"errors,omitempty"` // of a failed validation

	existing *core.Existing // a further member
}

// Errors in the request that are found before core is called.
var (
	errMalformed       = errors.New("malformed request")
	errTooLarge        = errors.New("body too large")
	errMediaType       = errors.New("body is not JSON")
	errEncoded         = errors.New("body is compressed")
	errTooManyRequests = errors.New("too many requests")
)

const rfc9110 = "https://www.rfc-editor.org/rfc/rfc9110#section-"

// The problems with fixed texts (specification §7, decisions §3).
var (
	badRequest       = problem{rfc9110 + "15.5.1", "Error", http.StatusBadRequest, "An error occurred.", "", nil, nil}
	unauthorized     = problem{rfc9110 + "15.5.2", "Unauthorized", http.StatusUnauthorized, "Authentication required.", "", nil, nil}
	forbidden        = problem{rfc9110 + "15.5.4", "Forbidden", http.StatusForbidden, "Invalid ability provided.", "", nil, nil}
	notFound         = problem{rfc9110 + "15.5.5", "Not Found", http.StatusNotFound, "The requested resource was not found.", "", nil, nil}
	methodNotAllowed = problem{rfc9110 + "15.5.6", "Method Not Allowed", http.StatusMethodNotAllowed, "The method is not allowed for this resource.", "", nil, nil}
	conflict         = problem{rfc9110 + "15.5.10", "Conflict", http.StatusConflict, core.ErrKeyRunning.Message, "", nil, nil}
	tooLarge         = problem{rfc9110 + "15.5.14", "Content Too Large", http.StatusRequestEntityTooLarge, "The request body is too large.", "", nil, nil}
	changed          = problem{rfc9110 + "15.5.13", "Precondition Failed", http.StatusPreconditionFailed, core.ErrStale.Message, "", nil, nil}
	encodedBody      = problem{rfc9110 + "15.5.16", "Unsupported Media Type", http.StatusUnsupportedMediaType, "The request body must not be compressed.", "", nil, nil}
	notJSON          = problem{rfc9110 + "15.5.16", "Unsupported Media Type", http.StatusUnsupportedMediaType, "The request body must be JSON.", "", nil, nil}
	tooManyRequests  = problem{"https://www.rfc-editor.org/rfc/rfc6585#section-4", "Too Many Requests", http.StatusTooManyRequests, "Too Many Attempts.", "", nil, nil}
	headersTooLarge  = problem{"https://www.rfc-editor.org/rfc/rfc6585#section-5", "Request Header Fields Too Large", http.StatusRequestHeaderFieldsTooLarge, "The request headers are too large.", "", nil, nil}
	internalError    = problem{rfc9110 + "15.6.1", "Internal Server Error", http.StatusInternalServerError, "An error occurred.", "", nil, nil}
	unavailable      = problem{rfc9110 + "15.6.4", "Service Unavailable", http.StatusServiceUnavailable, "The service is temporarily unavailable.", "", nil, nil}
)

// retryAfter returns the seconds after which a client should retry: the wait of the error, or
// a default.
func retryAfter(err error) string {
	var refusal *core.Error
	if errors.As(err, &refusal) && refusal.Wait > 0 {
		return strconv.Itoa(int(math.Ceil(refusal.Wait.Seconds())))
	}
	return "2"
}

// isBusy reports whether heavy work waited too long (core.Busy).
func isBusy(err error) bool {
	var refusal *core.Error
	return errors.As(err, &refusal) && refusal.Wait > 0
}

// problem responds to a failed request. It is the only place that maps errors to statuses
// and logs internal errors.
func (a *API) problem(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	p := a.document(err)
	c.Set(problemKey, p)
	ctx, h := c.Request().Context(), c.Response().Header()
	if p.Status >= http.StatusInternalServerError && errors.Is(ctx.Err(), context.Canceled) {
		a.Log.DebugContext(ctx, "client left before its response")
		return // its statements were cancelled, and no one reads a response
	}
	switch p.Status {
	case http.StatusUnauthorized:
		h.Set(echo.HeaderWWWAuthenticate, "Bearer")
		if bearer(c.Request()) != "" {
			h.Set(echo.HeaderWWWAuthenticate, `Bearer error="invalid_token"`)
		}
	case http.StatusForbidden:
		if scope := a.neededScopes(c); scope != "" {
			h.Set(echo.HeaderWWWAuthenticate, fmt.Sprintf(`Bearer error="insufficient_scope", scope=%q`, scope))
		}
	case http.StatusUnsupportedMediaType:
		switch {
		case errors.Is(err, errEncoded):
			h.Set(echo.HeaderAcceptEncoding, "identity")
		case c.Request().Method == http.MethodPatch:
			h.Set("Accept-Patch", patchTypes)
		}
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", retryAfter(err))
	}
	a.logProblem(ctx, p.Status, err)
	for _, name := range []string{"ETag", echo.HeaderLocation} { // of a response that couldn't be completed
		h.Del(name)
	}
	h.Set(echo.HeaderCacheControl, dontStore)
	body, err := p.text()
	if err == nil {
		err = send(c, p.Status, problemType, encodingFor(c.Request().Header, len(body)), body)
	}
	if err != nil {
		a.Log.DebugContext(ctx, "response not delivered", slog.Any("error", err))
	}
}

const problemType = "application/problem+json"

// logProblem logs an error that isn't the caller's fault, unless the client left, whose statements were cancelled.
func (a *API) logProblem(ctx context.Context, status int, err error) {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
	case status == http.StatusServiceUnavailable && isBusy(err):
		a.Log.WarnContext(ctx, "too busy", slog.Any("error", err))
	case status == http.StatusServiceUnavailable:
		a.Log.WarnContext(ctx, "database not available", slog.Any("error", err))
	case status == http.StatusInternalServerError:
		a.Log.ErrorContext(ctx, "request failed", slog.Any("error", err))
	}
}

func writeProblem(w http.ResponseWriter, p problem) error {
	body, err := p.text()
	if err != nil {
		return err
	}
	w.Header().Set(echo.HeaderContentType, problemType)
	w.WriteHeader(p.Status)
	_, err = w.Write(body)
	return err
}

// text returns the document as JSON.
func (p problem) text() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(p)
	if p.existing != nil {
		b.Truncate(b.Len() - len("}\n"))
		fmt.Fprintf(&b, ",%q:%q}\n", p.existing.Member, p.existing.ID)
	}
	return b.Bytes(), err
}

func (a *API) document(err error) problem {
	var refusal *core.Error
	if errors.As(err, &refusal) {
		return a.refusal(refusal)
	}
	var routing *echo.HTTPError
	switch {
	case errors.Is(err, errMalformed):
		return badRequest
	case errors.Is(err, errTooLarge):
		return tooLarge
	case errors.Is(err, errMediaType):
		return notJSON
	case errors.Is(err, errEncoded):
		return encodedBody
	case errors.Is(err, errTooManyRequests):
		return tooManyRequests
	case errors.Is(err, context.DeadlineExceeded):
		return unavailable
	case errors.As(err, &routing) && routing.Code == http.StatusNotFound:
		return notFound
	case errors.As(err, &routing) && routing.Code == http.StatusMethodNotAllowed:
		return methodNotAllowed
	}
	return internalError
}

func (a *API) refusal(e *core.Error) problem {
	switch e.Kind {
	case core.KindInvalid:
		return problem{
			Type: rfc9110 + "15.5.21", Title: "Validation Error", Status: http.StatusUnprocessableEntity,
			Detail: e.Message, Code: e.Code, Errors: messages(e.Fields), existing: e.Existing,
		}
	case core.KindRule:
		return problem{
			Type: a.BaseURL + "/problems/" + e.Code, Title: "Unprocessable Entity", Status: http.StatusUnprocessableEntity,
			Detail: e.Message, Code: e.Code,
		}
	case core.KindNotFound:
		return notFound
	case core.KindUnauthenticated:
		return unauthorized
	case core.KindForbidden:
		if errors.Is(e, core.ErrSuspended) { // suspended since the token was checked: its tokens don't work any more
			return unauthorized
		}
		return forbidden
	case core.KindRunning:
		return conflict
	case core.KindThrottled:
		return tooManyRequests
	case core.KindUnavailable:
		return unavailable
	case core.KindStale:
		return changed
	}
	return internalError
}

// ability returns what the token of a request would have needed; "" if no token of a business would do.
func (a *API) neededScopes(c echo.Context) string {
	if who, known := caller(c); !known || who.IsPlatform() {
		return ""
	}
	return a.scopes[routed(c.Request())+" "+c.Path()]
}

// unreadable are the problems of requests that can't be read, besides badRequest.
var unreadable = []problem{
	headersTooLarge,
	{rfc9110 + "15.5.18", "Expectation Failed", http.StatusExpectationFailed, "The expectation is not supported.", "", nil, nil},
	{rfc9110 + "15.6.2", "Not Implemented", http.StatusNotImplemented, "The transfer encoding is not supported.", "", nil, nil},
	{rfc9110 + "15.6.6", "HTTP Version Not Supported", http.StatusHTTPVersionNotSupported, "The version of HTTP is not supported.", "", nil, nil},
}

// Refuse returns the handler of requests that can't be read, such as those without a Host (400) or with too large headers (431).
func Refuse(status int) http.Handler {
	p := badRequest
	if i := slices.IndexFunc(unreadable, func(p problem) bool { return p.Status == status }); i >= 0 {
		p = unreadable[i]
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set(echo.HeaderCacheControl, dontStore)
		_ = writeProblem(w, p) // fails only if the client disconnected
	})
}

// RefusePlainHTTP refuses a request without TLS. It doesn't redirect, because the client would
// continue to send its token unencrypted (decisions §1).
func RefusePlainHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Security-Policy", policy)
	_ = writeProblem(w, badRequest) // fails only if the client disconnected
}
