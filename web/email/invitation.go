package email

import (
	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	views "example.com/loyalty/views/mail"
)

// roles are what an invited person is to be.
var roles = map[core.Role]string{core.Owner: "the owner", core.Manager: "a manager", core.Cashier: "a cashier"}

func (p renderer) invited(to string, l auth.InvitationEmail) message {
	tenant, until := line(l.Tenant), l.ExpiresAt.UTC().Format("2 January 2006, 15:04")+" UTC"
	panel := p.names.Tenant(l.Slug) + "/admin"
	return notice(views.Notice{
		Frame: views.Frame{
			Subject: "Choose a password for " + tenant,
			Preview: "The link works once, until " + until + ".",
			Service: p.service, To: to, Reason: "You get this mail because an account was made for this address.",
		},
		Greeting: greeting(line(l.Person)),
		Intro:    "An account was made for you as " + roles[l.Role] + " of " + tenant + ". Choose a password, and you can sign in.",
		Facts: []views.Fact{
			{Name: "Panel", Value: panel}, {Name: "Sign-in", Value: to}, {Name: "Link works until", Value: until},
		},
		Action:  "Choose a password",
		Address: panel + "/invitation/" + l.Secret,
		Fine: "The link works once. If it has run out, ask for a new one. If you expect no account here, there is nothing to do: " +
			"without a password nobody can sign in.",
	})
}
