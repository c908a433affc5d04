package reports

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
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/report"
	"example.com/loyalty/static"
	views "example.com/loyalty/views/admin/reports"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) reportRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Reports, route.Managers, h.summaryReport),
		route.Get(links.SummaryCSV, route.Managers, h.summaryCSV).AsFile(),
		route.Get(links.TopReport, route.Managers, h.topReport),
		route.Get(links.TopReport+".csv", route.Managers, h.topCSV).AsFile(),
		route.Get(links.LocationReport, route.Managers, h.locationReport),
		route.Get(links.LocationReport+".csv", route.Managers, h.locationCSV).AsFile(),
		route.Get(links.StaffReport, route.Managers, h.staffReport),
		route.Get(links.StaffReport+".csv", route.Managers, h.staffCSV).AsFile(),
		route.Get(links.HourReport, route.Managers, h.hourReport),
		route.Get(links.HourReport+".csv", route.Managers, h.hourCSV).AsFile(),
		route.Get(links.RewardReport, route.Managers, h.rewardReport),
		route.Get(links.RewardReport+".csv", route.Managers, h.rewardCSV).AsFile(),
		route.Get(links.CouponReport, route.Managers, h.couponReport),
		route.Get(links.CouponReport+".csv", route.Managers, h.couponCSV).AsFile(),
	}
}

// reportTab is a report, and which filters it has besides its days.
type reportTab struct {
	label, path       string
	byPlace, compared bool
}

// Redemptions, vouchers and coupons aren't recorded by location.
var reportTabs = []reportTab{
	{label: "Summary", path: links.Reports, byPlace: true, compared: true},
	{label: "Top customers", path: links.TopReport, byPlace: true},
	{label: "Locations", path: links.LocationReport, compared: true},
	{label: "Staff", path: links.StaffReport, byPlace: true, compared: true},
	{label: "Hours", path: links.HourReport, byPlace: true},
	{label: "Rewards", path: links.RewardReport, compared: true},
	{label: "Coupons", path: links.CouponReport},
}

// period is a named range of days.
type period struct {
	name, label, short string
	days               func(today time.Time) report.Range
}

// periods are the choices of the dashboard and the reports. The second one is the default.
var periods = []period{
	{"7-days", "Last 7 days", "7 days", lastDays(7)},
	{"30-days", "Last 30 days", "30 days", lastDays(30)},
	{"90-days", "Last 90 days", "90 days", lastDays(90)},
	{"this-month", "This month", "This month", func(today time.Time) report.Range {
		return fromTo(firstOfMonth(today), today)
	}},
	{"last-month", "Last month", "Last month", func(today time.Time) report.Range {
		first := firstOfMonth(today)
		return fromTo(first.AddDate(0, -1, 0), first.AddDate(0, 0, -1))
	}},
	{"this-year", "This year", "This year", func(today time.Time) report.Range {
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

// daysOf reads the range of a report.
func daysOf(q *forms.Form) report.Range {
	r := report.Range{From: q.Date("from"), To: q.Date("to")}
	r.Malformed = q.Malformed
	return r
}

// shortDays writes a range of days without the year, unless it is another one: 1–29 Sep, September.
func shortDays(p report.Period, year int) string {
	return strings.TrimSuffix(format.Period(p.From, p.To), " "+strconv.Itoa(year))
}

// reportQuery is what was asked of a report.
type reportQuery struct {
	*forms.Form
	report.Selection
	places []location.Location
}

// reportQuery reads the filters of a report. An unknown location is refused, rather than shown without sales.
func (h *Handlers) reportQuery(c echo.Context, path string) (reportQuery, error) {
	form := forms.Query(c.QueryParams())
	q := reportQuery{Form: form, Selection: report.Selection{Range: daysOf(form)}}
	tab := reportTabs[slices.IndexFunc(reportTabs, func(t reportTab) bool { return t.path == path })]
	if tab.compared {
		q.Against = form.Filled("compare")
	}
	if !tab.byPlace {
		return q, nil
	}
	var err error
	if q.places, err = h.Locations.List(c.Request().Context(), page.Actor(c)); err != nil {
		return q, err
	}
	q.Location = form.Integer("location")
	q.Range.Malformed = form.Malformed
	if q.Location != nil && q.place() == "" {
		q.Range.Malformed = maps.Clone(q.Range.Malformed)
		if q.Range.Malformed == nil {
			q.Range.Malformed = core.Fields{}
		}
		q.Range.Malformed["location"] = []core.Violation{core.InvalidChoice}
	}
	return q, nil
}

// place is the name of the chosen location, or "".
func (q reportQuery) place() string {
	for _, l := range q.places {
		if q.Location != nil && l.ID == *q.Location {
			return l.Name
		}
	}
	return ""
}

// report is the part of a report above its figures. Without days, they were refused and there are no
// figures.
func (h *Handlers) report(c echo.Context, title, path string, q reportQuery, days report.Range) views.Report {
	v := views.Report{Frame: h.insightFrame(c, title, links.Reports), Action: path, From: q.Field("from", ui.Field{Label: "From"}), To: q.Field("to", ui.Field{Label: "To"})}
	v.Heading = "Reports"
	options := c.QueryParams()
	tab := reportTab{}
	for _, t := range reportTabs {
		if t.path == path {
			tab = t
		}
		v.Tabs = append(v.Tabs, views.Choice{Label: t.label, Path: withOptions(t.path, options, t), Current: t.path == path})
	}
	for name := range maps.Keys(options) {
		if name != "from" && name != "to" {
			v.Hidden = append(v.Hidden, ui.Pair{Name: name, Value: options.Get(name)})
		}
	}
	slices.SortFunc(v.Hidden, func(a, b ui.Pair) int { return strings.Compare(a.Name, b.Name) })
	today := h.LocalToday(page.Actor(c))
	v.Days = "Choose dates"
	for _, p := range periods {
		quick := p.days(today)
		v.Quick = append(v.Quick, views.Choice{
			Label: p.short, Path: reportOf(path, options, quick),
			Current: days.From != nil && days.From.Equal(*quick.From) && days.To.Equal(*quick.To),
		})
	}
	if days.From != nil {
		v.From.Value, v.To.Value, v.Days = panel.IsoDate(*days.From), panel.IsoDate(*days.To), format.Days(*days.From, *days.To)
	}
	v.DaysOpen = len(v.From.Errors)+len(v.To.Errors) > 0
	if tab.byPlace && len(q.places) > 0 {
		v.Menus = append(v.Menus, placeMenu(path, options, q))
	}
	if tab.compared && days.From != nil {
		v.Menus = append(v.Menus, compareMenu(path, options, q, report.Period{From: *days.From, To: *days.To}, today))
	}
	v.Problem = q.Problem()
	return v
}

// withOptions is the address of another report of the same days, with those options that it has.
func withOptions(path string, options url.Values, t reportTab) string {
	kept := url.Values{}
	for name, has := range map[string]bool{"from": true, "to": true, "location": t.byPlace, "compare": t.compared} {
		if has && options.Get(name) != "" {
			kept.Set(name, options.Get(name))
		}
	}
	if len(kept) == 0 {
		return path
	}
	return path + "?" + kept.Encode()
}

// optionLink is the address of the same report with another value of an option; "" is its default.
func optionLink(path string, options url.Values, name, value string) string {
	q := maps.Clone(options)
	q.Del(name)
	if value != "" {
		q.Set(name, value)
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

func placeMenu(path string, options url.Values, q reportQuery) views.Menu {
	all := views.Choice{Label: "All locations", Path: optionLink(path, options, "location", ""), Current: q.Location == nil}
	m := views.Menu{Name: "Location", Label: all.Label, Choices: []views.Choice{all}}
	for _, l := range q.places {
		chosen := q.Location != nil && l.ID == *q.Location
		m.Choices = append(m.Choices, views.Choice{Label: l.Name, Path: optionLink(path, options, "location", strconv.FormatInt(l.ID, 10)), Current: chosen})
		if chosen {
			m.Label = l.Name
		}
	}
	return m
}

func compareMenu(path string, options url.Values, q reportQuery, picked report.Period, today time.Time) views.Menu {
	chosen := report.PreviousPeriod
	if q.Against != nil {
		chosen = report.Against(*q.Against)
	}
	m := views.Menu{Name: "Compare with", Prefix: "vs"}
	for _, o := range []struct {
		against      report.Against
		label, short string
	}{
		{report.PreviousPeriod, "Previous period", "previous period"},
		{report.LastYear, "Same period last year", "last year"},
		{report.Nothing, "No comparison", "nothing"},
	} {
		value, dates := string(o.against), ""
		if o.against == report.PreviousPeriod {
			value = ""
		}
		if o.against != report.Nothing {
			dates = shortDays(picked.Earlier(o.against, today), picked.To.Year())
		}
		m.Choices = append(m.Choices, views.Choice{Label: o.label, Note: dates, Path: optionLink(path, options, "compare", value), Current: o.against == chosen})
		if o.against == chosen {
			m.Label = o.short
		}
	}
	return m
}

// insightFrame is the frame of a page with figures and charts.
func (h *Handlers) insightFrame(c echo.Context, title, path string) panelviews.Frame {
	f := h.Frame(c, title, path)
	f.Assets.Stylesheets = append(slices.Clone(f.Assets.Stylesheets), static.Path("css/chart.css"))
	return f
}

// reportOf is the address of a report of those days with the same options.
func reportOf(path string, options url.Values, days report.Range) string {
	q := maps.Clone(options)
	q.Set("from", panel.IsoDate(*days.From))
	q.Set("to", panel.IsoDate(*days.To))
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
	return report + "-" + panel.IsoDate(*days.From) + "-to-" + panel.IsoDate(*days.To) + ".csv"
}
