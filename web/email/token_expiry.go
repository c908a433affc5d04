package email

import (
	"strconv"
	"time"

	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/token"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/mail"
)

// ExpiringTokens tells an owner that API tokens expire soon.
func (m Mails) ExpiringTokens(to string, e token.ExpiryEmail) mail.Email {
	business, page, reason := line(e.Tenant), m.names.Tenant(e.Slug)+links.Tokens, "You get this e-mail because you are an owner of "+line(e.Tenant)+"."
	if e.Tenant == "" {
		business, page, reason = "the platform", m.names.Base()+links.PlatformTokens, "You get this e-mail because the token belongs to you."
	}
	first, number := e.Tokens[0], strconv.Itoa(len(e.Tokens))
	subject := "API token “" + line(first.Token) + "” for " + business + " expires on " + day(first.ExpiresAt)
	intro := "An API token for " + business + " expires soon. Programs that use it stop working then."
	if number != "1" {
		subject = number + " API tokens for " + business + " expire soon"
		intro = number + " API tokens for " + business + " expire soon. Programs that use them stop working then."
	}
	blocks := []views.Block{greeting(e.Person), views.Paragraph(intro)}
	for _, t := range e.Tokens {
		blocks = append(blocks, views.Heading(line(t.Token)), expiryFacts(t))
	}
	blocks = append(blocks,
		views.Link{Label: "Open API tokens", URL: page},
		views.Paragraph("To keep a program working, create a new token and enter it there before the old one expires."),
		views.Closing("If no program needs it any more, you don't need to do anything."),
	)
	return m.notice(to, reason, views.Email{Subject: subject, Preview: "Create a new token before then.", Blocks: blocks})
}

func expiryFacts(t token.ExpiringToken) views.Facts {
	used := "Never"
	if t.LastUsedAt != nil {
		used = minute(*t.LastUsedAt)
	}
	return withValue(views.Facts{
		{Name: "Owner", Value: line(t.Owner)}, {Name: "Last used", Value: used}, {Name: "Last day", Value: day(t.ExpiresAt)}, {Name: "Expires", Value: minute(t.ExpiresAt)},
	})
}

// day is the last day before a time: a token that expires at midnight works until the day before.
func day(end time.Time) string { return end.Add(-time.Millisecond).Format("2 January 2006") }
