package reports

import (
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/report"
	views "example.com/loyalty/views/admin/reports"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

// breakdownPage answers with a report that divides its figures among rows. A report that was refused has
// no rows.
func breakdownPage[T any](a *Handlers, c echo.Context, q reportQuery, title, path string, r report.Breakdown[T], err error, fill func(*views.BreakdownReport)) error {
	if err != nil && !q.Refused(err) {
		return err
	}
	var days report.Range
	if err == nil {
		days = fromTo(r.From, r.To)
	}
	v := views.BreakdownReport{Report: a.report(c, title, path, q, days), Title: title, Compared: r.Against != nil}
	if v.Problem.None() {
		v.CSV = reportOf(path+".csv", c.QueryParams(), days)
		if r.Against != nil {
			v.Report.Compared = comparedWith(*r.Against, r.To, a.LocalToday(page.Actor(c)))
		}
		fill(&v)
	}
	return a.Render(c, reportStatus(v.Report), views.BreakdownReportPage(v), nil)
}

// comparedHeader adds the columns of the earlier period to the header of a file, if there is one.
func comparedHeader(against *report.Period, header []string, earlier string) []string {
	if against == nil {
		return header
	}
	return append(header, earlier, "Compared with")
}

// comparedCells are the cells of a row below comparedHeader.
func comparedCells(against *report.Period, cells []any, earlier any) []any {
	if against == nil {
		return cells
	}
	return append(cells, earlier, format.Period(against.From, against.To))
}

// changeOf is the change of a row against the earlier period.
func changeOf(now, then int64) views.Change {
	change, trend := relativeChange(now, then)
	return views.Change{Words: change, Trend: trend}
}

// share is a row's part of a total, as a bar and in percent.
func share(of, total int64) (ui.Bar, string) {
	if total == 0 {
		return ui.Bar{}, "–"
	}
	return ui.BarOf(total, ui.Share(of, ui.First)), format.Percent(of, total)
}

// averageSale is "–" if nothing was sold.
func averageSale(s report.Sales, currency string) string {
	if s.TransactionsCount == 0 {
		return "–"
	}
	return format.Money(s.SpendTotalCents/s.TransactionsCount, currency)
}

// noLocation names the sales without a location.
const noLocation = "No location"

// locationReport shows the sales of each location.
func (h *Handlers) locationReport(c echo.Context) error {
	q, err := h.reportQuery(c, links.LocationReport)
	if err != nil {
		return err
	}
	by := page.Actor(c)
	r, err := h.Reports.Locations(c.Request().Context(), by, q.Selection)
	return breakdownPage(h, c, q, "Locations", links.LocationReport, r, err, func(v *views.BreakdownReport) {
		v.Label, v.Main, v.Change, v.All = "Location", "Spend", "Spend change", "All locations"
		v.Columns = []views.Column{{Label: "Sales"}, {Label: "Average sale"}, {Label: "Points issued", Wide: true}, {Label: "Stamps issued", Wide: true}}
		v.Empty = [3]string{"map-pin", "No sales in this period", "Choose other dates."}
		row := func(name string, l report.LocationSales) views.BreakdownRow {
			made := views.BreakdownRow{
				Name: name, Main: format.Money(l.SpendTotalCents, by.Tenant.Currency), Note: format.Count(l.TransactionsCount, "sale", "sales"),
				Cells: []string{
					format.Number(l.TransactionsCount), averageSale(l.Sales, by.Tenant.Currency), format.Number(l.PointsAwarded), format.Number(l.StampsAwarded),
				},
				Change: changeOf(l.SpendTotalCents, l.PreviousSpendCents),
			}
			made.Bar, made.Share = share(l.SpendTotalCents, r.Total.SpendTotalCents)
			return made
		}
		for _, l := range r.Rows {
			made := row(noLocation, l)
			if l.ID != nil {
				made.Name = core.OrZero(l.Name)
				made.Path = optionLink(links.Reports, c.QueryParams(), "location", strconv.FormatInt(*l.ID, 10))
			}
			v.Rows = append(v.Rows, made)
		}
		v.Total = row(v.All, r.Total)
	})
}

func (h *Handlers) locationCSV(c echo.Context) error {
	q, err := h.reportQuery(c, links.LocationReport)
	if err != nil {
		return err
	}
	r, err := h.Reports.Locations(c.Request().Context(), page.Actor(c), q.Selection)
	if err != nil {
		return err
	}
	currency := page.Actor(c).Tenant.Currency
	header := comparedHeader(r.Against, []string{"Location", "Sales", "Spend (" + currency + ")", "Points issued", "Stamps issued"}, "Earlier spend ("+currency+")")
	return h.CSV(c, fileName("locations", fromTo(r.From, r.To)), header, func(row func(...any) error) error {
		for _, l := range r.Rows {
			name := noLocation
			if l.ID != nil {
				name = core.OrZero(l.Name)
			}
			cells := []any{name, l.TransactionsCount, format.Amount(l.SpendTotalCents, currency), l.PointsAwarded, l.StampsAwarded}
			if err := row(comparedCells(r.Against, cells, format.Amount(l.PreviousSpendCents, currency))...); err != nil {
				return err
			}
		}
		return nil
	})
}

// actorKinds say what recorded a sale, where it wasn't a person.
var actorKinds = map[core.ActorKind]string{core.ByToken: "API token", core.ByCustomer: "Customer", core.ByAdmin: "Platform", core.BySystem: "System"}

// staffReport shows what each person and token recorded.
func (h *Handlers) staffReport(c echo.Context) error {
	q, err := h.reportQuery(c, links.StaffReport)
	if err != nil {
		return err
	}
	by := page.Actor(c)
	r, err := h.Reports.Staff(c.Request().Context(), by, q.Selection)
	return breakdownPage(h, c, q, "Staff", links.StaffReport, r, err, func(v *views.BreakdownReport) {
		v.Label, v.Main, v.Change, v.All = "Recorded by", "Spend", "Spend change", "All staff"
		v.Columns = []views.Column{{Label: "Sales"}, {Label: "Average sale"}, {Label: "Voided sales", Wide: true}}
		if q.Location == nil {
			v.Columns = append(v.Columns, views.Column{Label: "Redemptions", Wide: true})
		} else {
			v.Note = "Redemptions aren't recorded by location."
		}
		v.Empty = [3]string{"users", "Nothing recorded in this period", "Choose other dates."}
		row := func(name string, p report.StaffSales) views.BreakdownRow {
			made := views.BreakdownRow{
				Name: name, Kind: actorKinds[p.ActorKind], Main: format.Money(p.SpendTotalCents, by.Tenant.Currency), Note: format.Count(p.TransactionsCount, "sale", "sales"),
				Cells:  []string{format.Number(p.TransactionsCount), averageSale(p.Sales, by.Tenant.Currency), format.Number(p.VoidedCount), format.Number(p.RedemptionsCount)}[:len(v.Columns)],
				Change: changeOf(p.SpendTotalCents, p.PreviousSpendCents),
			}
			if made.Kind == name { // a token, for those to whom its name isn't told
				made.Kind = ""
			}
			made.Bar, made.Share = share(p.SpendTotalCents, r.Total.SpendTotalCents)
			return made
		}
		for _, p := range r.Rows {
			v.Rows = append(v.Rows, row(by.NameOf(p.ActorKind, p.Name), p))
		}
		v.Total = row(v.All, r.Total)
	})
}

func (h *Handlers) staffCSV(c echo.Context) error {
	q, err := h.reportQuery(c, links.StaffReport)
	if err != nil {
		return err
	}
	r, err := h.Reports.Staff(c.Request().Context(), page.Actor(c), q.Selection)
	if err != nil {
		return err
	}
	currency := page.Actor(c).Tenant.Currency
	header := []string{"Recorded by", "Kind", "Sales", "Voided sales", "Spend (" + currency + ")", "Points issued", "Stamps issued"}
	if q.Location == nil {
		header = append(header, "Redemptions")
	}
	figures := len(header)
	header = comparedHeader(r.Against, header, "Earlier spend ("+currency+")")
	return h.CSV(c, fileName("staff", fromTo(r.From, r.To)), header, func(row func(...any) error) error {
		for _, p := range r.Rows {
			cells := []any{
				page.Actor(c).NameOf(p.ActorKind, p.Name), string(p.ActorKind), p.TransactionsCount, p.VoidedCount, format.Amount(p.SpendTotalCents, currency), p.PointsAwarded, p.StampsAwarded,
				p.RedemptionsCount,
			}[:figures]
			if err := row(comparedCells(r.Against, cells, format.Amount(p.PreviousSpendCents, currency))...); err != nil {
				return err
			}
		}
		return nil
	})
}

// rewardReport shows the redemptions of each reward.
func (h *Handlers) rewardReport(c echo.Context) error {
	q, err := h.reportQuery(c, links.RewardReport)
	if err != nil {
		return err
	}
	r, err := h.Reports.Rewards(c.Request().Context(), page.Actor(c), q.Selection)
	return breakdownPage(h, c, q, "Rewards", links.RewardReport, r, err, func(v *views.BreakdownReport) {
		v.Label, v.Main, v.Change, v.All = "Reward", "Redemptions", "Change", "All rewards"
		v.Columns = []views.Column{{Label: "Points spent"}, {Label: "Stamps spent"}, {Label: "Voided", Wide: true}}
		v.Empty = [3]string{"gift", "No redemptions in this period", "Choose other dates."}
		row := func(name string, u report.RewardUse) views.BreakdownRow {
			made := views.BreakdownRow{
				Name: name, Main: format.Number(u.RedemptionsCount), Note: spentInWords(u),
				Cells:  []string{format.Number(u.PointsSpent), format.Number(u.StampsSpent), format.Number(u.VoidedCount)},
				Change: changeOf(u.RedemptionsCount, u.PreviousRedemptionsCount),
			}
			made.Bar, made.Share = share(u.RedemptionsCount, r.Total.RedemptionsCount)
			return made
		}
		for _, u := range r.Rows {
			made := row(u.Name, u)
			made.Path = links.Reward(u.ID)
			v.Rows = append(v.Rows, made)
		}
		v.Total = row(v.All, r.Total)
	})
}

// spentInWords is "1,240 points".
func spentInWords(u report.RewardUse) string {
	if u.PointsSpent == 0 && u.StampsSpent > 0 {
		return format.Units(u.StampsSpent, "stamps")
	}
	return format.Units(u.PointsSpent, "points")
}

func (h *Handlers) rewardCSV(c echo.Context) error {
	q, err := h.reportQuery(c, links.RewardReport)
	if err != nil {
		return err
	}
	r, err := h.Reports.Rewards(c.Request().Context(), page.Actor(c), q.Selection)
	if err != nil {
		return err
	}
	header := comparedHeader(r.Against, []string{"ULID", "Reward", "Redemptions", "Points spent", "Stamps spent", "Voided"}, "Earlier redemptions")
	return h.CSV(c, fileName("rewards", fromTo(r.From, r.To)), header, func(row func(...any) error) error {
		for _, u := range r.Rows {
			cells := []any{u.ID.String(), u.Name, u.RedemptionsCount, u.PointsSpent, u.StampsSpent, u.VoidedCount}
			if err := row(comparedCells(r.Against, cells, u.PreviousRedemptionsCount)...); err != nil {
				return err
			}
		}
		return nil
	})
}
