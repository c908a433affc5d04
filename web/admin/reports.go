package admin

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/report"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

const (
	reportsPath      = "/admin/reports"
	summaryCSVPath   = reportsPath + "/summary.csv"
	topReportPath    = reportsPath + "/customers"
	couponReportPath = reportsPath + "/coupons"
)

func (a *Admin) reportRoutes() []route {
	return []route{
		{method: get, path: reportsPath, least: core.Manager, handle: a.summaryReport},
		{method: get, path: summaryCSVPath, least: core.Manager, handle: a.summaryCSV, slow: true},
		{method: get, path: topReportPath, least: core.Manager, handle: a.topReport},
		{method: get, path: topReportPath + ".csv", least: core.Manager, handle: a.topCSV, slow: true},
		{method: get, path: couponReportPath, least: core.Manager, handle: a.couponReport},
		{method: get, path: couponReportPath + ".csv", least: core.Manager, handle: a.couponCSV, slow: true},
	}
}

// period is a named range of days.
type period struct {
	name, label string
	days        func(today time.Time) report.Range
}

// periods are the choices of the dashboard and the reports. The second one is the default.
var periods = []period{
	{"7-days", "Last 7 days", lastDays(7)},
	{"30-days", "Last 30 days", lastDays(30)},
	{"90-days", "Last 90 days", lastDays(90)},
	{"this-month", "This month", func(today time.Time) report.Range {
		return fromTo(firstOfMonth(today), today)
	}},
	{"last-month", "Last month", func(today time.Time) report.Range {
		first := firstOfMonth(today)
		return fromTo(first.AddDate(0, -1, 0), first.AddDate(0, 0, -1))
	}},
	{"this-year", "This year", func(today time.Time) report.Range {
		return fromTo(time.Date(today.Year(), 1, 1, 0, 0, 0, 0, time.UTC), today)
	}},
}

func lastDays(days int) func(time.Time) report.Range {
	return func(today time.Time) report.Range { return fromTo(today.AddDate(0, 0, 1-days), today) }
}

func fromTo(from, to time.Time) report.Range { return report.Range{From: &from, To: &to} }

func firstOfMonth(day time.Time) time.Time { return day.AddDate(0, 0, 1-day.Day()) }

// pickPeriod finds a period by its name; "" is the default.
func pickPeriod(name string) (period, error) {
	if name == "" {
		return periods[1], nil
	}
	for _, p := range periods {
		if p.name == name {
			return p, nil
		}
	}
	return period{}, core.Invalid(core.Fields{"period": {core.InvalidChoice}})
}

// localToday is today in the business's time zone, as midnight UTC like all days of ranges.
func (a *Admin) localToday(by core.Actor) time.Time {
	year, month, day := a.Now().In(by.Tenant.TimeZone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// daysOf reads the range of a report.
func daysOf(q *page.Form) report.Range {
	r := report.Range{From: q.Date("from"), To: q.Date("to")}
	r.Malformed = q.Malformed
	return r
}

func isoDate(day time.Time) string { return day.Format(time.DateOnly) }

// daysInWords writes a range of days: 1–30 Sep 2026.
func daysInWords(from, to time.Time) string {
	const whole = "2 Jan 2006"
	switch {
	case from.Equal(to):
		return to.Format(whole)
	case from.Year() != to.Year():
		return from.Format(whole) + " – " + to.Format(whole)
	case from.Month() != to.Month():
		return from.Format("2 Jan") + " – " + to.Format(whole)
	}
	return strconv.Itoa(from.Day()) + "–" + to.Format(whole)
}

// report is the part of a report above its figures. Without days, they were refused and there are no
// figures.
func (a *Admin) report(c echo.Context, title, path string, q *page.Form, days report.Range) views.Report {
	var crumbs []ui.Crumb
	if path != reportsPath {
		crumbs = []ui.Crumb{{Label: "Reports", Path: reportsPath}}
	}
	v := views.Report{Frame: a.frame(c, title, reportsPath, crumbs...), Action: path, From: q.Field("from", "From"), To: q.Field("to", "To")}
	for _, t := range []views.Choice{
		{Label: "Summary", Path: reportsPath}, {Label: "Top customers", Path: topReportPath}, {Label: "Coupons", Path: couponReportPath},
	} {
		t.Current = t.Path == path
		v.Tabs = append(v.Tabs, t)
	}
	today := a.localToday(page.Actor(c))
	for _, p := range periods {
		quick := p.days(today)
		v.Quick = append(v.Quick, views.Choice{
			Label: p.label, Path: reportOf(path, c.QueryParams(), quick),
			Current: days.From != nil && days.From.Equal(*quick.From) && days.To.Equal(*quick.To),
		})
	}
	if days.From != nil {
		v.From.Value, v.To.Value, v.Days = isoDate(*days.From), isoDate(*days.To), daysInWords(*days.From, *days.To)
	}
	return v
}

// reportOf is the address of a report of those days with the same options.
func reportOf(path string, options url.Values, days report.Range) string {
	q := maps.Clone(options)
	q.Set("from", isoDate(*days.From))
	q.Set("to", isoDate(*days.To))
	return path + "?" + q.Encode()
}

// reportStatus is 422 for a report that was refused, else 200.
func reportStatus(v views.Report) int {
	if v.Problem.None() {
		return http.StatusOK
	}
	return http.StatusUnprocessableEntity
}

// fileName is the name of a report's download.
func fileName(report string, days report.Range) string {
	return report + "-" + isoDate(*days.From) + "-to-" + isoDate(*days.To) + ".csv"
}

func (a *Admin) summaryReport(c echo.Context) error {
	q := page.Query(c.QueryParams())
	days, sum, err := a.summary(c, q)
	if err != nil && !q.Refused(err) {
		return err
	}
	v := views.SummaryReport{Report: a.report(c, "Reports", reportsPath, q, days)}
	v.Problem = q.Problem()
	if v.Problem.None() {
		v.CSV = reportOf(summaryCSVPath, c.QueryParams(), days)
		v.Chart = true
		currency, today := page.Actor(c).Tenant.Currency, a.localToday(page.Actor(c))
		v.Figures, v.Charts = summaryFigures(sum, currency), []ui.Chart{spendPerDay(sum, currency, today), pointsPerDay(sum, today)}
	}
	return a.Render(c, reportStatus(v.Report), views.SummaryReportPage(v), nil)
}

func (a *Admin) summary(c echo.Context, q *page.Form) (days report.Range, sum report.Summary, err error) {
	by := page.Actor(c)
	if days, err = a.Reports.Days(by, daysOf(q)); err != nil {
		return days, sum, err
	}
	sum, err = a.Reports.Summary(c.Request().Context(), by, days)
	return days, sum, err
}

func summaryFigures(s report.Summary, currency string) []ui.Figure {
	average := "No sales"
	if s.TransactionsCount > 0 {
		average = page.Money(s.SpendTotalCents/s.TransactionsCount, currency) + " per sale"
	}
	return []ui.Figure{
		{Label: "Sales", Icon: "receipt", Value: page.Number(s.TransactionsCount), Against: page.Number(s.VoidedCount) + " voided"},
		{Label: "Tracked spend", Icon: "cash-register", Value: page.Money(s.SpendTotalCents, currency), Against: average},
		{Label: "Points issued", Icon: "coins", Value: page.Number(s.PointsAwarded), Against: page.Number(s.PointsReversed) + " reversed"},
		{Label: "Points redeemed", Icon: "gift", Value: page.Number(s.PointsRedeemed), Against: page.Count(s.RedemptionsCount, "redemption", "redemptions")},
		{Label: "Active customers", Icon: "users", Value: page.Number(s.ActiveCustomers), Against: "At least one sale"},
		{Label: "New customers", Icon: "user-plus", Value: page.Number(s.NewCustomers), Against: "Joined in this period"},
		{Label: "Stamps issued", Icon: "rubber-stamp", Value: page.Number(s.StampsAwarded), Against: "All transaction types"},
		{Label: "Vouchers redeemed", Icon: "ticket", Value: page.Number(s.VouchersRedeemed), Against: "All coupons"},
	}
}

// chartNumber is a value of a chart.
func chartNumber(n int64) ui.ChartValue { return ui.ChartValue{Number: n, Text: page.Number(n)} }

// dayRow is a day of a chart, with its year if the range spans several.
func dayRow(day, from, to time.Time, values ...ui.ChartValue) ui.ChartRow {
	layout := "2 Jan"
	if from.Year() != to.Year() {
		layout = "2 Jan 2006"
	}
	return ui.ChartRow{At: day.Unix(), Label: day.Format(layout), Values: values}
}

func pointsChart() ui.Chart {
	return ui.Chart{ID: "points", Title: "Points issued and redeemed", Label: "Day", Series: []string{"Issued", "Redeemed"}}
}

func pointsSummary(issued, redeemed int64) string {
	return page.Count(issued, "point", "points") + " issued, " + page.Number(redeemed) + " redeemed"
}

// soFar marks the summary of a range that ends today, since the last day is still incomplete.
func soFar(summary string, to, today time.Time) string {
	if to.Equal(today) {
		return summary + ", today so far"
	}
	return summary
}

func pointsPerDay(s report.Summary, today time.Time) ui.Chart {
	chart := pointsChart()
	chart.Summary = soFar(pointsSummary(s.PointsAwarded, s.PointsRedeemed), s.To, today)
	for _, d := range s.Days {
		chart.Rows = append(chart.Rows, dayRow(d.Date, s.From, s.To, chartNumber(d.PointsAwarded), chartNumber(d.PointsRedeemed)))
	}
	return chart
}

func spendPerDay(s report.Summary, currency string, today time.Time) ui.Chart {
	chart := ui.Chart{
		ID: "spend", Title: "Tracked spend", Label: "Day", Series: []string{"Spend"}, Unit: page.Symbol(currency), Decimals: page.Decimals(currency),
		Summary: soFar(page.Money(s.SpendTotalCents, currency)+" in "+page.Count(s.TransactionsCount, "sale", "sales"), s.To, today),
	}
	for _, d := range s.Days {
		chart.Rows = append(chart.Rows, dayRow(d.Date, s.From, s.To, ui.ChartValue{Number: d.SpendTotalCents, Text: page.Money(d.SpendTotalCents, currency)}))
	}
	return chart
}

// summaryCSV is the summary as a file, with a row for each day.
func (a *Admin) summaryCSV(c echo.Context) error {
	days, sum, err := a.summary(c, page.Query(c.QueryParams()))
	if err != nil {
		return err
	}
	currency := page.Actor(c).Tenant.Currency
	header := []string{
		"Date", "Sales", "Voided sales", "Spend (" + currency + ")", "Points issued", "Stamps issued", "Points reversed",
		"Points redeemed", "Redemptions", "Vouchers redeemed", "New customers",
	}
	return a.CSV(c, fileName("summary", days), header, func(row func(...any) error) error {
		for _, d := range sum.Days {
			err := row(isoDate(d.Date), d.TransactionsCount, d.VoidedCount, page.Amount(d.SpendTotalCents, currency), d.PointsAwarded, d.StampsAwarded,
				d.PointsReversed, d.PointsRedeemed, d.RedemptionsCount, d.VouchersRedeemed, d.NewCustomers)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// measures are the choices of what to rank customers by.
var measures = []ui.Option{
	{Value: string(report.Spend), Label: "Spend"}, {Value: string(report.Points), Label: "Points issued"}, {Value: string(report.Visits), Label: "Sales"},
}

// topReport ranks customers.
func (a *Admin) topReport(c echo.Context) error {
	q := page.Query(c.QueryParams())
	days, top, err := a.top(c, q)
	if err != nil && !q.Refused(err) {
		return err
	}
	v := views.TopReport{Report: a.report(c, "Top customers", topReportPath, q, days)}
	ranking, limit := q.Field("by", "Ranked by"), q.Field("limit", "How many")
	ranking.Options = q.Options("by", slices.Clone(measures)...)
	limit.Options = q.Options("limit", ui.Option{Value: "10", Label: "10"}, ui.Option{Value: "25", Label: "25"}, ui.Option{Value: "50", Label: "50"}, ui.Option{Value: "100", Label: "100"})
	v.More = []ui.Field{ranking, limit}
	v.Problem = q.Problem()
	if v.Problem.None() {
		v.CSV = reportOf(topReportPath+".csv", c.QueryParams(), days)
		measure := measureOf(q)
		v.By = strings.ToLower(measures[slices.IndexFunc(measures, func(o ui.Option) bool { return o.Value == string(measure) })].Label)
		v.Rows = topRows(top, measure, page.Actor(c).Tenant.Currency)
	}
	return a.Render(c, reportStatus(v.Report), views.TopReportPage(v), nil)
}

func (a *Admin) top(c echo.Context, q *page.Form) (days report.Range, top []report.Customer, err error) {
	by := page.Actor(c)
	if days, err = a.Reports.Days(by, daysOf(q)); err != nil {
		return days, nil, err
	}
	r := report.Ranking{Range: days, By: q.Filled("by"), Limit: q.Integer("limit")}
	r.Malformed = q.Malformed
	top, err = a.Reports.Top(c.Request().Context(), by, r)
	return days, top, err
}

// measureOf is what an accepted ranking is by.
func measureOf(q *page.Form) report.Measure {
	if by := q.Filled("by"); by != nil {
		return report.Measure(*by)
	}
	return report.Spend
}

// topRows are the customers of a ranking. Each has a bar that compares them with the first one.
func topRows(top []report.Customer, by report.Measure, currency string) (rows []views.TopCustomer) {
	for i, c := range top {
		row := views.TopCustomer{
			Rank: strconv.Itoa(i + 1), Path: customerPath(c.ID), Name: fullName(c.FirstName, c.LastName), Phone: c.Phone, Email: orZero(c.Email),
			Sales: page.Number(c.TransactionsCount), Spend: page.Money(c.SpendTotalCents, currency), Points: page.Number(c.PointsAwarded),
			SalesAndPoints: page.Count(c.TransactionsCount, "sale", "sales") + ", " + page.Count(c.PointsAwarded, "point", "points"),
			Bar:            barOf(measured(top[0], by), barPiece{measured(c, by), ui.First}),
		}
		rows = append(rows, row)
	}
	return rows
}

func measured(c report.Customer, by report.Measure) int64 {
	switch by {
	case report.Points:
		return c.PointsAwarded
	case report.Visits:
		return c.TransactionsCount
	case report.Spend:
	}
	return c.SpendTotalCents
}

// topCSV is the ranking as a file.
func (a *Admin) topCSV(c echo.Context) error {
	days, top, err := a.top(c, page.Query(c.QueryParams()))
	if err != nil {
		return err
	}
	currency := page.Actor(c).Tenant.Currency
	header := []string{
		"Rank", "ULID", "First name", "Last name", "Phone", "E-mail", "Sales", "Spend (" + currency + ")", "Points issued", "Points balance", "Stamps balance",
	}
	return a.CSV(c, fileName("top-customers", days), header, func(row func(...any) error) error {
		for i, t := range top {
			err := row(int64(i+1), t.ID.String(), t.FirstName, t.LastName, t.Phone, orZero(t.Email), t.TransactionsCount, page.Amount(t.SpendTotalCents, currency),
				t.PointsAwarded, t.PointsBalance, t.StampsBalance)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// couponReport counts the vouchers of each coupon by status: all of them, or those sent on the chosen
// days.
func (a *Admin) couponReport(c echo.Context) error {
	q := page.Query(c.QueryParams())
	days, coupons, err := a.coupons(c, q)
	if err != nil && !q.Refused(err) {
		return err
	}
	v := views.CouponReport{Report: a.report(c, "Coupons", couponReportPath, q, days)}
	v.Problem = q.Problem()
	v.AllTime = v.Problem.None() && days.From == nil
	v.Quick = append([]views.Choice{{Label: "All time", Path: couponReportPath, Current: v.AllTime}}, v.Quick...)
	if v.Problem.None() {
		v.CSV = couponReportPath + ".csv"
		if v.AllTime {
			v.Days = "All time"
		} else {
			v.CSV = reportOf(v.CSV, c.QueryParams(), days)
		}
	}
	for _, k := range coupons {
		v.Rows = append(v.Rows, views.CouponReportRow{
			Path: couponPath(k.ID), Name: k.Name, Counts: voucherCounts(k.Sent, k.Redeemed, k.Pending, k.Expired),
		})
	}
	return a.Render(c, reportStatus(v.Report), views.CouponReportPage(v), nil)
}

// coupons reads the coupon report. Without days in the address it is of all time.
func (a *Admin) coupons(c echo.Context, q *page.Form) (days report.Range, coupons []report.Coupon, err error) {
	by, ctx := page.Actor(c), c.Request().Context()
	requested := daysOf(q)
	if requested.From == nil && requested.To == nil && requested.Malformed == nil {
		coupons, err = a.Reports.Coupons(ctx, by)
		return days, coupons, err
	}
	if days, err = a.Reports.Days(by, requested); err != nil {
		return days, nil, err
	}
	coupons, err = a.Reports.SentCoupons(ctx, by, days)
	return days, coupons, err
}

func (a *Admin) couponCSV(c echo.Context) error {
	days, coupons, err := a.coupons(c, page.Query(c.QueryParams()))
	if err != nil {
		return err
	}
	name := "coupons-until-" + isoDate(a.localToday(page.Actor(c))) + ".csv"
	if days.From != nil {
		name = fileName("coupons", days)
	}
	header := []string{"ULID", "Coupon", "Sent", "Pending", "Redeemed", "Expired", "Redemption rate"}
	return a.CSV(c, name, header, func(row func(...any) error) error {
		for _, k := range coupons {
			rate := strconv.FormatFloat(k.RedemptionRate(), 'f', -1, 64)
			if err := row(k.ID.String(), k.Name, k.Sent, k.Pending, k.Redeemed, k.Expired, rate); err != nil {
				return err
			}
		}
		return nil
	})
}
