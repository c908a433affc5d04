// Package reports is the HTML of the dashboard and the reports.
package reports

import (
	"maps"
	"net/url"
	"slices"

	"example.com/loyalty/core/location"
	"example.com/loyalty/core/report"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// Tab is a report, with the filters that it has besides its days.
type Tab struct {
	Label, Path       string
	ByPlace, Compared bool
}

// The reports. Redemptions, vouchers, coupons and balances aren't recorded by location.
var (
	Summary      = Tab{Label: "Summary", Path: links.Reports, ByPlace: true, Compared: true}
	Visitors     = Tab{Label: "Customers", Path: links.VisitorReport, ByPlace: true, Compared: true}
	TopCustomers = Tab{Label: "Top customers", Path: links.TopReport, ByPlace: true}
	Locations    = Tab{Label: "Locations", Path: links.LocationReport, Compared: true}
	Staff        = Tab{Label: "Staff", Path: links.StaffReport, ByPlace: true, Compared: true}
	Hours        = Tab{Label: "Hours", Path: links.HourReport, ByPlace: true}
	Rewards      = Tab{Label: "Rewards", Path: links.RewardReport, Compared: true}
	Coupons      = Tab{Label: "Coupons", Path: links.CouponReport, Compared: true}
	Earning      = Tab{Label: "Promotions and levels", Path: links.EarningReport, ByPlace: true, Compared: true}
	Points       = Tab{Label: "Points", Path: links.PointsReport, Compared: true}

	tabs = []Tab{Summary, Visitors, TopCustomers, Locations, Staff, Hours, Rewards, Coupons, Earning, Points}
)

// file is the path of the report as a file, without the extension.
func (t Tab) file() string {
	if t == Summary {
		return links.SummaryReport
	}
	return t.Path
}

// with is the address of the report with the filters of another one that it has too.
func (t Tab) with(query url.Values) string {
	kept := url.Values{}
	for name, has := range map[string]bool{"from": true, "to": true, "location": t.ByPlace, "compare": t.Compared} {
		if has && query.Get(name) != "" {
			kept.Set(name, query.Get(name))
		}
	}
	return (&url.URL{Path: t.Path, RawQuery: kept.Encode()}).String()
}

// Report is what every report has above its figures: links to the other reports, and its filters.
type Report struct {
	panel.Frame
	Tab    Tab
	Form   ui.Form // the filters
	Query  url.Values
	Places []location.Location
	Place  *int64         // the chosen location; nil: all
	Days   *report.Period // nil: the filters were refused

	Grouped bool // the groups of customers were counted
}

// untilCounted is when a page asks for the part that it doesn't wait for: when it is shown, and again some seconds after an answer that it
// took too long. By then, PostgreSQL has read more of it into its buffers.
const untilCounted = "load, htmx:responseError delay:5s"

func (v Report) refused() bool { return !v.Form.Problem().None() }

// days are the chosen days in words.
func (v Report) days() string {
	if v.Days == nil {
		return "Choose dates"
	}
	return format.Days(v.Days.From, v.Days.To)
}

// exports are the addresses of the report as a file.
func (v Report) exports() *panel.Exports {
	return &panel.Exports{CSV: onDays(v.Tab.file()+".csv", *v.Days, v.Query), XLSX: onDays(v.Tab.file()+".xlsx", *v.Days, v.Query)}
}

// kept are the filters besides the days.
func (v Report) kept() (filters []ui.Pair) {
	for _, name := range slices.Sorted(maps.Keys(v.Query)) {
		if name != "from" && name != "to" {
			filters = append(filters, ui.Pair{Name: name, Value: v.Query.Get(name)})
		}
	}
	return filters
}

// with is the address of the report with another value of a filter; "" is its default.
func (v Report) with(name, value string) string {
	return links.With(&url.URL{Path: v.Tab.Path, RawQuery: v.Query.Encode()}, name, value)
}

// place is the name of the chosen location.
func (v Report) place() string {
	for _, l := range v.Places {
		if v.Place != nil && l.ID == *v.Place {
			return l.Name
		}
	}
	return "All locations"
}

// comparison is a choice of the period to compare with.
type comparison struct {
	against      report.Against
	label, short string
}

// comparisons are the choices. The first one is the default.
var comparisons = []comparison{
	{report.PreviousPeriod, "Previous period", "previous period"},
	{report.LastYear, "Same period last year", "last year"},
	{report.Nothing, "No comparison", "nothing"},
}

// comparison is the chosen one.
func (v Report) comparison() comparison {
	for _, o := range comparisons {
		if string(o.against) == v.Form.Value("compare") {
			return o
		}
	}
	return comparisons[0]
}

// compareWith is the address of the report with another comparison.
func (v Report) compareWith(o comparison) string {
	if o == comparisons[0] {
		return v.with("compare", "")
	}
	return v.with("compare", string(o.against))
}

// earlierDays are the days of a comparison, if it has any.
func (v Report) earlierDays(o comparison) string {
	if o.against == report.Nothing {
		return ""
	}
	return shortDays(v.Days.Earlier(o.against, v.Today()), v.Days.To.Year())
}

// onDays is the address of a report or a list on these days, with more filters.
func onDays(path string, days report.Period, filters url.Values) string {
	q := url.Values{}
	maps.Copy(q, filters)
	q.Set("from", isoDate(days.From))
	q.Set("to", isoDate(days.To))
	return path + "?" + q.Encode()
}

// joinedBetween lists the customers who joined on these days.
func joinedBetween(days report.Period) string {
	return links.Customers + "?created_from=" + isoDate(days.From) + "&created_to=" + isoDate(days.To)
}
