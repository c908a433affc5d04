package importing

import (
	"errors"
	"io"
	"slices"

	"example.com/loyalty/core"
)

// previewRows is how many rows are looked at for the header row, and shown.
const previewRows = 10

// layout is the beginning of a file: its first rows that aren't empty.
type layout []PreviewRow

// readLayout reads the beginning of a file.
func readLayout(rows *records) (layout, error) {
	var l layout
	for len(l) < previewRows {
		rec, err := rows.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		l = append(l, rec.kept())
	}
	return l, nil
}

// kept returns a record that stays valid.
func (r record) kept() PreviewRow {
	return PreviewRow{FileRow: r.row, Cells: slices.Clone(r.cells), Broken: r.broken}
}

// mayBeHeader reports whether a row, counted from 1, may be the header row; 0 is none.
func (l layout) mayBeHeader(row int64) bool {
	return row == 0 || 0 < row && row <= int64(len(l)) && l[row-1].Broken == nil
}

// columns returns how many columns a file has if a row is its header row: as many as that row has cells, or the first
// row without a header row. Cells at its end that are empty in all rows are none: some programs end each row with a
// separator.
func (l layout) columns(header int64) int {
	if len(l) == 0 || !l.mayBeHeader(header) {
		return 0
	}
	first := int(header) - 1
	if header == 0 {
		first = max(0, slices.IndexFunc(l, func(r PreviewRow) bool { return r.Broken == nil }))
	}
	n := len(l[first].Cells)
	for ; n > 1; n-- {
		if slices.ContainsFunc(l[first:], func(r PreviewRow) bool { return len(r.Cells) >= n && isFilled(r.Cells[n-1]) }) {
			break
		}
	}
	return n
}

// header guesses which row has the names of the columns: the one with the most known names. Where none has two, it is
// the first one below titles, which are rows of one cell above wider ones. A row that looks like a customer is none.
func (l layout) header() int64 {
	best, most := int64(0), 1
	for i, r := range l {
		if n := len(slices.DeleteFunc(guessFields(r.Cells), func(f Field) bool { return f == NoField })); n > most && r.Broken == nil {
			best, most = int64(i+1), n
		}
	}
	if best > 0 {
		return best
	}
	first := l.belowTitles()
	if first < len(l) && l[first].Broken == nil && (hasKnown(l[first].Cells) || !slices.ContainsFunc(l[first].Cells, isOfCustomer)) {
		return int64(first + 1)
	}
	return 0
}

// belowTitles returns the index of the first row that is no title.
func (l layout) belowTitles() int {
	width := func(r PreviewRow) (n int) {
		for _, cell := range r.Cells {
			if isFilled(cell) {
				n++
			}
		}
		return n
	}
	widest := 0
	for _, r := range l {
		widest = max(widest, width(r))
	}
	first := slices.IndexFunc(l, func(r PreviewRow) bool { return width(r) > 1 || widest < 2 })
	return max(first, 0)
}

func hasKnown(cells []string) bool {
	return slices.ContainsFunc(guessFields(cells), func(f Field) bool { return f != NoField })
}

// isOfCustomer reports whether a cell is an e-mail address or a phone number.
func isOfCustomer(cell string) bool { return core.IsEmail(cell) || len(digitsOf(cell)) > 6 }

// mapping guesses the columns by their names in a header row.
func (l layout) mapping(header int64) []Field {
	columns := make([]Field, l.columns(header))
	if header > 0 && len(columns) > 0 {
		copy(columns, guessFields(l[header-1].Cells))
	}
	return columns
}

// guessFields maps columns by their names.
func guessFields(names []string) []Field {
	fields := make([]Field, len(names))
	for i, name := range names {
		if f, ok := headers[simplify(name)]; ok && !slices.Contains(fields, f) {
			fields[i] = f
		}
	}
	// With "Förnamn" and "Efternamn", a column "Namn" isn't needed.
	if slices.Contains(fields, FirstNameField) && slices.Contains(fields, LastNameField) {
		if i := slices.Index(fields, FullNameField); i >= 0 {
			fields[i] = NoField
		}
	}
	return fields
}
