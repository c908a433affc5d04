package email

import (
	"example.com/loyalty/core/tenant"
	views "example.com/loyalty/views/mail"
)

// setup sends an owner the link to the guide that sets up their business.
func (p renderer) setup(to string, l tenant.SetupEmail) message {
	business := line(l.Tenant)
	return p.notice(to, views.Notice{
		Subject:  "Set up " + business,
		Preview:  "Get your programme ready in five steps.",
		Reason:   "You get this e-mail because you are an owner of " + business + ".",
		Greeting: greeting(line(l.Person)),
		Intro:    "Set up the programme of " + business + " in five steps: country and currency, what customers earn, a first reward, a first customer and a first sale.",
		Facts:    []views.Fact{{Name: "Business", Value: business}, {Name: "Sign-in", Value: to}},
		Action:   "Continue setup",
		Address:  p.names.Tenant(l.Slug) + "/admin/setup",
		Fine:     "Each step is saved, so you can stop at any time and continue later.",
	})
}
