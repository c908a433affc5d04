package page

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/xuri/excelize/v2"

	"example.com/loyalty/core/limit"
)

// Column is a column of a workbook.
type Column struct {
	Heading string
	Width   float64 // in characters; 0: as wide as numbers need
}

// maxSheet is how many rows Excel opens of a sheet.
const maxSheet = 1 << 20

// A workbook takes up to 40 MB of memory and a core while it is put together: so many at once
// in this process, and of one tenant.
const (
	workbooksAtOnce   = 2
	workbooksOfTenant = 1
	workbookPatience  = 10 * time.Second

	workbooksBusy = "Other exports of your business are being made. Try again in a few seconds."
)

// XLSX answers with a table as a workbook. Because of how such a file is made, it is put
// together in a temporary file and then sent; a client that takes it slowly holds no place
// of the few that make workbooks. What does not fit on one sheet goes on on the next one. A
// cell is a string, an int64, or a time, which is shown as its own time zone's clocks do; the
// zero time is an empty cell. Nothing in it is a formula: texts are
// stored as texts, which no program splits or runs.
func (k *Kit) XLSX(c echo.Context, name, sheet string, columns []Column, write func(row func(cells ...any) error) error) error {
	return k.workbook(c, name, sheet, columns, maxSheet, write)
}

func (k *Kit) workbook(
	c echo.Context, name, sheet string, columns []Column, rows int, write func(row func(cells ...any) error) error,
) (err error) {
	to := &download{kit: k, c: c, name: name, mediaType: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}
	to.extendDeadline()
	made, err := k.Scratch.file()
	if err != nil {
		return err
	}
	defer made.Close() //nolint:errcheck // it is gone by that
	leave, err := k.workbooks.Enter(c.Request().Context(), Actor(c).Tenant.ID)
	if err != nil {
		return err
	}
	err = func() error {
		defer leave()
		return k.makeBook(c.Request().Context(), made, sheet, columns, rows, to.extendDeadline, write)
	}()
	if err != nil {
		return err
	}
	if _, err := made.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(to, made)
	return k.downloaded(c, err)
}

// rowsOfTurn is how many rows of a workbook are written at once.
const rowsOfTurn = 1000

// makeBook writes a workbook into a file.
func (k *Kit) makeBook(
	ctx context.Context, file io.Writer, sheet string, columns []Column, rows int, goOn func(), write func(row func(cells ...any) error) error,
) (err error) {
	b, err := newBook(k.Scratch.dir(), sheet, columns, rows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.file.Close()) }() // and its temporary file is gone
	var turn limit.Turn
	defer turn.End()
	var waiting [][]any // rows that were read and not written yet
	flush := func() error {
		defer turn.End() // the next rows may come from the database
		for _, cells := range waiting {
			if err := turn.Take(ctx); err != nil {
				return err
			}
			if err := b.row(cells...); err != nil {
				return err
			}
		}
		waiting = waiting[:0]
		return nil
	}
	err = write(func(cells ...any) error {
		if waiting = append(waiting, cells); len(waiting) < rowsOfTurn {
			return nil
		}
		goOn()
		return flush()
	})
	if err != nil {
		return err
	}
	goOn()
	if err := flush(); err != nil {
		return err
	}
	return b.writeTo(turnWriter{file, func() error { return turn.Take(ctx) }})
}

// turnWriter is written to when it is the writer's turn to compute.
type turnWriter struct {
	io.Writer
	take func() error
}

func (w turnWriter) Write(b []byte) (int, error) {
	if err := w.take(); err != nil {
		return 0, err
	}
	return w.Writer.Write(b)
}

// workbookWriter is a workbook that grows.
type workbookWriter struct {
	file    *excelize.File
	name    string
	columns []Column
	most    int // rows of a sheet

	sheet   *excelize.StreamWriter
	sheets  int
	rows    int // of the sheet
	heading int // styles
	clock   int
}

func newBook(dir, name string, columns []Column, most int) (*workbookWriter, error) {
	b := &workbookWriter{file: excelize.NewFile(excelize.Options{TmpDir: dir}), name: name, columns: columns, most: most}
	var err error
	if b.heading, err = b.file.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}}); err != nil {
		return nil, err
	}
	format := "yyyy-mm-dd hh:mm"
	if b.clock, err = b.file.NewStyle(&excelize.Style{CustomNumFmt: &format}); err != nil {
		return nil, err
	}
	if err := b.file.SetSheetName("Sheet1", name); err != nil {
		return nil, err
	}
	return b, b.nextSheet()
}

// nextSheet begins the next sheet.
func (b *workbookWriter) nextSheet() error {
	name := b.name
	if b.sheets++; b.sheets > 1 {
		if err := b.sheet.Flush(); err != nil {
			return err
		}
		name += " " + strconv.Itoa(b.sheets)
		if _, err := b.file.NewSheet(name); err != nil {
			return err
		}
	}
	var err error
	if b.sheet, err = b.file.NewStreamWriter(name); err != nil {
		return err
	}
	if err := b.sheet.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}); err != nil {
		return err
	}
	headings := make([]any, len(b.columns))
	for i, c := range b.columns {
		headings[i] = excelize.Cell{StyleID: b.heading, Value: c.Heading}
		if c.Width == 0 {
			continue
		}
		if err := b.sheet.SetColWidth(i+1, i+1, c.Width); err != nil {
			return err
		}
	}
	b.rows = 0
	return b.setRow(headings)
}

func (b *workbookWriter) row(cells ...any) error {
	if b.rows == b.most {
		if err := b.nextSheet(); err != nil {
			return err
		}
	}
	for i, cell := range cells {
		if at, ok := cell.(time.Time); ok {
			// A spreadsheet rounds: the last second of a minute would be shown as the next one.
			cells[i] = excelize.Cell{StyleID: b.clock, Value: at.Truncate(time.Minute)}
			if at.IsZero() {
				cells[i] = nil
			}
		}
	}
	return b.setRow(cells)
}

func (b *workbookWriter) setRow(cells []any) error {
	b.rows++
	return b.sheet.SetRow("A"+strconv.Itoa(b.rows), cells)
}

// writeTo writes the workbook. By itself the library would first put it together in memory.
func (b *workbookWriter) writeTo(to io.Writer) error {
	if err := b.sheet.Flush(); err != nil {
		return err
	}
	b.file.SetZipWriter(func(io.Writer) excelize.ZipWriter { return zip.NewWriter(to) })
	return b.file.Write(io.Discard)
}
