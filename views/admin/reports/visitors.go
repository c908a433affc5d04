package reports

import (
	"strconv"

	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/report"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// visitorFigures are the main figures of who came.
func visitorFigures(r report.Visitors) []ui.Figure {
	now, then := r.Current, r.Previous
	figures := []ui.Figure{
		comparedFigure("Active customers", onDays(links.TopReport, r.Period, map[string][]string{"by": {string(report.Visits)}}), now.Customers, then.Customers, format.Number),
		comparedFigure("First-time customers", "", now.NewCustomers, then.NewCustomers, format.Number),
		comparedFigure("Returning customers", "", now.Returning(), then.Returning(), format.Number),
		ratioFigure("Repeat rate", now, then, repeatRate),
		ratioFigure("Visits per customer", now, then, visitsPerCustomer),
	}
	for i := range figures {
		if r.Against == nil {
			figures[i].Change, figures[i].Against = "", ""
		}
	}
	return figures
}

// ratioFigure is a figure of which a change in per cent would confuse.
func ratioFigure(label string, now, then report.Attendance, ratio func(report.Attendance) string) ui.Figure {
	f := ui.Figure{Label: label, Value: ratio(now), Against: "No earlier data"}
	if then.Customers > 0 {
		f.Against = "was " + ratio(then)
	}
	return f
}

func repeatRate(a report.Attendance) string {
	if a.Customers == 0 {
		return "–"
	}
	return format.Percent(a.Repeat, a.Customers)
}

func visitsPerCustomer(a report.Attendance) string {
	if a.Customers == 0 {
		return "–"
	}
	return strconv.FormatFloat(float64(a.Visits)/float64(a.Customers), 'f', 1, 64)
}

// visitorsChart stacks returning customers on first-time ones.
func (v Report) visitorsChart(r report.Visitors) ui.Chart {
	number := func(n int64) ui.ChartValue { return ui.ChartValue{Number: n, Text: format.Number(n)} }
	c := ui.Chart{
		ID: "visitors", Title: "Active customers", Label: stepLabel(r.Step),
		Series:  []ui.Series{{Name: "First-time", Kind: ui.Bars}, {Name: "Returning", Kind: ui.Stacked}},
		Summary: soFar(format.Count(r.Current.NewCustomers, "first-time customer", "first-time customers")+", "+format.Number(r.Current.Returning())+" returning", r.To, v.Today()),
	}
	of := chart[report.Attendance]{
		Chart: c, measure: "Customers per ", compared: r.Against != nil, earlier: v.earlier(r.To, r.Against),
		line: func(a report.Attendance) ui.ChartValue { return number(a.Customers) },
	}
	drawn := of.withRows(r.Step, r.Buckets, r.Longer, v.Today())
	drawn.Series = c.Series
	if r.Against != nil {
		drawn.Series = append(drawn.Series, ui.Series{Name: "All, " + of.earlier, Kind: ui.Earlier})
	}
	for i := range drawn.Rows {
		now := r.Buckets[i].Current
		drawn.Rows[i].Values = append([]ui.ChartValue{number(now.NewCustomers), number(now.Returning())}, drawn.Rows[i].Values[1:]...)
	}
	for _, row := range drawn.Undrawn {
		row.Values[1], row.Values[2] = row.Values[2], row.Values[1]
	}
	return drawn
}

// againHeat is the shade of how many of a month's customers came again: 0 for none, then 1 to 5 in steps of a fifth.
func againHeat(again, of int64) string {
	if again == 0 || of == 0 {
		return "heat-0"
	}
	return "heat-" + strconv.FormatInt(1+(again*5-1)/of, 10)
}

// wholePercent is a share without decimals: a table of a hundred cells needs to be short.
func wholePercent(of, whole int64) string {
	if whole == 0 {
		return "–"
	}
	return strconv.FormatInt((of*100+whole/2)/whole, 10) + "%"
}

// GroupRule says who is in a group.
func GroupRule(high string, g daily.Group) string {
	days, often := strconv.Itoa(daily.LatelyDays), strconv.Itoa(daily.OftenVisits)
	lately := "the last one in the last " + days + " days"
	return map[daily.Group]string{
		daily.Best:      often + " visits or more, " + lately + ", and " + high + " or more spent",
		daily.Regulars:  often + " visits or more, " + lately + ", and less spent",
		daily.Promising: "2 to " + strconv.Itoa(daily.OftenVisits-1) + " visits, " + lately,
		daily.New:       "1 visit, in the last " + days + " days",
		daily.AtRisk:    often + " visits or more, or " + high + " or more spent, but no visit for " + days + " days",
		daily.Quiet:     "Fewer visits and less spent, and no visit for " + days + " days",
	}[g]
}

// AudienceList is the customers who lapsed, or those of a group.
type AudienceList struct {
	panel.Frame
	Audience daily.Audience
	Rule     string // who is in it
	Counting bool   // groups weren't counted yet: it is empty
	List     []report.Visitor
	Pager    ui.Pager
	Exports  *panel.Exports
	Coupons  []coupon.WithCounts // that can be sent
}

// years reports whether the figures are those of a year.
func (v AudienceList) years() bool { return v.Audience.Lapsed() == 0 }

// lastVisit is the day of a customer's last visit.
func (v AudienceList) lastVisit(c report.Visitor) string {
	if v.years() {
		return format.Days(c.LastVisit, c.LastVisit)
	}
	return v.Date(c.LastVisit)
}
