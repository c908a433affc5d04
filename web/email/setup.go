package email

import (
	"example.com/loyalty/core/tenant"
	views "example.com/loyalty/views/mail"
)

// setup brings an owner the link to the guide that sets up their business.
func (p renderer) setup(to string, l tenant.SetupEmail) message {
	business := line(l.Tenant)
	return notice(views.Notice{
		Frame: views.Frame{
			Subject: "Set up " + business,
			Preview: "Five steps, and your programme is ready for customers.",
			Service: p.service, To: to, Reason: "You get this e-mail because you are an owner of " + business + ".",
		},
		Greeting: greeting(line(l.Person)),
		Intro:    "Five steps set up the programme of " + business + ": country and currency, what customers earn, a first reward, a first customer and a first sale.",
		Facts:    []views.Fact{{Name: "Business", Value: business}, {Name: "Sign-in", Value: to}},
		Action:   "Continue setup",
		Address:  p.names.Tenant(l.Slug) + "/admin/setup",
		Fine:     "You sign in as usual. Each step is saved, so you can stop at any time and go on later.",
	})
}
