package email

import (
	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	views "example.com/loyalty/views/mail"
)

// roles are what an invitation calls the roles.
var roles = map[core.Role]string{core.Owner: "the owner", core.Manager: "a manager", core.Cashier: "a cashier"}

func (p renderer) invitation(to string, l auth.InvitationEmail) message {
	business, until := line(l.Tenant), minute(l.ExpiresAt)
	panel := p.names.Tenant(l.Slug) + "/admin"
	return p.notice(to, views.Notice{
		Subject:  "You're invited to " + business + " on Loyalty",
		Preview:  "Choose a password until " + until + ".",
		Reason:   "You get this e-mail because an account was created for this address.",
		Greeting: greeting(line(l.Person)),
		Intro:    "You were added as " + roles[l.Role] + " of " + business + ". Choose a password to sign in.",
		Facts: []views.Fact{
			{Name: "Panel", Value: panel}, {Name: "Sign-in", Value: to}, {Name: "Link expires", Value: until},
		},
		Action:  "Choose a password",
		Address: panel + "/invitation/" + l.Secret,
		Fine:    "The link works once. If it has expired, ask for a new one. If you didn't expect this, you don't need to do anything.",
	})
}
