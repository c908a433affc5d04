package email

import (
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/mail"
)

// Setup sends an owner the link to the guide that sets up their business.
func (m Mails) Setup(to string, e tenant.SetupEmail) mail.Email {
	business := line(e.Tenant)
	return m.notice(to, "You get this e-mail because you are an owner of "+business+".", views.Email{
		Subject: "Set up " + business,
		Preview: "Get your programme ready in five steps.",
		Blocks: []views.Block{
			greeting(e.Person),
			views.Paragraph("Set up the programme of " + business + " in five steps: country and currency, what customers earn, " +
				"a first reward, a first customer and a first sale."),
			views.Facts{{Name: "Business", Value: business}, {Name: "Sign-in", Value: line(to)}},
			views.Link{Label: "Continue setup", URL: m.names.Tenant(e.Slug) + links.Setup},
			views.Closing("Each step is saved, so you can stop at any time and continue later."),
		},
	})
}
