package admin

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/usage"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

const (
	dashboardPath = "/admin"
	activityPath  = "/admin/activity"

	recentEvents = 8
	topCustomers = 5
)

func (a *Admin) dashboardRoutes() []route {
	return []route{
		{method: get, path: dashboardPath, least: core.Cashier, handle: a.dashboard},
		{method: get, path: activityPath, least: core.Manager, handle: a.activity},
	}
}

// dashboard shows how the business is doing. Four round trips: the session, the figures,
// what happened lately, who bought most. One more for owners: how far they are with the setup;
// and one where the log alone says who did what.
func (a *Admin) dashboard(c echo.Context) error {
	by, ctx := page.Actor(c), c.Request().Context()
	if !by.Role.Includes(core.Manager) {
		return a.Redirect(c, customersPath) // a till begins with whom it serves
	}
	chosen, err := pickPeriod(c.QueryParam("period"))
	if err != nil {
		return err
	}
	today := a.localToday(by)
	days := chosen.days(today)
	o, err := a.Reports.Overview(ctx, by, days)
	if err != nil {
		return err
	}
	setup, err := a.setupBanner(c)
	if err != nil {
		return err
	}
	if !o.Has.Sale {
		return a.firstSteps(c, o.Has, setup)
	}
	feed, err := a.Reports.Recent(ctx, by, recentEvents, "")
	if err != nil {
		return err
	}
	top, err := a.Reports.Top(ctx, by, report.Ranking{Range: days, Limit: new(int64(topCustomers))})
	if err != nil {
		return err
	}
	notices, err := a.planNotices(c, usage.Customers, usage.Staff, usage.Sends)
	if err != nil {
		return err
	}
	v := views.Dashboard{
		Frame: a.frame(c, "Dashboard", dashboardPath), Period: chosen.label, Days: daysInWords(o.From, o.To),
		Figures: overviewFigures(o, by.Tenant.Currency), Chart: pointsOf(o, today), Activity: a.activityView(by, feed),
		Top:         topRows(top, report.Spend, by.Tenant.Currency),
		TopPath:     reportOf(topReportPath, url.Values{}, report.Range{From: &o.From, To: &o.To}),
		Outstanding: []views.Amount{owedAmount(o.Outstanding.Points, "point", "points")},
		NoReward:    !o.Has.Reward,
		Setup:       setup,
	}
	v.Frame.Chart, v.Notices = true, notices
	for _, p := range periods {
		v.Periods = append(v.Periods, views.Choice{
			Label: p.label, Path: page.WithQuery(dashboardPath, "period", p.name), Current: p.name == chosen.name,
		})
	}
	if o.Outstanding.Stamps > 0 {
		v.Outstanding = append(v.Outstanding, owedAmount(o.Outstanding.Stamps, "stamp", "stamps"))
	}
	return a.Render(c, http.StatusOK, views.DashboardPage(v), nil)
}

func owedAmount(n int64, one, many string) views.Amount {
	if n == 1 {
		return views.Amount{Number: "1", Unit: one}
	}
	return views.Amount{Number: page.Number(n), Unit: many}
}

// overviewFigures are the four that matter, each beside what it was before.
func overviewFigures(o report.Overview, currency string) []ui.Figure {
	before := "previous " + page.Count(int64(len(o.Days)), "day", "days")
	figure := func(label, icon, value string, now, then int64) ui.Figure {
		f := ui.Figure{Label: label, Icon: icon, Value: value, Against: "vs " + before}
		f.Change, f.Trend = changeOf(now, then)
		if f.Change == "" {
			f.Against = "none in the " + before
		}
		return f
	}
	now, then := o.Current, o.Previous
	return []ui.Figure{
		figure("Active customers", "users", page.Number(now.ActiveCustomers), now.ActiveCustomers, then.ActiveCustomers),
		figure("Points issued", "coins", page.Number(now.PointsAwarded), now.PointsAwarded, then.PointsAwarded),
		figure("Redemptions", "gift", page.Number(now.RedemptionsCount), now.RedemptionsCount, then.RedemptionsCount),
		figure("Tracked spend", "receipt", page.Money(now.SpendTotalCents, currency), now.SpendTotalCents, then.SpendTotalCents),
	}
}

// changeOf says how much more or less something is than it was; "" where it was nothing.
// From ten times as much on, percents say nothing any more.
func changeOf(now, then int64) (string, ui.Trend) {
	switch {
	case then <= 0:
		return "", ui.Level
	case now == then:
		return "0%", ui.Level
	case now/10 >= then:
		return page.Number(now/then) + "×", ui.Up
	case now > then:
		return "+" + page.Percent(now-then, then), ui.Up
	}
	return "−" + page.Percent(then-now, then), ui.Down
}

func pointsOf(o report.Overview, today time.Time) ui.Chart {
	chart := pointsChart()
	for _, d := range o.Days {
		chart.Rows = append(chart.Rows, dayRow(d.Date, o.From, o.To, chartNumber(d.Awarded), chartNumber(d.Redeemed)))
	}
	chart.Summary = soFar(pointsSummary(o.Current.PointsAwarded, o.Current.PointsRedeemed), o.To, today)
	return chart
}

// activity answers what happened since the list that asks was made. Nothing: then that
// list stands, but for the ages in it, which grow by the minute.
func (a *Admin) activity(c echo.Context) error {
	if !page.IsFragment(c) {
		return a.Redirect(c, dashboardPath)
	}
	by, mark := page.Actor(c), c.QueryParam("mark")
	if c.QueryParam("minute") != minute(a.Now()) {
		mark = ""
	}
	feed, err := a.Reports.Recent(c.Request().Context(), by, recentEvents, mark)
	if err != nil {
		return err
	}
	if feed.Mark == mark {
		return c.NoContent(http.StatusNoContent)
	}
	list := views.ActivityList(a.activityView(by, feed))
	return a.Render(c, http.StatusOK, list, list)
}

func minute(t time.Time) string { return strconv.FormatInt(t.Unix()/60, 10) }

func (a *Admin) activityView(by core.Actor, feed report.Feed) views.Activity {
	now, zone := a.Now(), by.Tenant.TimeZone
	v := views.Activity{Path: activityPath + "?" + url.Values{"mark": {feed.Mark}, "minute": {minute(now)}}.Encode()}
	for _, e := range feed.Events {
		words, tone := eventText(e, by.Tenant.Currency)
		v.Rows = append(v.Rows, views.ActivityRow{
			ID: "event-" + string(e.Kind) + "-" + e.ID.String(), Path: customerPath(e.CustomerID), Customer: fullName(e.FirstName, e.LastName),
			Words: words, Tone: tone,
			Ago: page.Ago(e.At, now, zone), At: e.At.UTC().Format(time.RFC3339), Time: page.Time(e.At, zone),
		})
	}
	return v
}

// eventText says an event in words that follow the customer's name.
func eventText(e report.Event, currency string) (string, ui.Tone) {
	moved := balanceMoved(e.Points, e.Stamps)
	switch e.Kind {
	case report.Sold:
		spent := "Spent " + page.Money(*e.SpendCents, currency)
		if moved == "" {
			return spent, ui.Good
		}
		return spent + ", earned " + moved, ui.Good
	case report.SaleVoided:
		return "Sale of " + page.Money(*e.SpendCents, currency) + " voided" + doneBy(e), ui.Bad
	case report.Redeemed:
		return "Redeemed " + quoted(e.About), ui.Notice
	case report.RedemptionVoided:
		return "Redemption of " + quoted(e.About) + " voided" + doneBy(e), ui.Bad
	case report.VoucherRedeemed:
		return "Redeemed the voucher " + quoted(e.About), ui.Notice
	case report.Joined:
		return "Became a customer", ui.Info
	case report.Adjusted:
		sign := "+"
		if e.Points+e.Stamps < 0 {
			sign = "−"
		}
		return sign + moved + doneBy(e), ui.Neutral
	}
	return string(e.Kind), ui.Neutral
}

// balanceMoved is by how much a balance moved, either way.
func balanceMoved(points, stamps int64) string {
	switch {
	case points != 0:
		return page.Count(max(points, -points), "point", "points")
	case stamps != 0:
		return page.Count(max(stamps, -stamps), "stamp", "stamps")
	}
	return ""
}

func doneBy(e report.Event) string {
	if e.ActorName == nil || *e.ActorName == "" {
		return ""
	}
	return " by " + *e.ActorName
}

func quoted(name *string) string {
	if name == nil {
		return ""
	}
	return "“" + *name + "”"
}

// fullName is the name of a customer. Of somebody who was erased both are the same word.
func fullName(first, last string) string {
	if first == "Erased" && last == first {
		return first
	}
	return first + " " + last
}

// customerLabel is the name of a customer as lists of what they did have it.
func customerLabel(name string) string {
	first, last, _ := strings.Cut(name, " ")
	return fullName(first, last)
}

// firstSteps shows a new business what to do, until it has a sale.
func (a *Admin) firstSteps(c echo.Context, has report.FirstSteps, setup *views.SetupBanner) error {
	v := views.FirstSteps{Frame: a.frame(c, "Dashboard", dashboardPath), Setup: setup, Steps: []views.Step{
		{
			Title: "Say what earns", Words: "A transaction type is a kind of sale and what it is worth: points for what is spent, or a stamp for each coffee.",
			Path: "/admin/types/new", Button: "Add a transaction type", Done: has.TransactionType,
		},
		{
			Title: "Add the first customer", Words: "A name and a phone number are enough. Add yourself, to see how it looks.",
			Path: customersPath + "/new", Button: "Add a customer", Done: has.Customer,
		},
		{
			Title: "Record the first sale", Words: "The customer sees their points or stamps at once. A sale can be voided.",
			Path: "/admin/transactions/new", Button: "Record a sale", Done: has.Sale,
		},
	}}
	next := true
	for i := range v.Steps {
		s := &v.Steps[i]
		s.Number = strconv.Itoa(i + 1)
		s.Next = next && !s.Done
		next = next && s.Done
	}
	return a.Render(c, http.StatusOK, views.FirstStepsPage(v), nil)
}
