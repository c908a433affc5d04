package auth

import "example.com/loyalty/web/route"

// What bounds each action of people who aren't signed in. The limits are in core/auth/attempt.go.
var (
	signingIn = route.Budget{
		What: "failed sign-ins", Counted: "account and address, address, account", Allowed: "10 and 50 in 15 minutes, 100 an hour",
		Beyond: route.FormWaits, Test: "`TestTooManySignIns`, `TestStrangersLockNoOneOut`",
	}
	givingCodes = route.Budget{
		What: "wrong authentication codes", Counted: "account and address, address, account", Allowed: "5 and 50 in 15 minutes, 20 an hour",
		Beyond: route.FormWaits, Test: "`TestStrangersLockNoOneOut`",
	}
	requestingResets = route.Budget{
		What: "requested resets", Counted: "account and address, address, account", Allowed: "3 and 20 an hour, 10 an hour",
		Beyond: route.FormWaits, Test: "`TestForgottenPasswordIsThrottled`",
	}
	choosingPasswords = route.Budget{
		What: "links with which a password is chosen", Counted: "address",
		Allowed: "120 a minute, with views of the sign-in page; each link works once",
		Beyond:  route.Refused, Test: "`TestLinksOfPasswordsAreLimited`",
	}
	signingOut = route.Budget{
		What: "signing out", Counted: "session", Allowed: "once: without a session nothing is written",
		Beyond: "the sign-in page", Test: "`TestASignOutIsLogged`",
	}
)
