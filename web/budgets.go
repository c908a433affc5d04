package web

// Budget is what bounds a POST that needs no sign-in.
type Budget struct {
	Paths   []string // of the routes
	What    string
	Counted string // who is counted
	Allowed string
	Beyond  string // what happens beyond it
	Test    string
}

const (
	refused     = "429 with `Retry-After`"
	refusedForm = "the form says when to try again (429 with `Retry-After`)"
)

// Budgets lists every POST that needs no sign-in. A route without an entry fails a test, and so does an entry that isn't
// in docs/security.md.
var Budgets = []Budget{
	{[]string{"/card/:token/pin"}, "PINs of a card", "card", "20 in 5 minutes", "the page says when to show a new one, and stops renewing (429 with `Retry-After`)", "`TestACardShowsTwentyPINs`"},
	{[]string{"/join"}, "joining", "address", "20 in 10 minutes, with finding a card", refusedForm, "`TestJoiningIsLimitedByAddress`"},
	{[]string{"/join"}, "e-mails to people who join or ask for their card", "customer, mailbox (without `+tag`), domain (large providers excepted) and business", "3, 3, 60 and 60 an hour", "they join, and nothing is mailed", "`TestMailsOfJoinsAreBounded`"},
	{[]string{"/join/find"}, "finding a card", "address", "20 in 10 minutes, with joining", refusedForm, "`TestJoiningIsLimitedByAddress`"},
	{[]string{"/w", "/w/:code"}, "wrong PINs and codes", "browser, address and business", "10, 10 and 50 PINs, 60 codes of an address in 5 minutes", refusedForm, "`TestGuessingIsLimited`"},
	{[]string{"/w/claim"}, "refused attempts to collect a sale", "browser and address", "10 and 40 in 10 minutes", refusedForm, "`TestARefusalDoesNotTellWhetherANumberIsKnown`"},
	{[]string{"/w/claimed"}, "e-mails after a sale was collected", "customer, mailbox, domain and business", "3, 3, 60 and 60 an hour, with the others", "the same page, and nothing is mailed", "`TestMailsOfJoinsAreBounded`"},
	{[]string{"/unsubscribe/:token", "/unsubscribe/weekly/:token"}, "changes by a link that unsubscribes", "link", "10 an hour, the last one always off", refused, "`TestALinkChangesTenTimes`, `TestAWeeklyLinkChangesTenTimes`"},
	{[]string{"/admin/sign-in", "/platform/sign-in"}, "failed sign-ins", "account and address, address, account", "10 and 50 in 15 minutes, 100 an hour", refusedForm, "`TestTooManySignIns`, `TestStrangersLockNoOneOut`"},
	{[]string{"/admin/sign-in/code", "/platform/sign-in/code"}, "wrong authentication codes", "account and address, address, account", "5 and 50 in 15 minutes, 20 an hour", refusedForm, "`TestStrangersLockNoOneOut`"},
	{[]string{"/admin/forgot"}, "requested resets", "account and address, address, account", "3 and 20 an hour, 10 an hour", refusedForm, "`TestForgottenPasswordIsThrottled`"},
	{[]string{"/admin/reset/:secret", "/admin/invitation/:secret"}, "links with which a password is chosen", "address", "120 a minute, with views of the sign-in page; each link works once", refused, "`TestLinksOfPasswordsAreLimited`"},
	{[]string{"/admin/sign-out", "/platform/sign-out"}, "signing out", "session", "once: without a session nothing is written", "the sign-in page", "`TestASignOutIsLogged`"},
	{[]string{"/admin/theme", "/platform/theme"}, "light or dark", "the browser: it is a cookie", "nothing is read or written", "–", "`TestEveryOpenPostHasABudget`"},
}
