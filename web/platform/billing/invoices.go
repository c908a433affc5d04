package billing

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/billing"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	views "example.com/loyalty/views/platform/billing"
	"example.com/loyalty/views/ui"
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

var invoiceStatuses = []struct {
	status billing.Status
	label  string
}{{billing.Draft, "Draft"}, {billing.Issued, "Issued"}, {billing.Overdue, "Overdue"}, {billing.Paid, "Paid"}, {billing.Void, "Void"}}

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
		Frame:    h.Frame(c, "Invoices", links.Invoices),
		Search:   q.Field("search", ui.Field{Label: "Tenant or number"}),
		From:     q.Field("from", ui.Field{Label: "Period from"}),
		To:       q.Field("to", ui.Field{Label: "to"}),
		Filtered: filter != billing.Filter{} || status != http.StatusOK,
		Pager:    page.Pager(list, c.Request().URL, "invoice", "invoices", "#invoices"),
	}
	v.Search.Placeholder = v.Search.Label
	v.Problem = q.Problem()
	for _, name := range []string{"status", "tenant"} {
		if q.Filled(name) != nil {
			v.Hidden = append(v.Hidden, ui.Pair{Name: name, Value: q.Value(name)})
		}
	}
	if filter.TenantID != nil {
		v.Tenant = "one tenant"
	}
	now := h.Now()
	for _, i := range list.Items {
		v.Rows = append(v.Rows, invoiceRow(i, now))
		if filter.TenantID != nil {
			v.Tenant = i.TenantName
		}
	}
	var counts []billing.Count
	if status == http.StatusOK {
		if counts, err = h.Invoices.Counts(ctx, by, filter); err != nil {
			return err
		}
	}
	v.Tabs, v.Totals = invoiceTabs(c, counts, q.Value("status")), invoiceTotals(counts)
	return h.Render(c, status, views.InvoiceListPage(v), views.InvoicePart(v))
}

// invoiceTabs filter by status and keep the other filters.
func invoiceTabs(c echo.Context, counts []billing.Count, shown string) []panelviews.Choice {
	byStatus := map[billing.Status]int64{}
	all := int64(0)
	for _, n := range counts {
		byStatus[n.Status] += n.Invoices
		all += n.Invoices
	}
	first := panel.WithoutQuery(c.Request().URL, "cursor")
	path := func(status string) string { return page.With(first, "status", status) }
	tabs := []panelviews.Choice{{Label: "All", Count: format.Number(all), Path: path(""), Current: shown == ""}}
	for _, s := range invoiceStatuses {
		tabs = append(tabs, panelviews.Choice{Label: s.label, Count: format.Number(byStatus[s.status]), Path: path(string(s.status)), Current: shown == string(s.status)})
	}
	return tabs
}

// invoiceTotals are the unpaid, overdue and paid amounts in each currency.
func invoiceTotals(counts []billing.Count) []views.InvoiceTotal {
	sum := func(label string, statuses ...billing.Status) views.InvoiceTotal {
		cents := map[string]int64{}
		for _, n := range counts {
			if slices.Contains(statuses, n.Status) {
				cents[n.Currency] += n.TotalCents
			}
		}
		t := views.InvoiceTotal{Label: label}
		for _, code := range slices.Sorted(maps.Keys(cents)) {
			t.Amounts = append(t.Amounts, format.Money(cents[code], code))
		}
		if len(t.Amounts) == 0 {
			t.Amounts = []string{"None"}
		} else {
			t.Overdue = statuses[0] == billing.Overdue
		}
		return t
	}
	return []views.InvoiceTotal{sum("Unpaid", billing.Issued, billing.Overdue), sum("Overdue", billing.Overdue), sum("Paid", billing.Paid)}
}

func invoiceRow(i billing.Invoice, now time.Time) views.InvoiceRow {
	row := views.InvoiceRow{
		ID: strconv.FormatInt(i.ID, 10), Name: i.Name(), Path: links.Invoice(i.ID), Tenant: i.TenantName, TenantPath: links.Tenant(i.TenantID), Period: format.Days(i.PeriodStart, i.PeriodEnd),
		Total: format.Money(i.TotalCents, i.Currency), Status: panel.InvoiceBadge(i, now), Void: i.Status == billing.Void,
	}
	if i.IssuedAt != nil && i.DueAt != nil {
		row.Issued, row.Due = format.Date(*i.IssuedAt, i.Zone()), format.Date(*i.DueAt, i.Zone())
	}
	return row
}
