package email

import views "example.com/loyalty/views/mail"

// notice renders an e-mail to a person who signs in, in both of its forms. One about a
// possible break-in has steps and no link: it must not teach people to follow links in
// such e-mails.
func (p renderer) notice(to string, v views.Notice) message {
	v.Service, v.To = p.service, to
	if v.Greeting == "" {
		v.Greeting = greeting("")
	}
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
	if v.Action != "" {
		t.paragraph(v.Action + ":")
		t.paragraph(v.Address)
	}
	t.paragraph(v.Fine)
	if v.Alarm != "" {
		t.paragraph(v.Alarm + ":")
		t.steps(v.Steps)
	}
	t.signature("Sent by "+v.Service+" to "+v.To+".", v.Reason)
	return message{subject: v.Subject, text: t.String(), html: views.NoticeMail(v)}
}
