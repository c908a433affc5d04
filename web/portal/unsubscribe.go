package portal

import (
	"mime"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/link"
	views "example.com/loyalty/views/portal"
)

// subscriber returns the customer of an unsubscribe link, also as an actor.
func (p *Portal) subscriber(c echo.Context) (front, customer.Customer, core.Actor, error) {
	f, err := p.front(c)
	if err != nil {
		return front{}, customer.Customer{}, core.Actor{}, err
	}
	token := c.Param("token")
	id, err := link.ParseID(token)
	if err != nil {
		return front{}, customer.Customer{}, core.Actor{}, err
	}
	// Always version 0: revoking a customer's links must not keep them from unsubscribing.
	if err := p.Links.Check(token, link.Unsubscribe, f.ID, id, 0); err != nil {
		return front{}, customer.Customer{}, core.Actor{}, err
	}
	by := core.Actor{
		Kind: core.ByCustomer, ID: id.String(), Tenant: f.Tenant,
		Address: p.Address(c.Request()), RequestID: c.Response().Header().Get(echo.HeaderXRequestID),
	}
	found, err := p.Customers.Find(c.Request().Context(), by, id)
	by.Name = found.FirstName + " " + found.LastName
	return f, found, by, err
}

// askUnsubscribe changes nothing: programs that check mails open every link in them. It shows
// no name and no address, since mails are forwarded.
func (p *Portal) askUnsubscribe(c echo.Context) error {
	front, found, _, err := p.subscriber(c)
	if err != nil {
		return err
	}
	return p.subscription(c, front, found, false)
}

// unsubscribe stops the e-mails, or starts them again if the form says so. Doing it again
// changes nothing.
func (p *Portal) unsubscribe(c echo.Context) error {
	front, found, by, err := p.subscriber(c)
	if err != nil {
		return err
	}
	if found.Erased { // they get no e-mails, and nothing more is stored about them
		return p.subscription(c, front, found, false)
	}
	change, resumed := p.Customers.Unsubscribe, subscribes(c)
	if resumed {
		change = p.Customers.Subscribe
	}
	if found, err = change(c.Request().Context(), by, found.ID); err != nil {
		return err
	}
	return p.subscription(c, front, found, resumed)
}

// maxForm is more than these forms hold.
const maxForm = 4 << 10

// subscribes reports whether a form asks for e-mails again. Any other body unsubscribes, even
// an unreadable one: mail programs differ in what they send.
func subscribes(c echo.Context) bool {
	r := c.Request()
	kind, _, _ := mime.ParseMediaType(r.Header.Get(echo.HeaderContentType))
	if kind != echo.MIMEApplicationForm {
		return false
	}
	r.Body = http.MaxBytesReader(c.Response(), r.Body, maxForm)
	return r.ParseForm() == nil && r.PostForm.Get("subscribe") == "1"
}

// subscription answers with the page for the customer's current choice.
func (p *Portal) subscription(c echo.Context, f front, of customer.Customer, resumed bool) error {
	v := views.Subscription{Action: c.Request().URL.EscapedPath()}
	switch {
	case of.Erased || of.UnsubscribedAt != nil:
		v.Heading, v.Words = "You're unsubscribed", "You won't get offers from "+f.Name+" by e-mail any more. Vouchers you already have stay valid."
		if !of.Erased {
			v.Button, v.Resume = "Subscribe again", true
		}
	case resumed:
		v.Heading, v.Words, v.Button = "You're subscribed", "You'll get offers from "+f.Name+" by e-mail again.", "Unsubscribe"
	default:
		v.Heading, v.Words = "Unsubscribe from e-mails?", "You won't get offers from "+f.Name+" by e-mail any more. Vouchers you already have stay valid."
		v.Button, v.Primary = "Unsubscribe", true
	}
	v.Frame = p.frame(f, v.Heading)
	return render(c, http.StatusOK, views.SubscriptionPage(v))
}
