package admin

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/web/page"
)

// pickCustomer looks for the customer whom something is done for, while it is typed, and leads
// back to the page that asked, with their ULID. Before that it offers the newest ones.
// Two round trips: the session, the customers.
func (a *Admin) pickCustomer(c echo.Context, v views.CustomerPicker) error {
	q := page.Query(c.QueryParams())
	v.Search = q.Field("search", "Name, phone or e-mail")
	v.Search.Placeholder = "Name, phone or e-mail"
	active := string(customer.Active)
	f := customer.Filter{Search: q.Filled("search"), Status: &active}
	list, err := a.Customers.List(c.Request().Context(), page.Actor(c), f, core.Page{Size: 8})
	if err != nil {
		return err
	}
	for _, found := range list.Items {
		v.Found = append(v.Found, foundCustomer(found, page.WithQuery(v.Path, "customer_ulid", found.ID.String())))
	}
	return a.Render(c, http.StatusOK, views.CustomerPickerPage(v), views.FoundCustomers(v))
}

func foundCustomer(found customer.Customer, path string) views.Found {
	f := views.Found{
		ID: found.ID.String(), Name: customerName(found), Phone: found.Phone, Balance: amount(found.PointsBalance, "points"),
		Path: path,
	}
	if found.StampsBalance != 0 {
		f.Balance += ", " + amount(found.StampsBalance, "stamps")
	}
	return f
}
