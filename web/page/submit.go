package page

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
)

// Submission describes how a form is handled.
type Submission[T any] struct {
	// Run calls the use case with the values of the form.
	Run func(ctx context.Context, by core.Actor, form *forms.Form) (T, error)
	// Refused shows the form again, with its errors and status 422. Nil: the form has nothing to
	// correct, so a refusal is an error page.
	Refused func(status int, form *forms.Form) error
	// To is the page that shows the result. It must not contain a secret: it is stored for a day
	// with the form's key.
	To func(T) string
	// Once runs a form with a key only once: sent again, it leads to the first result. For forms that
	// create or move something. An edit may be sent again from the browser's history.
	Once bool
	// File is the name of the field with a file; "" for none.
	File string
	// Done is the message on that page; nil or "" for none.
	Done func(T) string
	// Undo is the form of the message's Undo button; nil for none.
	Undo func(T) *ui.Undo
}

// Submit reads a form, runs its use case and answers with a redirect to the result.
func Submit[T any](k *Kit, c echo.Context, s Submission[T]) error {
	form, err := s.read(c)
	if err != nil {
		return err
	}
	by := Actor(c)
	if s.Once {
		by = IdempotentActor(c, form, s.To)
	}
	result, err := s.Run(c.Request().Context(), by, form)
	if path, again := ReplayedPath(by, err); again {
		return k.Redirect(c, path)
	}
	if s.Refused != nil && form.Refused(err) {
		return s.Refused(http.StatusUnprocessableEntity, form)
	}
	if err != nil {
		return err
	}
	if s.Done != nil {
		if message := s.Done(result); message != "" {
			var undo *ui.Undo
			if s.Undo != nil {
				undo = s.Undo(result)
			}
			k.FlashUndo(c, ui.Done, message, undo)
		}
	}
	return k.Redirect(c, s.To(result))
}

// maxFile is more than core allows a picture to have, so that core's own message is shown.
const maxFile = 1 << 20

func (s Submission[T]) read(c echo.Context) (form *forms.Form, err error) {
	if s.File == "" || !strings.HasPrefix(c.Request().Header.Get(echo.HeaderContentType), echo.MIMEMultipartForm) {
		return forms.Read(c)
	}
	form, file, err := forms.ReadWithFile(c, s.File, maxFile)
	if err == nil {
		form.File = file
	}
	return form, err
}

// To leads every submission to the same page.
func To[T any](path string) func(T) string { return func(T) string { return path } }
