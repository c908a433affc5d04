package letter

import (
	"example.com/loyalty/core/staff"
	views "example.com/loyalty/views/mail"
)

func (p post) changed(to string, l staff.ChangeLetter) draft {
	tenant, by := line(l.Tenant), line(l.By)
	v := views.Warning{
		Frame:    views.Frame{Service: p.service, To: to, Reason: "You get this mail because you sign in to that panel with this address."},
		Greeting: greeting(line(l.Person)),
		Facts:    []views.Fact{{Name: "Panel", Value: p.names.Tenant(l.Slug) + "/admin"}, {Name: "Sign-in", Value: to}},
		Fine:     "If this was you, there is nothing to do.",
		Alarm:    "If this was not you",
	}
	again := "Open the panel, not by a link in a mail, and choose “Forgot your password?” at its sign-in page. The password that you set then " +
		"signs everybody out who is signed in as you."
	switch l.Change {
	case staff.PasswordChanged:
		v.Subject = "Your password for " + tenant + " was changed"
		v.Intro = "Your password for the panel of " + tenant + " was changed by somebody who knew the one before. Everywhere else you are signed out."
		v.Steps = []string{again}
	case staff.PasswordReset:
		v.Subject = "Your password for " + tenant + " was changed"
		v.Intro = "Another password for the panel of " + tenant + " was chosen by the link that was mailed to you. You are signed out everywhere."
		v.Steps = []string{"Change the password of your mailbox first: whoever used the link reads your mail.", again}
	case staff.FactorOff:
		v.Subject = "Your second factor for " + tenant + " was turned off"
		v.Intro = "The second factor of your sign-in to the panel of " + tenant + " was turned off. From now on, your password is enough to sign in."
		if by != "" {
			v.Facts = append(v.Facts, views.Fact{Name: "Turned off by", Value: by})
			v.Fine = "If you had asked for it, set it up anew under Settings → Your account."
			v.Alarm = "If you had not"
		}
		v.Steps = []string{again, "Turn the second factor on again, under Settings → Your account."}
	}
	v.Steps = append(v.Steps, "Look in the audit log of "+tenant+" for what was done in your name, or have an owner look.")
	v.Preview = "If this was not you, act at once."
	if from := line(l.Address); from != "" {
		v.Facts = append(v.Facts, views.Fact{Name: "From address", Value: from})
	}
	v.Facts = append(v.Facts, views.Fact{Name: "Time", Value: moment(l.At)})
	return warning(v)
}
