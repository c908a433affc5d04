package reports

import (
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// Report is the part of a report above its figures: links to the other reports, and its filters.
type Report struct {
	panel.Frame
	Tabs     []Choice
	Action   string
	Problem  *ui.Problem // the filters were refused, so there are no figures
	From     ui.Field
	To       ui.Field
	Hidden   []ui.Pair // the other filters, which the form of the days keeps
	Quick    []Choice  // common ranges
	DaysOpen bool      // show the form of the days
	Menus    []Menu    // the other filters
	CSV      string
	Days     string // the chosen range
	Compared string // with which days a range that is not over is compared
	Note     string // what the filters leave out
}

// Menu is a filter with few choices, each of them a link.
type Menu struct {
	Name    string // for screen readers
	Prefix  string // before the choice: "vs"
	Label   string // the present choice
	Choices []Choice
}

// SummaryReport has the key figures of a range of days.
type SummaryReport struct {
	Report
	Figures []ui.Figure
	Charts  []ui.Chart
}

// TopReport ranks customers.
type TopReport struct {
	Report
	By       string // what the bars show: "spend"
	Measures []Choice
	Rows     []TopCustomer
}

// BreakdownReport divides figures among locations, staff or rewards.
type BreakdownReport struct {
	Report
	Title    string
	Label    string // of the first column: "Location"
	Main     string // of the figure that the rows share: "Spend"
	Columns  []Column
	Change   string // "Spend change"
	Compared bool
	Rows     []BreakdownRow
	All      string // names the total
	Total    BreakdownRow
	Empty    [3]string // icon, title and words without rows
}

// Column is a column of a breakdown.
type Column struct {
	Label string
	Wide  bool // shown on wide screens only
}

// BreakdownRow is a row of a breakdown.
type BreakdownRow struct {
	Path   string // "": no link
	Name   string
	Kind   string // below the name
	Main   string
	Note   string // below the main figure on phones
	Bar    ui.Bar
	Share  string
	Cells  []string
	Change Change
}

// Change is a change against an earlier period; "" if there was nothing.
type Change struct {
	Words string
	Trend ui.Trend
}

// HourReport has the number of sales by weekday and hour.
type HourReport struct {
	Report
	Weekdays []string
	Rows     []HourRow
	Totals   []string // of each weekday
	Averages []string // of a day of each weekday
	Total    string
	Average  string
}

// HourRow is an hour of the day.
type HourRow struct {
	Label string
	Cells []HourCell
	Total string
}

// HourCell is an hour of a weekday.
type HourCell struct {
	Text string
	Heat int // from 0 to 5
}

// CouponReport counts the vouchers of each coupon by status.
type CouponReport struct {
	Report
	AllTime bool
	Rows    []CouponReportRow
}

// CouponReportRow is a coupon of the report.
type CouponReportRow struct {
	Path, Name string
	Counts     panel.VoucherCounts
}
