package admin

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/usage"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

const customersPath = "/admin/customers"

func (a *Admin) customerRoutes() []route.Route {
	const one = customersPath + "/:ulid"
	return []route.Route{
		route.Get(customersPath, route.Cashiers, a.listCustomers),
		route.Get(customersPath+"/new", route.Cashiers, a.newCustomer),
		route.Post(customersPath+"/new", route.Cashiers, a.addCustomer),
		route.Get(one, route.Cashiers, a.showCustomer),
		route.Get(one+"/edit", route.Managers, a.customerToEdit),
		route.Post(one+"/edit", route.Managers, a.editCustomer),
		route.Get(one+"/deactivate", route.Managers, a.askDeactivateCustomer),
		route.Post(one+"/deactivate", route.Managers, a.changeCustomer(a.deactivateCustomer, " was deactivated.", "/activate")),
		route.Post(one+"/activate", route.Managers, a.changeCustomer(a.activateCustomer, " is active again.", "/deactivate")),
		route.Get(one+"/subscribe", route.Managers, a.askSubscribeCustomer),
		route.Post(one+"/subscribe", route.Managers, a.changeCustomer(a.Customers.Subscribe, " gets coupon e-mails again.", "")),
		route.Post(one+"/unsubscribe", route.Managers, a.changeCustomer(a.Customers.Unsubscribe, " gets no more coupon e-mails. Their vouchers stay valid.", "")),
		route.Get(one+"/card-link", route.Cashiers, a.askReplaceLink),
		route.Post(one+"/card-link", route.Cashiers, a.replaceLink),
		route.Post(one+"/card-link/mail", route.Cashiers, a.mailLink),
		route.Get(one+"/adjust", route.Managers, a.askAdjustment),
		route.Post(one+"/adjust", route.Managers, a.adjustBalance),
		route.Get(one+"/adjust/after", route.Managers, a.previewAdjustment),
		route.Get(one+"/data", route.Managers, a.downloadCustomerData).AsFile(),
		route.Get(one+"/erase", route.Managers, a.askEraseCustomer),
		route.Post(one+"/erase", route.Managers, a.eraseCustomer),
	}
}

func customerPath(id core.ID) string { return customersPath + "/" + id.String() }

func customerStatus(c customer.Customer) ui.Badge {
	switch {
	case c.Erased:
		return ui.Badge{Label: "Erased", Tone: ui.Neutral}
	case c.Status == customer.Inactive:
		return ui.Badge{Label: "Inactive", Tone: ui.Notice}
	}
	return ui.Badge{Label: "Active", Tone: ui.Good}
}

func (a *Admin) listCustomers(c echo.Context) error {
	ctx, by, q := c.Request().Context(), page.Actor(c), page.Query(c.QueryParams())
	filter := customerFilter(q)
	sort := sortOf(q, core.Newest)
	list, err := a.Customers.Browse(ctx, by, filter, sort, q.Position())
	status, err := q.Status(err)
	if err != nil {
		return err
	}
	v := views.CustomerList{
		Frame:    a.frame(c, "Customers", customersPath),
		Filtered: filter != customer.Filter{} || status != http.StatusOK,
		CanEdit:  by.Role.Includes(core.Manager),
		Exports:  exportsOf(c, customersExportPath),
		Search:   q.Field("search", "Search"), Status: q.Field("status", "Status"),
	}
	var tags []string
	if !page.IsFragment(c) {
		if tags, err = a.Customers.Tags(ctx, by); err != nil {
			return err
		}
		if v.Notices, err = a.planNotices(c, usage.Customers); err != nil {
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
		v.ByName.Path, v.ByAge.Path = sortedBy(c.Request().URL, customer.ByName), sortedBy(c.Request().URL, core.Newest)
	}
	v.Tag = q.Field("tag", "Tag")
	v.Tag.Options = q.Options("tag", tagOptions(tags, q.Value("tag"))...)
	v.From, v.To = q.Field("created_from", "Created from"), q.Field("created_to", "Created to")
	v.From.Label, v.To.Label = "Added", "to"
	v.Problem = q.Problem()
	for _, r := range list.Items {
		v.Rows = append(v.Rows, customerRow(r, q.Value("search"), a.Now(), by.Tenant.TimeZone))
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
	return a.Render(c, status, views.CustomerListPage(v), views.CustomerPart(v))
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
func customerFilter(q *page.Form) customer.Filter {
	return customer.Filter{
		Search: q.Filled("search"), Status: q.Filled("status"), CreatedFrom: q.Date("created_from"), CreatedTo: q.Date("created_to"),
		Tag: q.Filled("tag"),
	}
}

func customerRow(r customer.Row, search string, now time.Time, zone *time.Location) views.CustomerRow {
	name := page.CustomerName(r.Customer)
	row := views.CustomerRow{
		Path: customerPath(r.ID), Label: name, Name: mark(name, search), Phone: mark(r.Phone, search),
		Email: mark(orZero(r.Email), search), Points: page.Number(r.PointsBalance), Stamps: page.Number(r.StampsBalance), LastVisit: "Never",
	}
	if r.LastVisit != nil {
		row.LastVisit = page.Ago(*r.LastVisit, now, zone)
	}
	if r.Status == customer.Inactive {
		row.Status = new(customerStatus(r.Customer))
	}
	row.Tags, row.Added = r.Tags, page.Date(r.CreatedAt, zone)
	return row
}

// newCustomer shows the form, prefilled from the query.
func (a *Admin) newCustomer(c echo.Context) error {
	form := page.Query(c.QueryParams())
	if number, bare := strings.CutPrefix(form.Value("phone"), " "); bare { // a plus that a link didn't escape
		form.Values.Set("phone", "+"+number)
	}
	return a.customerForm(c, http.StatusOK, form)
}

func (a *Admin) addCustomer(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	made, err := a.Customers.Upsert(c.Request().Context(), page.Actor(c), customer.New{
		FirstName: form.Text("first_name"), LastName: form.Text("last_name"), Phone: form.Text("phone"), Email: form.Text("email"),
	})
	if form.Refused(err) {
		return a.customerForm(c, http.StatusUnprocessableEntity, form)
	}
	if err != nil {
		return err
	}
	if form.Value("to") == toTill {
		return a.Redirect(c, page.TillPath+"/customers/"+made.ID.String())
	}
	if made.Created {
		a.Flash(c, ui.Done, page.CustomerName(made.Customer)+" was added.")
	} else {
		a.Flash(c, ui.Warning, "Not added: "+page.CustomerName(made.Customer)+" already uses this phone number or e-mail address.")
	}
	return a.Redirect(c, customerPath(made.ID))
}

// toTill is the "to" field of the form when it was opened from the till. The till continues its sale
// with the new customer.
const toTill = "till"

func (a *Admin) customerForm(c echo.Context, status int, form *page.Form) error {
	v := views.CustomerForm{
		Frame:  a.frame(c, "Add customer", customersPath, ui.Crumb{Label: "Customers", Path: customersPath}),
		Action: customersPath + "/new", Button: "Add customer", Cancel: customersPath,
	}
	if page.Actor(c).Tenant.Country == "" {
		return a.askCountry(c, status, v.Frame)
	}
	if form.Value("to") == toTill {
		v.BackTo, v.Cancel = toTill, page.TillPath
	}
	v.CustomerFields, v.Problem = customerFields(form), form.Problem()
	return a.Render(c, status, views.CustomerFormPage(v), nil)
}

// askCountry is shown in place of a form that adds customers, until the business has a country. Only
// owners can choose it.
func (a *Admin) askCountry(c echo.Context, status int, f views.Frame) error {
	path := ""
	if page.Actor(c).Role.Includes(core.Owner) {
		path = businessPath + "#field-country"
	}
	return a.Render(c, status, views.CountryNeededPage(f, path), nil)
}

// customerFields are the fields of a customer in a form.
func customerFields(form *page.Form) (v views.CustomerFields) {
	v.First, v.Last = form.Field("first_name", "First name"), form.Field("last_name", "Last name")
	v.Phone, v.Email = form.Field("phone", "Phone"), form.Field("email", "E-mail")
	v.Phone.Type, v.Phone.Help = "tel", "Used to find them at the till"
	v.Email.Type, v.Email.Optional = "email", true
	for _, field := range []*ui.Field{&v.First, &v.Last, &v.Phone, &v.Email} {
		field.Autocomplete = "off" // the browser knows the details of the person at the keyboard, not the customer's
	}
	focusFirst(&v.First, &v.Last, &v.Phone, &v.Email)
	return v
}

// focusFirst puts the focus on the first field with an error, or else on the first field.
func focusFirst(fields ...*ui.Field) {
	wrong := slices.IndexFunc(fields, func(f *ui.Field) bool { return len(f.Errors) > 0 })
	fields[max(wrong, 0)].Autofocus = true
}
