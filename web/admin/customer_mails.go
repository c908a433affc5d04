package admin

import (
	"net/http"

	"github.com/labstack/echo/v4"

	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

// askSubscribeCustomer asks for confirmation: most customers unsubscribed themselves.
func (a *Admin) askSubscribeCustomer(c echo.Context) error {
	found, err := a.changeable(c)
	if err != nil {
		return err
	}
	path, name := customerPath(found.ID), customerName(found)
	v := views.Confirm{
		Frame: a.customerFrame(c, found, "Subscribe "+name+" to e-mails?"),
		Confirm: ui.Confirm{
			Action: path + "/subscribe", Button: "Subscribe", Cancel: path,
			Words: []string{"They'll get coupon e-mails again. Do this only with their consent."},
		},
	}
	if found.UnsubscribedAt == nil {
		v.Button, v.Words, v.Leave = "", nil, "Back to the customer"
		v.Problem = &ui.Problem{Sentence: name + " is already subscribed."}
	}
	return a.confirm(c, http.StatusOK, v)
}

func (a *Admin) subscribeCustomer(c echo.Context) error {
	found, err := a.changeable(c)
	if err != nil {
		return err
	}
	if _, err := a.Customers.Subscribe(c.Request().Context(), page.Actor(c), found.ID); err != nil {
		return err
	}
	a.Flash(c, ui.Done, customerName(found)+" gets coupon e-mails again.")
	return a.Redirect(c, customerPath(found.ID))
}

// unsubscribeCustomer asks no question: it can be undone.
func (a *Admin) unsubscribeCustomer(c echo.Context) error {
	found, err := a.changeable(c)
	if err != nil {
		return err
	}
	if _, err := a.Customers.Unsubscribe(c.Request().Context(), page.Actor(c), found.ID); err != nil {
		return err
	}
	a.Flash(c, ui.Done, customerName(found)+" gets no coupon e-mails any more. Their vouchers stay valid.")
	return a.Redirect(c, customerPath(found.ID))
}
