package reports

import (
	"cmp"
	"net/url"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/report"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
)

var unitLabels = map[ledger.Unit]string{ledger.Points: "Points", ledger.Stamps: "Stamps"}

// unit is the chosen one.
func (v Report) unit() ledger.Unit {
	if v.Form.Value("unit") == string(ledger.Stamps) {
		return ledger.Stamps
	}
	return ledger.Points
}

// lastDays is the address of the last days as a file.
func (v Report) lastDays(extension string) string {
	return links.WithQuery(links.LastDays+extension, "unit", string(v.unit()))
}

// statementFile is the address of the statement as a file.
func (v Report) statementFile(extension string) string {
	return onDays(links.PointsReport+extension, *v.Days, url.Values{"unit": {string(v.unit())}})
}

// FlowLine is a line of a statement: a kind of change.
type FlowLine struct {
	Label, Column string
	Amount        func(report.Flow) int64
	Always        bool // also without any
}

// FlowLines are the lines of a statement, in order.
var FlowLines = []FlowLine{
	{"Issued by sales", "Issued by sales", func(f report.Flow) int64 { return f.Earned }, true},
	{"Issued by vouchers", "Issued by vouchers", func(f report.Flow) int64 { return f.Vouchers }, false},
	{"Imported", "Imported", func(f report.Flow) int64 { return f.Imported }, false},
	{"Taken back by voids", "Taken back by voids", func(f report.Flow) int64 { return f.Reversed }, false},
	{"Taken back by refunds", "Taken back by refunds", func(f report.Flow) int64 { return f.Refunded }, false},
	{"Redeemed", "Redeemed", func(f report.Flow) int64 { return f.Redeemed }, true},
	{"Returned by voided redemptions", "Returned", func(f report.Flow) int64 { return f.Returned }, false},
	{"Expired", "Expired", func(f report.Flow) int64 { return f.Expired }, true},
	{"Expired, returned before a void or refund", "Expired and returned", func(f report.Flow) int64 { return f.ExpiryReturned }, false},
	{"Adjusted by hand", "Adjusted", func(f report.Flow) int64 { return f.Adjusted }, false},
	{"Moved by merges", "Moved by merges", func(f report.Flow) int64 { return f.Merged }, false},
}

// lines are the lines of a statement that have a change in its range.
func lines(st report.Statement) (shown []FlowLine) {
	for _, l := range FlowLines {
		moved := l.Always || l.Amount(st.Total) != 0
		for _, step := range st.Steps {
			moved = moved || l.Amount(step.Current) != 0
		}
		if moved {
			shown = append(shown, l)
		}
	}
	return shown
}

// isEmpty reports whether there never was a balance, as far as the page can tell.
func isEmpty(st report.Statement, e report.Endings) bool {
	return st.Opening == 0 && st.Closing == 0 && st.Total == (report.Flow{}) && st.Owed.Below == 0 && e.Total == 0 && len(e.Outcomes) == 0
}

// pointsFigures are the main figures of a statement.
func pointsFigures(st report.Statement) []ui.Figure {
	f := st.Total
	return []ui.Figure{
		{Label: "Opening balance", Value: format.Number(st.Opening)},
		{Label: "Issued", Value: format.Number(f.Issued())},
		{Label: "Redeemed", Value: format.Number(f.NetRedeemed())},
		{Label: "Expired", Value: format.Number(f.NetExpired())},
		{Label: "Closing balance", Value: format.Number(st.Closing)},
	}
}

// balanceChart shows the balance at the end of each step.
func (v Report) balanceChart(st report.Statement) ui.Chart {
	c := chart[report.StatementStep]{
		measure: unitLabels[st.Unit] + " at the end of each ",
		Chart: ui.Chart{
			ID: "balance", Title: "Balance of all customers", Series: []ui.Series{{Name: "Balance", Kind: ui.Line}},
			Summary: soFar(format.Units(st.Closing, st.Unit)+" at the end", st.To, v.Today()),
		},
		line: func(s report.StatementStep) ui.ChartValue {
			return ui.ChartValue{Number: s.Closing, Text: format.Number(s.Closing)}
		},
	}
	steps := make([]report.Bucket[report.StatementStep], len(st.Steps))
	for i, s := range st.Steps {
		steps[i] = report.Bucket[report.StatementStep]{Period: s.Period, Current: s, SoFar: s.SoFar, Partial: s.Partial}
	}
	return c.withRows(st.Step, steps, v.Today())
}

// endingChart shows what ends in each of the next twelve months.
func endingChart(e report.Endings) ui.Chart {
	c := ui.Chart{ID: "ending", Title: "Ending in the next 12 months", Label: "Month", Measure: unitLabels[e.Unit] + " ending per month", Series: []ui.Series{{Name: "Ending", Kind: ui.Bars}}}
	for _, m := range e.Months {
		c.Rows = append(c.Rows, ui.ChartRow{
			Label: m.Month.Format("January 2006"), Axis: m.Month.Format("Jan 2006"), Values: []ui.ChartValue{{Number: m.Amount, Text: format.Number(m.Amount)}},
		})
	}
	if n := len(e.Months); n > 0 {
		c.Summary = monthsInWords(e.Months[0].Month, e.Months[n-1].Month) + ", by month: "
	}
	c.Summary += format.Units(e.Soon(), e.Unit) + " in these months, " + format.Number(e.Later.Amount) + " later, " + format.Number(e.Never) + " without a last day"
	return c
}

// monthsInWords is "June 2026 – May 2027".
func monthsInWords(first, last time.Time) string {
	return first.Format("January 2006") + " – " + last.Format("January 2006")
}

// OutcomeLabel is the time that an outcome is about.
func OutcomeLabel(o report.Outcome) string {
	switch o.Until {
	case report.Earlier:
		return "Earlier"
	case report.Afterwards:
		return "Later"
	case report.WithoutEnd:
		return "No last day"
	case report.InMonth:
	}
	return o.Month.Format("January 2006")
}

// inRule says what the present rule gives an award of today, or nothing.
func (v Report) inRule(unit ledger.Unit) string {
	rule := unit.Of(v.By.Tenant)
	if last := rule.Shown(rule.LastDay(v.Today())); last != nil {
		return unitLabels[unit] + " issued today can be spent until " + last.Format("2 January 2006") + "."
	}
	return ""
}

// hasRule reports whether anything of a unit can end.
func (v Report) hasRule(unit ledger.Unit) bool {
	rule := unit.Of(v.By.Tenant)
	return !rule.HoldsAll && cmp.Or(rule.Rule, core.NeverExpire) != core.NeverExpire
}

// share is hundredths of a percent in words.
func share(hundredths int64) string { return format.Percent(hundredths, 100*100) }

// cost is a range of costs: € 10.00 – € 40.00.
func (v Report) cost(c report.Cost) string {
	return costInWords(v.Reader, c)
}

func costInWords(by format.Reader, c report.Cost) string {
	if c.Least == c.Most {
		return by.Money(c.Least)
	}
	return by.Money(c.Least) + " – " + by.Money(c.Most)
}
