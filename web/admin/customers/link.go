package customers

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// askReplaceLink says what the replacement of a customer's card link does.
func (h *Handlers) askReplaceLink(c echo.Context) error {
	found, err := h.editableCustomer(c)
	if err != nil {
		return err
	}
	path := links.Customer(found.ID)
	return h.Confirm(c, http.StatusOK, panelviews.Confirm{
		Frame: h.customerFrame(c, found, "Replace the card link of "+format.CustomerName(found)+"?"),
		Confirm: ui.Confirm{
			Action: path + "/card-link", Button: "Replace card link", Danger: true, Cancel: path,
			Words: []string{
				"Do this if someone else may have the link. Links to the card and to vouchers that were sent, saved or printed stop working.",
				"Points and vouchers stay. Show the new card at the till, or e-mail the new link.",
			},
		},
	})
}

func (h *Handlers) replaceLink(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	return page.Submit(h.Kit, c, page.Submission[customer.Customer]{
		Run: func(ctx context.Context, by core.Actor, _ *forms.Form) (customer.Customer, error) {
			return h.Customers.ReplaceLinks(ctx, by, id)
		},
		To: page.To[customer.Customer](links.Customer(id)),
		Done: func(of customer.Customer) string {
			return "The card link of " + format.CustomerName(of) + " was replaced."
		},
		Undo: offerLink,
	})
}

// offerLink offers to e-mail a customer their new link, beside the message that it was replaced. nil: they have no
// address, or are inactive.
func offerLink(of customer.Customer) *ui.Undo {
	if of.Email == nil || of.Status != customer.Active {
		return nil
	}
	return &ui.Undo{Path: links.Customer(of.ID) + "/card-link/mail", Label: "E-mail new link"}
}

// mailLink e-mails a customer the link to their card.
func (h *Handlers) mailLink(c echo.Context) error {
	found, err := h.editableCustomer(c)
	if err != nil {
		return err
	}
	kind, message := ui.Done, "The link is being e-mailed to "+format.CustomerName(found)+"."
	err = h.Walkins.SendCard(c.Request().Context(), page.Actor(c), found.ID)
	if refusal, refused := page.Refusal(err); refused {
		kind, message, err = ui.Warning, refusal, nil
	}
	if err != nil {
		return err
	}
	h.Flash(c, kind, message)
	return h.Redirect(c, links.Customer(found.ID))
}
