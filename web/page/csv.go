package page

import (
	"encoding/csv"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// stalled is how long a client may take nothing of a download before it is given up:
// what reads its rows holds a connection to the database.
const stalled = 2 * time.Minute

// CSV answers with a table as a file, sent while write reads its rows. Spreadsheets open
// it as it is: in UTF-8 that says so, and with nothing in it that they would execute. A
// cell is a string or an int64.
//
// What fails before the first rows are on their way is returned. After that the answer
// is broken off, so that nobody keeps half a file for a whole one.
func (k *Kit) CSV(c echo.Context, name string, header []string, write func(row func(cells ...any) error) error) error {
	w := csv.NewWriter(&download{kit: k, c: c, name: name, kind: "text/csv; charset=utf-8; header=present", mark: "\uFEFF"}) // how Excel knows UTF-8
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
	if err == nil {
		w.Flush()
		err = w.Error()
	}
	return k.downloaded(c, err)
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

func texts(cells []any) ([]string, error) {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		switch cell := cell.(type) {
		case string:
			texts[i] = inert(cell)
		case int64:
			texts[i] = strconv.FormatInt(cell, 10)
		default:
			return nil, fmt.Errorf("page: a cell of type %T", cell)
		}
	}
	return texts, nil
}

// inert is a text that no spreadsheet takes for a formula.
func inert(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return "'" + text
	}
	return text
}

// download is an answer that begins with its first bytes.
type download struct {
	kit  *Kit
	c    echo.Context
	name string
	kind string // its content type
	mark string // what it begins with
}

// goOn gives a download more time: the server's own deadlines are for pages.
func (d *download) goOn() {
	deadlines := http.NewResponseController(d.c.Response())
	// The whole request was read, and a recorder in a test has no deadlines.
	_ = deadlines.SetReadDeadline(time.Time{})
	_ = deadlines.SetWriteDeadline(time.Now().Add(stalled)) //nolint:forbidigo // deadlines are of this machine's clock
}

func (d *download) Write(b []byte) (int, error) {
	w := d.c.Response()
	if !w.Committed {
		if err := d.kit.settle(d.c); err != nil {
			return 0, err
		}
		h := w.Header()
		h.Set(echo.HeaderContentType, d.kind)
		h.Set(echo.HeaderContentDisposition, mime.FormatMediaType("attachment", map[string]string{"filename": d.name}))
		w.WriteHeader(http.StatusOK)
		if _, err := io.WriteString(w, d.mark); err != nil {
			return 0, err
		}
	}
	d.goOn()
	return w.Write(b)
}
