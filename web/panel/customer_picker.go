package panel

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	views "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// PickCustomer lets the person search for a customer and returns to v.Path with the customer's ULID.
// Before a search it suggests customers who were here last.
func (b *Business) PickCustomer(c echo.Context, v views.CustomerPicker, suggest customer.Suggestion) error {
	ctx, by, q := c.Request().Context(), page.Actor(c), forms.Query(c.QueryParams())
	v.Search = q.Field("search", ui.Field{Label: "Name, phone or e-mail"})
	v.Search.Placeholder, v.Search.Autofocus = v.Search.Label, true
	found, err := b.SearchedOrSuggested(ctx, by, q, &v, suggest)
	if err != nil {
		return err
	}
	v.Found = found
	// Enter takes the only match: the submitted form, not each letter typed.
	if len(found) == 1 && q.Filled("search") != nil && q.Value("enter") != "" {
		return b.Redirect(c, v.PathTo(found[0]))
	}
	return b.Render(c, http.StatusOK, views.CustomerPickerPage(v), views.FoundCustomers(v))
}

// SearchedOrSuggested returns the customers of a picker and sets its heading: those who match the search, else
// those who were here last, and before the first sale the newest.
func (b *Business) SearchedOrSuggested(
	ctx context.Context, by core.Actor, q *forms.Form, v *views.CustomerPicker, suggest customer.Suggestion,
) (found []customer.Customer, err error) {
	const size = 8
	search := q.Filled("search")
	if search == nil {
		recent, err := b.Customers.Recent(ctx, by, suggest, size)
		if err != nil {
			return nil, err
		}
		for _, r := range recent {
			found = append(found, r.Customer)
		}
		v.Heading = "Here last"
		if suggest.CanRedeem {
			v.Heading, v.Nothing = "Here last, with enough for a reward", "No recent customer has enough for a reward. Search for the customer."
		}
		if len(found) > 0 || suggest.CanRedeem {
			return found, nil
		}
		v.Heading = "Newest customers"
	}
	filter := customer.Filter{Search: search}
	if search == nil {
		filter.Status = new(string(customer.Active))
	}
	list, err := b.Customers.List(ctx, by, filter, core.Page{Size: size})
	return slices.DeleteFunc(list.Items, func(c customer.Customer) bool { return c.Erased }), err
}
