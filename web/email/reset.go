package email

import (
	"example.com/loyalty/core/auth"
	views "example.com/loyalty/views/mail"
)

func (p renderer) forgotten(to string, l auth.ResetEmail) message {
	tenant, until := line(l.Tenant), l.ExpiresAt.UTC().Format("2 January 2006, 15:04")+" UTC"
	panel := p.names.Tenant(l.Slug) + "/admin"
	v := views.Notice{
		Frame: views.Frame{
			Subject: "Choose another password for " + tenant,
			Preview: "The link works once, until " + until + ".",
			Service: p.service, To: to, Reason: "You get this mail because somebody said at the sign-in page that they forgot the password of this address.",
		},
		Greeting: greeting(line(l.Person)),
		Intro:    "Somebody, probably you, asked for another password for the panel of " + tenant + ".",
		Facts:    []views.Fact{{Name: "Panel", Value: panel}, {Name: "Sign-in", Value: to}},
		Action:   "Choose another password",
		Address:  panel + "/reset/" + l.Secret,
		Fine: "The link works once, and choosing a password signs you out everywhere. If it was not you who asked, there is nothing to do: " +
			"your password stays as it is, and nobody learned it.",
	}
	if from := line(l.Address); from != "" {
		v.Facts = append(v.Facts, views.Fact{Name: "Asked from address", Value: from})
	}
	v.Facts = append(v.Facts, views.Fact{Name: "Link works until", Value: until})
	return notice(v)
}
