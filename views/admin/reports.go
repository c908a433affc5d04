package admin

import "example.com/loyalty/views/ui"

// Report is the part of a report above its figures: links to the other reports, and the form of its
// days.
type Report struct {
	Frame
	Tabs    []Choice
	Action  string
	Problem *ui.Problem // the days were refused, so there are no figures
	From    ui.Field
	To      ui.Field
	More    []ui.Field // further options
	Quick   []Choice   // common ranges
	CSV     string
	Days    string // the chosen range
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
	By   string // what the bars show: "spend"
	Rows []TopCustomer
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
	Counts     VoucherCounts
}
