package email

import (
	"example.com/loyalty/core/auth"
	views "example.com/loyalty/views/mail"
)

// panelOf is the panel that a person signs in to, as a mail names it.
type panelOf struct {
	name    string // "Café Åro", "the platform"
	address string
	account string // where a person finds their own account there
	forgot  string // how they choose another password
	helper  string // who else can look at the audit log
}

func (p renderer) panelLink(l auth.ChangeEmail) panelOf {
	if l.Slug == "" {
		return panelOf{
			name: "the platform", address: p.names.Base() + "/platform", account: "Account",
			forgot: "Ask the operator of this installation to set another password for you: that signs out everyone who is signed in as you.",
			helper: "another super-admin",
		}
	}
	return panelOf{
		name: line(l.Tenant), address: p.names.Tenant(l.Slug) + "/admin", account: "Settings → Your account",
		forgot: "Open the panel, not by a link in an e-mail, and choose “Forgot your password?” on its sign-in page. " +
			"Setting another password signs out everyone who is signed in as you.",
		helper: "an owner",
	}
}

func (p renderer) changed(to string, l auth.ChangeEmail) message {
	panel, by := p.panelLink(l), line(l.By)
	v := views.Warning{
		Frame:    views.Frame{Service: p.service, To: to, Reason: "You get this e-mail because you sign in to that panel with this address."},
		Greeting: greeting(line(l.Person)),
		Facts:    []views.Fact{{Name: "Panel", Value: panel.address}, {Name: "Sign-in", Value: to}},
		Fine:     "If this was you, you don't need to do anything.",
		Alarm:    "If this wasn't you",
	}
	password, twoFactor := "Your password for "+panel.name, "Two-step verification for "+panel.name
	switch l.Change {
	case auth.PasswordChanged:
		v.Subject = password + " was changed"
		v.Intro = password + " was changed by someone who knew the previous one. You are signed out everywhere else."
		v.Steps = []string{panel.forgot}
	case auth.PasswordReset:
		v.Subject = password + " was changed"
		v.Intro = password + " was reset with the link that we e-mailed you. You are signed out everywhere."
		v.Steps = []string{"Change the password of your mailbox first: someone who used the link can read your e-mail.", panel.forgot}
	case auth.PasswordSet:
		v.Subject = password + " was changed"
		v.Intro = password + " was set by the operator of this installation. You are signed out everywhere."
		v.Fine = "If you asked for this, you don't need to do anything."
		v.Alarm = "If you didn't ask for this"
		v.Steps = []string{panel.forgot}
	case auth.TwoFactorOn:
		v.Subject = twoFactor + " was turned on"
		v.Intro = "Signing in to " + panel.name + " now asks for a code of your authenticator app. You are signed out everywhere else."
		v.Steps = []string{panel.forgot, "Have two-step verification turned off: someone else has the codes. Ask " + panel.helper + " or the operator."}
	case auth.TwoFactorRenewed:
		v.Subject = twoFactor + " moved to another app"
		v.Intro = "Signing in to " + panel.name + " now asks for a code of another authenticator app. Your old recovery codes no longer work. You are signed out everywhere else."
		v.Steps = []string{panel.forgot, "Have two-step verification reset: someone else has the codes. Ask " + panel.helper + " or the operator."}
	case auth.TwoFactorOff:
		v.Subject = twoFactor + " was turned off"
		v.Intro = "Your password alone is now enough to sign in to " + panel.name + "."
		if l.Slug == "" {
			v.Intro = "Your two-step verification for the platform was reset, and you are signed out everywhere. You set it up again when you next sign in."
		}
		if by != "" {
			v.Facts = append(v.Facts, views.Fact{Name: "Turned off by", Value: by})
			v.Fine = "If you asked for this, set it up again under " + panel.account + "."
			v.Alarm = "If you didn't ask for this"
		}
		v.Steps = []string{panel.forgot, "Turn two-step verification on again, under " + panel.account + "."}
	case auth.RecoveryCodesRenewed:
		v.Subject = "Your recovery codes for " + panel.name + " were replaced"
		v.Intro = "New recovery codes for " + panel.name + " were created by someone who knew your password. Your old codes no longer work."
		v.Steps = []string{panel.forgot, "Create new recovery codes again, under " + panel.account + ": someone else has these."}
	}
	v.Steps = append(v.Steps, "Check the audit log of "+panel.name+" for anything done in your name, or ask "+panel.helper+" to check it.")
	v.Preview = "If this wasn't you, act at once."
	if from := line(l.Address); from != "" {
		v.Facts = append(v.Facts, views.Fact{Name: "From address", Value: from})
	}
	v.Facts = append(v.Facts, views.Fact{Name: "Time", Value: moment(l.At)})
	return warning(v)
}
