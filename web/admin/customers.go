package admin

import (
	"net/http"
	"net/url"
	"regexp"
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
)

const customersPath = "/admin/customers"

func (a *Admin) customerRoutes() []route {
	return []route{
		{method: get, path: customersPath, least: core.Cashier, handle: a.listCustomers},
		{method: get, path: customersPath + "/new", least: core.Cashier, handle: a.newCustomer},
		{method: post, path: customersPath + "/new", least: core.Cashier, handle: a.addCustomer},
		{method: get, path: customersPath + "/:ulid", least: core.Cashier, handle: a.showCustomer},
		{method: get, path: customersPath + "/:ulid/edit", least: core.Manager, handle: a.customerToEdit},
		{method: post, path: customersPath + "/:ulid/edit", least: core.Manager, handle: a.editCustomer},
		{method: get, path: customersPath + "/:ulid/deactivate", least: core.Manager, handle: a.askDeactivateCustomer},
		{method: post, path: customersPath + "/:ulid/deactivate", least: core.Manager, handle: a.deactivateCustomer},
		{method: post, path: customersPath + "/:ulid/activate", least: core.Manager, handle: a.activateCustomer},
		{method: get, path: customersPath + "/:ulid/subscribe", least: core.Manager, handle: a.askSubscribeCustomer},
		{method: post, path: customersPath + "/:ulid/subscribe", least: core.Manager, handle: a.subscribeCustomer},
		{method: post, path: customersPath + "/:ulid/unsubscribe", least: core.Manager, handle: a.unsubscribeCustomer},
		{method: get, path: customersPath + "/:ulid/adjust", least: core.Manager, handle: a.askAdjustment},
		{method: post, path: customersPath + "/:ulid/adjust", least: core.Manager, handle: a.adjustBalance},
		{method: get, path: customersPath + "/:ulid/adjust/after", least: core.Manager, handle: a.previewAdjustment},
		{method: get, path: customersPath + "/:ulid/data", least: core.Manager, handle: a.downloadCustomerData, slow: true},
		{method: get, path: customersPath + "/:ulid/erase", least: core.Manager, handle: a.askEraseCustomer},
		{method: post, path: customersPath + "/:ulid/erase", least: core.Manager, handle: a.eraseCustomer},
	}
}

func customerPath(id core.ID) string { return customersPath + "/" + id.String() }

// customerName is a customer's name. One who was erased has none.
func customerName(c customer.Customer) string {
	if c.Erased {
		return "Erased customer"
	}
	return c.FirstName + " " + c.LastName
}

// customerStatus is a customer's status in a word.
func customerStatus(c customer.Customer) ui.Badge {
	switch {
	case c.Erased:
		return ui.Badge{Label: "Erased", Tone: ui.Neutral}
	case c.Status == customer.Inactive:
		return ui.Badge{Label: "Inactive", Tone: ui.Notice}
	}
	return ui.Badge{Label: "Active", Tone: ui.Good}
}

// listCustomers makes two round trips, for the page and for a fragment: the session, and the
// customers with how many there are. Three for a list of more than a page that was not
// searched for, and for the further pages of a search.
func (a *Admin) listCustomers(c echo.Context) error {
	ctx, by, q := c.Request().Context(), page.Actor(c), page.Query(c.QueryParams())
	filter := customerFilter(q)
	sort := customer.Newest
	if q.Filled("sort") != nil {
		sort = customer.Sort(q.Value("sort"))
	}
	list, count, err := a.Customers.BrowseAndCount(ctx, by, filter, sort, q.Position())
	status, err := q.Status(err)
	if err != nil {
		return err
	}
	v := views.CustomerList{
		Frame:    a.frame(c, "Customers", customersPath),
		Filtered: filter != customer.Filter{},
		CanEdit:  by.Role.Includes(core.Manager),
		CSV:      customerFile(c, "csv"), XLSX: customerFile(c, "xlsx"),
		Fragment: page.IsFragment(c),
		Search:   q.Field("search", "Search"), Status: q.Field("status", "Status"), Sort: q.Field("sort", "Order"),
	}
	if !v.Fragment {
		if v.Notices, err = a.planNotices(c, usage.Customers); err != nil {
			return err
		}
	}
	v.Search.Placeholder = "Name, phone or e-mail"
	v.Status.Options = q.Options("status",
		ui.Option{Label: "Everybody"}, ui.Option{Value: string(customer.Active), Label: "Active"}, ui.Option{Value: string(customer.Inactive), Label: "Inactive"})
	v.Sort.Options = q.Options("sort",
		ui.Option{Value: string(customer.Newest), Label: "Newest"}, ui.Option{Value: string(customer.ByName), Label: "Last name"})
	v.From, v.To = q.Field("created_from", "Created from"), q.Field("created_to", "Created to")
	v.From.Label, v.To.Label = "Created", "to"
	v.Problem = q.Problem()
	for _, r := range list.Items {
		v.Rows = append(v.Rows, customerRow(r, a.Now(), by.Tenant.TimeZone))
	}
	if status == http.StatusOK {
		shown := page.Count(count.N, "customer", "customers")
		if count.More {
			shown = "More than " + shown
		}
		if filter.Search != nil && sort == customer.ByName && len(list.Items) > 1 {
			shown += ", the newest first: what was searched for is not ordered by name"
		}
		v.Pager = page.Pager(list, c.Request().URL, shown, "#customers")
	}
	if filter.Search != nil {
		v.Wanted, v.AddPath = customerToBe(*filter.Search)
	}
	return a.Render(c, status, views.CustomerListPage(v), views.CustomerTable(v))
}

// customerFilter reads the filter of a list of customers.
func customerFilter(q *page.Form) customer.Filter {
	return customer.Filter{
		Search: q.Filled("search"), Status: q.Filled("status"), CreatedFrom: q.Date("created_from"), CreatedTo: q.Date("created_to"),
	}
}

// customerFile is the address of the same list as a file.
func customerFile(c echo.Context, extension string) string {
	return page.With(&url.URL{Path: customersPath + "/export." + extension, RawQuery: c.Request().URL.RawQuery}, "cursor", "")
}

func customerRow(r customer.Row, now time.Time, zone *time.Location) views.CustomerRow {
	row := views.CustomerRow{
		Path: customerPath(r.ID), Name: customerName(r.Customer), Phone: r.Phone,
		Points: page.Number(r.PointsBalance), Stamps: page.Number(r.StampsBalance), LastVisit: "None yet",
	}
	if r.Email != nil {
		row.Email = *r.Email
	}
	if r.LastVisit != nil {
		row.LastVisit = page.Ago(*r.LastVisit, now, zone)
	}
	if r.Status == customer.Inactive {
		status := customerStatus(r.Customer)
		row.Status = &status
	}
	return row
}

var phoneLike = regexp.MustCompile(`^[0-9+()/. \x{a0}-]+$`)

// customerToBe reads what was searched for in vain as somebody to add: what they are
// called by, and the form that begins with it.
func customerToBe(search string) (wanted, path string) {
	wanted = strings.Join(strings.Fields(search), " ")
	q := url.Values{}
	switch first, last, _ := strings.Cut(wanted, " "); {
	case strings.Contains(wanted, "@"):
		q.Set("email", wanted)
	case phoneLike.MatchString(wanted):
		q.Set("phone", wanted)
	default:
		q.Set("first_name", first)
		if last != "" {
			q.Set("last_name", last)
		}
	}
	return wanted, customersPath + "/new?" + q.Encode()
}

// newCustomer shows the form, with what its address begins it with.
func (a *Admin) newCustomer(c echo.Context) error {
	return a.customerForm(c, http.StatusOK, page.Query(c.QueryParams()))
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
		a.Flash(c, ui.Done, made.FirstName+" "+made.LastName+" is a customer now.")
	} else {
		a.Flash(c, ui.Warning, "There is a customer with this phone number or e-mail address already. Here they are, unchanged.")
	}
	return a.Redirect(c, customerPath(made.ID))
}

// toTill says that a customer is added for the sale that is being entered at the till.
const toTill = "till"

// customerForm shows the form of a customer to be.
func (a *Admin) customerForm(c echo.Context, status int, form *page.Form) error {
	v := views.CustomerForm{
		Frame:  a.frame(c, "Add a customer", customersPath, ui.Crumb{Label: "Customers", Path: customersPath}),
		Action: customersPath + "/new", Button: "Add customer", Cancel: customersPath,
	}
	if form.Value("to") == toTill {
		v.BackTo, v.Cancel = toTill, page.TillPath
	}
	customerFields(&v, form)
	return a.Render(c, status, views.CustomerFormPage(v), nil)
}

// customerFields fills the form of a customer.
func customerFields(v *views.CustomerForm, form *page.Form) {
	v.First, v.Last = form.Field("first_name", "First name"), form.Field("last_name", "Last name")
	v.Phone, v.Email = form.Field("phone", "Phone"), form.Field("email", "E-mail")
	v.Problem = form.Problem()
	v.Phone.Type, v.Phone.Help = "tel", "As they say it. It is how they are found at the till."
	v.Email.Type, v.Email.Optional = "email", true
	for _, field := range []*ui.Field{&v.First, &v.Last, &v.Phone, &v.Email} {
		field.Autocomplete = "off" // somebody else's than the browser knows
	}
	focusOn(&v.First, &v.Last, &v.Phone, &v.Email)
}

// focusOn puts the focus on the first field that is wrong, or on the first of all.
func focusOn(fields ...*ui.Field) {
	wrong := slices.IndexFunc(fields, func(f *ui.Field) bool { return len(f.Errors) > 0 })
	fields[max(wrong, 0)].Autofocus = true
}
