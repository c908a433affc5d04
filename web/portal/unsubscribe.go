package portal

import (
	"errors"
	"mime"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/link"
	views "example.com/loyalty/views/portal"
)

// subscriber is the customer of an unsubscribe link.
type subscriber struct {
	front
	found customer.Customer
	by    core.Actor // the customer
}

func (p *Portal) findSubscriber(c echo.Context) (subscriber, error) {
	f, err := p.findFront(c)
	if err != nil {
		return subscriber{}, err
	}
	token := c.Param("token")
	id, err := link.ParseID(token)
	if err != nil {
		return subscriber{}, err
	}
	// Always version 0: revoking a customer's links must not keep them from unsubscribing.
	if err := p.Links.Check(token, link.Unsubscribe, f.ID, id, 0); err != nil {
		return subscriber{}, err
	}
	ctx, by := c.Request().Context(), p.visitor(c, f).EvenSuspended()
	found, err := p.Customers.Find(ctx, by, id)
	if errors.Is(err, core.ErrNotFound) {
		var merged customer.MergedCustomer
		if merged, err = p.Customers.FindMerged(ctx, by, id); err == nil {
			found, err = p.Customers.Find(ctx, by, merged.MergedInto)
		}
	}
	by.ID = found.ID.String()
	by.Name = found.FirstName + " " + found.LastName
	return subscriber{f, found, by}, err
}

// askUnsubscribe changes nothing: spam filters open every link in an e-mail. It shows no name and no
// address, since e-mails are forwarded.
func (p *Portal) askUnsubscribe(c echo.Context, s subscriber) error {
	return p.subscription(c, s.front, s.found, false)
}

// unsubscribe stops the e-mails, or starts them again if the form says so. Doing it again
// changes nothing.
func (p *Portal) unsubscribe(c echo.Context, s subscriber) error {
	if s.found.Erased { // gets no e-mails, and nothing may be stored about them
		return p.subscription(c, s.front, s.found, false)
	}
	change, resumed := p.Customers.Unsubscribe, subscribes(c)
	if resumed {
		change = p.Customers.Subscribe
	}
	if resumed == (s.found.UnsubscribedAt == nil) { // mail programs ask several times
		return p.subscription(c, s.front, s.found, resumed)
	}
	if err := p.mayChange("customer "+s.found.ID.String(), resumed); err != nil {
		return err
	}
	changed, err := change(c.Request().Context(), s.by, s.found.ID)
	if err != nil {
		return err
	}
	return p.subscription(c, s.front, changed, resumed)
}

// maxForm limits the size of these forms, in bytes.
const maxForm = 4 << 10

// subscribes reports whether a form asks for e-mails again. Any other body unsubscribes: mail programs
// send different ones.
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
func (p *Portal) subscription(c echo.Context, f front, found customer.Customer, resumed bool) error {
	v := views.Subscription{Action: c.Request().URL.EscapedPath()}
	switch {
	case found.Erased || found.UnsubscribedAt != nil:
		v.Heading, v.Words = "You're unsubscribed", "You won't get e-mails with offers from "+f.Name+". Your vouchers stay valid."
		if !found.Erased {
			v.Button, v.Resume = "Subscribe again", true
		}
	case resumed:
		v.Heading, v.Words, v.Button = "You're subscribed", "You'll get e-mails with offers from "+f.Name+" again.", "Unsubscribe"
	default:
		v.Heading, v.Words = "Unsubscribe from e-mails?", "You won't get e-mails with offers from "+f.Name+". Your vouchers stay valid."
		v.Button, v.Primary = "Unsubscribe", true
	}
	v.Frame = p.frame(f, v.Heading)
	return render(c, http.StatusOK, views.SubscriptionPage(v))
}
