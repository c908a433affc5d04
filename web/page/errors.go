package page

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
)

// Failure is an error in words for the person in front of it.
type Failure struct {
	Status       int
	Title, Words string
	Request      string // the id to quote where something broke; else ""
}

// errSentBefore is core.ErrKeyReused in front of a form: the browser's way back shows it
// again with the key it was sent with.
var errSentBefore = &core.Error{
	Kind:    core.KindRule,
	Message: "This form was sent before, with something else in it. That was done: look at it before you send this one too.",
}

func refusalOf(err error) *core.Error {
	if errors.Is(err, core.ErrKeyReused) {
		return errSentBefore
	}
	var refusal *core.Error
	if errors.As(err, &refusal) {
		return refusal
	}
	return nil
}

// Sentence is what a rule says that refused, or false for any other error.
func Sentence(err error) (string, bool) {
	if refusal := refusalOf(err); refusal != nil && refusal.Kind == core.KindRule {
		return refusal.Message, true
	}
	return "", false
}

// faults are what is wrong with a request itself, in words.
var faults = map[int]string{
	http.StatusBadRequest:            "This cannot be read",
	http.StatusRequestEntityTooLarge: "This is too large",
	http.StatusTooManyRequests:       "Too many requests",
}

// Explain turns an error into words. An unknown one is logged with its cause, once, here.
func (k *Kit) Explain(c echo.Context, err error) Failure {
	var fault *echo.HTTPError
	refusal := refusalOf(err)
	switch {
	case refusal != nil && refusal.Kind == core.KindNotFound && !errors.Is(err, core.ErrNotFound):
		return Failure{http.StatusNotFound, "Not found", refusal.Message, ""}
	case refusal != nil && refusal.Kind == core.KindNotFound, errors.As(err, &fault) && fault.Code == http.StatusNotFound:
		return Failure{http.StatusNotFound, "Not found", "There is nothing at this address. It may have been removed, or the link is not complete.", ""}
	case errors.As(err, &fault) && fault.Code == http.StatusMethodNotAllowed:
		return Failure{http.StatusMethodNotAllowed, "Not possible here", "This address shows nothing by itself. Go back and use the page's own buttons.", ""}
	case errors.As(err, &fault) && fault.Code < http.StatusInternalServerError:
		words, _ := fault.Message.(string)
		return Failure{fault.Code, cmp.Or(faults[fault.Code], "This was refused"), words, ""}
	case errors.Is(err, ErrSuspended):
		return Failure{http.StatusForbidden, "Business suspended", k.suspended(c), ""}
	case refusal != nil && refusal.Kind == core.KindForbidden:
		return Failure{http.StatusForbidden, "Not for your role", refusal.Message, ""}
	case refusal != nil && refusal.Kind == core.KindRule:
		return Failure{http.StatusUnprocessableEntity, "This was refused", refusal.Message, ""}
	case refusal != nil && refusal.Kind == core.KindInvalid:
		return Failure{http.StatusUnprocessableEntity, "This cannot be read", FirstMessage(refusal.Fields), ""}
	case refusal != nil && refusal.Kind == core.KindThrottled:
		RetryAfter(c, refusal.Wait)
		return Failure{http.StatusTooManyRequests, "Too many attempts", refusal.Message, ""}
	case refusal != nil && refusal.Kind == core.KindUnavailable && refusal.Wait > 0:
		k.Log.WarnContext(c.Request().Context(), "too much at once", slog.Any("error", err))
		RetryAfter(c, refusal.Wait)
		return Failure{http.StatusServiceUnavailable, "Busy right now", refusal.Message, ""}
	case refusal != nil && refusal.Kind == core.KindUnavailable:
		k.Log.WarnContext(c.Request().Context(), "page unavailable", slog.Any("error", err))
		return Failure{http.StatusServiceUnavailable, "Not available right now", "The service cannot be reached for a moment. Nothing was lost: try again shortly.", ""}
	}
	k.Log.ErrorContext(c.Request().Context(), "page failed", slog.Any("error", err))
	return Failure{
		http.StatusInternalServerError, "Something went wrong", "Something went wrong on our side. Try again in a moment; if it stays, tell us the number below.",
		c.Response().Header().Get(echo.HeaderXRequestID),
	}
}

// RetryAfter tells programs, in whole seconds, when what was refused may be tried again.
func RetryAfter(c echo.Context, wait time.Duration) {
	seconds := max(1, int64((wait+time.Second-1)/time.Second))
	c.Response().Header().Set(echo.HeaderRetryAfter, strconv.FormatInt(seconds, 10))
}

// FirstMessage words the first violation, by the order of the fields' names; "" for none.
func FirstMessage(f core.Fields) string {
	for _, name := range f.Names() {
		return Message(name, attribute(name), f[name][0], Number)
	}
	return ""
}
