package customers

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	views "example.com/loyalty/views/admin/customers"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// newCustomer shows the form, prefilled from the query.
func (h *Handlers) newCustomer(c echo.Context) error {
	form := forms.Query(c.QueryParams())
	if number, bare := strings.CutPrefix(form.Value("phone"), " "); bare { // a plus that a link didn't escape
		form.Values.Set("phone", "+"+number)
	}
	return h.addForm(c, http.StatusOK, form)
}

// addForm shows the form or, until the business has a country, asks for that.
func (h *Handlers) addForm(c echo.Context, status int, form *forms.Form) error {
	frame := h.Frame(c, "Add customer", links.Customers, customersCrumb)
	if page.Actor(c).Tenant.Country == "" {
		return h.Render(c, status, views.CountryNeededPage(frame), nil)
	}
	return h.Render(c, status, views.AddPage(frame, form), nil)
}

func (h *Handlers) addCustomer(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	made, err := core.Result(h.Customers.Upsert(c.Request().Context(), page.Actor(c), customer.New{
		FirstName: form.Value("first_name"), LastName: form.Value("last_name"), Phone: form.Value("phone"), Email: form.Value("email"),
		Birthday: birthdayIn(form, page.Actor(c).Tenant),
	}, nil))
	if form.Refused(err) {
		return h.addForm(c, http.StatusUnprocessableEntity, form)
	}
	if err != nil {
		return err
	}
	if form.Value("to") == views.ToTill {
		return h.Redirect(c, links.TillCustomer(made.ID))
	}
	if made.Created {
		h.Flash(c, ui.Done, format.CustomerName(made.Customer)+" was added.")
	} else {
		h.Flash(c, ui.Warning, "Not added: "+format.CustomerName(made.Customer)+" already uses this phone number or e-mail address.")
	}
	return h.Redirect(c, links.Customer(made.ID))
}
