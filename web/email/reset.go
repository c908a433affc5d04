package email

import (
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/mail"
	views "example.com/loyalty/views/mail"
)

// PasswordReset lets a person who forgot their password choose another one.
func (m Mails) PasswordReset(to string, e auth.ResetEmail) mail.Email {
	business, until := line(e.Tenant), minute(e.ExpiresAt)
	panel := m.names.Tenant(e.Slug) + "/admin"
	return m.notice(to, "You get this e-mail because a password reset was requested for this address.", views.Email{
		Subject: "Reset your password for " + business,
		Preview: "The link works once, until " + until + ".",
		Blocks: []views.Block{
			greeting(e.Person),
			views.Paragraph("We got a request to reset your password for " + business + "."),
			withValue(views.Facts{
				{Name: "Panel", Value: panel},
				{Name: "Sign-in", Value: line(to)},
				{Name: "Requested from", Value: line(e.Address)},
				{Name: "Link expires", Value: until},
			}),
			views.Link{Label: "Reset your password", URL: panel + "/reset/" + e.Secret},
			views.Closing("The link works once. Resetting your password signs you out everywhere. " +
				"If you didn't request this, you don't need to do anything: your password hasn't changed."),
		},
	})
}
