package admin

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/web/page"
)

// pickCustomer lets the person search for a customer and returns to v.Path with the customer's ULID.
// Before a search it offers the newest customers.
func (a *Admin) pickCustomer(c echo.Context, v views.CustomerPicker) error {
	q := page.Query(c.QueryParams())
	v.Heading = "Newest customers"
	v.Search = q.Field("search", "Name, phone or e-mail")
	v.Search.Placeholder = v.Search.Label
	f := customer.Filter{Search: q.Filled("search"), Status: new(string(customer.Active))}
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
		ID: found.ID.String(), Name: customerName(found), Phone: found.Phone, Balance: page.Units(found.PointsBalance, "points"),
		Path: path,
	}
	if found.StampsBalance != 0 {
		f.Balance += ", " + page.Units(found.StampsBalance, "stamps")
	}
	return f
}
