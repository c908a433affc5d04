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

// period is a range of days that has a name.
type period struct {
	name, label string
	days        func(today time.Time) report.Range
}

// periods are offered by the dashboard and the reports, the second one first.
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

// pickPeriod finds a period by its name; none is the last 30 days.
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

// localToday is the day on the clocks of the actor's business, as ranges write days.
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

// writtenDays writes a range of days: 1–30 Sep 2026.
func writtenDays(from, to time.Time) string {
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

// report makes what a report has above its figures. No days: they were refused, and there
// are no figures.
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
		v.From.Value, v.To.Value, v.Days = isoDate(*days.From), isoDate(*days.To), writtenDays(*days.From, *days.To)
	}
	return v
}

// reportOf is the address of a report of those days, with what else it was asked.
func reportOf(path string, asked url.Values, days report.Range) string {
	q := maps.Clone(asked)
	q.Set("from", isoDate(*days.From))
	q.Set("to", isoDate(*days.To))
	return path + "?" + q.Encode()
}

// answered picks the status of a report: its days, or the form with what is wrong.
func answered(v views.Report) int {
	if v.Problem.None() {
		return http.StatusOK
	}
	return http.StatusUnprocessableEntity
}

// fileName names the download of a report by its days.
func fileName(report string, days report.Range) string {
	return report + "-" + isoDate(*days.From) + "-to-" + isoDate(*days.To) + ".csv"
}

// summaryReport shows what happened.
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
	return a.Render(c, answered(v.Report), views.SummaryReportPage(v), nil)
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
	average := "nothing sold"
	if s.TransactionsCount > 0 {
		average = page.Money(s.SpendTotalCents/s.TransactionsCount, currency) + " a sale"
	}
	return []ui.Figure{
		{Label: "Sales", Icon: "receipt", Value: page.Number(s.TransactionsCount), Against: more(s.VoidedCount, "voided")},
		{Label: "Tracked spend", Icon: "cash-register", Value: page.Money(s.SpendTotalCents, currency), Against: average},
		{Label: "Points issued", Icon: "coins", Value: page.Number(s.PointsAwarded), Against: more(s.PointsReversed, "taken back")},
		{Label: "Points redeemed", Icon: "gift", Value: page.Number(s.PointsRedeemed), Against: "in " + page.Count(s.RedemptionsCount, "redemption", "redemptions")},
		{Label: "Active customers", Icon: "users", Value: page.Number(s.ActiveCustomers), Against: "bought at least once"},
		{Label: "New customers", Icon: "user-plus", Value: page.Number(s.NewCustomers), Against: "joined on these days"},
		{Label: "Stamps issued", Icon: "rubber-stamp", Value: page.Number(s.StampsAwarded), Against: "on stamp cards"},
		{Label: "Vouchers redeemed", Icon: "ticket", Value: page.Number(s.VouchersRedeemed), Against: "of all coupons"},
	}
}

// more says what a figure leaves out.
func more(n int64, undone string) string {
	switch n {
	case 0:
		return "none " + undone
	case 1:
		return "1 more was " + undone
	}
	return page.Number(n) + " more were " + undone
}

// chartNumber is a value of a chart.
func chartNumber(n int64) ui.ChartValue { return ui.ChartValue{Number: n, Text: page.Number(n)} }

// dayRow is a day of a chart. Its year is said where the days are of several.
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
	return page.Count(issued, "point was", "points were") + " issued and " + page.Number(redeemed) + " redeemed."
}

// running says of days that end with today why the last one looks poor.
func running(summary string, to, today time.Time) string {
	if to.Equal(today) {
		return summary + " Today is not over."
	}
	return summary
}

func pointsPerDay(s report.Summary, today time.Time) ui.Chart {
	chart := pointsChart()
	chart.Summary = running(pointsSummary(s.PointsAwarded, s.PointsRedeemed), s.To, today)
	for _, d := range s.Days {
		chart.Rows = append(chart.Rows, dayRow(d.Date, s.From, s.To, chartNumber(d.PointsAwarded), chartNumber(d.PointsRedeemed)))
	}
	return chart
}

func spendPerDay(s report.Summary, currency string, today time.Time) ui.Chart {
	chart := ui.Chart{
		ID: "spend", Title: "Tracked spend", Label: "Day", Series: []string{"Spend"}, Unit: page.Symbol(currency), Decimals: page.Decimals(currency),
		Summary: running(page.Money(s.SpendTotalCents, currency)+" were spent in "+page.Count(s.TransactionsCount, "sale", "sales")+".", s.To, today),
	}
	for _, d := range s.Days {
		chart.Rows = append(chart.Rows, dayRow(d.Date, s.From, s.To, ui.ChartValue{Number: d.SpendTotalCents, Text: page.Money(d.SpendTotalCents, currency)}))
	}
	return chart
}

// summaryCSV is the summary as a file: a line for each day.
func (a *Admin) summaryCSV(c echo.Context) error {
	days, sum, err := a.summary(c, page.Query(c.QueryParams()))
	if err != nil {
		return err
	}
	currency := page.Actor(c).Tenant.Currency
	header := []string{
		"Date", "Sales", "Voided sales", "Spend (" + currency + ")", "Points issued", "Stamps issued", "Points taken back by voids",
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

// measures are what customers are ranked by, in words.
var measures = []ui.Option{
	{Value: string(report.Spend), Label: "Spend"}, {Value: string(report.Points), Label: "Points issued"}, {Value: string(report.Visits), Label: "Sales"},
}

// topReport ranks the customers.
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
	return a.Render(c, answered(v.Report), views.TopReportPage(v), nil)
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

// measureOf is what a ranking that was not refused is by.
func measureOf(q *page.Form) report.Measure {
	if by := q.Filled("by"); by != nil {
		return report.Measure(*by)
	}
	return report.Spend
}

// topRows are the customers of a ranking. Each has a bar as long as what they are ranked
// by is a share of the first one's.
func topRows(top []report.Customer, by report.Measure, currency string) (rows []views.TopCustomer) {
	for i, c := range top {
		row := views.TopCustomer{
			Rank: strconv.Itoa(i + 1), Path: customerPath(c.ID), Name: fullName(c.FirstName, c.LastName), Phone: c.Phone,
			Sales: page.Number(c.TransactionsCount), Spend: page.Money(c.SpendTotalCents, currency), Points: page.Number(c.PointsAwarded),
			SalesAndPoints: page.Count(c.TransactionsCount, "sale", "sales") + ", " + page.Count(c.PointsAwarded, "point", "points"),
			Bar:            ui.Bar{Parts: []ui.BarPart{{Length: percentOf(measured(c, by), measured(top[0], by)), Tone: ui.First}}},
		}
		if c.Email != nil {
			row.Email = *c.Email
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

// percentOf is a part in percent; of nothing, none.
func percentOf(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
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
			email := ""
			if t.Email != nil {
				email = *t.Email
			}
			err := row(int64(i+1), t.ID.String(), t.FirstName, t.LastName, t.Phone, email, t.TransactionsCount, page.Amount(t.SpendTotalCents, currency),
				t.PointsAwarded, t.PointsBalance, t.StampsBalance)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// couponReport tells what became of vouchers: of all, or of those that were sent on the
// chosen days.
func (a *Admin) couponReport(c echo.Context) error {
	q := page.Query(c.QueryParams())
	days, coupons, err := a.coupons(c, q)
	if err != nil && !q.Refused(err) {
		return err
	}
	v := views.CouponReport{Report: a.report(c, "Coupons", couponReportPath, q, days)}
	v.Problem = q.Problem()
	v.Since = v.Problem.None() && days.From == nil
	v.Quick = append([]views.Choice{{Label: "All time", Path: couponReportPath, Current: v.Since}}, v.Quick...)
	if v.Problem.None() {
		v.CSV = couponReportPath + ".csv"
		if v.Since {
			v.Days = "All time"
		} else {
			v.CSV = reportOf(v.CSV, c.QueryParams(), days)
		}
	}
	for _, k := range coupons {
		v.Rows = append(v.Rows, couponRow(k))
	}
	return a.Render(c, answered(v.Report), views.CouponReportPage(v), nil)
}

// coupons are those of the chosen days, or all, and then no days.
func (a *Admin) coupons(c echo.Context, q *page.Form) (days report.Range, coupons []report.Coupon, err error) {
	by, ctx := page.Actor(c), c.Request().Context()
	asked := daysOf(q)
	if asked.From == nil && asked.To == nil && asked.Malformed == nil {
		coupons, err = a.Reports.Coupons(ctx, by)
		return days, coupons, err
	}
	if days, err = a.Reports.Days(by, asked); err != nil {
		return days, nil, err
	}
	coupons, err = a.Reports.SentCoupons(ctx, by, days)
	return days, coupons, err
}

func couponRow(k report.Coupon) views.CouponReportRow {
	redeemed, pending, rate := percentOf(k.Redeemed, k.Sent), percentOf(k.Pending, k.Sent), "–"
	if k.Sent > 0 {
		rate = page.Percent(k.Redeemed, k.Sent)
	}
	return views.CouponReportRow{
		Path: "/admin/coupons/" + k.ID.String(), Name: k.Name,
		Sent: page.Number(k.Sent), Redeemed: page.Number(k.Redeemed), Pending: page.Number(k.Pending), Expired: page.Number(k.Expired),
		Rate: rate,
		Bar: ui.Bar{Parts: []ui.BarPart{
			{Length: redeemed, Tone: ui.First},
			{Start: redeemed, Length: pending, Tone: ui.Second},
			{Start: redeemed + pending, Length: percentOf(k.Expired, k.Sent), Tone: ui.Rest},
		}},
	}
}

// couponCSV is that report as a file.
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
