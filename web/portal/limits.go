package portal

import (
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/views/format"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
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

// What bounds each action of a visitor.
var (
	showingPINs = route.Budget{
		What: "PINs of a card", Counted: "card", Allowed: "20 in 5 minutes",
		Beyond: "the page says when to show a new one, and stops renewing (429 with `Retry-After`)", Test: "`TestACardShowsTwentyPINs`",
	}
	joining = route.Budget{
		What: "joining", Counted: "address", Allowed: "20 in 10 minutes, with finding a card",
		Beyond: route.FormWaits, Test: "`TestJoiningIsLimitedByAddress`",
	}
	mailsOfJoins = route.Budget{
		What: "e-mails to people who join or ask for their card", Counted: "customer, mailbox (without `+tag`), domain (large providers excepted) and business",
		Allowed: "3, 3, 60 and 60 an hour", Beyond: "they join, and nothing is mailed", Test: "`TestMailsOfJoinsAreBounded`",
	}
	findingCards = route.Budget{
		What: "finding a card", Counted: "address", Allowed: "20 in 10 minutes, with joining",
		Beyond: route.FormWaits, Test: "`TestJoiningIsLimitedByAddress`",
	}
	guessing = route.Budget{
		What: "wrong PINs and codes", Counted: "browser, address and business", Allowed: "10, 10 and 50 PINs, 60 codes of an address in 5 minutes",
		Beyond: route.FormWaits, Test: "`TestGuessingIsLimited`",
	}
	claiming = route.Budget{
		What: "refused attempts to collect a sale", Counted: "browser and address", Allowed: "10 and 40 in 10 minutes",
		Beyond: route.FormWaits, Test: "`TestARefusalDoesNotTellWhetherANumberIsKnown`",
	}
	mailsOfClaims = route.Budget{
		What: "e-mails after a sale was collected", Counted: "customer, mailbox, domain and business", Allowed: "3, 3, 60 and 60 an hour, with the others",
		Beyond: "the same page, and nothing is mailed", Test: "`TestMailsOfJoinsAreBounded`",
	}
	changingByLink = route.Budget{
		What: "changes by a link that unsubscribes", Counted: "link", Allowed: "10 an hour, the last one always off",
		Beyond: route.Refused, Test: "`TestALinkChangesTenTimes`, `TestAWeeklyLinkChangesTenTimes`",
	}
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
func tooMany(c echo.Context, form *forms.Form, v limit.Verdict, from string) {
	page.RetryAfter(c, v.Wait)
	minutes := int64((v.Wait + time.Minute - 1) / time.Minute)
	form.Refused(&core.Error{
		Kind: core.KindThrottled, Wait: v.Wait,
		Message: "Too many attempts from your " + from + ". Try again in " + format.Count(minutes, "minute", "minutes") + ".",
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
		Message: "This was changed too often. Try again in " + format.Count(minutes, "minute", "minutes") + ".",
	}
}
