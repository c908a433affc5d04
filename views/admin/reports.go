package admin

import "example.com/loyalty/views/ui"

// Report is what each of the reports has above its figures: where the others are, and
// which days it is of.
type Report struct {
	Frame
	Tabs    []Choice
	Action  string
	Problem *ui.Problem // the days cannot be read: there are no figures
	From    ui.Field
	To      ui.Field
	More    []ui.Field // what else it can be asked
	Quick   []Choice   // ranges that people ask for often
	CSV     string
	Days    string // the chosen ones
}

// SummaryReport tells what happened.
type SummaryReport struct {
	Report
	Figures []ui.Figure
	Charts  []ui.Chart
}

// TopReport ranks the customers.
type TopReport struct {
	Report
	By   string // what the bars show: "spend"
	Rows []TopCustomer
}

// CouponReport tells what became of vouchers.
type CouponReport struct {
	Report
	Since bool // from the beginning, not of some days
	Rows  []CouponReportRow
}

// CouponReportRow is what became of the vouchers of a coupon.
type CouponReportRow struct {
	Path     string
	Name     string
	Sent     string
	Redeemed string
	Pending  string
	Expired  string
	Rate     string
	Bar      ui.Bar
}
