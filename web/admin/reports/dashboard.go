package reports

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/usage"
	views "example.com/loyalty/views/admin/reports"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

const (
	recentEvents = 12
	topCustomers = 6
)

// Guide is the setup guide, as far as the dashboard shows it.
type Guide interface {
	// Banner leads an owner back to the guide. It is nil for other roles and once the guide is finished.
	Banner(c echo.Context) (templ.Component, error)
	// FirstSteps answers with what replaces the dashboard until the first sale.
	FirstSteps(c echo.Context, has report.FirstSteps) error
}

func (h *Handlers) dashboardRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Dashboard, route.Cashiers, h.dashboard),
		route.Get(links.Activity, route.Managers, h.activity),
	}
}

func (h *Handlers) dashboard(c echo.Context) error {
	by, ctx := page.Actor(c), c.Request().Context()
	if !by.Role.Includes(core.Manager) {
		return h.Redirect(c, links.Customers) // turnover isn't for cashiers
	}
	chosen, err := pickPeriod(c.QueryParam("period"))
	if err != nil {
		return err
	}
	today := h.LocalToday(by)
	days := chosen.days(today)
	o, err := h.Reports.Overview(ctx, by, days)
	if err != nil {
		return err
	}
	if !o.Has.Sale {
		return h.Guide.FirstSteps(c, o.Has)
	}
	banner, err := h.Guide.Banner(c)
	if err != nil {
		return err
	}
	feed, err := h.Reports.Recent(ctx, by, recentEvents, "")
	if err != nil {
		return err
	}
	top, err := h.Reports.Top(ctx, by, report.Ranking{Range: days, Limit: new(int64(topCustomers))})
	if err != nil {
		return err
	}
	notices, err := h.PlanNotices(c, usage.Customers, usage.Staff, usage.Sends)
	if err != nil {
		return err
	}
	v := views.Dashboard{
		Frame: h.insightFrame(c, "Dashboard", links.Dashboard), Period: chosen.label, Days: format.Days(o.From, o.To),
		Compared: comparedWith(o.Against, o.To, today),
		Figures:  overviewFigures(o, by.Tenant.Currency), Chart: overviewChart(o, today), Activity: h.activityView(by, feed),
		Top:         h.topWithVisits(by, top),
		TopPath:     reportOf(links.TopReport, url.Values{}, report.Range{From: &o.From, To: &o.To}),
		Outstanding: []views.Amount{outstanding(o.Outstanding.Points, "point", "points", o.Outstanding.PointsCost, by.Tenant.Currency)},
		NoReward:    !o.Has.Reward,
		Setup:       banner,
	}
	v.Frame.Chart, v.Notices = true, notices
	for _, p := range periods {
		v.Periods = append(v.Periods, views.Choice{
			Label: p.label, Path: page.WithQuery(links.Dashboard, "period", p.name), Current: p.name == chosen.name,
		})
	}
	if o.Outstanding.Stamps > 0 {
		v.Outstanding = append(v.Outstanding, outstanding(o.Outstanding.Stamps, "stamp", "stamps", o.Outstanding.StampsCost, by.Tenant.Currency))
	}
	v.NoCosts = o.Has.Reward && o.Outstanding.PointsCost == nil && o.Outstanding.StampsCost == nil
	if slices.ContainsFunc(v.Outstanding, func(a views.Amount) bool { return a.Cost != "" }) {
		v.CostNote = ", and what these would cost you"
	}
	return h.Render(c, http.StatusOK, views.DashboardPage(v), nil)
}

func outstanding(n int64, one, many string, cost *report.Cost, currency string) views.Amount {
	a := views.Amount{Number: format.Number(n), Unit: many}
	if n == 1 {
		a.Unit = one
	}
	if cost == nil || n <= 0 {
		return a
	}
	a.Cost = format.Money(cost.Least, currency)
	if cost.Most != cost.Least {
		a.Cost += "–" + format.Money(cost.Most, currency)
	}
	return a
}

// topWithVisits are the top customers with the day of their last visit.
func (h *Handlers) topWithVisits(by core.Actor, top []report.Customer) []views.TopCustomer {
	rows, now := topRows(top, report.Spend, by.Tenant.Currency), h.Now()
	for i, c := range top {
		if c.LastVisit != nil {
			rows[i].LastVisit, _, _ = strings.Cut(format.Day(*c.LastVisit, now, by.Tenant.TimeZone), ",")
		}
	}
	return rows
}

// overviewFigures returns the four main figures. Each leads to its report.
func overviewFigures(o report.Overview, currency string) []ui.Figure {
	days := fromTo(o.From, o.To)
	to := func(path, by string) string {
		options := url.Values{}
		if by != "" {
			options.Set("by", by)
		}
		return reportOf(path, options, days)
	}
	now, then := o.Current, o.Previous
	return []ui.Figure{
		comparedFigure("Active customers", to(links.TopReport, string(report.Visits)), now.ActiveCustomers, then.ActiveCustomers, format.Number),
		comparedFigure("Points issued", to(links.TopReport, string(report.Points)), now.PointsAwarded, then.PointsAwarded, format.Number),
		comparedFigure("Redemptions", to(links.RewardReport, ""), now.RedemptionsCount, then.RedemptionsCount, format.Number),
		comparedFigure("Tracked spend", to(links.Reports, ""), now.SpendTotalCents, then.SpendTotalCents, moneyIn(currency)),
	}
}

func overviewChart(o report.Overview, today time.Time) ui.Chart {
	summary := soFar(pointsSummary(o.Current.PointsAwarded, o.Current.PointsRedeemed), o.To, today)
	return pointsChart(o.Step, o.Buckets, func(f report.PointsFlow) report.PointsFlow { return f }, true, summary, today)
}

// activity answers a poll with the latest events, or with 204 if the list on the page is still current.
func (h *Handlers) activity(c echo.Context) error {
	if !page.IsFragment(c) {
		return h.Redirect(c, links.Dashboard)
	}
	by, mark := page.Actor(c), c.QueryParam("mark")
	feed, err := h.Reports.Recent(c.Request().Context(), by, recentEvents, mark)
	if err != nil {
		return err
	}
	if feed.Mark == mark {
		return c.NoContent(http.StatusNoContent)
	}
	list := views.ActivityList(h.activityView(by, feed))
	return h.Render(c, http.StatusOK, list, list)
}
