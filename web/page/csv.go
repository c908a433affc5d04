package page

import (
	"bufio"
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
	"example.com/loyalty/views/format"
	"example.com/loyalty/web/forms"
)

// MoneyCell is a cell with an amount, which spreadsheets can add up.
type MoneyCell struct {
	Cents    int64 // in the currency's smallest unit
	Currency string
}

// DayCell is a cell with a date, by which spreadsheets can sort and group. The zero time is an empty cell.
type DayCell time.Time

// ShareCell is a cell with a share in percent, which spreadsheets can compare and draw. A share of nothing is an empty cell.
type ShareCell struct{ Of, Whole int64 }

// CSV answers with a table as a file, sent while write reads its rows. A cell is a string, an
// int64, an amount, a share, a date, or a time, written in its own zone; the zero time is an empty cell. core.InertCell
// keeps spreadsheets from running a text as a formula.
func (k *Kit) CSV(c echo.Context, name string, header []string, write func(row func(cells ...any) error) error) error {
	return k.Download(c, name, "text/csv; charset=utf-8; header=present", func(file io.Writer) error {
		buffered := bufio.NewWriter(file)
		if _, err := buffered.WriteString("\uFEFF"); err != nil { // by this mark, Excel recognizes UTF-8
			return err
		}
		w := csv.NewWriter(buffered)
		w.UseCRLF = true
		err := w.Write(header)
		if err == nil {
			err = write(func(cells ...any) error {
				record, err := csvRecord(cells)
				if err != nil {
					return err
				}
				return w.Write(record)
			})
		}
		if err != nil {
			return err
		}
		w.Flush()
		return w.Error()
	})
}

// Download answers with a file of a media type, sent while it is written. An error before the first
// bytes were sent is returned. A later one aborts the connection, so that half a file can't be taken
// for a whole one.
func (k *Kit) Download(c echo.Context, name, mediaType string, write func(file io.Writer) error) error {
	err := write(&download{kit: k, c: c, name: name, mediaType: mediaType})
	if err == nil || !c.Response().Committed {
		return err
	}
	if ctx := c.Request().Context(); ctx.Err() == nil {
		k.Log.ErrorContext(ctx, "download aborted", slog.Any("error", err))
	}
	panic(http.ErrAbortHandler)
}

func csvRecord(cells []any) ([]string, error) {
	record := make([]string, len(cells))
	for i, cell := range cells {
		switch cell := cell.(type) {
		case string:
			record[i] = core.InertCell(core.WithoutDirectionMarks(cell)) // a direction mark would turn the rest of the row
		case int64:
			record[i] = strconv.FormatInt(cell, 10)
		case MoneyCell:
			record[i] = format.Amount(cell.Cents, cell.Currency)
		case ShareCell:
			record[i] = format.Percent(cell.Of, cell.Whole)
		case DayCell:
			if day := time.Time(cell); !day.IsZero() {
				record[i] = day.Format(time.DateOnly)
			}
		case time.Time:
			if !cell.IsZero() {
				record[i] = cell.Format(time.DateTime)
			}
		default:
			return nil, fmt.Errorf("page: a cell of type %T", cell)
		}
	}
	return record, nil
}

// download is a response that sends its header with its first bytes.
type download struct {
	kit       *Kit
	c         echo.Context
	name      string
	mediaType string
}

// extendDeadline gives a download more time: the server's own deadlines are for pages.
func (d *download) extendDeadline() {
	deadlines := http.NewResponseController(d.c.Response())
	// The request was read already, and a recorder in a test has no deadlines.
	_ = deadlines.SetReadDeadline(time.Time{})
	_ = deadlines.SetWriteDeadline(time.Now().Add(forms.DownloadStall)) //nolint:forbidigo // deadlines are of this machine's clock
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
