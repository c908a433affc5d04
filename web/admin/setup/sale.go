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
	"example.com/loyalty/web/panel"
)

func (h *Handlers) showSetupSale(c echo.Context) error {
	s, err := h.setupOf(c)
	if err != nil {
		return err
	}
	return h.setupSale(c, http.StatusOK, s, forms.Blank(nil))
}

func (h *Handlers) setupSale(c echo.Context, status int, s tenant.Setup, form *forms.Form) error {
	ctx, by := c.Request().Context(), page.Actor(c)
	v := views.SetupSale{Setup: h.setupFrame(c, s, tenant.SaleStep)}
	if s.SaleID != nil {
		sale, err := h.Transactions.Detail(ctx, by, *s.SaleID)
		if err != nil {
			return err
		}
		v.Recorded = &views.SetupRecorded{
			Customer: format.StoredName(sale.CustomerName), Spend: format.Money(sale.SpendAmountCents, by.Tenant.Currency), Award: "+" + format.Awarded(sale.Transaction),
			Path: links.Transaction(sale.ID), CustomerPath: links.Customer(sale.CustomerID),
		}
		if n := len(sale.Entries); n > 0 {
			v.Recorded.Balance = format.Units(sale.Entries[n-1].BalanceAfter, sale.RuleType)
		}
		v.Heading, v.Intro = "Sale recorded", ""
		return h.Render(c, status, views.SetupSalePage(v), nil)
	}
	if s.RuleID == nil {
		v.Missing = append(v.Missing, views.SetupLink{Path: links.SetupStep(tenant.RuleStep), Label: "Set your earning rule"})
	}
	if s.CustomerID == nil {
		v.Missing = append(v.Missing, views.SetupLink{Path: links.SetupStep(tenant.CustomerStep), Label: "Add your first customer"})
	}
	if len(v.Missing) > 0 {
		return h.Render(c, status, views.SetupSalePage(v), nil)
	}
	buyer, err := h.Customers.Find(ctx, by, *s.CustomerID)
	if err != nil {
		return err
	}
	rule, err := h.ownRule(c, s)
	if err != nil {
		return err
	}
	v.Customer = &views.SetupPerson{Name: format.CustomerName(buyer), Phone: buyer.Phone}
	v.Spend = panel.SpendField(form, by.Tenant.Currency)
	v.Spend.Echo = false
	v.Spend.Help = "Paid by " + buyer.FirstName
	v.Example = saleExample(form, *rule, by.Tenant.Currency)
	v.Problem = form.Problem()
	v.CurrencyNote = "After this sale, your currency (" + by.Tenant.Currency + ") can't be changed."
	return h.Render(c, status, views.SetupSalePage(v), nil)
}

// saleExample is what the sale on the form will earn.
func saleExample(form *forms.Form, rule transaction.Type, currency string) views.SetupExample {
	v := views.SetupExample{Title: "This sale earns", Note: panel.EnterAmount(currency)}
	draft := forms.Query(maps.Clone(form.Values))
	spend := draft.Amount("spend_amount_cents", currency)
	if spend == nil {
		return v
	}
	e := panel.EarnsView(format.AwardOf(rule, *spend, currency))
	v.Figure, v.Note = e.Text, e.Note
	if e.Text != "" {
		v.Figure = "+" + e.Text
	}
	return v
}

func (h *Handlers) previewSetupSale(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	s, err := h.setupOf(c)
	if err != nil {
		return err
	}
	if !page.IsFragment(c) {
		return h.setupSale(c, http.StatusOK, s, form)
	}
	rule, err := h.ownRule(c, s)
	if err != nil {
		return err
	}
	if rule == nil {
		return core.ErrNotFound
	}
	return h.Render(c, http.StatusOK, views.SetupExampleCard(saleExample(form, *rule, page.Actor(c).Tenant.Currency)), nil)
}

func (h *Handlers) saveSetupSale(c echo.Context) error {
	s, err := h.setupOf(c)
	if err != nil {
		return err
	}
	path := links.SetupStep(tenant.SaleStep)
	if s.SaleID != nil || s.RuleID == nil || s.CustomerID == nil { // recorded in another tab, or not possible yet
		return h.Redirect(c, path)
	}
	return page.Submit(h.Kit, c, page.Submission[transaction.Transaction]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (sale transaction.Transaction, err error) {
			spend := form.Amount("spend_amount_cents", by.Tenant.Currency)
			if spend != nil && by.Tenant.Confirms(*spend) {
				limit := format.Money(by.Tenant.ConfirmAboveCents, by.Tenant.Currency)
				return sale, core.Invalid(core.Fields{"spend_amount_cents": {{Rule: "max_setup_sale", Other: limit}}})
			}
			return h.Transactions.Record(ctx, by, transaction.New{
				CustomerID: new(s.CustomerID.String()), TransactionTypeID: s.RuleID, SpendAmountCents: spend, Source: transaction.Panel, Malformed: form.Malformed,
			})
		},
		Refused: func(status int, form *forms.Form) error { return h.setupSale(c, status, s, form) },
		Once:    true,
		To:      page.To[transaction.Transaction](path),
		Done:    func(transaction.Transaction) string { return "" },
	})
}
