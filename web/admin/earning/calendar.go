package earning

import (
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/promotion"
	"example.com/loyalty/core/transaction"
	views "example.com/loyalty/views/admin/earning"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// showCalendar shows on which days of a month promotions are on.
func (h *Handlers) showCalendar(c echo.Context) error {
	today := h.Reader(c).Today()
	first := time.Date(today.Year(), today.Month(), 1, 0, 0, 0, 0, time.UTC)
	if month, err := time.Parse("2006-01", c.QueryParam("month")); err == nil && month.Year() >= 2000 && month.Year() < 2200 {
		first = month
	}
	last := first.AddDate(0, 1, -1)
	found, err := h.Promotions.Between(c.Request().Context(), page.Actor(c), first, last)
	if err != nil {
		return err
	}
	v := views.Calendar{Tab: h.tab(c, links.EarningCalendar), Month: first}
	always := func(p promotion.Promotion) bool { return len(p.Windows) == 0 && p.Begins(first) && p.Begins(last) }
	for _, p := range found {
		if always(p) {
			v.Always = append(v.Always, p)
		}
	}
	for day := first; !day.After(last); day = day.AddDate(0, 0, 1) {
		d := views.Day{Date: day, IsToday: day.Equal(today)}
		for _, p := range found {
			if p.Begins(day) && !always(p) {
				d.Promotions = append(d.Promotions, p)
			}
		}
		v.Days = append(v.Days, d)
	}
	return h.Render(c, http.StatusOK, views.CalendarPage(v), nil)
}

// showSlowHours proposes promotions for the quietest hours.
func (h *Handlers) showSlowHours(c echo.Context) error {
	slow, err := h.Reports.SlowHours(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	return h.Render(c, http.StatusOK, views.SlowHoursPage(views.SlowHours{Frame: h.Frame(c, "Slow hours", links.Earning, trail("", links.Earning)...), SlowHours: slow}), nil)
}

// simulate shows how a sale's award is computed. It writes nothing, so its form is an address.
func (h *Handlers) simulate(c echo.Context) error {
	ctx, by, q := c.Request().Context(), page.Actor(c), forms.Query(c.QueryParams())
	types, err := h.Transactions.Types(ctx, by)
	if err != nil {
		return err
	}
	parts, err := h.Promotions.Parts(ctx, by)
	if err != nil {
		return err
	}
	categories, err := h.Promotions.Categories(ctx, by)
	if err != nil {
		return err
	}
	now := h.Now().In(by.Tenant.TimeZone)
	types = slices.DeleteFunc(types, func(t transaction.Type) bool { return !t.Active })
	v := views.Simulator{
		Tab: h.tab(c, links.EarningSimulator), Form: q, Types: types, Parts: parts,
		Categories: slices.DeleteFunc(categories, func(c promotion.Category) bool { return len(c.Codes) == 0 }),
	}
	status := http.StatusOK
	if q.Filled("spend_amount_cents") == nil && q.Filled("date") == nil {
		q.Values.Set("date", now.Format(time.DateOnly))
		q.Values.Set("time", now.Format("15:04"))
	} else if status, err = h.simulated(c, q, &v); err != nil {
		return err
	}
	return h.Render(c, status, views.SimulatorPage(v), nil)
}

// simulated adds the result to a simulator's page.
func (h *Handlers) simulated(c echo.Context, q *forms.Form, v *views.Simulator) (status int, err error) {
	ctx, by := c.Request().Context(), page.Actor(c)
	sale := transaction.Sale{
		TransactionTypeID: q.Number("transaction_type_id"), SpendAmountCents: q.RequiredAmount("spend_amount_cents", by.Tenant.Currency),
		LocationID: q.Integer("location_id"), Items: v.Items(q, by.Tenant.Currency), Source: transaction.Panel,
	}
	at, _ := q.Moment("date", "time", "date", by.Tenant.TimeZone)
	if at == nil {
		q.Require("date")
		at = new(h.Now())
	}
	if search := q.Filled("customer"); search != nil {
		found, more, err := h.Customers.FindAtTill(ctx, by, *search)
		switch {
		case q.Refused(err):
		case err != nil:
			return 0, err
		case len(found) == 1 && !more:
			v.Customer, sale.CustomerID = &found[0], found[0].ID
		case len(found) == 0:
			refuse(q, "customer", core.Violation{Rule: "unknown_customer", Other: *search})
		default:
			refuse(q, "customer", core.Violation{Rule: "several_customers"})
		}
	}
	p, err := h.Transactions.Simulate(ctx, by, sale, *at, q.Malformed)
	if status, err = q.Status(err); err != nil || status != http.StatusOK {
		return status, err
	}
	v.Result = &p
	return status, nil
}

// refuse adds a violation of a field.
func refuse(form *forms.Form, field string, v core.Violation) {
	if form.Malformed == nil {
		form.Malformed = core.Fields{}
	}
	form.Malformed[field] = append(form.Malformed[field], v)
}
