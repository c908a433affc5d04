package email

import (
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/mail"
	views "example.com/loyalty/views/mail"
)

// signInPanel is the panel that a person signs in to.
type signInPanel struct {
	name    string // "Café Åro", "the platform"
	address string
	account string // where a person finds their own account there
	reset   string // how to reset a password there
	helper  string // who else can read the audit log
}

func (m Mails) panelOf(e auth.ChangeEmail) signInPanel {
	if e.Slug == "" {
		return signInPanel{
			name: "the platform", address: m.names.Base() + "/platform", account: "Account",
			reset:  "Ask the operator of this installation to reset your password. This signs out everyone who is signed in as you.",
			helper: "another super-admin",
		}
	}
	return signInPanel{
		name: line(e.Tenant), address: m.names.Tenant(e.Slug) + "/admin", account: "Settings → Your account",
		reset: "Open the panel yourself, not from a link in an e-mail, and choose “Forgot your password?” on the sign-in page. " +
			"Resetting your password signs out everyone who is signed in as you.",
		helper: "an owner",
	}
}

// CredentialChange tells a person that their password or two-step verification changed. It has no link: it must not
// teach people to follow links in e-mails about a possible break-in.
func (m Mails) CredentialChange(to string, e auth.ChangeEmail) mail.Email {
	panel, by := m.panelOf(e), line(e.By)
	password, twoFactor := "Your password for "+panel.name, "Two-step verification for "+panel.name
	facts := views.Facts{{Name: "Panel", Value: panel.address}, {Name: "Sign-in", Value: line(to)}}
	closing := "If this was you, you don't need to do anything."
	alarm := views.Steps{Heading: "If this wasn't you", List: []string{panel.reset}}
	var subject, intro string
	switch e.Change {
	case auth.PasswordChanged:
		subject = password + " was changed"
		intro = password + " was changed, with the previous password. You were signed out everywhere else."
	case auth.PasswordReset:
		subject = password + " was changed"
		intro = password + " was reset with the link that we e-mailed you. You were signed out everywhere."
		alarm.List = []string{"Change the password of your mailbox first: the person who used the link can read your e-mail.", panel.reset}
	case auth.PasswordSet:
		subject = password + " was changed"
		intro = password + " was reset by the operator of this installation. You were signed out everywhere."
		closing = "If you asked for this, you don't need to do anything."
		alarm.Heading = "If you didn't ask for this"
	case auth.TwoFactorOn:
		subject = twoFactor + " was turned on"
		intro = "Signing in to " + panel.name + " now asks for an authentication code. You were signed out everywhere else."
		alarm.List = append(alarm.List, "Ask "+panel.helper+" or the operator to turn off your two-step verification: someone else has the codes.")
	case auth.TwoFactorRenewed:
		subject = twoFactor + " moved to another app"
		intro = "Signing in to " + panel.name + " now asks for a code from another authenticator app. Your old recovery codes no longer work. You were signed out everywhere else."
		alarm.List = append(alarm.List, "Ask "+panel.helper+" or the operator to reset your two-step verification: someone else has the codes.")
	case auth.TwoFactorOff:
		subject = twoFactor + " was turned off"
		intro = "You now sign in to " + panel.name + " with your password only."
		if e.Slug == "" {
			intro = "Your two-step verification for the platform was reset, and you were signed out everywhere. Set it up again when you next sign in."
		}
		if by != "" {
			facts = append(facts, views.Fact{Name: "Turned off by", Value: by})
			closing = "If you asked for this, set it up again under " + panel.account + "."
			alarm.Heading = "If you didn't ask for this"
		}
		alarm.List = append(alarm.List, "Turn on two-step verification again under "+panel.account+".")
	case auth.RecoveryCodesRenewed:
		subject = "Your recovery codes for " + panel.name + " were replaced"
		intro = "New recovery codes for " + panel.name + " were created, with your password. Your old codes no longer work."
		alarm.List = append(alarm.List, "Create new recovery codes under "+panel.account+": someone else has these.")
	}
	facts = append(facts, withValue(views.Facts{{Name: "IP address", Value: line(e.Address)}, {Name: "Time", Value: second(e.At)}})...)
	alarm.List = append(alarm.List, "Check the audit log of "+panel.name+" for anything done in your name, or ask "+panel.helper+" to check it.")
	return m.notice(to, "You get this e-mail because you sign in to this panel with this address.", views.Email{
		Subject: subject,
		Preview: "If this wasn't you, act now.",
		Blocks:  []views.Block{greeting(e.Person), views.Paragraph(intro), facts, views.Closing(closing), alarm},
	})
}
