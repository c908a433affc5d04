package till

import (
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/till"
	"example.com/loyalty/web/page"
)

// showCard faces the customer: the link to their card as a QR code.
func (t *Till) showCard(c echo.Context, id core.ID) error {
	return t.cardPage(c, http.StatusOK, id, "")
}

func (t *Till) cardPage(c echo.Context, status int, id core.ID, done string) error {
	v, err := t.cardView(c, id)
	if err != nil {
		return err
	}
	v.Done = done
	return t.Render(c, status, views.CardPage(v), views.CardMain(v))
}

func (t *Till) cardView(c echo.Context, id core.ID) (views.Card, error) {
	by := page.Actor(c)
	found, err := t.Walkins.Customer(c.Request().Context(), by, id)
	if err != nil {
		return views.Card{}, err
	}
	if found.Status != customer.Active {
		return views.Card{}, core.ErrNotFound
	}
	token, err := t.Walkins.CardToken(by.Tenant.ID, found.Customer)
	if err != nil {
		return views.Card{}, err
	}
	path, pin := links.TillCustomer(id), c.QueryParam(pinField)
	v := views.Card{
		Name: found.FirstName, Mail: addPIN(path+"/card/mail", pin), Replace: addPIN(path+"/card/replace", pin), Back: addPIN(path, pin),
		HasEmail: found.Email != nil,
	}
	if v.Frame, err = t.frame(c, "Customer’s card"); err != nil {
		return views.Card{}, err
	}
	v.QR, err = page.QR("https://"+c.Request().Host+"/card/"+token, "QR code of the customer’s card")
	return v, err
}

func (t *Till) mailCard(c echo.Context, id core.ID) error {
	err := t.Walkins.SendCard(c.Request().Context(), page.Actor(c), id)
	if refusal, refused := page.Refusal(err); refused {
		return t.cardPage(c, page.RefusedStatus(c, err), id, refusal)
	}
	if err != nil {
		return err
	}
	return t.cardPage(c, http.StatusOK, id, "The link is being e-mailed.")
}

// askReplaceCard asks whether the customer's link is to be replaced.
func (t *Till) askReplaceCard(c echo.Context, id core.ID) error {
	v, err := t.cardView(c, id)
	if err != nil {
		return err
	}
	v.Asked, v.Back = true, addPIN(links.TillCustomer(id)+"/card", c.QueryParam(pinField))
	return t.Render(c, http.StatusOK, views.CardPage(v), views.CardMain(v))
}

// replaceCard revokes the links to the customer's card, and shows the new one.
func (t *Till) replaceCard(c echo.Context, id core.ID) error {
	if err := t.Walkins.ReplaceCard(c.Request().Context(), page.Actor(c), id); err != nil {
		return err
	}
	return t.cardPage(c, http.StatusOK, id, "The card link was replaced. Old links no longer work.")
}

// addPIN adds the customer's accepted PIN to a path.
func addPIN(path, pin string) string {
	if pin == "" {
		return path
	}
	return path + "?" + url.Values{pinField: {pin}}.Encode()
}
