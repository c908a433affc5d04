package email

import views "example.com/loyalty/views/mail"

// notice is a letter of one thing to do, in both of its forms.
func notice(v views.Notice) message {
	var t text
	t.paragraph(v.Greeting)
	t.paragraph(v.Intro)
	t.facts(v.Facts)
	t.paragraph(v.Action + ":")
	t.paragraph(v.Address)
	t.paragraph(v.Fine)
	t.footer(v.Frame)
	return message{subject: v.Subject, text: t.String(), html: views.NoticeMail(v)}
}
