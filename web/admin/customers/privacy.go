package customers

import (
	"context"
	"io"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	views "example.com/loyalty/views/admin/customers"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// downloadCustomerData answers with everything that is stored about a customer, as JSON.
func (h *Handlers) downloadCustomerData(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	return h.Download(c, "customer-"+id.String()+".json", echo.MIMEApplicationJSON, func(file io.Writer) error {
		return h.Privacy.WriteData(c.Request().Context(), page.Actor(c), id, file)
	})
}

func (h *Handlers) askEraseCustomer(c echo.Context) error {
	found, err := h.editableCustomer(c)
	if err != nil {
		return err
	}
	return h.eraseForm(c, http.StatusOK, found, &forms.Form{})
}

func (h *Handlers) eraseForm(c echo.Context, status int, of customer.Customer, form *forms.Form) error {
	return h.Render(c, status, views.ErasurePage(h.customerFrame(c, of, "Erase "+format.CustomerName(of)+"?"), of, form), nil)
}

func (h *Handlers) eraseCustomer(c echo.Context) error {
	found, err := h.customerOf(c)
	if err != nil {
		return err
	}
	return page.Submit(h.Kit, c, page.Submission[customer.Customer]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (customer.Customer, error) {
			if !form.Checked("understood") && !found.Erased {
				return customer.Customer{}, core.Invalid(core.Fields{"understood": {core.Accepted}})
			}
			return h.Privacy.Erase(ctx, by, found.ID)
		},
		Refused: func(status int, form *forms.Form) error { return h.eraseForm(c, status, found, form) },
		To:      page.To[customer.Customer](links.Customer(found.ID)),
		Done: func(customer.Customer) string {
			return "The customer's personal data was erased. Their sales are kept."
		},
	})
}
