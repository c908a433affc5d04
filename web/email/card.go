package email

import (
	"example.com/loyalty/core/walkin"
	views "example.com/loyalty/views/mail"
)

// card sends a customer the link to their card.
func (p renderer) card(l walkin.CardEmail) (message, error) {
	business, err := headOf(l.BusinessName, l.Colour)
	if err != nil {
		return message{}, err
	}
	v := views.Card{
		Business: business,
		Greeting: greeting(line(l.FirstName)), URL: p.names.Tenant(l.Slug) + "/card/" + l.CardToken,
		Fine: "Keep this e-mail: the link opens your card on any phone. Don't forward it: anyone with the link can open your card.",
	}
	if l.New {
		v.Subject = "Your " + business.Name + " card"
		v.Intro = "Welcome! Show your card at the till to earn and redeem rewards."
		v.Reason = "You get this e-mail because you joined."
	} else {
		v.Subject = "The link to your " + business.Name + " card"
		v.Intro = "Your card shows your rewards and vouchers."
		v.Reason = "You get this e-mail because the link was requested for this address. If you didn't request it, ignore this e-mail."
	}
	var t text
	t.paragraph(v.Subject)
	t.paragraph(v.Greeting)
	t.paragraph(v.Intro)
	t.lines([]string{"Open card:", v.URL})
	t.paragraph(v.Fine)
	t.signature(business.Name, v.Reason)
	return message{subject: v.Subject, text: t.String(), html: views.CardMail(v), from: business.Name}, nil
}
