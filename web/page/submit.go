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
	// RunOnce replaces Run for a form with a key, which takes effect once: sent again, it leads to the first result. For forms that
	// create or move something. An edit may be sent again from the browser's history.
	RunOnce func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[T]) (core.Reply[T], error)
	// Refused shows the form again, with its errors and status 422. Nil: the form has nothing to
	// correct, so a refusal is an error page.
	Refused func(status int, form *forms.Form) error
	// To is the page that shows the result. It must not contain a secret: it is stored for a day
	// with the form's key.
	To func(T) string
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
	reply, err := s.run(c, form)
	if path, again := ReplayedPath(reply); again {
		return k.Redirect(c, path)
	}
	result := reply.Result
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

func (s Submission[T]) run(c echo.Context, form *forms.Form) (core.Reply[T], error) {
	if s.RunOnce != nil {
		return s.RunOnce(c.Request().Context(), Actor(c), form, Once(c, form, s.To))
	}
	result, err := s.Run(c.Request().Context(), Actor(c), form)
	return core.Reply[T]{Result: result}, err
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
