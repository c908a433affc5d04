package email

import (
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/walkin"
	views "example.com/loyalty/views/mail"
)

// card is the e-mail with the link to a customer's card.
func (p renderer) card(l walkin.CardEmail) (message, error) {
	business, palette := line(l.BusinessName), ownPalette
	if l.Colour != nil {
		var err error
		if palette, err = tenant.PaletteOf(*l.Colour); err != nil {
			return message{}, err
		}
	}
	v := views.Card{
		Business: business, Fill: palette.Fill, OnFill: palette.OnFill,
		Greeting: greeting(line(l.FirstName)), URL: p.names.Tenant(l.Slug) + "/card/" + l.CardToken,
		Fine: "Keep this e-mail: the link opens your card on any phone. Anyone who has it can open your card, so don't forward it.",
	}
	if l.New {
		v.Subject = "Your " + business + " card"
		v.Intro = "Welcome. Show your card at the till to collect and redeem rewards."
		v.Reason = "You get this e-mail because you joined."
	} else {
		v.Subject = "The link to your " + business + " card"
		v.Intro = "Here is the link to your card. Your rewards and vouchers are on it."
		v.Reason = "You get this e-mail because someone asked for the link. If it wasn't you, ignore it."
	}
	v.Preview = v.Intro
	var t text
	t.paragraph(v.Subject)
	t.paragraph(v.Greeting)
	t.paragraph(v.Intro)
	t.lines([]string{"Open my card:", v.URL})
	t.paragraph(v.Fine)
	t.signature(business, v.Reason)
	return message{subject: v.Subject, text: t.String(), html: views.CardMail(v), from: business}, nil
}
