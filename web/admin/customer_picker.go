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
// Before a search it suggests customers who were here last.
func (a *Admin) pickCustomer(c echo.Context, v views.CustomerPicker, suggest customer.Suggestion) error {
	ctx, by, q := c.Request().Context(), page.Actor(c), page.Query(c.QueryParams())
	v.Search = q.Field("search", "Name, phone or e-mail")
	v.Search.Placeholder, v.Search.Autofocus = v.Search.Label, true
	v.Heading, v.Nothing = "Here last", "No recent sales. Search for the customer."
	if suggest.CanRedeem {
		v.Heading, v.Nothing = "Here last, with enough for a reward", "No recent customer has enough for a reward. Search for the customer."
	}
	const size = 8
	if q.Filled("search") == nil {
		recent, err := a.Customers.Recent(ctx, by, suggest, size)
		if err != nil {
			return err
		}
		for _, r := range recent {
			v.Found = append(v.Found, foundCustomer(r.Customer, page.WithQuery(v.Path, "customer_ulid", r.ID.String())))
		}
	} else {
		f := customer.Filter{Search: q.Filled("search"), Status: new(string(customer.Active))}
		list, err := a.Customers.List(ctx, by, f, core.Page{Size: size})
		if err != nil {
			return err
		}
		for _, found := range list.Items {
			v.Found = append(v.Found, foundCustomer(found, page.WithQuery(v.Path, "customer_ulid", found.ID.String())))
		}
	}
	// Enter takes the only match: the submitted form, not each letter typed.
	if len(v.Found) == 1 && q.Filled("search") != nil && q.Value("enter") != "" {
		return a.Redirect(c, v.Found[0].Path)
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
