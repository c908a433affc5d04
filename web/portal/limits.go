package portal

import (
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/web/page"
)

// Limits are the budgets of these pages beside those of core/walkin. Several people may share an address.
type Limits struct {
	PerAddress  *limit.Window // joining, and requesting the link to a card, by address
	Claims      *limit.Window // refused attempts to collect a sale, by address
	ClaimsOf    *limit.Window // likewise, by browser
	LinkChanges *limit.Window // of what a link turns on and off, by link
}

const (
	joinsPerAddress  = 20
	claimsPerAddress = 40
	claimsPerBrowser = 10
	attemptWindow    = 10 * time.Minute

	changesPerLink = 10
	changeWindow   = time.Hour
)

// NewLimits makes the budgets. They count in Redis if r isn't nil.
func NewLimits(now func() time.Time, r *limit.Redis) Limits {
	return Limits{
		PerAddress:  limit.NewWindow(joinsPerAddress, attemptWindow, now).Shared(r, "join"),
		Claims:      limit.NewWindow(claimsPerAddress, attemptWindow, now).Shared(r, "claim"),
		ClaimsOf:    limit.NewWindow(claimsPerBrowser, attemptWindow, now).Shared(r, "claim-browser"),
		LinkChanges: limit.NewWindow(changesPerLink, changeWindow, now).Shared(r, "link-change"),
	}
}

// tooMany refuses an attempt, and says when to try again.
func tooMany(c echo.Context, form *page.Form, v limit.Verdict, from string) {
	page.RetryAfter(c, v.Wait)
	minutes := int64((v.Wait + time.Minute - 1) / time.Minute)
	form.Refused(&core.Error{
		Kind: core.KindThrottled, Wait: v.Wait,
		Message: "Too many attempts from your " + from + ". Try again in " + page.Count(minutes, "minute", "minutes") + ".",
	})
}

// mayChange counts a change of what a link turns on and off, or refuses it. The last change within a window is always
// off: unsubscribing is never refused.
func (l Limits) mayChange(link string, on bool) error {
	v := l.LinkChanges.Take(link)
	if v.Allowed && on && v.Remaining == 0 {
		l.LinkChanges.Refund(link)
		v.Allowed = false
	}
	if v.Allowed {
		return nil
	}
	minutes := int64((v.Wait + time.Minute - 1) / time.Minute)
	return &core.Error{
		Kind: core.KindThrottled, Wait: v.Wait,
		Message: "This was changed too often. Try again in " + page.Count(minutes, "minute", "minutes") + ".",
	}
}
