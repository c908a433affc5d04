package email

import views "example.com/loyalty/views/mail"

// warning is a letter of what was done in somebody's name, in both of its forms. What to do
// about it stands there in words only: a mail about a break-in should not teach people to
// follow links in such mails.
func warning(v views.Warning) message {
	var t text
	t.paragraph(v.Greeting)
	t.paragraph(v.Intro)
	if len(v.Facts) > 0 {
		t.facts(v.Facts)
	}
	for _, g := range v.Groups {
		t.paragraph(g.Title)
		t.facts(g.Facts)
	}
	if v.More != "" {
		t.paragraph(v.More)
	}
	t.paragraph(v.Fine)
	t.paragraph(v.Alarm + ":")
	t.steps(v.Steps)
	t.footer(v.Frame)
	return message{subject: v.Subject, text: t.String(), html: views.WarningMail(v)}
}
