package forms

import (
	"cmp"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
)

// maxUpload limits the size of a form with a file, in bytes. It is above the limit of every file, so
// that core can say what the limit is.
const maxUpload = 16 << 20

// ReadWithFile reads a form with a file, of which it keeps at most the first most bytes. A nil file:
// none was chosen.
func ReadWithFile(c echo.Context, name string, most int64) (form *Form, file []byte, err error) {
	m, err := openMultipart(c, maxUpload)
	if err != nil {
		return nil, nil, err
	}
	for {
		part, err := m.nextFile(name)
		if err != nil || part == nil {
			return m.form, file, cmp.Or(err, inTime(c.Request()))
		}
		content, err := io.ReadAll(io.LimitReader(part, most))
		if err != nil {
			return nil, nil, uploadError(err)
		}
		if len(content) > 0 {
			file = content
		}
	}
}

// multipartForm is a form with files, read part by part.
type multipartForm struct {
	form  *Form
	parts *multipart.Reader
	left  int64 // bytes that the fields may still have
}

func openMultipart(c echo.Context, most int64) (*multipartForm, error) {
	r := c.Request()
	r.Body = http.MaxBytesReader(c.Response(), r.Body, most)
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, errIncompleteForm
	}
	return &multipartForm{form: &Form{Values: url.Values{}}, parts: parts, left: maxForm}, nil
}

// nextFile reads fields into the form up to the next part with that name. It returns nil at the end.
func (m *multipartForm) nextFile(name string) (*multipart.Part, error) {
	for {
		part, err := m.parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, nil //nolint:nilnil // the form ends
		}
		if err != nil {
			return nil, uploadError(err)
		}
		if part.FormName() == name {
			return part, nil
		}
		content, err := io.ReadAll(io.LimitReader(part, m.left+1))
		if err != nil {
			return nil, uploadError(err)
		}
		if m.left -= int64(len(content)); m.left < 0 {
			return nil, errTooLarge
		}
		m.form.Values.Add(part.FormName(), readable(string(content)))
	}
}

// uploadError is the page's error for a form that didn't arrive.
func uploadError(err error) error {
	var tooLarge *http.MaxBytesError
	var refusal *core.Error
	switch {
	case errors.As(err, &tooLarge):
		return errTooLarge
	case errors.As(err, &refusal): // it arrived, but there is too much to do
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errTooSlow
	case errors.Is(err, context.Canceled):
		return err
	}
	return errIncompleteForm
}

// Upload is a file that is read while it arrives.
type Upload struct {
	Name    string
	content *multipart.Part
}

// uploadTime is how long a file may take to arrive.
const uploadTime = 10 * time.Minute

// ReadUpload reads a form up to its file, which comes last and is returned while it arrives. A nil
// Upload: no file was chosen. The form and the file may have most bytes together.
func ReadUpload(c echo.Context, name string, most int64) (*Form, *Upload, error) {
	// The server's own deadlines are for pages; a recorder in a test has none.
	deadlines, ends := http.NewResponseController(c.Response()), time.Now().Add(uploadTime) //nolint:forbidigo // deadlines are of this machine's clock
	_ = deadlines.SetReadDeadline(ends)
	_ = deadlines.SetWriteDeadline(ends.Add(DownloadStall))
	m, err := openMultipart(c, most)
	if err != nil {
		return nil, nil, err
	}
	part, err := m.nextFile(name)
	if err != nil || part == nil || part.FileName() == "" {
		return m.form, nil, err
	}
	return m.form, &Upload{part.FileName(), part}, nil
}

// Read reads what has arrived. An upload that broke off is an error that the page shows.
func (u *Upload) Read(b []byte) (int, error) {
	n, err := u.content.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = uploadError(err)
	}
	return n, err
}

// Drain reads the rest of a refused file: a browser reads no response before it has sent everything.
func (u *Upload) Drain() { _, _ = io.Copy(io.Discard, u.content) }

// DownloadStall is how long a download may stand still before it is given up: reading its rows
// holds a connection to the database.
const DownloadStall = 2 * time.Minute
