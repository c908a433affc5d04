package portal

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/notification"
	views "example.com/loyalty/views/portal"
)

// reader is the person of a link that turns the weekly e-mail off.
type reader struct {
	front
	id    core.ID // of the link
	found notification.Subscriber
	by    core.Actor
}

func (p *Portal) findReader(c echo.Context) (reader, error) {
	f, err := p.findFront(c)
	if err != nil {
		return reader{}, err
	}
	token := c.Param("token")
	id, err := link.ParseID(token)
	if err != nil {
		return reader{}, err
	}
	if err := p.Links.Check(token, link.WeeklyMail, f.ID, id, 0); err != nil {
		return reader{}, err
	}
	by := p.visitor(c, f).EvenSuspended()
	found, err := p.Notifications.FindSubscriber(c.Request().Context(), by, id)
	return reader{f, id, found, by}, err
}

// askWeekly changes nothing: spam filters open every link in an e-mail.
func (p *Portal) askWeekly(c echo.Context, r reader) error { return p.weekly(c, r, false) }

// turnWeekly turns the weekly e-mail off, or on again if the form says so.
func (p *Portal) turnWeekly(c echo.Context, r reader) error {
	resumed := subscribes(c)
	if resumed == r.found.Subscribed {
		return p.weekly(c, r, resumed)
	}
	if err := p.mayChange("weekly e-mail "+r.id.String(), resumed); err != nil {
		return err
	}
	if err := p.Notifications.SubscribeByLink(c.Request().Context(), r.by, r.found, resumed); err != nil {
		return err
	}
	r.found.Subscribed = resumed
	return p.weekly(c, r, resumed)
}

// weekly answers with the page for the person's current choice. It shows no name and no address, since e-mails
// are forwarded.
func (p *Portal) weekly(c echo.Context, r reader, resumed bool) error {
	v := views.Subscription{Action: c.Request().URL.EscapedPath()}
	switch {
	case !r.found.Subscribed:
		v.Heading, v.Words = "Weekly e-mail turned off", "You won't get the weekly e-mail about "+r.Name+". Notifications stay in the panel."
		v.Button, v.Resume = "Turn on again", true
	case resumed:
		v.Heading, v.Words, v.Button = "Weekly e-mail turned on", "You'll get the weekly e-mail about "+r.Name+" on Mondays.", "Turn off weekly e-mail"
	default:
		v.Heading, v.Words = "Turn off the weekly e-mail?", "You won't get the weekly e-mail about "+r.Name+". Notifications stay in the panel."
		v.Button, v.Primary = "Turn off weekly e-mail", true
	}
	v.Frame = p.frame(r.front, v.Heading)
	return render(c, http.StatusOK, views.SubscriptionPage(v))
}
