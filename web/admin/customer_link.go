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

// askReplaceLink says what the replacement of a customer's card link does.
func (a *Admin) askReplaceLink(c echo.Context) error {
	found, err := a.editableCustomer(c)
	if err != nil {
		return err
	}
	path := customerPath(found.ID)
	return a.confirm(c, http.StatusOK, views.Confirm{
		Frame: a.customerFrame(c, found, "Replace the card link of "+page.CustomerName(found)+"?"),
		Confirm: ui.Confirm{
			Action: path + "/card-link", Button: "Replace card link", Danger: true, Cancel: path,
			Words: []string{
				"Do this if someone else may have the link. Links to the card and to vouchers that were sent, saved or printed stop working.",
				"Points and vouchers stay. Show the new card at the till, or e-mail the new link.",
			},
		},
	})
}

func (a *Admin) replaceLink(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	return page.Submit(a.Kit, c, page.Submission[customer.Customer]{
		Run: func(ctx context.Context, by core.Actor, _ *page.Form) (customer.Customer, error) {
			return a.Customers.ReplaceLinks(ctx, by, id)
		},
		To: page.To[customer.Customer](customerPath(id)),
		Done: func(of customer.Customer) string {
			return "The card link of " + page.CustomerName(of) + " was replaced."
		},
		Undo: offerLink,
	})
}

// offerLink is the button beside the message that a customer's link was replaced: it isn't mailed unasked. nil without an
// address.
func offerLink(of customer.Customer) *ui.Undo {
	if of.Email == nil || of.Status != customer.Active {
		return nil
	}
	return &ui.Undo{Path: customerPath(of.ID) + "/card-link/mail", Label: "E-mail new link"}
}

// mailLink e-mails a customer the link to their card.
func (a *Admin) mailLink(c echo.Context) error {
	found, err := a.editableCustomer(c)
	if err != nil {
		return err
	}
	kind, message := ui.Done, "The link is being e-mailed to "+page.CustomerName(found)+"."
	err = a.Walkins.SendCard(c.Request().Context(), page.Actor(c), found.ID)
	if refusal, refused := page.Refusal(err); refused {
		kind, message, err = ui.Warning, refusal, nil
	}
	if err != nil {
		return err
	}
	a.Flash(c, kind, message)
	return a.Redirect(c, customerPath(found.ID))
}
