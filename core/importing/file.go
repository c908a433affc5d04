package importing

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"example.com/loyalty/core"
)

// The encodings that are read.
const (
	utf8Text    = "utf-8"
	windowsText = "windows-1252"
)

const byteOrderMark = "\xEF\xBB\xBF"

// pieces reads a file that comes in pieces.
type pieces struct {
	next func() ([]byte, error)
	rest []byte
}

// Read reads from the current piece, or from the next one where that is used up.
func (p *pieces) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		var err error
		if p.rest, err = p.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// record is a row of a file.
type record struct {
	row    int64           // as spreadsheets count: from 1, with empty rows
	cells  []string        // valid until the next record is read
	broken *core.Violation // why it can't be read; nil: it can
}

func (r record) isEmpty() bool {
	return r.broken == nil && !slices.ContainsFunc(r.cells, isFilled)
}

func isFilled(cell string) bool { return cell != "" }

// records reads the rows of a file that are not empty.
type records struct {
	csv     *csv.Reader
	limit   *io.LimitedReader // keeps an endless record out of memory
	windows bool
	from    int64 // the byte at which it began
	row     int64 // of the last record
	line    int   // the last line of that record, counted from the beginning
}

// readRecords reads a file that was read up to a position (in bytes) and a row.
func readRecords(file io.Reader, delimiter, encoding string, position, row int64) (*records, error) {
	buffer := bufio.NewReader(file)
	if position == 0 {
		if mark, _ := buffer.Peek(len(byteOrderMark)); string(mark) == byteOrderMark { // a shorter file has none
			n, err := buffer.Discard(len(byteOrderMark))
			if err != nil {
				return nil, err
			}
			position = int64(n)
		}
	}
	r := &records{limit: &io.LimitedReader{R: buffer}, windows: encoding == windowsText, from: position, row: row}
	r.csv = csv.NewReader(r.limit)
	r.csv.Comma = rune(delimiter[0])
	r.csv.FieldsPerRecord = -1
	r.csv.ReuseRecord = true
	r.csv.TrimLeadingSpace = delimiter != "\t" // a tab is a space, too
	return r, nil
}

// next returns the next record, or io.EOF.
func (r *records) next() (record, error) {
	for {
		rec, err := r.read()
		if err != nil || !rec.isEmpty() {
			return rec, err
		}
	}
}

func (r *records) read() (record, error) {
	begin := r.csv.InputOffset()
	r.limit.N = 2 * maxRecord // the longest record and what the CSV reader reads ahead
	cells, err := r.csv.Read()
	if r.limit.N <= 0 || r.csv.InputOffset()-begin > maxRecord {
		return record{}, refuseFile("long_row", r.row+1)
	}
	var broken *csv.ParseError
	if errors.As(err, &broken) {
		first := r.row + int64(broken.StartLine-r.line)
		r.row += int64(broken.Line - r.line)
		r.line = broken.Line
		return record{row: first, broken: quoteViolation(first, r.row)}, nil
	}
	if err != nil {
		return record{}, err
	}
	line, _ := r.csv.FieldPos(0)
	r.row += int64(line - r.line)
	last := len(cells) - 1
	line, _ = r.csv.FieldPos(last)
	r.line = line + strings.Count(cells[last], "\n")
	for i, cell := range cells {
		cells[i] = r.clean(cell)
	}
	return record{row: r.row, cells: cells}, nil
}

func quoteViolation(first, last int64) *core.Violation {
	if first == last {
		return &core.Violation{Rule: "stray_quote"}
	}
	return &core.Violation{Rule: "unclosed_quote", Limit: last, Other: strconv.FormatInt(first, 10)}
}

// clean returns a cell's text without surrounding spaces and without the apostrophes that exports
// add (core.InertCell).
func (r *records) clean(cell string) string {
	if r.windows {
		cell, _ = charmap.Windows1252.NewDecoder().String(cell) // every byte is a character
	}
	return core.ReadCell(strings.TrimSpace(cell))
}

// position returns the byte at which the next record begins.
func (r *records) position() int64 { return r.from + r.csv.InputOffset() }

func isUTF8(cells []string) bool {
	return !slices.ContainsFunc(cells, func(cell string) bool { return !utf8.ValidString(cell) })
}
