package customers

import (
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/usage"
	views "example.com/loyalty/views/admin/customers"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) customerRoutes() []route.Route {
	const one = links.Customers + "/:ulid"
	return []route.Route{
		route.Get(links.Customers, route.Cashiers, h.listCustomers),
		route.Get(links.Customers+"/new", route.Cashiers, h.newCustomer),
		route.Post(links.Customers+"/new", route.Cashiers, h.addCustomer),
		route.Get(one, route.Cashiers, h.showCustomer),
		route.Get(one+"/edit", route.Managers, h.customerToEdit),
		route.Post(one+"/edit", route.Managers, h.editCustomer),
		route.Get(one+"/deactivate", route.Managers, h.askDeactivateCustomer),
		route.Post(one+"/deactivate", route.Managers, h.changeCustomer(h.deactivateCustomer, " was deactivated.", "/activate")),
		route.Post(one+"/activate", route.Managers, h.changeCustomer(h.activateCustomer, " is active again.", "/deactivate")),
		route.Get(one+"/subscribe", route.Managers, h.askSubscribeCustomer),
		route.Post(one+"/subscribe", route.Managers, h.changeCustomer(h.Customers.Subscribe, " gets coupon e-mails again.", "")),
		route.Post(one+"/unsubscribe", route.Managers, h.changeCustomer(h.Customers.Unsubscribe, " gets no more coupon e-mails. Their vouchers stay valid.", "")),
		route.Get(one+"/card-link", route.Cashiers, h.askReplaceLink),
		route.Post(one+"/card-link", route.Cashiers, h.replaceLink),
		route.Post(one+"/card-link/mail", route.Cashiers, h.mailLink),
		route.Get(one+"/adjust", route.Managers, h.askAdjustment),
		route.Post(one+"/adjust", route.Managers, h.adjustBalance),
		route.Get(one+"/adjust/after", route.Managers, h.previewAdjustment),
		route.Get(one+"/data", route.Managers, h.downloadCustomerData).AsFile(),
		route.Get(one+"/erase", route.Managers, h.askEraseCustomer),
		route.Post(one+"/erase", route.Managers, h.eraseCustomer),
	}
}

func (h *Handlers) listCustomers(c echo.Context) error {
	ctx, by, q := c.Request().Context(), page.Actor(c), forms.Query(c.QueryParams())
	filter := customerFilter(q)
	sort := panel.SortOf(q, core.Newest)
	list, err := h.Customers.Browse(ctx, by, filter, sort, q.Position())
	status, err := q.Status(err)
	if err != nil {
		return err
	}
	v := views.CustomerList{
		Frame:    h.Frame(c, "Customers", links.Customers),
		Filtered: filter != customer.Filter{} || status != http.StatusOK,
		CanEdit:  by.Role.Includes(core.Manager),
		Exports:  panel.ExportsOf(c, links.CustomersExport),
		Search:   q.Field("search", ui.Field{Label: "Search"}), Status: q.Field("status", ui.Field{Label: "Status"}),
	}
	var tags []string
	if !page.IsFragment(c) {
		if tags, err = h.Customers.Tags(ctx, by); err != nil {
			return err
		}
		if v.Notices, err = h.PlanNotices(c, usage.Customers); err != nil {
			return err
		}
	}
	v.Search.Placeholder = "Name, phone or e-mail"
	v.Status.Options = q.Options("status",
		ui.Option{Label: "All customers"}, ui.Option{Value: string(customer.Active), Label: "Active"}, ui.Option{Value: string(customer.Inactive), Label: "Inactive"})
	v.ByName, v.ByAge = ui.Heading{Label: "Customer"}, ui.Heading{Label: "Added"}
	switch {
	case filter.Search != nil || filter.Tag != nil:
		v.ByAge.Sorted = "descending"
	case sort == customer.ByName:
		v.Sort, v.ByName.Sorted = string(sort), "ascending"
	default:
		v.ByAge.Sorted = "descending"
	}
	if filter.Search == nil && filter.Tag == nil {
		v.ByName.Path, v.ByAge.Path = panel.SortedBy(c.Request().URL, customer.ByName), panel.SortedBy(c.Request().URL, core.Newest)
	}
	v.Tag = q.Field("tag", ui.Field{Label: "Tag"})
	v.Tag.Options = q.Options("tag", tagOptions(tags, q.Value("tag"))...)
	v.From, v.To = q.Field("created_from", ui.Field{Label: "Created from"}), q.Field("created_to", ui.Field{Label: "Created to"})
	v.From.Label, v.To.Label = "Added", "to"
	v.Problem = q.Problem()
	for _, r := range list.Items {
		v.Rows = append(v.Rows, customerRow(r, q.Value("search"), h.Now(), by.Tenant.TimeZone))
	}
	v.Pager = page.Pager(list, c.Request().URL, "customer", "customers", "#customers")
	if sort == customer.ByName && len(list.Items) > 1 {
		switch {
		case filter.Search != nil:
			v.Pager.Shown += ". Search results show newest first."
		case filter.Tag != nil:
			v.Pager.Shown += ". Customers of a tag show newest first."
		}
	}
	if filter.Search != nil {
		v.Searched, v.AddPath = page.NewCustomerFrom(*filter.Search)
	}
	return h.Render(c, status, views.CustomerListPage(v), views.CustomerPart(v))
}

// tagOptions are the tags in use, and the selected one.
func tagOptions(tags []string, selected string) []ui.Option {
	options := []ui.Option{{Label: "Any tag"}}
	for _, tag := range tags {
		if core.Fold(tag) == core.Fold(selected) {
			tag, selected = selected, ""
		}
		options = append(options, ui.Option{Value: tag, Label: tag})
	}
	if selected != "" {
		options = append(options, ui.Option{Value: selected, Label: selected})
	}
	return options
}

// customerFilter reads the filters of the list and of its exports.
func customerFilter(q *forms.Form) customer.Filter {
	return customer.Filter{
		Search: q.Filled("search"), Status: q.Filled("status"), CreatedFrom: q.Date("created_from"), CreatedTo: q.Date("created_to"),
		Tag: q.Filled("tag"),
	}
}

func customerRow(r customer.Row, search string, now time.Time, zone *time.Location) views.CustomerRow {
	name := format.CustomerName(r.Customer)
	row := views.CustomerRow{
		Path: links.Customer(r.ID), Label: name, Name: mark(name, search), Phone: mark(r.Phone, search),
		Email: mark(core.OrZero(r.Email), search), Points: format.Number(r.PointsBalance), Stamps: format.Number(r.StampsBalance), LastVisit: "Never",
	}
	if r.LastVisit != nil {
		row.LastVisit = format.Ago(*r.LastVisit, now, zone)
	}
	if r.Status == customer.Inactive {
		row.Status = new(panelviews.CustomerStatus(r.Customer))
	}
	row.Tags, row.Added = r.Tags, format.Date(r.CreatedAt, zone)
	return row
}

// newCustomer shows the form, prefilled from the query.
func (h *Handlers) newCustomer(c echo.Context) error {
	form := forms.Query(c.QueryParams())
	if number, bare := strings.CutPrefix(form.Value("phone"), " "); bare { // a plus that a link didn't escape
		form.Values.Set("phone", "+"+number)
	}
	return h.customerForm(c, http.StatusOK, form)
}

func (h *Handlers) addCustomer(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	made, err := h.Customers.Upsert(c.Request().Context(), page.Actor(c), customer.New{
		FirstName: form.Text("first_name"), LastName: form.Text("last_name"), Phone: form.Text("phone"), Email: form.Text("email"),
	})
	if form.Refused(err) {
		return h.customerForm(c, http.StatusUnprocessableEntity, form)
	}
	if err != nil {
		return err
	}
	if form.Value("to") == toTill {
		return h.Redirect(c, page.TillPath+"/customers/"+made.ID.String())
	}
	if made.Created {
		h.Flash(c, ui.Done, format.CustomerName(made.Customer)+" was added.")
	} else {
		h.Flash(c, ui.Warning, "Not added: "+format.CustomerName(made.Customer)+" already uses this phone number or e-mail address.")
	}
	return h.Redirect(c, links.Customer(made.ID))
}

// toTill is the "to" field of the form when it was opened from the till. The till continues its sale
// with the new customer.
const toTill = "till"

func (h *Handlers) customerForm(c echo.Context, status int, form *forms.Form) error {
	v := views.CustomerForm{
		Frame:  h.Frame(c, "Add customer", links.Customers, ui.Crumb{Label: "Customers", Path: links.Customers}),
		Action: links.Customers + "/new", Button: "Add customer", Cancel: links.Customers,
	}
	if page.Actor(c).Tenant.Country == "" {
		return h.askCountry(c, status, v.Frame)
	}
	if form.Value("to") == toTill {
		v.BackTo, v.Cancel = toTill, page.TillPath
	}
	v.CustomerFields, v.Problem = panel.CustomerFields(form), form.Problem()
	return h.Render(c, status, views.CustomerFormPage(v), nil)
}

// askCountry is shown in place of a form that adds customers, until the business has a country. Only
// owners can choose it.
func (h *Handlers) askCountry(c echo.Context, status int, f panelviews.Frame) error {
	path := ""
	if page.Actor(c).Role.Includes(core.Owner) {
		path = links.Business + "#field-country"
	}
	return h.Render(c, status, views.CountryNeededPage(f, path), nil)
}
