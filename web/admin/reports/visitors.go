package reports

import (
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/report"
	views "example.com/loyalty/views/admin/reports"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// visitorReport shows who came, who stopped coming, and who comes again.
func (h *Handlers) visitorReport(c echo.Context) error {
	q, err := h.query(c, views.Visitors)
	if err != nil {
		return err
	}
	r, err := h.Reports.Visitors(c.Request().Context(), page.Actor(c), q.Selection)
	return h.show(c, q, &r.Period, err, func(v views.Report) templ.Component { return views.VisitorsPage(v, r) })
}

// visitors is the report for a file, by steps.
func (h *Handlers) visitors(c echo.Context, step report.Step) (report.Visitors, error) {
	q, err := h.query(c, views.Visitors)
	if err != nil {
		return report.Visitors{}, err
	}
	q.Step = step
	return h.Reports.Visitors(c.Request().Context(), page.Actor(c), q.Selection)
}

// visitorsFile has a row for each day beside the day that it is compared with. A longer earlier period has rows of its own.
func (h *Handlers) visitorsFile(c echo.Context) (panel.ExportFile, error) {
	r, err := h.visitors(c, report.Daily)
	if err != nil {
		return panel.ExportFile{}, err
	}
	columns := []page.Column{{Heading: "Date", Width: 12}, {Heading: "Customers"}, {Heading: "First-time"}, {Heading: "Returning"}}
	if r.Against != nil {
		columns = append(columns, page.Column{Heading: "Compared with", Width: 14}, page.Column{Heading: "Earlier customers"}, page.Column{Heading: "Earlier first-time"}, page.Column{Heading: "Earlier returning"})
	}
	cells := func(day time.Time, a *report.Attendance) []any {
		if a == nil {
			return []any{"", "", "", ""}
		}
		return []any{page.DayCell(day), a.Customers, a.NewCustomers, a.Returning()}
	}
	return panel.ExportFile{
		Name: fileName("customers", r.Period), Sheet: "Customers by day", Columns: columns,
		Write: func(row panel.RowWriter) error {
			for _, b := range slices.Concat(r.Buckets, r.Longer) {
				now := &b.Current
				if b.From.IsZero() {
					now = nil
				}
				if err := row(append(cells(b.From, now), cells(b.Beside.From, b.Previous)...)[:len(columns)]...); err != nil {
					return err
				}
			}
			return nil
		},
	}, nil
}

// cohortsFile has a row for each month of first visits and each month after it.
func (h *Handlers) cohortsFile(c echo.Context) (panel.ExportFile, error) {
	r, err := h.visitors(c, report.Monthly)
	if err != nil {
		return panel.ExportFile{}, err
	}
	return panel.ExportFile{
		Name: "months-of-first-visit-until-" + panel.IsoDate(r.AsOf), Sheet: "Months of first visit",
		Columns: []page.Column{{Heading: "First visit in", Width: 14}, {Heading: "Customers"}, {Heading: "Months after"}, {Heading: "Month", Width: 12}, {Heading: "Came again"}, {Heading: "Share"}},
		Write: func(row panel.RowWriter) error {
			for _, m := range r.Cohorts {
				for i, again := range m.Again {
					if err := row(m.Month.Format("2006-01"), m.Customers, int64(i+1), m.Month.AddDate(0, i+1, 0).Format("2006-01"), again, page.ShareCell{Of: again, Whole: m.Customers}); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}, nil
}

// groupsFile has a row for each group.
func (h *Handlers) groupsFile(c echo.Context) (panel.ExportFile, error) {
	r, err := h.visitors(c, report.Monthly)
	if err != nil {
		return panel.ExportFile{}, err
	}
	currency, money := moneyOf(c)
	g := r.Groups
	name := "groups"
	if g.AsOf != nil {
		name += "-" + panel.IsoDate(g.From()) + "-to-" + panel.IsoDate(*g.AsOf)
	}
	return panel.ExportFile{
		Name: name, Sheet: "Groups of customers",
		Columns: []page.Column{{Heading: "Group", Width: 18}, {Heading: "Rule", Width: 60}, {Heading: "Customers"}, {Heading: "Spend (" + currency + ")"}},
		Write: func(row panel.RowWriter) error {
			if g.AsOf == nil {
				return nil
			}
			for _, of := range g.Groups {
				err := row(format.Audience(daily.Audience(of.Name)), views.GroupRule(h.Reader(c).Money(g.High), of.Name), of.Customers, money(of.SpendCents))
				if err != nil {
					return err
				}
			}
			return nil
		},
	}, nil
}

// audienceOf is the audience that is asked for; by default, who lapsed for the fewest days.
func audienceOf(c echo.Context) daily.Audience {
	if name := c.QueryParam("audience"); name != "" {
		return daily.Audience(name)
	}
	return daily.LapsedDays[0].Audience()
}

// audienceList lists the customers of an audience.
func (h *Handlers) audienceList(c echo.Context) error {
	ctx, by, name := c.Request().Context(), page.Actor(c), audienceOf(c)
	at := forms.Position(c.QueryParams())
	at.Counted = false // there may be hundreds of thousands
	list, err := h.Reports.Audience(ctx, by, name, at)
	if err != nil {
		return err
	}
	v := views.AudienceList{
		Frame:    h.Frame(c, format.Audience(name), links.Reports, ui.Crumb{Label: "Reports", Path: links.Reports}, ui.Crumb{Label: "Customers", Path: links.VisitorReport}),
		Audience: name, List: list.Items, Pager: page.Pager(list, c.Request().URL, "customer", "customers", "#audience"), Exports: panel.ExportsOf(c, links.AudienceReport),
	}
	if page.IsFragment(c) {
		return h.Render(c, 200, nil, views.AudienceTable(v))
	}
	if v.Rule, err = h.audienceRule(c, name); err != nil {
		return err
	}
	v.Counting = v.Rule == ""
	coupons, err := h.Coupons.ListWithCounts(ctx, by, coupon.Filter{Sendable: new(true)}, core.Page{Size: core.MaxPageSize})
	if err != nil {
		return err
	}
	v.Coupons = coupons.Items
	return h.Render(c, 200, views.AudiencePage(v), views.AudienceTable(v))
}

// audienceRule says who is in an audience. It is empty before groups were counted.
func (h *Handlers) audienceRule(c echo.Context, name daily.Audience) (string, error) {
	by := page.Actor(c)
	if l := name.Lapsed(); l > 0 {
		today := h.LocalToday(by)
		return "They came before, but not in these days: " + format.Period(l.Since(today), today) + ". Visits and spend are of all time, as on a customer’s page.", nil
	}
	g, err := h.Reports.Groups(c.Request().Context(), by)
	if err != nil || g.AsOf == nil {
		return "", err
	}
	return views.GroupRule(h.Reader(c).Money(g.High), daily.Group(name)) + ". Visits and spend are of one year: " + format.Period(g.From(), *g.AsOf) + ".", nil
}

// audienceFile is the customers of an audience.
func (h *Handlers) audienceFile(c echo.Context) (panel.ExportFile, error) {
	by, name := page.Actor(c), audienceOf(c)
	if !name.Known() {
		return panel.ExportFile{}, core.ErrNotFound
	}
	currency, money := moneyOf(c)
	zone := by.Tenant.TimeZone
	if name.Lapsed() == 0 {
		zone = time.UTC
	}
	return panel.ExportFile{
		Name: strings.ReplaceAll(strings.ToLower(format.Audience(name)), " ", "-") + "-" + panel.IsoDate(h.LocalToday(by)), Sheet: "Customers",
		Columns: []page.Column{
			{Heading: "ULID", Width: 28},
			{Heading: "First name", Width: 18},
			{Heading: "Last name", Width: 18},
			{Heading: "Phone", Width: 18},
			{Heading: "E-mail", Width: 28},
			{Heading: "Status"},
			{Heading: "Last visit", Width: 12},
			{Heading: "Visits"},
			{Heading: "Spend (" + currency + ")"},
			{Heading: "Points balance"},
		},
		Write: func(row panel.RowWriter) error {
			return h.Reports.ExportAudience(c.Request().Context(), by, name, func(k report.Visitor) error {
				return row(k.ID.String(), k.FirstName, k.LastName, k.Phone, core.OrZero(k.Email), k.Status, page.DayCell(k.LastVisit.In(zone)), k.Visits,
					money(k.SpendCents), k.PointsBalance)
			})
		},
	}, nil
}
