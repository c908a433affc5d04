package page

import (
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"
)

// maxUpload is as much as is read at all of a form with a file, to say what is wrong with
// it. No more than is asked for stays in memory.
const maxUpload = 16 << 20

// ReadWithFile reads a form that was sent with a file, of which no more than the first
// most bytes. nil: no file was chosen.
func ReadWithFile(c echo.Context, name string, most int64) (form *Form, file []byte, err error) {
	r := c.Request()
	r.Body = http.MaxBytesReader(c.Response(), r.Body, maxUpload)
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, nil, errBroken
	}
	form = &Form{Values: url.Values{}}
	for left := int64(maxForm); ; {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return form, file, nil
		}
		if err != nil {
			return nil, nil, unread(err)
		}
		limit := left + 1
		if part.FormName() == name {
			limit = most
		}
		content, err := io.ReadAll(io.LimitReader(part, limit))
		if err != nil {
			return nil, nil, unread(err)
		}
		switch {
		case part.FormName() != name:
			if left -= int64(len(content)); left < 0 {
				return nil, nil, errTooLarge
			}
			form.Values.Add(part.FormName(), string(content))
		case len(content) > 0:
			file = content
		}
	}
}

// unread is a form that did not arrive, in words.
func unread(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return errTooLarge
	}
	return errBroken
}
