package email

import (
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/tenant"
	views "example.com/loyalty/views/mail"
)

// Suspension tells an owner that the business was suspended and why, or that it is active again.
func (m Mails) Suspension(to string, e tenant.SuspensionEmail) mail.Email {
	business, panel := line(e.Tenant), m.names.Tenant(e.Slug)+"/admin"
	words := views.Email{
		Subject: business + " has been suspended",
		Preview: line(e.Reason),
		Blocks: []views.Block{
			greeting(""),
			views.Paragraph(business + " has been suspended: its panel and till are closed, and its API tokens don't work."),
			views.Facts{{Name: "Business", Value: business}, {Name: "Reason", Value: line(e.Reason)}},
			views.Link{Label: "View contact details", URL: panel},
			views.Closing("Your data is safe, and customers can still see their points, stamps and vouchers. " +
				"You aren't billed for days of the suspension after your current billing period."),
		},
	}
	if e.Over {
		words = views.Email{
			Subject: business + " is active again",
			Preview: "You can sign in as before.",
			Blocks: []views.Block{
				greeting(""),
				views.Paragraph("The suspension of " + business + " has ended. The panel, the till and API tokens work as before."),
				views.Facts{{Name: "Business", Value: business}},
				views.Link{Label: "Sign in", URL: panel},
				views.Closing("Everything is as you left it: customers, balances, rewards and coupons. " +
					"Coupon sends and imports that were due meanwhile are on hold: continue or cancel them in the panel."),
			},
		}
	}
	return m.notice(to, "You get this e-mail because this is the owner address of "+business+".", words)
}
