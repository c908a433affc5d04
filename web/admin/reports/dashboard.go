package reports

import (
	"net/http"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/usage"
	views "example.com/loyalty/views/admin/reports"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

const recentEvents = 12

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
		route.Get(links.TopOfDays, route.Managers, h.topOfDays),
	}
}

func (h *Handlers) dashboard(c echo.Context) error {
	by, ctx := page.Actor(c), c.Request().Context()
	if !by.Role.Includes(core.Manager) {
		return h.Redirect(c, links.Customers) // turnover isn't for cashiers
	}
	form := forms.Query(c.QueryParams())
	v := views.Dashboard{Form: form}
	days, period, err := dashboardDays(form, h.LocalToday(by))
	if err == nil {
		v.Period = period
		v.Overview, err = h.Reports.Overview(ctx, by, days)
	}
	status, err := form.Status(err)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		v.Frame = h.insightFrame(c, "Dashboard", links.Dashboard)
		return h.Render(c, status, views.DashboardPage(v), nil)
	}
	if !v.Overview.Has.Sale {
		return h.Guide.FirstSteps(c, v.Overview.Has)
	}
	if v.Setup, err = h.Guide.Banner(c); err != nil {
		return err
	}
	if v.Feed, err = h.Reports.Recent(ctx, by, recentEvents, ""); err != nil {
		return err
	}
	notices, err := h.PlanNotices(c, usage.Customers, usage.Staff, usage.Sends)
	if err != nil {
		return err
	}
	v.Frame = h.insightFrame(c, "Dashboard", links.Dashboard)
	v.Chart, v.Notices = true, notices
	return h.Render(c, http.StatusOK, views.DashboardPage(v), nil)
}

// dashboardDays are the dates of the form, or those of a period, whose name it returns too.
func dashboardDays(form *forms.Form, today time.Time) (days report.Range, period string, err error) {
	if form.Value("from") != "" || form.Value("to") != "" {
		return report.Range{From: form.Date("from"), To: form.Date("to"), Malformed: form.Malformed}, "", nil
	}
	chosen, err := pickPeriod(form.Value("period"))
	if err != nil {
		return report.Range{}, "", err
	}
	return rangeOf(chosen.Days(today)), chosen.Name, nil
}

// pickPeriod finds a period by its name; "" is the default.
func pickPeriod(name string) (views.Period, error) {
	if name == "" {
		return views.Periods[1], nil
	}
	for _, p := range views.Periods {
		if p.Name == name {
			return p, nil
		}
	}
	return views.Period{}, core.Invalid(core.Fields{"period": {core.InvalidChoice}})
}

// topOfDays is the dashboard's top customers, which it asks for when it is shown.
func (h *Handlers) topOfDays(c echo.Context) error {
	if !page.IsFragment(c) {
		return h.Redirect(c, links.Dashboard)
	}
	form := forms.Query(c.QueryParams())
	top, err := h.Reports.Top(c.Request().Context(), page.Actor(c), report.Ranking{
		Range: report.Range{From: form.Date("from"), To: form.Date("to"), Malformed: form.Malformed}, Limit: new(int64(views.TopOfDashboard)),
	})
	if err != nil {
		return err
	}
	table := views.DashboardTop(h.Reader(c), top)
	return h.Render(c, http.StatusOK, table, table)
}

// activity answers a poll with the latest events, or with 204 if the list on the page is still current.
func (h *Handlers) activity(c echo.Context) error {
	if !page.IsFragment(c) {
		return h.Redirect(c, links.Dashboard)
	}
	mark := c.QueryParam("mark")
	feed, err := h.Reports.Recent(c.Request().Context(), page.Actor(c), recentEvents, mark)
	if err != nil {
		return err
	}
	if feed.Mark == mark {
		return c.NoContent(http.StatusNoContent)
	}
	list := views.ActivityList(h.Reader(c), feed)
	return h.Render(c, http.StatusOK, list, list)
}
