package api

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
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
	Code   string              `json:"code,omitempty"`   // of a business rule
	Errors map[string][]string `json:"errors,omitempty"` // of a failed validation
}

// Errors in the request that are found before core is called.
var (
	errMalformed       = errors.New("malformed request")
	errTooLarge        = errors.New("body too large")
	errMediaType       = errors.New("body is not JSON")
	errTooManyRequests = errors.New("too many requests")
)

const rfc9110 = "https://www.rfc-editor.org/rfc/rfc9110#section-"

// The problems with fixed texts (specification §7, decisions §3).
var (
	badRequest       = problem{rfc9110 + "15.5.1", "Error", http.StatusBadRequest, "An error occurred.", "", nil}
	unauthorized     = problem{rfc9110 + "15.5.2", "Unauthorized", http.StatusUnauthorized, "Authentication required.", "", nil}
	forbidden        = problem{rfc9110 + "15.5.4", "Forbidden", http.StatusForbidden, "Invalid ability provided.", "", nil}
	notFound         = problem{rfc9110 + "15.5.5", "Not Found", http.StatusNotFound, "The requested resource was not found.", "", nil}
	methodNotAllowed = problem{rfc9110 + "15.5.6", "Method Not Allowed", http.StatusMethodNotAllowed, "The method is not allowed for this resource.", "", nil}
	conflict         = problem{rfc9110 + "15.5.10", "Conflict", http.StatusConflict, core.ErrKeyRunning.Message, "", nil}
	tooLarge         = problem{rfc9110 + "15.5.14", "Content Too Large", http.StatusRequestEntityTooLarge, "The request body is too large.", "", nil}
	notJSON          = problem{rfc9110 + "15.5.16", "Unsupported Media Type", http.StatusUnsupportedMediaType, "The request body must be JSON.", "", nil}
	tooManyRequests  = problem{"https://www.rfc-editor.org/rfc/rfc6585#section-4", "Too Many Requests", http.StatusTooManyRequests, "Too Many Attempts.", "", nil}
	internalError    = problem{rfc9110 + "15.6.1", "Internal Server Error", http.StatusInternalServerError, "An error occurred.", "", nil}
	unavailable      = problem{rfc9110 + "15.6.4", "Service Unavailable", http.StatusServiceUnavailable, "The service is temporarily unavailable.", "", nil}
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
		h.Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", retryAfter(err))
		if isBusy(err) {
			a.Log.WarnContext(ctx, "too busy", slog.Any("error", err))
		} else {
			a.Log.WarnContext(ctx, "database not available", slog.Any("error", err))
		}
	case http.StatusInternalServerError:
		a.Log.ErrorContext(ctx, "request failed", slog.Any("error", err))
	}
	if err := writeProblem(c.Response(), p); err != nil {
		a.Log.DebugContext(ctx, "response not delivered", slog.Any("error", err))
	}
}

func writeProblem(w http.ResponseWriter, p problem) error {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(p)
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
			Detail: e.Message, Errors: messages(e.Fields),
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
	}
	return internalError
}

// RefusePlainHTTP refuses a request without TLS. It doesn't redirect, because the client would
// continue to send its token unencrypted (decisions §1).
func RefusePlainHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Security-Policy", policy)
	_ = writeProblem(w, badRequest) // fails only if the client disconnected
}
