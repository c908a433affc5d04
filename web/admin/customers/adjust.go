package customers

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
	views "example.com/loyalty/views/admin/customers"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// askAdjustment shows the form, prefilled from the query: without scripts, the balance after the
// adjustment is previewed by submitting the form with GET.
func (h *Handlers) askAdjustment(c echo.Context) error {
	found, err := h.editableCustomer(c)
	if err != nil {
		return err
	}
	form := forms.Query(c.QueryParams())
	if form.Filled("unit") == nil {
		form.Values.Set("unit", "points")
	}
	return h.adjustmentForm(c, http.StatusOK, found, form)
}

// adjustmentForm shows the form as a page or in the dialog.
func (h *Handlers) adjustmentForm(c echo.Context, status int, of customer.Customer, form *forms.Form) error {
	v := views.Adjustment{
		Frame: h.customerFrame(c, of, "Adjust balance"), Customer: of, Form: form, FormKey: h.NewFormKey(), After: h.balanceAfter(c, of, form),
	}
	return h.Render(c, status, views.AdjustmentPage(v), views.AdjustmentDialog(v))
}

// balanceAfter previews the balance while the form is being filled in. The preview is empty while
// the amount can't be read.
func (h *Handlers) balanceAfter(c echo.Context, of customer.Customer, form *forms.Form) views.BalanceAfter {
	draft := forms.Query(form.Values) // a form of its own: errors are shown only after submitting
	unit, before := ledger.Points, of.PointsBalance
	if draft.Value("unit") == "stamps" {
		unit, before = ledger.Stamps, of.StampsBalance
	}
	n := draft.Integer("amount")
	var b views.BalanceAfter
	if n == nil || *n >= 0 {
		b.MayLast, b.Lasts = customer.DatesAwards(page.Actor(c).Tenant, unit, h.Now()), draft.Checked("lasts")
	}
	if n == nil {
		return b
	}
	after := before + *n
	if *n > 0 && after < before || *n < 0 && after > before {
		return b // overflow, which core refuses
	}
	b.Unit, b.Before, b.After = unit, before, after
	return b
}

func (h *Handlers) previewAdjustment(c echo.Context) error {
	found, err := h.editableCustomer(c)
	if err != nil {
		return err
	}
	return h.Render(c, http.StatusOK, views.BalanceAfterLine(h.balanceAfter(c, found, forms.Query(c.QueryParams()))), nil)
}

func (h *Handlers) adjustBalance(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	var done string
	return page.Submit(h.Kit, c, page.Submission[ledger.Account]{
		RunOnce: func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[ledger.Account]) (core.Reply[ledger.Account], error) {
			n := form.Number("amount")
			done = "Balance adjusted: " + format.SignedUnits(n, ledger.Unit(form.Value("unit"))) + "."
			return h.Customers.Adjust(ctx, by, id, customer.Adjustment{
				Unit: form.Value("unit"), Amount: n, Reason: form.Value("reason"), Lasts: form.Checked("lasts"), Malformed: form.Malformed,
			}, once)
		},
		Refused: func(status int, form *forms.Form) error {
			found, err := h.editableCustomer(c)
			if err != nil {
				return err
			}
			return h.adjustmentForm(c, status, found, form)
		},
		To:   page.To[ledger.Account](links.Customer(id)),
		Done: func(ledger.Account) string { return done },
	})
}
