package importing

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"example.com/loyalty/core"
)

// The limits of a file, and the size of the pieces it is kept in.
const (
	MaxSize = 20 << 20
	MaxRows = 100_000

	maxColumns = 100
	maxRecord  = 64 << 10
	chunkSize  = 1 << 20
)

// What is wrong with a file as a whole.
var (
	errNoFile     = core.Invalid(core.Fields{"file": {core.Required}})
	errEmptyFile  = refuseFile("empty_file", 0)
	errNoRows     = refuseFile("no_rows", 0)
	errTooBig     = refuseFile("max_megabytes", MaxSize>>20)
	errTooMany    = refuseFile("max_rows", MaxRows)
	errTooWide    = refuseFile("max_columns", maxColumns)
	errWorkbook   = refuseFile("workbook", 0)
	errUTF16      = refuseFile("utf16", 0)
	errNotText    = refuseFile("not_csv", 0)
	errReturnOnly = refuseFile("line_endings", 0)
)

func refuseFile(rule string, limit int64) *core.Error {
	return core.Invalid(core.Fields{"file": {{Rule: rule, Limit: limit}}})
}

// The encodings that are read.
const (
	utf8Text    = "utf-8"
	windowsText = "windows-1252"
)

// arriving is a file on its way in: whatever is read of it has been stored before, piece
// by piece.
type arriving struct {
	from  io.Reader
	store func(seq int64, chunk []byte) error

	size int64
	rest []byte // of the last piece
	buf  []byte
}

// begin stores the first piece, and returns it.
func (a *arriving) begin() ([]byte, error) {
	a.buf = make([]byte, chunkSize)
	if err := a.more(); err != nil {
		if errors.Is(err, io.EOF) {
			err = errEmptyFile
		}
		return nil, err
	}
	return a.rest, nil
}

// more stores the next piece.
func (a *arriving) more() error {
	n, err := fill(a.buf, a.from)
	if n == 0 || (err != nil && !errors.Is(err, io.EOF)) {
		return err
	}
	chunk := a.buf[:n]
	if a.size+int64(n) > MaxSize {
		return errTooBig
	}
	if err := recognise(chunk, a.size == 0); err != nil {
		return err
	}
	if err := a.store(a.size/chunkSize, chunk); err != nil {
		return err
	}
	a.size += int64(n)
	a.rest = chunk
	return nil
}

// fill reads until the piece is full or the file ends. Unlike io.ReadFull it tells a file
// that ends from one that breaks off.
func fill(piece []byte, from io.Reader) (n int, err error) {
	for n < len(piece) && err == nil {
		var read int
		read, err = from.Read(piece[n:])
		n += read
	}
	return n, err
}

// Read reads what has been stored.
func (a *arriving) Read(p []byte) (int, error) {
	if len(a.rest) == 0 {
		if err := a.more(); err != nil {
			return 0, err
		}
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// recognise refuses what only calls itself a file of comma-separated values.
func recognise(piece []byte, first bool) error {
	begins := func(mark string) bool { return first && bytes.HasPrefix(piece, []byte(mark)) }
	switch {
	case begins("PK\x03\x04"), begins("\xD0\xCF\x11\xE0"):
		return errWorkbook
	case begins("\xFF\xFE"), begins("\xFE\xFF"):
		return errUTF16
	case bytes.IndexByte(piece, 0) >= 0:
		return errNotText
	case first && bytes.IndexByte(piece, '\r') >= 0 && bytes.IndexByte(piece, '\n') < 0:
		return errReturnOnly
	}
	return nil
}

const byteOrderMark = "\xEF\xBB\xBF"

// guessDelimiter is the one of the three that parts the first line most often.
func guessDelimiter(beginning []byte) string {
	counts := map[byte]int{}
	quoted := false
	for _, b := range bytes.TrimLeft(beginning, "\r\n") {
		if b == '"' {
			quoted = !quoted
		}
		if b == '\n' && !quoted {
			break
		}
		if !quoted {
			counts[b]++
		}
	}
	best := byte(',')
	for _, d := range []byte{';', '\t'} {
		if counts[d] > counts[best] {
			best = d
		}
	}
	return string(best)
}

// record is a row of a file.
type record struct {
	row    int64           // as spreadsheets count them: the first is 1, and empty ones count
	cells  []string        // until the next one is read
	broken *core.Violation // why it can't be read; nil: it can
}

// blank reports whether nothing stands in the row.
func (r record) blank() bool {
	for _, cell := range r.cells {
		if cell != "" {
			return false
		}
	}
	return r.broken == nil
}

// records reads the rows of a file that are not empty.
type records struct {
	csv     *csv.Reader
	pace    *pace
	windows bool
	from    int64 // the byte at which it began
	row     int64 // of the last record
	line    int   // the line it ended with, counted from there
}

// readRecords reads on from a place in a file.
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
	r := &records{pace: &pace{from: buffer}, windows: encoding == windowsText, from: position, row: row}
	r.csv = csv.NewReader(r.pace)
	r.csv.Comma = rune(delimiter[0])
	r.csv.FieldsPerRecord = -1
	r.csv.ReuseRecord = true
	r.csv.TrimLeadingSpace = delimiter != "\t" // which is a space itself
	return r, nil
}

// next returns the next record, or io.EOF.
func (r *records) next() (record, error) {
	for {
		rec, err := r.read()
		if err != nil || !rec.blank() {
			return rec, err
		}
	}
}

func (r *records) read() (record, error) {
	begun := r.csv.InputOffset()
	r.pace.read = 0
	cells, err := r.csv.Read()
	if r.pace.endless || r.csv.InputOffset()-begun > maxRecord {
		return record{}, refuseFile("long_row", r.row+1)
	}
	var broken *csv.ParseError
	if errors.As(err, &broken) {
		first := r.row + int64(broken.StartLine-r.line)
		r.row += int64(broken.Line - r.line)
		r.line = broken.Line
		return record{row: first, broken: misquoted(first, r.row)}, nil
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
		cells[i] = r.text(cell)
	}
	return record{row: r.row, cells: cells}, nil
}

func misquoted(first, last int64) *core.Violation {
	if first == last {
		return &core.Violation{Rule: "stray_quote"}
	}
	return &core.Violation{Rule: "unclosed_quote", Limit: last, Other: strconv.FormatInt(first, 10)}
}

// text is a cell as it was meant: read as it is written, without spaces around it, and
// without the apostrophes that exports add (core.InertCell).
func (r *records) text(cell string) string {
	if r.windows {
		cell, _ = charmap.Windows1252.NewDecoder().String(cell) // every byte is a character
	}
	return core.ReadCell(strings.TrimSpace(cell))
}

// position is the byte at which the next record begins.
func (r *records) position() int64 { return r.from + r.csv.InputOffset() }

var errEndless = errors.New("a record that does not end")

// pace stops a record that does not end from being read into memory.
type pace struct {
	from    io.Reader
	read    int // since the last record
	endless bool
}

func (p *pace) Read(b []byte) (int, error) {
	if p.read > 2*maxRecord { // more than one that is let in may need, wherever reading begins
		p.endless = true
	}
	if p.endless {
		return 0, errEndless
	}
	n, err := p.from.Read(b)
	p.read += n
	return n, err
}

// isText reports whether cells are written in UTF-8.
func isText(cells []string) bool {
	for _, cell := range cells {
		if !utf8.ValidString(cell) {
			return false
		}
	}
	return true
}
