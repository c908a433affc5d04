package email

import (
	"strings"

	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/programme"
	"example.com/loyalty/views/format"
	views "example.com/loyalty/views/mail"
)

// ExpiryNotice tells a customer that what they have, and what they earn, ends from now on.
func (m Mails) ExpiryNotice(to string, e programme.NoticeEmail) mail.Email {
	business, err := senderOf(e.BusinessName, e.Colour)
	balance, units := format.Units(e.Balance, e.Unit), string(e.Unit)
	them, expire := "them", "expire"
	if e.Balance == 1 {
		them, expire = "it", "expires"
	}
	intro := "You have " + balance + ", which never " + expire + "."
	if e.LastDay != nil {
		intro = "You have " + balance + ". You can spend " + them + " until " + format.LongDay(*e.LastDay)
		if format.EndsIdle(e.Expiry) {
			intro += ", and longer if you buy or redeem something before"
		}
		intro += "."
	}
	words := views.Email{
		Subject: "Your " + business.Name + " " + units + " and when they expire", Preview: intro, Business: &business,
		Blocks: []views.Block{
			views.Title("When your " + units + " expire"),
			greeting(e.FirstName),
			views.Paragraph(intro),
			views.Paragraph("From now on, " + lowerFirst(format.HowTheyExpire(e.Unit, e.Expiry))),
			views.Button{Label: "Open card", URL: m.names.Tenant(e.Slug) + "/card/" + e.CardToken},
			views.Closing("Your card always shows what you have. Don't forward this e-mail: anyone with the link can open your card."),
		},
		Footer: views.Footer{Lines: []string{
			business.Name, "You get this e-mail because it is about the " + units + " that you have. It isn't advertising, so it also goes to customers who unsubscribed.",
		}},
	}
	return message{words: words, envelope: mail.Rendered{To: to, From: business.Name}, err: err}
}

func lowerFirst(sentence string) string { return strings.ToLower(sentence[:1]) + sentence[1:] }
