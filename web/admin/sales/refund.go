package sales

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/transaction"
	views "example.com/loyalty/views/admin/sales"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// askRefund shows the form, prefilled from the query: without scripts, what the refund takes is previewed by submitting the
// form with GET.
func (h *Handlers) askRefund(c echo.Context) error {
	return h.refundForm(c, http.StatusOK, forms.Query(c.QueryParams()))
}

// refundForm shows the form as a page or in the dialog.
func (h *Handlers) refundForm(c echo.Context, status int, form *forms.Form) error {
	d, err := h.transactionDetail(c)
	if err != nil {
		return err
	}
	to := links.Transaction(d.ID)
	v := views.RefundForm{
		Frame: h.Frame(c, "Refund a part of this sale", links.Transactions,
			ui.Crumb{Label: "Transactions", Path: links.Transactions}, ui.Crumb{Label: "Sale " + h.Reader(c).On(d.CreatedAt), Path: to}),
		Sale: d, Form: form, FormKey: h.NewFormKey(), Takes: refundTakes(c, d, form),
	}
	return h.Render(c, status, views.RefundPage(v), views.RefundDialog(v))
}

// refundTakes previews the refund while the form is being filled in. The preview is empty while the amount can't be read,
// and if core would refuse it.
func refundTakes(c echo.Context, d transaction.Detail, form *forms.Form) views.RefundTakes {
	draft := forms.Query(form.Values) // a form of its own: errors are shown only after submitting
	amount := core.OrZero(draft.Amount("amount_cents", page.Actor(c).Tenant.Currency))
	if amount > d.LeftCents() || d.Status == transaction.Voided {
		amount = 0
	}
	return views.RefundTakes{Sale: d, AmountCents: amount}
}

// previewRefund shows how the amount on the form is read, and what the refund will take.
func (h *Handlers) previewRefund(c echo.Context) error {
	d, err := h.transactionDetail(c)
	if err != nil {
		return err
	}
	q := forms.Query(c.QueryParams())
	takes := refundTakes(c, d, q)
	q.Amount("amount_cents", page.Actor(c).Tenant.Currency)
	return h.Render(c, http.StatusOK, views.RefundPreview(q, takes), nil)
}

func (h *Handlers) refundTransaction(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	currency := page.Actor(c).Tenant.Currency
	return page.Submit(h.Kit, c, page.Submission[transaction.Refund]{
		RunOnce: func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[transaction.Refund]) (core.Reply[transaction.Refund], error) {
			refund := transaction.RefundRequest{AmountCents: form.RequiredAmount("amount_cents", currency), Reason: new(form.Value("reason"))}
			return h.Transactions.Refund(ctx, by, id, refund, form.Malformed, once)
		},
		Refused: func(status int, form *forms.Form) error { return h.refundForm(c, status, form) },
		To:      page.To[transaction.Refund](links.Transaction(id)),
		Done: func(r transaction.Refund) string {
			done := format.Money(r.AmountCents, currency) + " refunded"
			if r.Award() > 0 {
				done += " and " + format.Units(r.Award(), r.Unit()) + " taken back"
			}
			return done
		},
	})
}
