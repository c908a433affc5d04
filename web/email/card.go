package email

import (
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/walkin"
	views "example.com/loyalty/views/mail"
)

// Card sends a customer the link to their card.
func (m Mails) Card(to string, e walkin.CardEmail) mail.Email {
	business, err := senderOf(e.BusinessName, e.Colour)
	subject := "The link to your " + business.Name + " card"
	intro := "Your card shows your rewards and vouchers."
	reason := "You get this e-mail because the link was requested for this address. If you didn't request it, ignore this e-mail."
	if e.New {
		subject = "Your " + business.Name + " card"
		intro = "Welcome! Show your card at the till to earn and redeem rewards."
		reason = "You get this e-mail because you joined."
	}
	words := views.Email{
		Subject: subject, Preview: intro, Business: &business,
		Blocks: []views.Block{
			views.Title(subject),
			greeting(e.FirstName),
			views.Paragraph(intro),
			views.Button{Label: "Open card", URL: m.names.Tenant(e.Slug) + "/card/" + e.CardToken},
			views.Closing("Keep this e-mail: the link opens your card on any phone. Don't forward it: anyone with the link can open your card."),
		},
		Footer: views.Footer{Lines: []string{business.Name, reason}},
	}
	return message{words: words, envelope: mail.Rendered{To: to, From: business.Name}, err: err}
}
