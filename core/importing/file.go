package importing

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"example.com/loyalty/core"
)

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

// format says how the rows and letters of a file are stored.
type format struct {
	Delimiter string
	Encoding  Encoding
}

// records reads the rows of a file that are not empty.
type records struct {
	csv      *csv.Reader
	text     *text
	limit    *io.LimitedReader // keeps an endless record out of memory
	position int64             // the byte of the file at which the next record begins
	begin    int64             // likewise, of the decoded text since it is read
	row      int64             // of the last record
	line     int               // the last line of that record, counted from the beginning
}

// readRecords reads a file that was read up to a position (in bytes) and a row.
func readRecords(file io.Reader, f format, position, row int64) (*records, error) {
	raw := bufio.NewReader(file)
	if mark := f.Encoding.mark(); position == 0 && mark != "" {
		if found, _ := raw.Peek(len(mark)); string(found) == mark { // a shorter file has none
			n, err := raw.Discard(len(mark))
			if err != nil {
				return nil, err
			}
			position = int64(n)
		}
	}
	r := &records{
		text:     &text{from: bufio.NewReader(f.Encoding.decode(raw)), encoding: f.Encoding, delimiter: f.Delimiter[0], last: '\n'},
		position: position, row: row,
	}
	if row == 0 {
		if err := r.skipSeparatorLine(); err != nil {
			return nil, err
		}
	}
	r.limit = &io.LimitedReader{R: r.text}
	r.csv = csv.NewReader(r.limit)
	r.csv.Comma = rune(f.Delimiter[0])
	r.csv.FieldsPerRecord = -1
	r.csv.ReuseRecord = true
	r.csv.TrimLeadingSpace = f.Delimiter != "\t" // a tab is a space, too
	return r, nil
}

// skipSeparatorLine skips "sep=;", which tells spreadsheets the separator. They don't count it as a row.
func (r *records) skipSeparatorLine() error {
	beginning, err := r.text.from.Peek(maxSeparatorLine)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if _, size := separatorLine(string(beginning)); size > 0 {
		n, err := r.text.from.Discard(size)
		if err != nil {
			return err
		}
		r.position += r.text.encoding.size(beginning[:n])
	}
	return nil
}

// maxSeparatorLine is the length of "sep=;" in quotation marks and with two characters that end the line.
const maxSeparatorLine = 9

// separatorLine reads the line that tells the separator, and returns its length with what ends it; 0 if the file
// doesn't begin with one.
func separatorLine(beginning string) (delimiter string, size int) {
	line := beginning
	if end := strings.IndexAny(beginning, "\r\n"); end >= 0 {
		line, size = beginning[:end], end+1
		if strings.HasPrefix(beginning[end:], "\r\n") {
			size++
		}
	}
	line = strings.TrimSuffix(strings.TrimPrefix(line, `"`), `"`)
	if size == 0 || len(line) != len("sep=;") || !strings.EqualFold(line[:4], "sep=") || line[4] >= 0x80 || line[4] == '"' || line[4] == 0 {
		return "", 0
	}
	return line[4:], size
}

// text is the decoded text of a file, as the CSV reader gets it. It replaces single bytes by others, so that no
// position moves: line ends of old Macs (CR) by those of today, a ^Z at the end of the file, as DOS wrote it, by a
// line end, and the = of ="070", by which programs keep spreadsheets from calculating, by a space.
type text struct {
	from      *bufio.Reader
	encoding  Encoding
	delimiter byte
	last      byte   // the byte before
	read      []byte // what the CSV reader has read ahead of the record it returned
}

// Read reads decoded text.
func (t *text) Read(b []byte) (int, error) {
	n, err := t.from.Read(b)
	for i, c := range b[:n] {
		switch {
		case c == '\r' && t.following(b[:n], i, 1) != "\n":
			b[i] = '\n'
		case c == '\x1a' && t.endsAfter(b[:n], i):
			b[i] = '\n'
		case c == '=' && (t.last == t.delimiter || t.last == '\n') && t.delimiter != '\t' && t.following(b[:n], i, 1) == `"`:
			b[i] = ' '
		}
		t.last = b[i]
	}
	if t.encoding != UTF8 {
		t.read = append(t.read, b[:n]...)
	}
	return n, err
}

// following returns up to n bytes after the one at i; fewer at the end of the file.
func (t *text) following(b []byte, i, n int) string {
	found := string(b[i+1 : min(i+1+n, len(b))])
	if len(found) < n {
		ahead, _ := t.from.Peek(n - len(found)) // an error comes again with the next Read
		found += string(ahead)
	}
	return found
}

// endsAfter reports whether the file ends after the byte at i, but for more of the same and line ends.
func (t *text) endsAfter(b []byte, i int) bool {
	const more = 16
	rest := t.following(b, i, more)
	return len(rest) < more && strings.Trim(rest, "\x1a\r\n") == ""
}

// consume returns how many bytes of the file the next n decoded bytes were.
func (t *text) consume(n int64) int64 {
	if t.encoding == UTF8 {
		return n
	}
	size := t.encoding.size(t.read[:n])
	t.read = append(t.read[:0], t.read[n:]...)
	return size
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
	r.limit.N = 2 * maxRecord // the longest record and what the CSV reader reads ahead
	cells, err := r.csv.Read()
	length := r.csv.InputOffset() - r.begin
	if r.limit.N <= 0 || length > maxRecord {
		return record{}, refuseFile("long_row", r.row+1)
	}
	r.begin += length
	r.position += r.text.consume(length)
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
		cells[i] = cleanCell(cell)
	}
	return record{row: r.row, cells: cells}, nil
}

func quoteViolation(first, last int64) *core.Violation {
	if first == last {
		return &core.Violation{Rule: "stray_quote"}
	}
	return &core.Violation{Rule: "unclosed_quote", Limit: last, Other: strconv.FormatInt(first, 10)}
}

// cleanCell returns a cell's text without surrounding spaces and without the apostrophes that exports
// add (core.InertCell).
func cleanCell(cell string) string { return core.ReadCell(strings.TrimSpace(cell)) }

// guessDelimiter returns the separator that most of the first lines have: comma, semicolon, tab or bar. A title
// above the header row has none, and a comma may be in texts.
func guessDelimiter(beginning string) string {
	if d, size := separatorLine(beginning); size > 0 {
		return d
	}
	type count struct{ lines, all int }
	best, most := ",", count{}
	for _, d := range []string{",", ";", "|", "\t"} {
		var c count
		for _, line := range unquotedLines(beginning) {
			if n := strings.Count(line, d); n > 0 {
				c.lines, c.all = c.lines+1, c.all+n
			}
		}
		if c.lines > most.lines || c.lines == most.lines && c.all > most.all {
			best, most = d, c
		}
	}
	return best
}

// unquotedLines returns the first lines of a file without what is in quotation marks.
func unquotedLines(beginning string) (lines []string) {
	var line strings.Builder
	quoted := false
	for _, b := range []byte(beginning) {
		switch {
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '\n', b == '\r':
			if line.Len() > 0 {
				lines = append(lines, line.String())
			}
			if line.Reset(); len(lines) == previewRows {
				return lines
			}
		default:
			line.WriteByte(b)
		}
	}
	return append(lines, line.String())
}
