package email

import (
	"example.com/loyalty/core/auth"
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

func (p renderer) panelOf(l auth.ChangeEmail) signInPanel {
	if l.Slug == "" {
		return signInPanel{
			name: "the platform", address: p.names.Base() + "/platform", account: "Account",
			reset:  "Ask the operator of this installation to reset your password. This signs out everyone who is signed in as you.",
			helper: "another super-admin",
		}
	}
	return signInPanel{
		name: line(l.Tenant), address: p.names.Tenant(l.Slug) + "/admin", account: "Settings → Your account",
		reset: "Open the panel yourself, not from a link in an e-mail, and choose “Forgot your password?” on the sign-in page. " +
			"Resetting your password signs out everyone who is signed in as you.",
		helper: "an owner",
	}
}

// change tells a person that their password or two-step verification changed.
func (p renderer) change(to string, l auth.ChangeEmail) message {
	panel, by := p.panelOf(l), line(l.By)
	v := views.Notice{
		Preview:  "If this wasn't you, act now.",
		Reason:   "You get this e-mail because you sign in to this panel with this address.",
		Greeting: greeting(line(l.Person)),
		Facts:    []views.Fact{{Name: "Panel", Value: panel.address}, {Name: "Sign-in", Value: to}},
		Fine:     "If this was you, you don't need to do anything.",
		Alarm:    "If this wasn't you",
	}
	password, twoFactor := "Your password for "+panel.name, "Two-step verification for "+panel.name
	switch l.Change {
	case auth.PasswordChanged:
		v.Subject = password + " was changed"
		v.Intro = password + " was changed, with the previous password. You were signed out everywhere else."
		v.Steps = []string{panel.reset}
	case auth.PasswordReset:
		v.Subject = password + " was changed"
		v.Intro = password + " was reset with the link that we e-mailed you. You were signed out everywhere."
		v.Steps = []string{"Change the password of your mailbox first: the person who used the link can read your e-mail.", panel.reset}
	case auth.PasswordSet:
		v.Subject = password + " was changed"
		v.Intro = password + " was reset by the operator of this installation. You were signed out everywhere."
		v.Fine = "If you asked for this, you don't need to do anything."
		v.Alarm = "If you didn't ask for this"
		v.Steps = []string{panel.reset}
	case auth.TwoFactorOn:
		v.Subject = twoFactor + " was turned on"
		v.Intro = "Signing in to " + panel.name + " now asks for an authentication code. You were signed out everywhere else."
		v.Steps = []string{panel.reset, "Ask " + panel.helper + " or the operator to turn off your two-step verification: someone else has the codes."}
	case auth.TwoFactorRenewed:
		v.Subject = twoFactor + " moved to another app"
		v.Intro = "Signing in to " + panel.name + " now asks for a code from another authenticator app. Your old recovery codes no longer work. You were signed out everywhere else."
		v.Steps = []string{panel.reset, "Ask " + panel.helper + " or the operator to reset your two-step verification: someone else has the codes."}
	case auth.TwoFactorOff:
		v.Subject = twoFactor + " was turned off"
		v.Intro = "You now sign in to " + panel.name + " with your password only."
		if l.Slug == "" {
			v.Intro = "Your two-step verification for the platform was reset, and you were signed out everywhere. Set it up again when you next sign in."
		}
		if by != "" {
			v.Facts = append(v.Facts, views.Fact{Name: "Turned off by", Value: by})
			v.Fine = "If you asked for this, set it up again under " + panel.account + "."
			v.Alarm = "If you didn't ask for this"
		}
		v.Steps = []string{panel.reset, "Turn on two-step verification again under " + panel.account + "."}
	case auth.RecoveryCodesRenewed:
		v.Subject = "Your recovery codes for " + panel.name + " were replaced"
		v.Intro = "New recovery codes for " + panel.name + " were created, with your password. Your old codes no longer work."
		v.Steps = []string{panel.reset, "Create new recovery codes under " + panel.account + ": someone else has these."}
	}
	v.Steps = append(v.Steps, "Check the audit log of "+panel.name+" for anything done in your name, or ask "+panel.helper+" to check it.")
	v.Facts = append(v.Facts, withValue([]views.Fact{{Name: "IP address", Value: line(l.Address)}, {Name: "Time", Value: second(l.At)}})...)
	return p.notice(to, v)
}
