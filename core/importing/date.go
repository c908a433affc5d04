package importing

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/loyalty/core"
)

// DateOrder says whether 3/4/2024 is a day of April or of March.
type DateOrder string

// The orders. A date that begins with the year has the month next.
const (
	DayFirst   DateOrder = "dmy"
	MonthFirst DateOrder = "mdy"
)

// monthFirst lists the countries in which the month is written first.
const monthFirst = " US AS FM GU MH MP PH PR PW UM VI "

// OrderOfCountry returns the order in which dates are written in a country.
func OrderOfCountry(country string) DateOrder {
	if country != "" && strings.Contains(monthFirst, " "+country+" ") {
		return MonthFirst
	}
	return DayFirst
}

// DateColumn is what a column of a file tells of the order of its dates: the first rows that can be read in one
// order only.
type DateColumn struct {
	Column   int   // from 0
	DayRow   int64 // with a day above 12 in front; 0: none
	MonthRow int64 // with a day above 12 in the middle; 0: none
	Unclear  int64 // how many dates can be read in both orders
}

// settles returns the order that the column decides; "" if it decides none.
func (d DateColumn) settles() DateOrder {
	switch {
	case d.DayRow > 0 && d.MonthRow == 0:
		return DayFirst
	case d.MonthRow > 0 && d.DayRow == 0:
		return MonthFirst
	}
	return ""
}

// Dates says how the dates of an import are read, and why.
type Dates struct {
	Order     DateOrder
	Automatic DateOrder // what it is if nothing is chosen
	Row       int64     // that settles the automatic order; 0: the country does
	Mixed     int64     // a row that can only be read in the other order; 0: none
	Unclear   int64     // how many dates can be read in both orders
}

// Dates returns how the columns with dates are read in a country, all in one order. false: there is none, or all dates
// begin with the year.
func (s sheet) datesOf(m Mapping, country string) (Dates, bool) {
	var d DateColumn
	found := false
	for _, column := range s.Dates {
		if column.Column >= len(m.Columns) || !slices.Contains([]Field{CreatedAtField, BirthdayField, ExpiresOnField}, m.Columns[column.Column]) {
			continue
		}
		found = true
		d.DayRow, d.MonthRow = firstOf(d.DayRow, column.DayRow), firstOf(d.MonthRow, column.MonthRow)
		d.Unclear += column.Unclear
	}
	if !found {
		return Dates{}, false
	}
	automatic, row := d.settles(), max(d.DayRow, d.MonthRow)
	if automatic == "" {
		automatic, row = OrderOfCountry(country), 0
	}
	dates := Dates{Order: m.DateOrder, Automatic: automatic, Row: row, Unclear: d.Unclear}
	if dates.Order == "" {
		dates.Order = automatic
	}
	if dates.Mixed = d.MonthRow; dates.Order == MonthFirst {
		dates.Mixed = d.DayRow
	}
	return dates, true
}

// firstOf returns the smaller of two numbers of rows, of which 0 is none.
func firstOf(a, b int64) int64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// orderOf returns the order in which a mapping's dates are read in a country.
func (s sheet) orderOf(m Mapping, country string) DateOrder {
	if dates, ok := s.datesOf(m, country); ok {
		return dates.Order
	}
	if m.DateOrder != "" {
		return m.DateOrder
	}
	return OrderOfCountry(country)
}

// dateColumns collects what the columns of a file tell of the order of their dates.
type dateColumns []DateColumn

var orderedDate = regexp.MustCompile(`^(\d{1,2})[./-](\d{1,2})[./-]\d{4}\b`)

func (c *dateColumns) add(rec record) {
	for i, cell := range rec.cells {
		if len(cell) < len("1/1/2000") || cell[0] > '9' && cell[0] < 0x80 {
			continue
		}
		parts := orderedDate.FindStringSubmatch(CreatedAtField.clean(cell))
		if parts == nil {
			continue
		}
		first, _ := strconv.Atoi(parts[1]) // two digits
		second, _ := strconv.Atoi(parts[2])
		d := c.of(i)
		switch {
		case first > 12 && first <= 31 && 1 <= second && second <= 12:
			if d.DayRow == 0 {
				d.DayRow = rec.row
			}
		case second > 12 && second <= 31 && 1 <= first && first <= 12:
			if d.MonthRow == 0 {
				d.MonthRow = rec.row
			}
		case first != second:
			d.Unclear++
		}
	}
}

// of returns the column, which it adds if it is new.
func (c *dateColumns) of(column int) *DateColumn {
	for i := range *c {
		if (*c)[i].Column == column {
			return &(*c)[i]
		}
	}
	*c = append(*c, DateColumn{Column: column})
	return &(*c)[len(*c)-1]
}

// The formats of days by their order, and of times after them.
var (
	days = map[DateOrder][]string{
		"":         {"2006-1-2", "2006/1/2", "2006.1.2", "20060102"},
		DayFirst:   {"2.1.2006", "2/1/2006", "2-1-2006"},
		MonthFirst: {"1.2.2006", "1/2/2006", "1-2-2006"},
	}
	times = []string{"", " 15:04", " 15:04:05", " 3:04 PM", " 3:04:05 PM"}
)

// parseInstant reads a day or a time in a zone.
func parseInstant(text string, order DateOrder, zone *time.Location) (time.Time, bool) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UTC().Truncate(time.Millisecond), true
	}
	text = strings.ToUpper(strings.Replace(core.TypedNumber(text), "T", " ", 1))
	for _, layouts := range [][]string{days[""], days[order]} {
		for _, day := range layouts {
			for _, clock := range times {
				read, err := time.Parse(day+clock, text)
				if err != nil {
					continue
				}
				if clock == "" {
					return core.StartOfDate(read, zone).UTC(), true
				}
				at, _ := core.LocalTime(read, zone)
				return at.UTC().Truncate(time.Second), true
			}
		}
	}
	return time.Time{}, false
}

var dateSerial = regexp.MustCompile(`^\d{5}([.,]\d+)?$`)

// isDateSerial reports whether a text is how spreadsheets store a date: as days since 1900 or 1904.
func isDateSerial(text string) bool { return dateSerial.MatchString(text) }
