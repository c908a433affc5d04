package reports

import (
	"maps"
	"net/http"
	"slices"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/report"
	"example.com/loyalty/static"
	views "example.com/loyalty/views/admin/reports"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) reportRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Reports, route.Managers, h.summaryReport),
		route.Get(links.VisitorReport, route.Managers, h.visitorReport),
		route.Get(links.AudienceReport, route.Managers, h.audienceList),
		route.Get(links.TopReport, route.Managers, h.topReport),
		route.Get(links.LocationReport, route.Managers, h.locationReport),
		route.Get(links.StaffReport, route.Managers, h.staffReport),
		route.Get(links.HourReport, route.Managers, h.hourReport),
		route.Get(links.RewardReport, route.Managers, h.rewardReport),
		route.Get(links.CouponReport, route.Managers, h.couponReport),
		route.Get(links.EarningReport, route.Managers, h.earningReport),
		route.Get(links.PointsReport, route.Managers, h.pointsReport),
	}
}

// query is what was asked of a report.
type query struct {
	*forms.Form
	report.Selection
	tab    views.Tab
	places []location.Location
}

// query reads the filters of a report. An unknown location is refused, rather than shown without sales.
func (h *Handlers) query(c echo.Context, tab views.Tab) (query, error) {
	form := forms.Query(c.QueryParams())
	q := query{Form: form, tab: tab}
	q.Range = report.Range{From: form.Date("from"), To: form.Date("to")}
	if tab.Compared {
		q.Against = form.Filled("compare")
	}
	var err error
	if tab.ByPlace {
		q.Location = form.Integer("location")
		q.places, err = h.Locations.List(c.Request().Context(), page.Actor(c))
	}
	q.Range.Malformed = form.Malformed
	if q.Location != nil && !slices.ContainsFunc(q.places, func(l location.Location) bool { return l.ID == *q.Location }) {
		q.Range.Malformed = maps.Clone(q.Range.Malformed)
		if q.Range.Malformed == nil {
			q.Range.Malformed = core.Fields{}
		}
		q.Range.Malformed["location"] = []core.Violation{core.InvalidChoice}
	}
	return q, err
}

// show answers with a report of these days, or without figures if err refuses the filters.
func (h *Handlers) show(c echo.Context, q query, days *report.Period, err error, page func(views.Report) templ.Component) error {
	status, err := q.Status(err)
	if err != nil {
		return err
	}
	title := q.tab.Label
	if q.tab == views.Summary {
		title = "Reports"
	}
	v := views.Report{
		Frame: h.insightFrame(c, title, links.Reports), Tab: q.tab, Form: q.Form, Query: c.QueryParams(), Places: q.places, Place: q.Location,
	}
	v.Heading = "Reports"
	if status == http.StatusOK {
		v.Days, v.Chart = days, slices.Contains([]views.Tab{views.Summary, views.Visitors, views.Rewards, views.Coupons, views.Points}, q.tab)
	}
	return h.Render(c, status, page(v), nil)
}

// insightFrame is the frame of a page with figures and charts.
func (h *Handlers) insightFrame(c echo.Context, title, path string) panelviews.Frame {
	f := h.Frame(c, title, path)
	f.Assets.Stylesheets = append(slices.Clone(f.Assets.Stylesheets), static.Path("css/chart.css"))
	return f
}

// days are the days that an accepted range selects.
func (h *Handlers) days(c echo.Context, chosen report.Range) (report.Period, error) {
	r, err := h.Reports.Days(page.Actor(c), chosen)
	if err != nil {
		return report.Period{}, err
	}
	return report.Period{From: *r.From, To: *r.To}, nil
}

func rangeOf(days report.Period) report.Range { return report.Range{From: &days.From, To: &days.To} }

// moneyOf returns the business's currency, and the cell of an amount in it.
func moneyOf(c echo.Context) (currency string, cell func(cents int64) page.MoneyCell) {
	currency = page.Actor(c).Tenant.Currency
	return currency, func(cents int64) page.MoneyCell { return page.MoneyCell{Cents: cents, Currency: currency} }
}

// fileName is the name of a report's download, without the extension.
func fileName(report string, days report.Period) string {
	return report + "-" + panel.IsoDate(days.From) + "-to-" + panel.IsoDate(days.To)
}
