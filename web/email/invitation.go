package email

import (
	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/mail"
	views "example.com/loyalty/views/mail"
)

// roles are what an invitation calls the roles.
var roles = map[core.Role]string{core.Owner: "the owner", core.Manager: "a manager", core.Cashier: "a cashier"}

// Invitation asks a person to choose a password.
func (m Mails) Invitation(to string, e auth.InvitationEmail) mail.Email {
	business, until := line(e.Tenant), minute(e.ExpiresAt)
	panel := m.names.Tenant(e.Slug) + "/admin"
	return m.notice(to, "You get this e-mail because an account was created for this address.", views.Email{
		Subject: "You're invited to " + business + " on Loyalty",
		Preview: "Choose a password until " + until + ".",
		Blocks: []views.Block{
			greeting(e.Person),
			views.Paragraph("You were added as " + roles[e.Role] + " of " + business + ". Choose a password to sign in."),
			views.Facts{{Name: "Panel", Value: panel}, {Name: "Sign-in", Value: line(to)}, {Name: "Link expires", Value: until}},
			views.Link{Label: "Choose a password", URL: panel + "/invitation/" + e.Secret},
			views.Closing("The link works once. If it has expired, ask for a new one. If you didn't expect this, you don't need to do anything."),
		},
	})
}
