package admin

import (
	"io"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

// downloadCustomerData answers with everything that is held about a customer.
func (a *Admin) downloadCustomerData(c echo.Context) error {
	id, err := id(c)
	if err != nil {
		return err
	}
	return a.Download(c, "customer-"+id.String()+".json", echo.MIMEApplicationJSON, func(file io.Writer) error {
		return a.Privacy.WriteData(c.Request().Context(), page.Actor(c), id, file)
	})
}

func (a *Admin) askEraseCustomer(c echo.Context) error {
	found, err := a.changeable(c)
	if err != nil {
		return err
	}
	return a.eraseForm(c, http.StatusOK, found, &page.Form{})
}

// eraseForm says what goes and what stays, and wants more than a click.
func (a *Admin) eraseForm(c echo.Context, status int, of customer.Customer, form *page.Form) error {
	path := customerPath(of.ID)
	v := views.Erasure{
		Frame: a.customerFrame(c, of, "Erase "+customerName(of)+"?"), Action: path + "/erase", Cancel: path, DataPath: path + "/data",
		Understood: form.Field("understood", "I understand that this cannot be undone."),
		Goes: []string{
			"Their name, phone number and e-mail address, here and in the audit log",
			"The mails that were sent to them",
			"Their way back: whoever gives the same phone number at the till is a new customer, who begins at zero",
		},
		Stays: []string{
			"Their sales, redemptions and vouchers, as those of an erased customer: your reports stay right",
			"Every entry of their timeline, with the reasons of adjustments as they were written",
			"What they still have: " + amount(of.PointsBalance, "points") + " and " + amount(of.StampsBalance, "stamps") + ", which nobody can spend",
		},
	}
	v.Problem = form.Problem()
	return a.Render(c, status, views.ErasurePage(v), nil)
}

// errNotUnderstood refuses an erasure of which nobody has said that they know what it is.
var errNotUnderstood = core.Invalid(core.Fields{"understood": {core.Accepted}})

func (a *Admin) eraseCustomer(c echo.Context) error {
	found, err := a.customerOf(c)
	if err != nil {
		return err
	}
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	if !form.Checked("understood") {
		if found.Erased {
			return customer.ErrErased
		}
		form.Refused(errNotUnderstood)
		return a.eraseForm(c, http.StatusUnprocessableEntity, found, form)
	}
	if _, err := a.Privacy.Erase(c.Request().Context(), page.Actor(c), found.ID); err != nil {
		return err
	}
	a.Flash(c, ui.Done, "The customer is erased. What they did stays, without saying who they were.")
	return a.Redirect(c, customerPath(found.ID))
}
