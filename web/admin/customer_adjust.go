package admin

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/transaction"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

// askAdjustment shows the form, with what its address begins it with: so the balance
// after can be seen without scripts as well.
func (a *Admin) askAdjustment(c echo.Context) error {
	found, err := a.changeable(c)
	if err != nil {
		return err
	}
	form := page.Query(c.QueryParams())
	if form.Filled("unit") == nil {
		form.Values.Set("unit", "points")
	}
	return a.adjustmentForm(c, http.StatusOK, found, form)
}

// adjustmentForm is a page, and the content of the dialog.
func (a *Admin) adjustmentForm(c echo.Context, status int, of customer.Customer, form *page.Form) error {
	path := customerPath(of.ID)
	v := views.Adjustment{
		Frame: a.customerFrame(c, of, "Adjust the balance"), Action: path + "/adjust", Cancel: path, FormKey: a.NewFormKey(),
		Unit: form.Field("unit", "What"), Amount: form.Field("amount", "Change"), Reason: form.Field("reason", "Reason"),
		After: balanceAfter(of, form),
	}
	v.Problem = form.Problem()
	v.Unit.Options = form.Options("unit",
		ui.Option{Value: "points", Label: "Points", Help: "Now " + page.Number(of.PointsBalance)},
		ui.Option{Value: "stamps", Label: "Stamps", Help: "Now " + page.Number(of.StampsBalance)})
	focusOn(&v.Amount, &v.Reason)
	v.Amount.Placeholder, v.Amount.Autocomplete = "+50", "off"
	v.Amount.Help = "So many more. With a minus in front, so many fewer: −50."
	v.Reason.MaxLength, v.Reason.Autocomplete = 255, "off"
	v.Reason.Help = "Everybody who sees the timeline reads it, the customer included: “Forgotten card on 12 May”."
	return a.Render(c, status, views.AdjustmentPage(v), views.AdjustmentDialog(v))
}

// balanceAfter says what an adjustment that is being typed would leave.
func balanceAfter(of customer.Customer, form *page.Form) views.BalanceAfter {
	draft := page.Query(form.Values) // what is wrong so far is said when it is sent
	unit, before := transaction.RuleType("points"), of.PointsBalance
	if draft.Value("unit") == "stamps" {
		unit, before = "stamps", of.StampsBalance
	}
	n := draft.Integer("amount")
	if n == nil {
		return views.BalanceAfter{}
	}
	after := before + *n
	switch {
	case *n > 0 && after < before, *n < 0 && after > before:
		return views.BalanceAfter{} // more than can be counted, which core refuses
	case after < 0 && *n < 0:
		return views.BalanceAfter{Note: "There are only " + amount(before, unit) + " to take."}
	}
	return views.BalanceAfter{Before: amount(before, unit), After: amount(after, unit)}
}

func (a *Admin) previewAdjustment(c echo.Context) error {
	found, err := a.changeable(c)
	if err != nil {
		return err
	}
	return a.Render(c, http.StatusOK, views.BalanceAfterLine(balanceAfter(found, page.Query(c.QueryParams()))), nil)
}

// adjustBalance makes the adjustment, once for two clicks.
func (a *Admin) adjustBalance(c echo.Context) error {
	id, err := id(c)
	if err != nil {
		return err
	}
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	path := customerPath(id)
	by := page.IdempotentActor(c, form, func(any) string { return path })
	n := form.Integer("amount")
	_, err = a.Customers.Adjust(c.Request().Context(), by, id, customer.Adjustment{
		Unit: form.Text("unit"), Amount: n, Reason: form.Text("reason"), Malformed: form.Malformed,
	})
	if to, again := page.ReplayedPath(by, err); again {
		return a.Redirect(c, to)
	}
	if form.Refused(err) {
		found, err := a.changeable(c)
		if err != nil {
			return err
		}
		return a.adjustmentForm(c, http.StatusUnprocessableEntity, found, form)
	}
	if err != nil {
		return err
	}
	a.Flash(c, ui.Done, change(*n, transaction.RuleType(form.Value("unit")))+": the balance is adjusted.")
	return a.Redirect(c, path)
}

// change writes so many points or stamps more or fewer.
func change(n int64, unit transaction.RuleType) string {
	if n < 0 {
		return "−" + amount(-n, unit)
	}
	return "+" + amount(n, unit)
}
