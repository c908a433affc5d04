package admin

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

// editableCustomer returns the customer in the path, or customer.ErrErased.
func (a *Admin) editableCustomer(c echo.Context) (customer.Customer, error) {
	found, err := a.customerOf(c)
	if err == nil && found.Erased {
		err = customer.ErrErased
	}
	return found, err
}

func (a *Admin) customerToEdit(c echo.Context) error {
	found, err := a.editableCustomer(c)
	if err != nil {
		return err
	}
	form := page.Blank(map[string]string{
		"first_name": found.FirstName, "last_name": found.LastName, "phone": found.Phone, "email": orZero(found.Email),
	})
	if page.IsFragment(c) {
		form.Values.Set("inline", "1")
	}
	return a.customerEditForm(c, http.StatusOK, found, form)
}

// customerEditForm shows the form on its own page or, to htmx, in place of the customer's card.
func (a *Admin) customerEditForm(c echo.Context, status int, old customer.Customer, form *page.Form) error {
	path := customerPath(old.ID)
	v := views.CustomerForm{Frame: a.customerFrame(c, old, "Edit customer"), Action: path + "/edit", Began: form.Original(), Button: "Save", Cancel: path, Inline: form.Checked("inline")}
	v.CustomerFields, v.Problem = customerFields(form), form.Problem()
	return a.Render(c, status, views.CustomerEditPage(v), views.CustomerEditCard(v))
}

func (a *Admin) editCustomer(c echo.Context) error {
	old, err := a.editableCustomer(c)
	if err != nil {
		return err
	}
	return page.Submit(a.Kit, c, page.Submission[customer.Customer]{
		Run: func(ctx context.Context, by core.Actor, form *page.Form) (customer.Customer, error) {
			return a.Customers.Edit(ctx, by, old.ID, customer.Edit{
				FirstName: ifChanged(form, form.Text("first_name"), "first_name"), LastName: ifChanged(form, form.Text("last_name"), "last_name"),
				Phone: ifChanged(form, form.Text("phone"), "phone"), Email: ifChanged(form, form.Text("email"), "email"),
			})
		},
		Refused: func(status int, form *page.Form) error { return a.customerEditForm(c, status, old, form) },
		To:      page.To[customer.Customer](customerPath(old.ID)),
		Done: func(edited customer.Customer) string {
			words := page.CustomerName(edited) + " was saved."
			if edited.LinkVersion != old.LinkVersion {
				words += " With the new contact details, the card link was replaced, too."
			}
			return words
		},
		Undo: func(edited customer.Customer) *ui.Undo {
			if edited.LinkVersion == old.LinkVersion {
				return nil
			}
			return offerLink(edited)
		},
	})
}

// changeCustomer returns the handler of a button that changes the customer in the path. message
// follows the customer's name on the next page, with a button that posts to the path of undo, if there is one.
func (a *Admin) changeCustomer(change func(context.Context, core.Actor, core.ID) (customer.Customer, error), message, undo string) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, err := pathID(c)
		if err != nil {
			return err
		}
		changed, err := change(c.Request().Context(), page.Actor(c), id)
		if err == nil && changed.Erased {
			err = customer.ErrErased
		}
		if err != nil {
			return err
		}
		var back *ui.Undo
		if undo != "" {
			back = &ui.Undo{Path: customerPath(id) + undo}
		}
		a.FlashUndo(c, ui.Done, page.CustomerName(changed)+message, back)
		return a.Redirect(c, customerPath(id))
	}
}

func (a *Admin) activateCustomer(ctx context.Context, by core.Actor, id core.ID) (customer.Customer, error) {
	return a.Customers.Edit(ctx, by, id, customer.Edit{Status: core.Set(string(customer.Active))})
}

func (a *Admin) deactivateCustomer(ctx context.Context, by core.Actor, id core.ID) (customer.Customer, error) {
	return a.Customers.Edit(ctx, by, id, customer.Edit{Status: core.Set(string(customer.Inactive))})
}

func (a *Admin) askDeactivateCustomer(c echo.Context) error {
	found, err := a.editableCustomer(c)
	if err != nil {
		return err
	}
	path := customerPath(found.ID)
	return a.confirm(c, http.StatusOK, views.Confirm{
		Frame: a.customerFrame(c, found, "Deactivate "+page.CustomerName(found)+"?"),
		Confirm: ui.Confirm{
			Action: path + "/deactivate", Button: "Deactivate customer", Danger: true, Cancel: path,
			Words: []string{"They can't earn or redeem and get no new vouchers until you activate them again. Their balance, history and vouchers are kept."},
		},
	})
}

// askSubscribeCustomer asks for confirmation: most customers unsubscribed themselves.
func (a *Admin) askSubscribeCustomer(c echo.Context) error {
	found, err := a.editableCustomer(c)
	if err != nil {
		return err
	}
	path, name := customerPath(found.ID), page.CustomerName(found)
	v := views.Confirm{
		Frame: a.customerFrame(c, found, "Subscribe "+name+" to e-mails?"),
		Confirm: ui.Confirm{
			Action: path + "/subscribe", Button: "Subscribe customer", Cancel: path,
			Words: []string{"They'll get coupon e-mails again. Do this only with their consent."},
		},
	}
	if found.UnsubscribedAt == nil {
		v.Button, v.Words, v.Leave = "", nil, "View customer"
		v.Problem = &ui.Problem{Sentence: name + " is already subscribed."}
	}
	return a.confirm(c, http.StatusOK, v)
}
