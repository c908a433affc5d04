package billing

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/billing"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/platform/billing"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) invoiceRoutes() []route.Route {
	list := []route.Route{
		route.Get(links.Invoices, route.SuperAdmins, h.listInvoices),
		route.Get(links.Invoices+"/:id", route.SuperAdmins, page.WithRecord(h.findInvoice, h.showInvoice)),
		route.Get(links.Invoices+"/:id/pdf", route.SuperAdmins, page.WithRecord(h.findInvoice, h.downloadInvoice)),
	}
	for _, a := range h.invoiceActions() {
		ask := func(c echo.Context) error { return h.confirmInvoiceAction(c, http.StatusOK, a, &forms.Form{}) }
		run := func(c echo.Context) error { return h.runInvoiceAction(c, a) }
		path := links.Invoices + "/:id/" + a.path
		list = append(list, route.Get(path, route.SuperAdmins, ask), route.Post(path, route.SuperAdmins, run))
	}
	return list
}

func (h *Handlers) listInvoices(c echo.Context) error {
	ctx, by, q := c.Request().Context(), page.Actor(c), forms.Query(c.QueryParams())
	filter := billing.Filter{
		TenantID: q.Integer("tenant"), Status: q.Filled("status"), From: q.Date("from"), To: q.Date("to"), Search: q.Filled("search"),
	}
	list, err := h.Invoices.List(ctx, by, filter, q.Position())
	status, err := q.Status(err)
	if err != nil {
		return err
	}
	v := views.InvoiceList{
		Frame: h.Frame(c, "Invoices", links.Invoices), Form: q, Asked: filter, First: panel.WithoutQuery(c.Request().URL, "cursor"), List: list.Items,
		Pager: page.Pager(list, c.Request().URL, "invoice", "invoices", "#invoices"),
	}
	if status == http.StatusOK {
		if v.Counts, err = h.Invoices.Counts(ctx, by, filter); err != nil {
			return err
		}
	}
	return h.Render(c, status, views.InvoiceListPage(v), views.InvoicePart(v))
}
