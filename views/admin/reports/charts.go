package reports

import (
	"slices"
	"time"

	"example.com/loyalty/core/report"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/ui"
)

// chart is what a chart shows of the steps of a range: a line, the line of the earlier period if that is compared, and
// bars if there are any.
type chart[T any] struct {
	ui.Chart
	measure    string // what is drawn, before its step: "Points per "
	compared   bool
	earlier    string // the days of the earlier period
	line, bars func(T) ui.ChartValue
}

// withRows adds a row for each bucket up to today. A bucket that contains today is the last. The summary begins with the
// days and the step of the chart. Of a range that is over, the table also has the steps that only a longer earlier period has.
func (c chart[T]) withRows(step report.Step, buckets, longer []report.Bucket[T], today time.Time) ui.Chart {
	if c.compared {
		c.Series = slices.Insert(c.Series, 1, ui.Series{Name: c.Series[0].Name + ", " + c.earlier, Kind: ui.Earlier})
	}
	c.Label, c.Measure = stepLabel(step), c.measure+string(step)
	if n := len(buckets); n > 0 {
		c.Summary = format.Days(buckets[0].From, buckets[n-1].To) + ", by " + string(step) + ": " + c.Summary
	}
	withYear := len(buckets) > 0 && buckets[0].From.Year() != buckets[len(buckets)-1].To.Year()
	for _, b := range buckets {
		if b.From.After(today) {
			return c.Chart
		}
		c.Rows = append(c.Rows, ui.ChartRow{
			Label: bucketInWords(step, b.Period, withYear), Axis: axisLabel(step, b.From, withYear), Partial: b.Partial, Values: c.values(b),
		})
		if b.SoFar {
			c.SoFar = map[report.Step]string{report.Daily: "Today", report.Weekly: "This week", report.Monthly: "This month"}[step] + " so far"
			return c.Chart
		}
	}
	for _, b := range longer {
		values := make([]ui.ChartValue, len(c.Series))
		values[1] = c.line(*b.Previous)
		c.Undrawn = append(c.Undrawn, ui.ChartRow{Label: bucketInWords(step, b.Beside, withYear), Values: values})
	}
	return c.Chart
}

func (c chart[T]) values(b report.Bucket[T]) []ui.ChartValue {
	values := []ui.ChartValue{c.line(b.Current)}
	switch {
	case c.compared && b.Previous != nil:
		values = append(values, c.line(*b.Previous))
	case c.compared:
		values = append(values, ui.ChartValue{})
	}
	if c.bars != nil {
		values = append(values, c.bars(b.Current))
	}
	return values
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

// soFar marks the summary of a range that isn't over, since today is still incomplete.
func soFar(summary string, to, today time.Time) string {
	if !to.Before(today) {
		return summary + ", today so far"
	}
	return summary
}

// pointsChart shows the points that were issued and redeemed.
func pointsChart[T any](flow func(T) report.PointsFlow) chart[T] {
	number := func(n int64) ui.ChartValue { return ui.ChartValue{Number: n, Text: format.Number(n)} }
	return chart[T]{
		measure: "Points per ",
		Chart: ui.Chart{
			ID: "points", Title: "Points issued and redeemed", Series: []ui.Series{{Name: "Issued", Kind: ui.Line}, {Name: "Redeemed", Kind: ui.Bars}},
		},
		line: func(figures T) ui.ChartValue { return number(flow(figures).Awarded) },
		bars: func(figures T) ui.ChartValue { return number(flow(figures).Redeemed) },
	}
}

func pointsSummary(issued, redeemed int64) string {
	return format.Count(issued, "point", "points") + " issued, " + format.Number(redeemed) + " redeemed"
}

func (v Dashboard) pointsChart() ui.Chart {
	o, today := v.Overview, v.Today()
	c := pointsChart(func(f report.PointsFlow) report.PointsFlow { return f })
	c.compared, c.earlier = true, shortDays(o.Against, o.To.Year())
	c.Summary = soFar(pointsSummary(o.Current.PointsAwarded, o.Current.PointsRedeemed), o.To, today)
	return c.withRows(o.Step, o.Buckets, o.Longer, today)
}

// earlier are the days that a report is compared with. "": none.
func (v Report) earlier(to time.Time, against *report.Period) string {
	if against == nil {
		return ""
	}
	return shortDays(*against, to.Year())
}

func (v Report) pointsChart(r report.Comparison) ui.Chart {
	c := pointsChart(func(f report.Figures) report.PointsFlow {
		return report.PointsFlow{Awarded: f.PointsAwarded, Redeemed: f.PointsRedeemed}
	})
	c.compared, c.earlier = r.Against != nil, v.earlier(r.To, r.Against)
	c.Summary = pointsSummary(r.Current.PointsAwarded, r.Current.PointsRedeemed)
	if v.Place != nil { // redemptions aren't recorded by location
		c.Title, c.Summary = "Points issued", format.Count(r.Current.PointsAwarded, "point", "points")+" issued"
		c.Series, c.bars = c.Series[:1], nil
	}
	c.Summary = soFar(c.Summary, r.To, v.Today())
	return c.withRows(r.Step, r.Buckets, r.Longer, v.Today())
}

func (v Report) spendChart(r report.Comparison) ui.Chart {
	c := chart[report.Figures]{
		measure: "Spend per ",
		Chart: ui.Chart{
			ID: "spend", Title: "Tracked spend", Series: []ui.Series{{Name: "Spend", Kind: ui.Line}},
			Summary: soFar(v.Money(r.Current.SpendTotalCents)+" in "+format.Count(r.Current.TransactionsCount, "sale", "sales"), r.To, v.Today()),
			Unit:    v.Symbol(), Decimals: format.Decimals(v.By.Tenant.Currency),
		},
		compared: r.Against != nil, earlier: v.earlier(r.To, r.Against),
		line: func(f report.Figures) ui.ChartValue {
			return ui.ChartValue{Number: f.SpendTotalCents, Text: v.Money(f.SpendTotalCents)}
		},
	}
	return c.withRows(r.Step, r.Buckets, r.Longer, v.Today())
}
