package email

import (
	"example.com/loyalty/core/auth"
	views "example.com/loyalty/views/mail"
)

func (p renderer) reset(to string, l auth.ResetEmail) message {
	business, until := line(l.Tenant), minute(l.ExpiresAt)
	panel := p.names.Tenant(l.Slug) + "/admin"
	facts := []views.Fact{
		{Name: "Panel", Value: panel},
		{Name: "Sign-in", Value: to},
		{Name: "Requested from", Value: line(l.Address)},
		{Name: "Link expires", Value: until},
	}
	return p.notice(to, views.Notice{
		Subject:  "Reset your password for " + business,
		Preview:  "The link works once, until " + until + ".",
		Reason:   "You get this e-mail because a password reset was requested for this address.",
		Greeting: greeting(line(l.Person)),
		Intro:    "We got a request to reset your password for " + business + ".",
		Facts:    withValue(facts),
		Action:   "Reset your password",
		Address:  panel + "/reset/" + l.Secret,
		Fine: "The link works once. Resetting your password signs you out everywhere. " +
			"If you didn't request this, you don't need to do anything: your password hasn't changed.",
	})
}
