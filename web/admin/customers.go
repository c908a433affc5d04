package admin

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
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
	}
}

func (a *Admin) listCustomers(c echo.Context) error {
	by, q := page.Actor(c), page.Query(c.QueryParams())
	filter := customer.Filter{Search: q.Filled("search"), Status: q.Filled("status")}
	list, err := a.Customers.List(c.Request().Context(), by, filter, page.Position(c.QueryParams()))
	if err != nil {
		return err
	}
	v := views.CustomerList{
		Frame:    a.frame(c, "Customers", customersPath),
		Filtered: filter.Search != nil || filter.Status != nil,
		CanEdit:  by.Role.Includes(core.Manager),
		CSV:      exportPath(c.Request().URL, ".csv"), XLSX: exportPath(c.Request().URL, ".xlsx"),
		Pager: page.Pager(list, c.Request().URL, page.Count(int64(len(list.Items)), "customer", "customers"), "#customers"),
	}
	v.Search = q.Field("search", "Search")
	v.Search.Placeholder = "Name, phone or e-mail"
	v.Status = q.Field("status", "Status")
	v.Status.Options = q.Options("status", ui.Option{Label: "Everybody"}, ui.Option{Value: "active", Label: "Active"}, ui.Option{Value: "inactive", Label: "Inactive"})
	for _, customer := range list.Items {
		v.Rows = append(v.Rows, customerRow(customer))
	}
	return a.Render(c, http.StatusOK, views.CustomerListPage(v), views.CustomerTable(v))
}

func customerRow(c customer.Customer) views.CustomerRow {
	row := views.CustomerRow{
		Path: customerPath(c.ID), Name: c.FirstName + " " + c.LastName, Phone: c.Phone,
		Points: page.Number(c.PointsBalance), Stamps: page.Number(c.StampsBalance),
	}
	if c.Email != nil {
		row.Email = *c.Email
	}
	if c.Status == customer.Inactive {
		row.Status = &ui.Badge{Label: "Inactive", Tone: ui.Neutral}
	}
	return row
}

func customerPath(id core.ID) string { return customersPath + "/" + id.String() }

func (a *Admin) newCustomer(c echo.Context) error {
	return a.customerForm(c, http.StatusOK, &page.Form{})
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
	if made.Created {
		a.Flash(c, ui.Done, made.FirstName+" "+made.LastName+" is a customer now.")
	} else {
		a.Flash(c, ui.Warning, "There is a customer with this phone number or e-mail address already. Here they are, unchanged.")
	}
	return a.Redirect(c, customerPath(made.ID))
}

// customerForm shows the form of a customer to be.
func (a *Admin) customerForm(c echo.Context, status int, form *page.Form) error {
	v := views.CustomerForm{
		Frame:  a.frame(c, "Add a customer", customersPath, ui.Crumb{Label: "Customers", Path: customersPath}),
		Action: customersPath + "/new", Button: "Add customer", Cancel: customersPath,
		First: form.Field("first_name", "First name"), Last: form.Field("last_name", "Last name"),
		Phone: form.Field("phone", "Phone"), Email: form.Field("email", "E-mail"),
	}
	v.Problem = form.Problem()
	v.First.Autofocus = true
	v.Phone.Type, v.Phone.Help = "tel", "As they say it. It is how they are found at the till."
	v.Email.Type, v.Email.Optional = "email", true
	return a.Render(c, status, views.CustomerFormPage(v), nil)
}
