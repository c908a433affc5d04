package reports

import (
	"time"

	"example.com/loyalty/core/report"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/ui"
)

// comparedFigure is a key figure with what it was in the earlier period.
func comparedFigure(label, path string, now, then int64, format func(int64) string) ui.Figure {
	f := ui.Figure{Label: label, Path: path, Value: format(now), Against: "No earlier data"}
	if f.Change, f.Trend = relativeChange(now, then); f.Change != "" {
		f.Against = "was " + format(then)
	}
	return f
}

// relativeChange is "+12.5%" or, from a tenfold increase, "12×", because larger percentages are hard to
// read. It is "" if there is nothing to compare with.
func relativeChange(now, then int64) (string, ui.Trend) {
	switch {
	case then <= 0:
		return "", ui.Level
	case now == then:
		return "0%", ui.Level
	case now/10 >= then:
		return format.Number(now/then) + "×", ui.Up
	case now > then:
		return "+" + format.Percent(now-then, then), ui.Up
	}
	return "−" + format.Percent(then-now, then), ui.Down
}

// moneyIn formats amounts of a currency.
func moneyIn(currency string) func(int64) string {
	return func(cents int64) string { return format.Money(cents, currency) }
}

// average is 0 if nothing was sold.
func average(f report.Figures) int64 {
	if f.TransactionsCount == 0 {
		return 0
	}
	return f.SpendTotalCents / f.TransactionsCount
}

// comparedWith says with which days a page compares its figures, and how fairly.
func comparedWith(against report.Period, to, today time.Time) string {
	words := "Compared with " + format.Period(against.From, against.To)
	if to.Before(today) {
		return words
	}
	return words + ", up to this time of day"
}

// chartOf is a chart with a row for each bucket up to today. A bucket that contains today is the last.
func chartOf[T any](chart ui.Chart, step report.Step, buckets []report.Bucket[T], values func(report.Bucket[T]) []ui.ChartValue, today time.Time) ui.Chart {
	chart.Label = map[report.Step]string{report.Daily: "Day", report.Weekly: "Week", report.Monthly: "Month"}[step]
	for _, b := range buckets {
		if b.From.After(today) {
			break
		}
		withYear := buckets[0].From.Year() != buckets[len(buckets)-1].To.Year()
		row := ui.ChartRow{Label: bucketInWords(step, b.Period, withYear), Axis: axisLabel(step, b.From, withYear), Partial: b.Partial, Values: values(b)}
		chart.Rows = append(chart.Rows, row)
		if b.SoFar {
			chart.SoFar = map[report.Step]string{report.Daily: "Today", report.Weekly: "This week", report.Monthly: "This month"}[step] + " so far"
			break
		}
	}
	return chart
}

// bucketInWords is "2 Nov", "2–8 Nov" or, for a whole month, "Nov 2026".
func bucketInWords(step report.Step, p report.Period, withYear bool) string {
	day, short := "2 Jan", p.From.Format("2 Jan")
	if withYear {
		day = "2 Jan 2006"
	}
	switch {
	case p.From.Equal(p.To):
		return p.From.Format(day)
	case step == report.Monthly && p.From.Day() == 1 && p.To.AddDate(0, 0, 1).Day() == 1:
		return p.From.Format("Jan 2006")
	case p.From.Month() == p.To.Month():
		short = p.From.Format("2")
		return short + "–" + p.To.Format(day)
	}
	return short + " – " + p.To.Format(day)
}

func axisLabel(step report.Step, from time.Time, withYear bool) string {
	switch {
	case step == report.Monthly:
		return from.Format("Jan 2006")
	case withYear:
		return from.Format("2 Jan 2006")
	}
	return from.Format("2 Jan")
}

// soFar marks the summary of a range that ends today, since the last day is still incomplete.
func soFar(summary string, to, today time.Time) string {
	if to.Equal(today) {
		return summary + ", today so far"
	}
	return summary
}

// chartNumber is a value of a chart.
func chartNumber(n int64) ui.ChartValue { return ui.ChartValue{Number: n, Text: format.Number(n)} }

// earlierName is the name of the series to compare with.
const earlierName = "Previous period"

// pointsChart is the chart of points. A nil earlier leaves out the period to compare with.
func pointsChart[T any](
	step report.Step, buckets []report.Bucket[T], flow func(T) report.PointsFlow, compared bool, summary string, today time.Time,
) ui.Chart {
	chart := ui.Chart{ID: "points", Title: "Points issued and redeemed", Summary: summary}
	chart.Series = []ui.Series{{Name: "Issued", Kind: ui.Line}}
	if compared {
		chart.Series = append(chart.Series, ui.Series{Name: earlierName, Kind: ui.Earlier})
	}
	chart.Series = append(chart.Series, ui.Series{Name: "Redeemed", Kind: ui.Bars})
	return chartOf(chart, step, buckets, func(b report.Bucket[T]) []ui.ChartValue {
		now := flow(b.Current)
		values := []ui.ChartValue{chartNumber(now.Awarded)}
		if compared {
			earlier := ui.ChartValue{}
			if b.Previous != nil {
				earlier = chartNumber(flow(*b.Previous).Awarded)
			}
			values = append(values, earlier)
		}
		return append(values, chartNumber(now.Redeemed))
	}, today)
}

func pointsSummary(issued, redeemed int64) string {
	return format.Count(issued, "point", "points") + " issued, " + format.Number(redeemed) + " redeemed"
}
