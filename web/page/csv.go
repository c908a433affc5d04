package page

import (
	"encoding/csv"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
)

// stalled is how long a client may take nothing of a download before it is given up:
// what reads its rows holds a connection to the database.
const stalled = 2 * time.Minute

// CSV answers with a table as a file, sent while write reads its rows. Spreadsheets open
// it as it is: in UTF-8 that says so, and with nothing in it that they would execute. A
// cell is a string, an int64, or a time, which is written as its own time zone's clocks do; the
// zero time is an empty cell.
func (k *Kit) CSV(c echo.Context, name string, header []string, write func(row func(cells ...any) error) error) error {
	return k.Download(c, name, "text/csv; charset=utf-8; header=present", func(file io.Writer) error {
		w := csv.NewWriter(&marked{to: file})
		w.UseCRLF = true
		err := w.Write(header)
		if err == nil {
			err = write(func(cells ...any) error {
				texts, err := texts(cells)
				if err != nil {
					return err
				}
				return w.Write(texts)
			})
		}
		if err != nil {
			return err
		}
		w.Flush()
		return w.Error()
	})
}

// Download answers with a file of a media type, sent while it is written.
//
// What fails before its first bytes are on their way is returned. After that the answer
// is broken off, so that nobody keeps half a file for a whole one.
func (k *Kit) Download(c echo.Context, name, mediaType string, write func(file io.Writer) error) error {
	return k.downloaded(c, write(&download{kit: k, c: c, name: name, mediaType: mediaType}))
}

// downloaded ends a download. One that failed underway is broken off.
func (k *Kit) downloaded(c echo.Context, err error) error {
	if err == nil || !c.Response().Committed {
		return err
	}
	if ctx := c.Request().Context(); ctx.Err() == nil {
		k.Log.ErrorContext(ctx, "download broken off", slog.Any("error", err))
	}
	panic(http.ErrAbortHandler)
}

// marked begins a text with the mark by which Excel knows UTF-8.
type marked struct {
	to    io.Writer
	begun bool
}

func (m *marked) Write(b []byte) (int, error) {
	if !m.begun {
		m.begun = true
		if _, err := io.WriteString(m.to, "\uFEFF"); err != nil {
			return 0, err
		}
	}
	return m.to.Write(b)
}

func texts(cells []any) ([]string, error) {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		switch cell := cell.(type) {
		case string:
			texts[i] = core.InertCell(cell)
		case int64:
			texts[i] = strconv.FormatInt(cell, 10)
		case time.Time:
			if !cell.IsZero() {
				texts[i] = cell.Format(time.DateTime)
			}
		default:
			return nil, fmt.Errorf("page: a cell of type %T", cell)
		}
	}
	return texts, nil
}

// download is an answer that begins with its first bytes.
type download struct {
	kit       *Kit
	c         echo.Context
	name      string
	mediaType string
}

// extendDeadline gives a download more time: the server's own deadlines are for pages.
func (d *download) extendDeadline() {
	deadlines := http.NewResponseController(d.c.Response())
	// The whole request was read, and a recorder in a test has no deadlines.
	_ = deadlines.SetReadDeadline(time.Time{})
	_ = deadlines.SetWriteDeadline(time.Now().Add(stalled)) //nolint:forbidigo // deadlines are of this machine's clock
}

func (d *download) Write(b []byte) (int, error) {
	w := d.c.Response()
	if !w.Committed {
		if err := d.kit.saveSession(d.c); err != nil {
			return 0, err
		}
		h := w.Header()
		h.Set(echo.HeaderContentType, d.mediaType)
		h.Set(echo.HeaderContentDisposition, mime.FormatMediaType("attachment", map[string]string{"filename": d.name}))
		w.WriteHeader(http.StatusOK)
	}
	d.extendDeadline()
	return w.Write(b)
}
