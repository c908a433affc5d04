package reports

import (
	"math"
	"strconv"

	"example.com/loyalty/core/report"
	"example.com/loyalty/views/format"
)

const allWeekdays = 7

// bySpend is the value of the filter that has hours show the spend instead of the number of sales.
const bySpend = string(report.Spend)

// hourTable arranges the sales, or the spend, by hour and weekday. It begins with the first hour that has sales and ends with the last.
type hourTable struct {
	bySpend     bool
	currency    string
	first, last int
	figures     [24][allWeekdays + 1]int64
	weekdays    [allWeekdays + 1]int64 // of all hours
	days        [allWeekdays + 1]int64
	most        int64 // of an hour of a weekday
}

func (v Report) hourTable(h report.Hours) hourTable {
	t := hourTable{bySpend: v.Form.Value("by") == bySpend, currency: v.By.Tenant.Currency, first: 24, last: -1, most: 1}
	for _, cell := range h.Cells {
		weekday, figure := int64(allWeekdays), cell.TransactionsCount
		if cell.Weekday != nil {
			weekday = *cell.Weekday
		}
		if t.bySpend {
			figure = cell.SpendTotalCents
		}
		if cell.Hour == nil {
			t.weekdays[weekday] = figure
			continue
		}
		t.figures[*cell.Hour][weekday] = figure
		t.first, t.last = min(t.first, int(*cell.Hour)), max(t.last, int(*cell.Hour))
		if weekday != allWeekdays {
			t.most = max(t.most, figure)
		}
	}
	for weekday, n := range h.Days {
		t.days[weekday] = n
		t.days[allWeekdays] += n
	}
	return t
}

// title is what the table shows.
func (t hourTable) title() string {
	if t.bySpend {
		return "Spend (" + t.currency + ")"
	}
	return "Sales"
}

// write writes a figure. The heading has the currency.
func (t hourTable) write(figure int64) string {
	if t.bySpend {
		return format.Decimal(figure, t.currency)
	}
	return format.Number(figure)
}

// heat is the shade of an hour of a weekday: 0 for nothing, then 1 to 5 in equal steps up to the highest figure.
func (t hourTable) heat(hour, weekday int) string {
	n, most := t.figures[hour][weekday], t.most
	if n == 0 {
		return "heat-0"
	}
	if most > math.MaxInt64/5 {
		n, most = n/5, most/5
	}
	return "heat-" + strconv.FormatInt(1+(max(n, 1)*5-1)/most, 10)
}

// average is the figure of a day of a weekday, or "–" without days: sales with one decimal, spend to the cent.
func (t hourTable) average(weekday int) string {
	days := t.days[weekday]
	switch {
	case days == 0:
		return "–"
	case t.bySpend:
		return t.write(t.weekdays[weekday]/days + (t.weekdays[weekday]%days*2)/days)
	}
	return strconv.FormatFloat(float64(t.weekdays[weekday])/float64(days), 'f', 1, 64)
}
