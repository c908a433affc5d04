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

// changeable is the customer of the path, or the refusal of one who was erased.
func (a *Admin) changeable(c echo.Context) (customer.Customer, error) {
	found, err := a.customerOf(c)
	if err == nil && found.Erased {
		err = customer.ErrErased
	}
	return found, err
}

func (a *Admin) customerToEdit(c echo.Context) error {
	found, err := a.changeable(c)
	if err != nil {
		return err
	}
	form := page.Blank(map[string]string{
		"first_name": found.FirstName, "last_name": found.LastName, "phone": found.Phone, "email": text(found.Email),
	})
	if page.IsFragment(c) {
		form.Values.Set("inline", "1")
	}
	return a.customerEditForm(c, http.StatusOK, found, form)
}

// customerEditForm shows the form on a page of its own or, to htmx, in the place of the
// customer's card.
func (a *Admin) customerEditForm(c echo.Context, status int, old customer.Customer, form *page.Form) error {
	path := customerPath(old.ID)
	v := views.CustomerForm{Frame: a.customerFrame(c, old, "Edit customer"), Action: path + "/edit", Began: form.Original(), Button: "Save", Cancel: path, Inline: form.Checked("inline")}
	customerFields(&v, form)
	return a.Render(c, status, views.CustomerEditPage(v), views.CustomerEditCard(v))
}

func (a *Admin) editCustomer(c echo.Context) error {
	old, err := a.changeable(c)
	if err != nil {
		return err
	}
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	edited, err := a.Customers.Edit(c.Request().Context(), page.Actor(c), old.ID, customer.Edit{
		FirstName: touched(form, form.Text("first_name"), "first_name"), LastName: touched(form, form.Text("last_name"), "last_name"),
		Phone: touched(form, form.Text("phone"), "phone"), Email: touched(form, form.Text("email"), "email"),
	})
	if form.Refused(err) {
		return a.customerEditForm(c, http.StatusUnprocessableEntity, old, form)
	}
	if err != nil {
		return err
	}
	a.Flash(c, ui.Done, customerName(edited)+" is saved.")
	return a.Redirect(c, customerPath(edited.ID))
}

func (a *Admin) askDeactivateCustomer(c echo.Context) error {
	found, err := a.changeable(c)
	if err != nil {
		return err
	}
	name, path := customerName(found), customerPath(found.ID)
	return a.confirm(c, http.StatusOK, views.Confirm{
		Frame: a.customerFrame(c, found, "Deactivate "+name+"?"),
		Confirm: ui.Confirm{
			Action: path + "/deactivate", Button: "Deactivate", Danger: true, Cancel: path,
			Words: []string{
				name + " earns and redeems nothing until they are active again, and is sent no new vouchers.",
				"Their balance, their history and the vouchers they have stay as they are.",
			},
		},
	})
}

func (a *Admin) deactivateCustomer(c echo.Context) error {
	return a.setCustomerStatus(c, customer.Inactive, " is inactive now: they earn and redeem nothing.")
}

func (a *Admin) activateCustomer(c echo.Context) error {
	return a.setCustomerStatus(c, customer.Active, " is active again.")
}

func (a *Admin) setCustomerStatus(c echo.Context, to customer.Status, words string) error {
	id, err := id(c)
	if err != nil {
		return err
	}
	edited, err := a.Customers.Edit(c.Request().Context(), page.Actor(c), id, customer.Edit{Status: core.Set(string(to))})
	if err != nil {
		return err
	}
	a.Flash(c, ui.Done, customerName(edited)+words)
	return a.Redirect(c, customerPath(id))
}
