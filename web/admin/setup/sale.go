package setup

import (
	"context"
	"maps"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
	views "example.com/loyalty/views/admin/setup"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

func (h *Handlers) showSale(c echo.Context) error {
	s, err := h.progress(c)
	if err != nil {
		return err
	}
	return h.sale(c, http.StatusOK, s, forms.Blank(nil))
}

func (h *Handlers) sale(c echo.Context, status int, s tenant.Setup, form *forms.Form) error {
	ctx, by := c.Request().Context(), page.Actor(c)
	v := views.Sale{Guide: h.guide(c, s, tenant.SaleStep), Form: form}
	switch {
	case s.SaleID != nil:
		recorded, err := h.Transactions.Detail(ctx, by, *s.SaleID)
		if err != nil {
			return err
		}
		v.Recorded = &recorded
	case s.RuleID != nil && s.CustomerID != nil:
		buyer, err := h.Customers.Find(ctx, by, *s.CustomerID)
		if err != nil {
			return err
		}
		rule, err := h.ownRule(c, s)
		if err != nil {
			return err
		}
		v.Buyer = &buyer
		if v.Example, err = h.saleExample(c, s, form, *rule); err != nil {
			return err
		}
	}
	return h.Render(c, status, views.SalePage(v), nil)
}

// saleExample shows what the sale on the form will earn.
func (h *Handlers) saleExample(c echo.Context, s tenant.Setup, form *forms.Form, rule transaction.Type) (views.Example, error) {
	by := page.Actor(c)
	draft := forms.Query(maps.Clone(form.Values)) // violations are shown when the form is submitted
	award := format.AwardOfNothing(by.Tenant.Currency)
	if spend := draft.Amount("spend_amount_cents", by.Tenant.Currency); spend != nil {
		p, err := h.Transactions.Preview(c.Request().Context(), by, transaction.Sale{
			CustomerID: core.OrZero(s.CustomerID), TransactionTypeID: rule.ID, SpendAmountCents: *spend, Source: transaction.Panel,
		}, nil)
		if award, err = format.AwardOf(p, err, rule, by.Tenant.Currency); err != nil {
			return views.Example{}, err
		}
	}
	return views.SaleExample(award), nil
}

func (h *Handlers) previewSale(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	s, err := h.progress(c)
	if err != nil {
		return err
	}
	if !page.IsFragment(c) {
		return h.sale(c, http.StatusOK, s, form)
	}
	rule, err := h.ownRule(c, s)
	if err != nil {
		return err
	}
	if rule == nil {
		return core.ErrNotFound
	}
	example, err := h.saleExample(c, s, form, *rule)
	if err != nil {
		return err
	}
	return h.Render(c, http.StatusOK, views.ExampleCard(example), nil)
}

func (h *Handlers) saveSale(c echo.Context) error {
	s, err := h.progress(c)
	if err != nil {
		return err
	}
	path := links.SetupStep(tenant.SaleStep)
	if s.SaleID != nil || s.RuleID == nil || s.CustomerID == nil { // recorded in another tab, or not possible yet
		return h.Redirect(c, path)
	}
	return page.Submit(h.Kit, c, page.Submission[transaction.Transaction]{
		RunOnce: func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[transaction.Transaction]) (core.Reply[transaction.Transaction], error) {
			spend := form.RequiredAmount("spend_amount_cents", by.Tenant.Currency)
			if by.Tenant.Confirms(spend) {
				limit := format.Money(by.Tenant.ConfirmAboveCents, by.Tenant.Currency)
				return core.Reply[transaction.Transaction]{}, core.Invalid(core.Fields{"spend_amount_cents": {{Rule: "max_setup_sale", Other: limit}}})
			}
			return h.Transactions.Record(ctx, by, transaction.Sale{
				CustomerID: *s.CustomerID, TransactionTypeID: *s.RuleID, SpendAmountCents: spend, Source: transaction.Panel,
			}, form.Malformed, once)
		},
		Refused: func(status int, form *forms.Form) error { return h.sale(c, status, s, form) },
		To:      page.To[transaction.Transaction](path),
		Done:    func(transaction.Transaction) string { return "" },
	})
}
