package forms

import (
	"context"
	"errors"
	"mime"
	"net/http"

	"github.com/labstack/echo/v4"
)

// maxForm limits the size of a form, in bytes. Uploads have limits of their own.
const maxForm = 1 << 20

var (
	errTooLarge       = echo.NewHTTPError(http.StatusRequestEntityTooLarge, "Go back and send less text, or a smaller file.")
	errIncompleteForm = echo.NewHTTPError(http.StatusBadRequest, IncompleteMessage)
	errTooSlow        = echo.NewHTTPError(http.StatusRequestTimeout, TooSlowMessage)
)

// inTime refuses a form that arrived so slowly that no time is left to work on it.
func inTime(r *http.Request) error {
	if errors.Is(r.Context().Err(), context.DeadlineExceeded) {
		return errTooSlow
	}
	return nil
}

// Read reads a form. A body of another media type is refused: it would look like an empty form.
func Read(c echo.Context) (*Form, error) {
	r := c.Request()
	kind, _, _ := mime.ParseMediaType(r.Header.Get(echo.HeaderContentType))
	if kind != echo.MIMEApplicationForm && r.ContentLength != 0 {
		return nil, errIncompleteForm
	}
	r.Body = http.MaxBytesReader(c.Response(), r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return nil, uploadError(err)
	}
	return formOf(r.PostForm), inTime(r)
}
