package reports

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/report"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
)

var unitLabels = map[ledger.Unit]string{ledger.Points: "Points", ledger.Stamps: "Stamps"}

// issuedElsewhere are the figures of other pages that a statement may be compared with.
var issuedElsewhere = map[ledger.Unit]format.Figure{ledger.Points: format.PointsIssued, ledger.Stamps: format.StampsIssued}

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

// earnedFile is the address of the months of earning as a file.
func (v Report) earnedFile(extension string) string {
	return links.WithQuery(links.EarnedMonths+extension, "unit", string(v.unit()))
}

// statementFile is the address of the statement as a file.
func (v Report) statementFile(extension string) string {
	filters := url.Values{"unit": {string(v.unit())}}
	if against := v.Query.Get("compare"); against != "" {
		filters.Set("compare", against)
	}
	return onDays(links.PointsReport+extension, *v.Days, filters)
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

// lines are the lines of a statement that have a change in its range, or in the earlier period.
func lines(st report.Statement) (shown []FlowLine) {
	for _, l := range FlowLines {
		moved := l.Always || l.Amount(st.Total) != 0 || l.Amount(st.Before.Total) != 0
		for _, step := range st.Steps {
			moved = moved || l.Amount(step.Current.Total) != 0
		}
		if moved {
			shown = append(shown, l)
		}
	}
	return shown
}

// The headings of Endings' charts.
const (
	earnedTitle = "Outstanding today, by when it was earned"
	endingTitle = "Ending in the next 12 months"
)

// isEmpty reports whether there never was a balance, as far as the page can tell.
func isEmpty(st report.Statement, e report.Endings) bool {
	return !st.SlowEndings && st.Opening == 0 && st.Closing == 0 && st.Total == (report.Flow{}) && st.Owed.Below == 0 && e.Total == 0 && len(e.Outcomes) == 0
}

// balanceOn is the label of a balance, with its day unless that of another period is beside it.
func (v Report) balanceOn(label string, st report.Statement, day time.Time) string {
	if st.Against != nil {
		return label
	}
	return label + ", " + v.Date(day)
}

// pointsFigures are the main figures of a statement. Neither direction of them is good or bad news.
func (v Report) pointsFigures(st report.Statement) []ui.Figure {
	now, then := st.Movement, st.Before
	figure := func(label string, now, then int64) ui.Figure {
		return v.figure(st.Against, label, now, then, format.Number)
	}
	return []ui.Figure{
		figure("Opening balance", now.Opening, then.Opening),
		figure("Issued", now.Total.Issued(), then.Total.Issued()),
		figure("Redeemed", now.Total.NetRedeemed(), then.Total.NetRedeemed()),
		figure("Expired", now.Total.NetExpired(), then.Total.NetExpired()),
		figure("Closing balance", now.Closing, then.Closing),
	}
}

// balanceChart shows the balance at the end of each step.
func (v Report) balanceChart(st report.Statement) ui.Chart {
	c := chart[report.Movement]{
		measure: unitLabels[st.Unit] + " at the end of each ",
		Chart: ui.Chart{
			ID: "balance", Title: unitLabels[st.Unit] + " outstanding", Series: []ui.Series{{Name: "Balance", Kind: ui.Line}},
			Summary: soFar("the balances of all customers, "+format.Units(st.Closing, st.Unit)+" at the end", st.To, v.Today()),
		},
		compared: st.Against != nil, earlier: v.earlier(st.To, st.Against),
		line: func(m report.Movement) ui.ChartValue { return chartNumber(m.Closing) },
	}
	return c.withRows(st.Step, st.Steps, st.Longer, v.Today())
}

// earnedChart shows when what customers can spend today was earned.
func earnedChart(e report.Endings) ui.Chart {
	c := ui.Chart{
		ID: "earned", Title: earnedTitle, Label: "Earned in", Measure: unitLabels[e.Unit] + " still outstanding",
		Summary: format.Number(e.Earned.Known()) + " of " + format.Units(e.Total, e.Unit) + " outstanding, by when they were earned",
		Series:  []ui.Series{{Name: "Outstanding", Kind: ui.Bars}},
	}
	for _, at := range e.Earned.Times {
		c.Rows = append(c.Rows, ui.ChartRow{Label: EarnedLabel(at), Axis: earnedAxis(at), Values: []ui.ChartValue{chartNumber(at.Amount)}})
	}
	return c
}

// EarnedLabel is when something was earned: June 2026, or April–June 2026.
func EarnedLabel(at report.EarnedIn) string {
	if at.From.IsZero() {
		return at.To.Format("January 2006") + " or earlier"
	}
	return format.Period(at.From, at.To)
}

// earnedAxis is the same where there is little room.
func earnedAxis(at report.EarnedIn) string {
	if at.From.IsZero() {
		return "Until " + at.To.Format("Jan 2006")
	}
	return at.From.Format("Jan 2006")
}

// endingChart shows what ends in each of the next twelve months.
func endingChart(e report.Endings) ui.Chart {
	c := ui.Chart{ID: "ending", Title: endingTitle, Label: "Month", Measure: unitLabels[e.Unit] + " ending per month", Series: []ui.Series{{Name: "Ending", Kind: ui.Bars}}}
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

// reasonsUnknown say of which points it isn't known when they were earned.
func reasonsUnknown(e report.Endings) (reasons []string) {
	add := func(n int64, why string) {
		if n > 0 {
			reasons = append(reasons, format.Units(n, e.Unit)+" "+format.Noun(n, "isn’t", "aren’t")+" shown: "+why)
		}
	}
	add(e.Earned.Undated, "without a last day, nothing tells when they were earned.")
	add(e.Earned.Apart, "they were imported or returned by a voided redemption, or share a last day with such "+format.UnitName(2, e.Unit)+".")
	if e.Earned.Forgotten {
		add(e.Earned.Unclear, "how they expire was changed so long ago that the audit log no longer says when their last day was given.")
	} else {
		add(e.Earned.Unclear, "how they expire was changed, and their last day fits more than one month of earning.")
	}
	return reasons
}

// unknownMonths says why no month of earning is known, and what would make it known.
func unknownMonths(e report.Endings, isOwner bool) string {
	unit := format.UnitName(2, e.Unit)
	why := unitLabels[e.Unit] + " have no last day of their own, so once a customer has spent some, nothing tells in which month the rest were earned."
	if e.Earned.Undated < e.Total {
		why = strings.Join(reasonsUnknown(e), " ")
	}
	if isOwner {
		return why + " If you choose that " + unit + " expire a number of months after they were earned, those earned from then on are shown here by month."
	}
	return why + " If an owner chooses that " + unit + " expire a number of months after they were earned, those earned from then on are shown here by month."
}

// rangeMeaning explains a range of costs.
func rangeMeaning(unit string) string {
	return "The lower amount is what they cost you if customers spend all of them on the active reward that is cheapest for you per " + unit +
		", the higher if on the dearest."
}

// spentOnWords explain what a cost of rewards is.
func spentOnWords(on report.SpentOn, unit string) string {
	switch {
	case on.Cheapest.ID != on.Dearest.ID:
		return rangeMeaning(unit)
	case on.Count-on.Unpriced == 1:
		return "What they cost you if customers spend all of them on your only active reward with a cost."
	}
	return "What they cost you if customers spend all of them: your active rewards with a cost all cost you the same per " + unit + "."
}

// costRow is a reward on which customers can spend, and what that costs.
type costRow struct {
	Label string
	report.RewardCost
}

// costRows are the cheapest and the dearest reward, or one of them if all cost the same for a point.
func costRows(r report.SpentOn) []costRow {
	switch {
	case r.Cheapest == nil:
		return nil
	case r.Cheapest.ID == r.Dearest.ID:
		return []costRow{{"", *r.Cheapest}}
	}
	return []costRow{{"Cheapest", *r.Cheapest}, {"Dearest", *r.Dearest}}
}
