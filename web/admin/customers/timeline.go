package customers

import (
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	views "example.com/loyalty/views/admin/customers"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// sinceDays are the choices of how far back a timeline goes.
var sinceDays = map[string]int{"30": 30, "90": 90, "365": 365}

// timeline adds a page of the timeline. Its query has the day on which the page before ended ("day"), so
// that a day's heading isn't repeated.
func (h *Handlers) timeline(c echo.Context, q *forms.Form, v *views.History) error {
	ctx, by, id := c.Request().Context(), page.Actor(c), v.Customer.ID
	filter := customer.TimelineFilter{Events: q.Filled("events")}
	if since := q.Filled("since"); since != nil {
		days, known := sinceDays[*since]
		if !known {
			return core.Invalid(core.Fields{"since": {core.InvalidChoice}})
		}
		filter.Since = new(h.Now().AddDate(0, 0, -days))
	}
	v.Narrowed = filter != customer.TimelineFilter{}
	list, err := h.Customers.Timeline(ctx, by, id, filter, q.Position())
	if err != nil {
		return err
	}
	v.Timeline = views.Timeline{
		Reader: v.Reader, Of: id, Entries: list.Items, Pager: page.Pager(list, c.Request().URL, "event", "events", "#history"),
	}
	if page.IsFragment(c) {
		v.Timeline.ShownDay = q.Value("day")
	}
	v.Timeline.Narrowed = v.Narrowed
	if shown, err := strconv.ParseInt(q.Value("shown"), 10, 64); err == nil {
		v.Timeline.ShownFrom = new(time.UnixMilli(shown))
	}
	if len(list.Items) == 0 {
		return nil
	}
	newest, oldest := list.Items[0].CreatedAt, list.Items[len(list.Items)-1].CreatedAt
	if filter.Events == nil || *filter.Events == string(customer.Sales) {
		if v.Timeline.Spent, err = h.Customers.SpendByDay(ctx, by, id, oldest, newest); err != nil {
			return err
		}
	}
	if v.Timeline.Pager.Next != "" {
		next := *c.Request().URL
		next.RawQuery = strings.TrimPrefix(v.Timeline.Pager.Next, next.Path+"?")
		next.RawQuery = strings.TrimPrefix(links.With(&next, "shown", strconv.FormatInt(oldest.UnixMilli(), 10)), next.Path+"?")
		v.Timeline.Pager.Next = links.With(&next, "day", oldest.In(by.Tenant.TimeZone).Format(time.DateOnly))
	}
	return nil
}
