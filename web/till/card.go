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

// showCard faces the customer: the link to their card as a QR code, for a phone that doesn't
// have it yet.
func (t *Till) showCard(c echo.Context) error { return t.cardPage(c, "") }

func (t *Till) cardPage(c echo.Context, done string) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
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
		Name: found.FirstName, Mail: withPIN(path+"/card/mail", pin), Back: withPIN(path, pin), Done: done, HasEmail: found.Email != nil,
	}
	if v.Frame, err = t.frame(c, "Customer’s card"); err != nil {
		return err
	}
	if v.QR, err = page.QR("https://"+c.Request().Host+"/card/"+token, "QR code of the customer’s card"); err != nil {
		return err
	}
	return t.Render(c, http.StatusOK, views.CardPage(v), views.CardMain(v))
}

// mailCard e-mails the link to the customer.
func (t *Till) mailCard(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	mailed, err := t.Walkins.SendCard(c.Request().Context(), page.Actor(c), id)
	if err != nil {
		return err
	}
	if !mailed {
		return t.cardPage(c, "There is no e-mail address on file.")
	}
	return t.cardPage(c, "The link is on its way by e-mail.")
}

// withPIN is a path that keeps the PIN that this till has taken of the customer.
func withPIN(path, pin string) string {
	if pin == "" {
		return path
	}
	return path + "?" + url.Values{pinField: {pin}}.Encode()
}
