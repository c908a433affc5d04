package importing

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/level"
)

// Preview is the beginning of a file, and how it would be read.
type Preview struct {
	Import
	Mapping
	Delimiter  string
	Recognised Encoding // by the file itself
	Dates      *Dates   // nil: no column has dates that can be read in two orders
	Beginning  []PreviewRow
	Letters    []PreviewRow // further rows, with letters that depend on the encoding
	Samples    []Sample     // rows as they are read, first those with such letters; none while a column is missing
	Headers    []int64      // which rows may be the header row
	Levels     award.Levels // of the business; a file can say which one a customer has
}

// PreviewRow is an unconverted row of a file, with a cell for each column.
type PreviewRow struct {
	FileRow int64
	Cells   []string
	Broken  *core.Violation // why it can't be read; nil: it can
}

// Sample is a row of a file as it would be imported.
type Sample struct {
	FileRow             int64
	FirstName, LastName string
	Phone               string
	Email               *string
	CreatedAt           *time.Time // nil: now
	Points, Stamps      int64
	Birthday            *customer.Birthday
	Level               *award.Level // nil: the first one
	ExpiresOn           *time.Time   // nil: by the rules
}

// maxSamples is how many samples, and how many further rows, a preview shows.
const maxSamples = 3

// layout reads the beginning of a file in an encoding. It returns none for an encoding that can't be the file's.
func (f firstPiece) layout(e Encoding) (layout, error) {
	if !slices.Contains(Encodings, e) || !e.fits(f.Encoding) {
		return nil, nil
	}
	rows, err := f.records(e)
	if err != nil {
		return nil, err
	}
	return readLayout(rows)
}

func (f firstPiece) records(e Encoding) (*records, error) {
	return readRecords(bytes.NewReader(f.Content), format{f.Delimiter, e}, 0, 0)
}

// Choice is what a person has chosen of how a file is read, before it is checked. The zero value is nothing.
type Choice struct {
	Encoding  Encoding
	Header    *int64
	Columns   []Field // nil: as guessed
	DateOrder *DateOrder
}

// Preview returns the first rows of a file that has not been imported yet, and how it is read: as chosen now, as it was
// checked, or else as guessed. A choice that can't be is refused.
func (s *Service) Preview(ctx context.Context, by core.Actor, id core.ID, chosen Choice) (Preview, error) {
	if err := by.Require(core.Manager); err != nil {
		return Preview{}, err
	}
	var file firstPiece
	var levels level.InForce
	if err := db.Together(ctx, s.db.Tenant(by), append(levels.Readings(), db.OneInto(&file, firstPieceSQL, db.Args{"id": id}))...); err != nil {
		return Preview{}, err
	}
	p := Preview{Import: file.Import, Delimiter: file.Delimiter, Recognised: file.Encoding, Levels: levels.Levels()}
	p.Mapping = Mapping{Encoding: file.Encoding, Header: file.Header, Columns: file.Mapping, DateOrder: file.DateOrder}
	if chosen.Encoding != "" {
		if !slices.Contains(Encodings, chosen.Encoding) {
			return Preview{}, core.Invalid(core.Fields{"encoding": {core.InvalidChoice}})
		}
		if !chosen.Encoding.fits(file.Encoding) {
			return Preview{}, core.Invalid(core.Fields{"encoding": {otherEncoding(file.Encoding)}})
		}
		p.Encoding = chosen.Encoding
	}
	l, err := file.layout(p.Encoding)
	if err != nil {
		return Preview{}, err
	}
	if chosen.Header != nil {
		if !l.mayBeHeader(*chosen.Header) {
			return Preview{}, core.Invalid(core.Fields{"heading": {core.InvalidChoice}})
		}
		p.Header = *chosen.Header
	}
	if chosen.DateOrder != nil {
		p.DateOrder = *chosen.DateOrder
	}
	switch n := l.columns(p.Header); {
	case len(chosen.Columns) == n:
		p.Columns = chosen.Columns
	case len(p.Columns) != n || chosen.Header != nil && *chosen.Header != file.Header:
		p.Columns = l.mapping(p.Header)
		for i, f := range p.Columns {
			if f.missing(by.Tenant, p.Levels) != nil {
				p.Columns[i] = NoField
			}
		}
	}
	if dates, ok := file.datesOf(p.Mapping, by.Tenant.Country); ok {
		p.Dates = &dates
	}
	for i, row := range l {
		if l.mayBeHeader(int64(i + 1)) {
			p.Headers = append(p.Headers, int64(i+1))
		}
		cells := make([]string, len(p.Columns))
		copy(cells, row.Cells)
		row.Cells = cells
		p.Beginning = append(p.Beginning, row)
	}
	return p, s.addSamples(by, file, &p)
}

// addSamples reads the first piece of the file for rows that show whether the encoding is right.
func (s *Service) addSamples(by core.Actor, file firstPiece, p *Preview) error {
	rows, err := file.records(p.Encoding)
	if err != nil {
		return err
	}
	reader := rowReader{
		fields: p.Columns, columns: int64(len(p.Columns)), country: by.Tenant.Country, phoneOptional: by.Tenant.PhoneOptional, levels: p.Levels, zone: by.Tenant.TimeZone, now: s.db.Now(),
		dateOrder: file.orderOf(p.Mapping, by.Tenant.Country),
	}
	var first, telling []Sample
	for n := int64(1); len(telling) < maxSamples || len(p.Letters) < maxSamples; n++ {
		rec, err := rows.next()
		var refusal *core.Error
		if errors.Is(err, io.EOF) || errors.As(err, &refusal) {
			break
		}
		if err != nil {
			return err
		}
		if n <= p.Header {
			continue
		}
		tells := slices.ContainsFunc(rec.cells, func(cell string) bool {
			return slices.ContainsFunc([]byte(cell), func(b byte) bool { return b >= 0x80 })
		})
		if tells && n > previewRows && len(p.Letters) < maxSamples {
			row := rec.kept()
			row.Cells = append(row.Cells, make([]string, len(p.Columns))...)[:len(p.Columns)]
			p.Letters = append(p.Letters, row)
		}
		if !tells && len(first) == maxSamples || tells && len(telling) == maxSamples {
			continue
		}
		r, problems := reader.read(rec)
		if len(problems) > 0 {
			continue
		}
		sample := Sample{r.row, r.FirstName, r.LastName, r.Phone, r.Email, r.createdAt, r.points, r.stamps, r.Birthday, r.level, r.expiresOn}
		if tells {
			telling = append(telling, sample)
		} else {
			first = append(first, sample)
		}
	}
	p.Samples = slices.Concat(telling, first[:min(len(first), maxSamples-len(telling))])
	slices.SortFunc(p.Samples, func(a, b Sample) int { return int(a.FileRow - b.FileRow) })
	return nil
}
