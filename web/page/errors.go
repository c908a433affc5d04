package page

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/views/format"
	"example.com/loyalty/web/forms"
)

// Failure is an error as a page shows it.
type Failure struct {
	Status         int
	Title, Message string
	Request        string // the id to quote, of an internal error; else ""
}

// ShowError answers an error with what show writes. The address of a refused form is that of its
// action: reloaded, it leads to the page with the form, which is at formPath.
func (k *Kit) ShowError(c echo.Context, err error, formPath string, show func(Failure) error) {
	AnswerError(c, k.Log, func() error {
		f := k.Explain(c, err)
		if f.Status == http.StatusMethodNotAllowed && c.Request().Method == http.MethodGet {
			return k.Redirect(c, formPath)
		}
		return show(f)
	})
}

// HasLeft reports whether the client of a request left before its response, which has no reader then. Whatever
// failed after that is no fault: statements are cancelled with their request.
func HasLeft(r *http.Request) bool { return errors.Is(r.Context().Err(), context.Canceled) }

// AnswerError writes the answer to a request that failed, unless an answer has begun or the client has left. If
// write fails too, the answer is a plain 500.
func AnswerError(c echo.Context, log *slog.Logger, write func() error) {
	if c.Response().Committed {
		return
	}
	if HasLeft(c.Request()) {
		log.DebugContext(c.Request().Context(), "client left before its response")
		return
	}
	if err := write(); err != nil {
		log.ErrorContext(c.Request().Context(), "page failed", slog.Any("error", err))
		_ = c.String(http.StatusInternalServerError, FailedMessage)
	}
}

// RuleMessage returns the message of a business rule, or false for any other error.
func RuleMessage(err error) (string, bool) {
	if refusal := forms.RefusalOf(err); refusal != nil && refusal.Kind == core.KindRule {
		return refusal.Message, true
	}
	return "", false
}

// Refusal is RuleMessage that also takes too many attempts.
func Refusal(err error) (string, bool) {
	if refusal := forms.RefusalOf(err); refusal != nil && (refusal.Kind == core.KindRule || refusal.Kind == core.KindThrottled) {
		return refusal.Message, true
	}
	return "", false
}

// faultTitles are the titles for requests that no handler accepted.
var faultTitles = map[int]string{
	http.StatusBadRequest:            "Invalid request",
	http.StatusRequestTimeout:        "Too slow",
	http.StatusRequestEntityTooLarge: "Too large",
	http.StatusTooManyRequests:       "Too many requests",
}

// Messages of error pages.
const (
	NotFoundMessage  = "This page doesn't exist. It was removed, or the link is incomplete."
	NotDirectMessage = "This address can't be opened directly. Go back and use the buttons on the page."
	FailedMessage    = "Something went wrong. Try again in a moment."
)

// Explain describes an error for the page that shows it. An unknown one is logged here, once.
func (k *Kit) Explain(c echo.Context, err error) Failure {
	var fault *echo.HTTPError
	refusal := forms.RefusalOf(err)
	switch {
	case errors.Is(err, ErrNoBusiness):
		return Failure{http.StatusNotFound, "Business not found", refusal.Message, ""}
	case refusal != nil && refusal.Kind == core.KindNotFound && !errors.Is(err, core.ErrNotFound):
		return Failure{http.StatusNotFound, "Not found", refusal.Message, ""}
	case refusal != nil && refusal.Kind == core.KindNotFound, errors.As(err, &fault) && fault.Code == http.StatusNotFound:
		return Failure{http.StatusNotFound, "Not found", NotFoundMessage, ""}
	case errors.As(err, &fault) && fault.Code == http.StatusMethodNotAllowed:
		return Failure{http.StatusMethodNotAllowed, "Not available", NotDirectMessage, ""}
	case errors.As(err, &fault) && fault.Code < http.StatusInternalServerError:
		words, _ := fault.Message.(string)
		return Failure{fault.Code, cmp.Or(faultTitles[fault.Code], "Not possible"), words, ""}
	case errors.Is(err, core.ErrSuspended):
		return Failure{http.StatusForbidden, "Business suspended", k.suspended(c), ""}
	case refusal != nil && refusal.Kind == core.KindForbidden:
		return Failure{http.StatusForbidden, "No access", refusal.Message, ""}
	case refusal != nil && refusal.Kind == core.KindRule:
		return Failure{http.StatusUnprocessableEntity, "Not possible", refusal.Message, ""}
	case refusal != nil && refusal.Kind == core.KindInvalid:
		return Failure{http.StatusUnprocessableEntity, "Invalid request", FirstMessage(refusal.Fields), ""}
	case refusal != nil && refusal.Kind == core.KindThrottled:
		RetryAfter(c, refusal.Wait)
		return Failure{http.StatusTooManyRequests, "Too many attempts", refusal.Message, ""}
	case refusal != nil && refusal.Kind == core.KindUnavailable && refusal.Wait > 0:
		k.Log.WarnContext(c.Request().Context(), "too much at once", slog.Any("error", err))
		RetryAfter(c, refusal.Wait)
		return Failure{http.StatusServiceUnavailable, "Too busy", refusal.Message, ""}
	case refusal != nil && refusal.Kind == core.KindUnavailable, errors.Is(err, context.DeadlineExceeded):
		k.Log.WarnContext(c.Request().Context(), "page unavailable", slog.Any("error", err))
		return Failure{http.StatusServiceUnavailable, "Temporarily unavailable", "Try again in a moment. No data was lost.", ""}
	}
	k.Log.ErrorContext(c.Request().Context(), "page failed", slog.Any("error", err))
	return Failure{
		http.StatusInternalServerError, "Something went wrong", "Try again in a moment. If it persists, quote this ID.",
		c.Response().Header().Get(echo.HeaderXRequestID),
	}
}

// RetryAfter sets the header that says, in whole seconds, when to try again.
func RetryAfter(c echo.Context, wait time.Duration) {
	seconds := max(1, int64((wait+time.Second-1)/time.Second))
	c.Response().Header().Set(echo.HeaderRetryAfter, strconv.FormatInt(seconds, 10))
}

// RefusedStatus is the status of a refused form: 429 with Retry-After after too many attempts, else 422.
func RefusedStatus(c echo.Context, err error) int {
	var refusal *core.Error
	if errors.As(err, &refusal) && refusal.Kind == core.KindThrottled {
		RetryAfter(c, refusal.Wait)
		return http.StatusTooManyRequests
	}
	return http.StatusUnprocessableEntity
}

// FirstMessage words the first violation, by the order of the fields' names, for a page without a form; "" for none.
func FirstMessage(f core.Fields) string {
	for _, name := range f.Names() {
		return forms.MessageApart(name, f[name][0], format.Number)
	}
	return ""
}
