package page

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"time"

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
			return nil, nil, uploadError(err)
		}
		limit := left + 1
		if part.FormName() == name {
			limit = most
		}
		content, err := io.ReadAll(io.LimitReader(part, limit))
		if err != nil {
			return nil, nil, uploadError(err)
		}
		switch {
		case part.FormName() != name:
			if left -= int64(len(content)); left < 0 {
				return nil, nil, errTooLarge
			}
			form.Values.Add(part.FormName(), readable(string(content)))
		case len(content) > 0:
			file = content
		}
	}
}

// uploadError is a form that did not arrive, in words.
func uploadError(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return errTooLarge
	}
	return errBroken
}

// Upload is a file on its way in, to be read while it arrives.
type Upload struct {
	Name    string
	content *multipart.Part
}

// uploadTime is how long a file may take to arrive.
const uploadTime = 10 * time.Minute

// ReadUpload reads a form as far as its file, which comes last and is handed over while it
// arrives. nil: no file was chosen. No more than most bytes are read of it all.
func ReadUpload(c echo.Context, name string, most int64) (*Form, *Upload, error) {
	r := c.Request()
	// The server's own deadlines are for pages; a recorder in a test has none.
	deadlines, ends := http.NewResponseController(c.Response()), time.Now().Add(uploadTime) //nolint:forbidigo // deadlines are of this machine's clock
	_ = deadlines.SetReadDeadline(ends)
	_ = deadlines.SetWriteDeadline(ends.Add(stalled))
	r.Body = http.MaxBytesReader(c.Response(), r.Body, most)
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, nil, errBroken
	}
	form := &Form{Values: url.Values{}}
	for left := int64(maxForm); ; {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return form, nil, nil
		}
		if err != nil {
			return nil, nil, uploadError(err)
		}
		if part.FormName() == name {
			if part.FileName() == "" {
				return form, nil, nil
			}
			return form, &Upload{part.FileName(), part}, nil
		}
		content, err := io.ReadAll(io.LimitReader(part, left+1))
		if err != nil {
			return nil, nil, uploadError(err)
		}
		if left -= int64(len(content)); left < 0 {
			return nil, nil, errTooLarge
		}
		form.Values.Add(part.FormName(), readable(string(content)))
	}
}

// Read reads what has arrived. A file that breaks off is said so in words.
func (u *Upload) Read(b []byte) (int, error) {
	n, err := u.content.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = uploadError(err)
	}
	return n, err
}

// Drain lets what is left of a file arrive that was refused: a browser reads no answer
// before it has sent everything.
func (u *Upload) Drain() { _, _ = io.Copy(io.Discard, u.content) }
