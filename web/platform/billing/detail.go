package billing

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/billing"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	views "example.com/loyalty/views/platform/billing"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/invoice"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

func (h *Handlers) findInvoice(c echo.Context) (billing.Invoice, error) {
	id, err := panel.PathNumber(c)
	if err != nil {
		return billing.Invoice{}, err
	}
	return h.Invoices.Find(c.Request().Context(), page.Actor(c), id)
}

func (h *Handlers) showInvoice(c echo.Context, i billing.Invoice) error {
	counts, err := h.Invoices.Counts(c.Request().Context(), page.Actor(c), billing.Filter{TenantID: new(int64(i.TenantID))})
	if err != nil {
		return err
	}
	v := views.InvoiceDetail{
		Frame:   h.Frame(c, views.InvoiceTitle(i), links.Invoices, ui.Crumb{Label: "Invoices", Path: links.Invoices}),
		Invoice: i, Host: h.Names.TenantHost(i.TenantSlug), Counts: counts,
	}
	v.Badge = new(panelviews.InvoiceStatus(i, v.Now))
	return h.Render(c, http.StatusOK, views.InvoicePage(v), nil)
}

// downloadInvoice answers with the PDF. A draft looks as if it were issued today.
func (h *Handlers) downloadInvoice(c echo.Context, i billing.Invoice) error {
	return invoice.Download(c, i)
}
