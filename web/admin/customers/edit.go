package customers

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/importing"
	views "example.com/loyalty/views/admin/customers"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// editableCustomer returns the customer in the path, or customer.ErrErased.
func (h *Handlers) editableCustomer(c echo.Context) (customer.Customer, error) {
	found, err := h.customerOf(c)
	if err == nil && found.Erased {
		err = customer.ErrErased
	}
	return found, err
}

func (h *Handlers) customerToEdit(c echo.Context) error {
	found, err := h.editableCustomer(c)
	if err != nil {
		return err
	}
	form := forms.Blank(map[string]string{
		"first_name": found.FirstName, "last_name": found.LastName, "phone": found.Phone, "email": core.OrZero(found.Email),
		"birthday": string(core.OrZero(found.Birthday)),
	})
	if page.IsFragment(c) {
		form.Values.Set("inline", "1")
	}
	return h.editForm(c, http.StatusOK, found, form)
}

// editForm shows the form on its own page or, to htmx, in place of the customer's card.
func (h *Handlers) editForm(c echo.Context, status int, old customer.Customer, form *forms.Form) error {
	return h.Render(c, status, views.EditPage(h.customerFrame(c, old, "Edit customer"), old, form), views.EditCard(old, form, page.Actor(c).Tenant))
}

func (h *Handlers) editCustomer(c echo.Context) error {
	old, err := h.editableCustomer(c)
	if err != nil {
		return err
	}
	return page.Submit(h.Kit, c, page.Submission[customer.Customer]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (customer.Customer, error) {
			return h.Customers.Edit(ctx, by, old.ID, customer.Edit{
				FirstName: panel.IfChanged(form, form.Text("first_name"), "first_name"), LastName: panel.IfChanged(form, form.Text("last_name"), "last_name"),
				Birthday: panel.IfChanged(form, new(birthdayIn(form, by.Tenant)), "birthday"),
				Phone:    panel.IfChanged(form, form.Text("phone"), "phone"), Email: panel.IfChanged(form, form.Text("email"), "email"),
			})
		},
		Refused: func(status int, form *forms.Form) error { return h.editForm(c, status, old, form) },
		To:      page.To[customer.Customer](links.Customer(old.ID)),
		Done: func(edited customer.Customer) string {
			words := format.CustomerName(edited) + " was saved."
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

// birthdayIn returns the birthday of a form as core reads it; a text that is none, as it is.
func birthdayIn(form *forms.Form, t core.Tenant) string {
	text := form.Value("birthday")
	if b, ok := customer.ReadBirthday(text, importing.OrderOfCountry(t.Country) == importing.MonthFirst); ok {
		return string(b)
	}
	return text
}

// changeCustomer returns the handler of a button that changes the customer in the path. message
// follows the customer's name on the next page, with a button that posts to the path of undo, if there is one.
func (h *Handlers) changeCustomer(change func(context.Context, core.Actor, core.ID) (customer.Customer, error), message, undo string) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, err := panel.PathID(c)
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
			back = &ui.Undo{Path: links.Customer(id) + undo}
		}
		h.FlashUndo(c, ui.Done, format.CustomerName(changed)+message, back)
		return h.Redirect(c, links.Customer(id))
	}
}

func (h *Handlers) activateCustomer(ctx context.Context, by core.Actor, id core.ID) (customer.Customer, error) {
	return h.Customers.Edit(ctx, by, id, customer.Edit{Status: core.Set(string(customer.Active))})
}

func (h *Handlers) deactivateCustomer(ctx context.Context, by core.Actor, id core.ID) (customer.Customer, error) {
	return h.Customers.Edit(ctx, by, id, customer.Edit{Status: core.Set(string(customer.Inactive))})
}

func (h *Handlers) askDeactivateCustomer(c echo.Context) error {
	found, err := h.editableCustomer(c)
	if err != nil {
		return err
	}
	path := links.Customer(found.ID)
	return h.Confirm(c, http.StatusOK, panelviews.Confirm{
		Frame: h.customerFrame(c, found, "Deactivate "+format.CustomerName(found)+"?"),
		Confirm: ui.Confirm{
			Action: path + "/deactivate", Button: "Deactivate customer", Danger: true, Cancel: path,
			Words: []string{"They can't earn or redeem and get no new vouchers until you activate them again. Their balance, history and vouchers are kept."},
		},
	})
}

// askSubscribeCustomer asks for confirmation: most customers unsubscribed themselves.
func (h *Handlers) askSubscribeCustomer(c echo.Context) error {
	found, err := h.editableCustomer(c)
	if err != nil {
		return err
	}
	path, name := links.Customer(found.ID), format.CustomerName(found)
	v := panelviews.Confirm{
		Frame: h.customerFrame(c, found, "Subscribe "+name+" to e-mails?"),
		Confirm: ui.Confirm{
			Action: path + "/subscribe", Button: "Subscribe customer", Cancel: path,
			Words: []string{"They'll get coupon e-mails again. Do this only with their consent."},
		},
	}
	if found.UnsubscribedAt == nil {
		v.Button, v.Words, v.Leave = "", nil, "View customer"
		v.Problem = &ui.Problem{Sentence: name + " is already subscribed."}
	}
	return h.Confirm(c, http.StatusOK, v)
}
