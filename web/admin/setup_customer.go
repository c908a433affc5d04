// The fourth step of the guide: the first customer.

package admin

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/tenant"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

func (a *Admin) showSetupCustomer(c echo.Context) error {
	s, err := a.setupOf(c)
	if err != nil {
		return err
	}
	form := page.Blank(map[string]string{"email": page.Person(c).Email})
	first, last, named := strings.Cut(page.Actor(c).Name, " ")
	if named && !strings.HasPrefix(first, "Owner") { // people who have not said who they are go by their role
		form.Values.Set("first_name", first)
		form.Values.Set("last_name", last)
	}
	return a.setupCustomer(c, http.StatusOK, s, form)
}

func (a *Admin) setupCustomer(c echo.Context, status int, s tenant.Setup, form *page.Form) error {
	v := views.SetupCustomer{Setup: a.setupFrame(c, s, tenant.CustomerStep), JoinAddress: c.Request().Host + "/join"}
	if s.CustomerID != nil {
		found, err := a.Customers.Find(c.Request().Context(), page.Actor(c), *s.CustomerID)
		if err != nil {
			return err
		}
		v.Customer = &views.SetupPerson{Name: customerName(found), Phone: found.Phone, Path: customerPath(found.ID)}
		return a.Render(c, status, views.SetupCustomerPage(v), nil)
	}
	var fields views.CustomerForm
	customerFields(&fields, form)
	v.First, v.Last, v.Phone, v.Email, v.Problem = fields.First, fields.Last, fields.Phone, fields.Email, fields.Problem
	v.Phone.Help = "Used to find customers at the till"
	return a.Render(c, status, views.SetupCustomerPage(v), nil)
}

func (a *Admin) saveSetupCustomer(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	s, err := a.setupOf(c)
	if err != nil {
		return err
	}
	if s.CustomerID != nil { // added in another tab
		return a.Redirect(c, stepPath(s.NextAfter(tenant.CustomerStep)))
	}
	_, err = a.Customers.Upsert(c.Request().Context(), page.Actor(c), customer.New{
		FirstName: form.Text("first_name"), LastName: form.Text("last_name"), Phone: form.Text("phone"), Email: form.Text("email"),
	})
	if form.Refused(err) {
		return a.setupCustomer(c, http.StatusUnprocessableEntity, s, form)
	}
	if err != nil {
		return err
	}
	a.Flash(c, ui.Done, "Saved")
	return a.passed(c, tenant.CustomerStep)
}
