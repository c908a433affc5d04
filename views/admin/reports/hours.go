package reports

import (
	"strconv"

	"example.com/loyalty/core/report"
)

const allWeekdays = 7

// hourTable arranges sales by hour and weekday. It begins with the first hour that has any and ends with the last.
type hourTable struct {
	first, last int
	sales       [24][allWeekdays + 1]int64
	weekdays    [allWeekdays + 1]int64 // sales of all hours
	days        [allWeekdays + 1]int64
	most        int64 // of an hour of a weekday
}

func hourTableOf(h report.Hours) hourTable {
	t := hourTable{first: 24, last: -1, most: 1}
	for _, cell := range h.Cells {
		weekday := int64(allWeekdays)
		if cell.Weekday != nil {
			weekday = *cell.Weekday
		}
		if cell.Hour == nil {
			t.weekdays[weekday] = cell.TransactionsCount
			continue
		}
		t.sales[*cell.Hour][weekday] = cell.TransactionsCount
		t.first, t.last = min(t.first, int(*cell.Hour)), max(t.last, int(*cell.Hour))
		if weekday != allWeekdays {
			t.most = max(t.most, cell.TransactionsCount)
		}
	}
	for weekday, n := range h.Days {
		t.days[weekday] = n
		t.days[allWeekdays] += n
	}
	return t
}

// heat is the shade of an hour of a weekday: 0 for no sales, then 1 to 5 in equal steps up to the highest number.
func (t hourTable) heat(hour, weekday int) string {
	n := t.sales[hour][weekday]
	if n == 0 {
		return "heat-0"
	}
	return "heat-" + strconv.FormatInt(1+(n*5-1)/t.most, 10)
}

// average is the sales of a day of a weekday with one decimal, or "–" without days.
func (t hourTable) average(weekday int) string {
	if t.days[weekday] == 0 {
		return "–"
	}
	return strconv.FormatFloat(float64(t.weekdays[weekday])/float64(t.days[weekday]), 'f', 1, 64)
}
