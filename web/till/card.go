package till

import (
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	views "example.com/loyalty/views/till"
	"example.com/loyalty/web/page"
)

// showCard faces the customer: the link to their card as a QR code.
func (t *Till) showCard(c echo.Context, id core.ID) error { return t.cardPage(c, id, "") }

func (t *Till) cardPage(c echo.Context, id core.ID, done string) error {
	by := page.Actor(c)
	found, err := t.Walkins.Customer(c.Request().Context(), by, id)
	if err != nil {
		return err
	}
	if found.Status != customer.Active {
		return core.ErrNotFound
	}
	token, err := t.Walkins.CardToken(by.Tenant.ID, found.Customer)
	if err != nil {
		return err
	}
	path, pin := customersPath+id.String(), c.QueryParam(pinField)
	v := views.Card{
		Name: found.FirstName, Mail: addPIN(path+"/card/mail", pin), Back: addPIN(path, pin), Done: done, HasEmail: found.Email != nil,
	}
	if v.Frame, err = t.frame(c, "Customer’s card"); err != nil {
		return err
	}
	if v.QR, err = page.QR("https://"+c.Request().Host+"/card/"+token, "QR code of the customer’s card"); err != nil {
		return err
	}
	return t.Render(c, http.StatusOK, views.CardPage(v), views.CardMain(v))
}

func (t *Till) mailCard(c echo.Context, id core.ID) error {
	mailed, err := t.Walkins.SendCard(c.Request().Context(), page.Actor(c), id)
	if err != nil {
		return err
	}
	if !mailed {
		return t.cardPage(c, id, "This customer has no e-mail address.")
	}
	return t.cardPage(c, id, "The link is being e-mailed.")
}

// addPIN adds the customer's accepted PIN to a path.
func addPIN(path, pin string) string {
	if pin == "" {
		return path
	}
	return path + "?" + url.Values{pinField: {pin}}.Encode()
}
