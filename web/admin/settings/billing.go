package settings

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	views "example.com/loyalty/views/admin/settings"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/invoice"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) billingRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Billing, route.Owners, h.showBilling),
		route.Post(links.Billing, route.Owners, h.editBillingDetails),
		route.Get(links.BillingInvoices+"/:id", route.Owners, h.downloadInvoice),
	}
}

func (h *Handlers) showBilling(c echo.Context) error { return h.billingPage(c, http.StatusOK, nil) }

// billingPage shows the plan, its usage, the invoices and the billing details. form is the details
// form if it was refused, else nil.
func (h *Handlers) billingPage(c echo.Context, status int, form *forms.Form) error {
	ctx, by := c.Request().Context(), page.Actor(c)
	account, err := h.Billing.Account(ctx, by)
	if err != nil {
		return err
	}
	uses, err := h.Usage.Uses(ctx, by)
	if err != nil {
		return err
	}
	list, err := h.Billing.ListOwn(ctx, by, forms.Position(c.QueryParams()))
	if err != nil {
		return err
	}
	details := account.Details
	if form == nil {
		form = forms.Blank(map[string]string{"name": details.Name, "address": details.Address, "tax_number": details.TaxNumber})
	}
	return h.Render(c, status, views.BillingPage(views.Billing{
		Settings: h.Settings(c, "Billing", links.Billing), Account: account, Uses: uses,
		Invoices: list.Items, Pager: page.Pager(list, c.Request().URL, "invoice", "invoices", ""), Form: form,
	}), nil)
}

func (h *Handlers) editBillingDetails(c echo.Context) error {
	return page.Submit(h.Kit, c, page.Submission[billing.Account]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (billing.Account, error) {
			name := form.Text("name")
			if form.Value("name") == by.Tenant.Name {
				name = nil // shown where no legal name is stored: it must follow the business's name
			}
			return h.Billing.EditDetails(ctx, by, billing.DetailsInput{Name: core.OrZero(name), Address: form.Value("address"), TaxNumber: form.Value("tax_number")})
		},
		Refused: func(status int, form *forms.Form) error { return h.billingPage(c, status, form) },
		To:      page.To[billing.Account](links.Billing),
		Done:    func(billing.Account) string { return "Billing details saved." },
	})
}

// downloadInvoice answers with the PDF. It is rendered completely first, so that a failure can
// still be answered with an error page.
func (h *Handlers) downloadInvoice(c echo.Context) error {
	id, err := panel.PathNumber(c)
	if err != nil {
		return err
	}
	found, err := h.Billing.FindOwn(c.Request().Context(), page.Actor(c), id)
	if err != nil {
		return err
	}
	return invoice.Download(c, found)
}
