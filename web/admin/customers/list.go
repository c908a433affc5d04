package customers

import (
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/usage"
	views "example.com/loyalty/views/admin/customers"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// customersCrumb leads from a page to the list.
var customersCrumb = ui.Crumb{Label: "Customers", Path: links.Customers}

func (h *Handlers) listCustomers(c echo.Context) error {
	ctx, by, q := c.Request().Context(), page.Actor(c), forms.Query(c.QueryParams())
	filter, sort := customerFilter(q), panel.SortOf(q, core.Newest)
	list, err := h.Customers.Browse(ctx, by, filter, sort, q.Position())
	status, err := q.Status(err)
	if err != nil {
		return err
	}
	v := views.CustomerList{
		Frame: h.Frame(c, "Customers", links.Customers), Filter: q, List: list.Items,
		Filtered: filter != customer.Filter{} || status != http.StatusOK,
		Pager:    page.Pager(list, c.Request().URL, "customer", "customers", "#customers"),
		Exports:  panel.ExportsOf(c, links.CustomersExport),
	}
	v.ByName, v.ByAge = listHeadings(c.Request().URL, filter, sort)
	if !page.IsFragment(c) {
		if v.Tags, err = h.Customers.Tags(ctx, by); err != nil {
			return err
		}
		if v.Notices, err = h.PlanNotices(c, usage.Customers); err != nil {
			return err
		}
	}
	return h.Render(c, status, views.CustomerListPage(v), views.CustomerPart(v))
}

// customerFilter reads the filters of the list and of its exports.
func customerFilter(q *forms.Form) customer.Filter {
	return customer.Filter{
		Search: q.Filled("search"), Status: q.Filled("status"), CreatedFrom: q.Date("created_from"), CreatedTo: q.Date("created_to"),
		Tag: q.Filled("tag"),
	}
}

// listHeadings sort the list. Search results and the customers of a tag are always newest first.
func listHeadings(list *url.URL, f customer.Filter, sort core.Sort) (byName, byAge ui.Heading) {
	byName, byAge = ui.Heading{Label: "Customer"}, ui.Heading{Label: "Added"}
	sortable := f.Search == nil && f.Tag == nil
	if sortable {
		byName.Path, byAge.Path = panel.SortedBy(list, customer.ByName), panel.SortedBy(list, core.Newest)
	}
	if sortable && sort == customer.ByName {
		byName.Sorted = "ascending"
	} else {
		byAge.Sorted = "descending"
	}
	return byName, byAge
}
