package page

import (
	"archive/zip"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/xuri/excelize/v2"

	"example.com/loyalty/core"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/views/format"
)

// Column is a column of a workbook.
type Column struct {
	Heading string
	Width   float64 // in characters; 0: as wide as numbers need
}

// maxSheetRows is the number of rows that Excel opens of a sheet.
const maxSheetRows = 1 << 20

// Making a workbook takes up to 40 MB of memory and a core. These limit how many this process makes
// at once, in all and for one tenant.
const (
	workbooksAtOnce    = 2
	workbooksPerTenant = 1
	workbookPatience   = 10 * time.Second

	workbooksBusy = "Other exports of your business are being made. Try again in a few seconds."
)

// XLSX answers with a table as a workbook. It is made in a temporary file and then sent, so that a
// slow client doesn't keep others from making theirs. Rows beyond one sheet go to the next. A cell
// is a string, an int64, an amount, a share, a date, or a time, shown in its own time zone; the zero time is an empty cell.
// Texts are stored as texts, so spreadsheets run none as a formula.
func (k *Kit) XLSX(c echo.Context, name, sheet string, columns []Column, write func(row func(cells ...any) error) error) error {
	return k.workbook(c, name, sheet, columns, maxSheetRows, write)
}

func (k *Kit) workbook(
	c echo.Context, name, sheet string, columns []Column, rows int, write func(row func(cells ...any) error) error,
) (err error) {
	(&download{c: c}).extendDeadline()
	file, err := k.Scratch.file()
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // closing removes it
	leave, err := k.workbooks.Enter(c.Request().Context(), Actor(c).Tenant.ID)
	if err != nil {
		return err
	}
	err = func() error {
		defer leave()
		return k.makeBook(c, file, sheet, columns, rows, write)
	}()
	if err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return k.Download(c, name, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", func(to io.Writer) error {
		_, err := io.Copy(to, file)
		return err
	})
}

// rowsPerTurn is the number of rows that are written in one turn on the CPU.
const rowsPerTurn = 1000

// makeBook writes a workbook into a file.
func (k *Kit) makeBook(
	c echo.Context, file io.Writer, sheet string, columns []Column, rows int, write func(row func(cells ...any) error) error,
) (err error) {
	ctx := c.Request().Context()
	b, err := newBook(k.Scratch.dir(), sheet, columns, rows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.file.Close()) }() // removes the library's temporary file
	var turn limit.Turn
	defer turn.End()
	var waiting [][]any // rows that were read and are not written yet
	flush := func() error {
		(&download{c: c}).extendDeadline()
		defer turn.End() // reading the next rows waits for the database
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
		if waiting = append(waiting, cells); len(waiting) < rowsPerTurn {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	if err := flush(); err != nil {
		return err
	}
	return b.writeTo(turnWriter{file, func() error { return turn.Take(ctx) }})
}

// turnWriter waits for a turn on the CPU before each write.
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

// workbookWriter writes a table into a workbook, row by row.
type workbookWriter struct {
	file     *excelize.File
	name     string
	columns  []Column
	maxRows  int // of a sheet
	bold     int // styles
	dateTime int
	day      int
	share    int
	amounts  map[int]int // by the number of decimals

	sheet  *excelize.StreamWriter // the current one
	sheets int
	rows   int // of the current sheet
}

func newBook(dir, name string, columns []Column, maxRows int) (*workbookWriter, error) {
	b := &workbookWriter{file: excelize.NewFile(excelize.Options{TmpDir: dir}), name: name, columns: columns, maxRows: maxRows, amounts: map[int]int{}}
	var err error
	if b.bold, err = b.file.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}}); err != nil {
		return nil, err
	}
	for format, style := range map[string]*int{"yyyy-mm-dd hh:mm": &b.dateTime, "yyyy-mm-dd": &b.day, "0.0%": &b.share} {
		if *style, err = b.file.NewStyle(&excelize.Style{CustomNumFmt: &format}); err != nil {
			return nil, err
		}
	}
	if err := b.file.SetSheetName("Sheet1", name); err != nil {
		return nil, err
	}
	return b, b.nextSheet()
}

// nextSheet starts the next sheet with its header row.
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
		headings[i] = excelize.Cell{StyleID: b.bold, Value: c.Heading}
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
	if b.rows == b.maxRows {
		if err := b.nextSheet(); err != nil {
			return err
		}
	}
	for i, cell := range cells {
		switch cell := cell.(type) {
		case string:
			cells[i] = core.WithoutDirectionMarks(cell)
		case time.Time:
			// Spreadsheets round: 14:05:59 would be shown as 14:06.
			cells[i] = excelize.Cell{StyleID: b.dateTime, Value: cell.Truncate(time.Minute)}
			if cell.IsZero() {
				cells[i] = nil
			}
		case DayCell:
			cells[i] = excelize.Cell{StyleID: b.day, Value: time.Time(cell)}
			if time.Time(cell).IsZero() {
				cells[i] = nil
			}
		case ShareCell:
			cells[i] = nil
			if cell.Whole != 0 {
				cells[i] = excelize.Cell{StyleID: b.share, Value: float64(cell.Of) / float64(cell.Whole)}
			}
		case MoneyCell:
			style, err := b.money(format.Decimals(cell.Currency))
			if err != nil {
				return err
			}
			cells[i] = excelize.Cell{StyleID: style, Value: float64(cell.Cents) / math.Pow10(format.Decimals(cell.Currency))}
		}
	}
	return b.setRow(cells)
}

// money is the style of amounts with a number of decimals.
func (b *workbookWriter) money(decimals int) (style int, err error) {
	if style, ok := b.amounts[decimals]; ok {
		return style, nil
	}
	format := "0"
	if decimals > 0 {
		format += "." + strings.Repeat("0", decimals)
	}
	style, err = b.file.NewStyle(&excelize.Style{CustomNumFmt: &format})
	b.amounts[decimals] = style
	return style, err
}

func (b *workbookWriter) setRow(cells []any) error {
	b.rows++
	return b.sheet.SetRow("A"+strconv.Itoa(b.rows), cells)
}

// writeTo writes the workbook. Without a zip writer, the library would build all of it in memory.
func (b *workbookWriter) writeTo(to io.Writer) error {
	if err := b.sheet.Flush(); err != nil {
		return err
	}
	b.file.SetZipWriter(func(io.Writer) excelize.ZipWriter { return zip.NewWriter(to) })
	return b.file.Write(io.Discard)
}
