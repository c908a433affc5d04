package email

import (
	"strconv"
	"strings"

	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/token"
	views "example.com/loyalty/views/mail"
)

// notExpected is the heading of what to do about unexpected tokens.
const notExpected = "If you didn't expect this"

// NewTokens tells a person that one API token, or several within an hour, were created for them.
func (m Mails) NewTokens(to string, e token.CreatedEmail) mail.Email {
	business, panel, contact := line(e.Tenant), "the panel of "+line(e.Tenant), "the operator of "+m.service()
	all, owner := "Settings → Staff → your own name", "you"
	if e.Tenant == "" {
		business, panel, contact = "the platform", "the platform panel", "the other super-admins"
		all, owner = "Settings → API Tokens", "you, a super-admin,"
	}
	number := strconv.Itoa(len(e.Tokens) + e.More)
	subject := number + " new API tokens for " + business
	preview := notExpected + ", revoke them."
	reason := "You get this e-mail because the tokens belong to you."
	intro := number + " API tokens for " + business + " were created since our last e-mail about tokens. They act for " + owner +
		" and work until they are revoked or expire."
	revoke := "Revoke all your API tokens, not only these: in " + panel + " under " + all + ". They were created with another of your tokens, " +
		"or by someone signed in as you."
	if number == "1" {
		subject = "New API token “" + line(e.Tokens[0].Token) + "” for " + business
		preview = notExpected + ", revoke it."
		reason = "You get this e-mail because the token belongs to you."
		intro = "An API token for " + business + " was created. It acts for " + owner + " and works until it is revoked or expires."
		revoke = "Revoke this token and your other tokens: in " + panel + " under " + all + ", or by the API with DELETE " + m.names.Base() +
			"/api/v1/tokens/{id} (GET " + m.names.Base() + "/api/v1/tokens lists the ids). It was created with another of your tokens, or by someone signed in as you."
	}
	blocks := []views.Block{greeting(e.Person), views.Paragraph(intro)}
	for _, t := range e.Tokens {
		blocks = append(blocks, views.Heading(line(t.Token)), tokenFacts(e, t))
	}
	if e.More > 0 {
		blocks = append(blocks, views.Paragraph("And "+strconv.Itoa(e.More)+" more: the audit log lists all of them."))
	}
	blocks = append(blocks,
		views.Closing("If you expected this, you don't need to do anything."),
		views.Steps{Heading: notExpected, List: []string{revoke, "Change your password, and tell " + contact + "."}},
	)
	return m.notice(to, reason, views.Email{Subject: subject, Preview: preview, Blocks: blocks})
}

func tokenFacts(e token.CreatedEmail, t token.CreatedToken) views.Facts {
	facts := views.Facts{
		{Name: "Abilities", Value: abilitiesOf(e, t)},
		{Name: "Created by", Value: line(t.By)},
		{Name: "IP address", Value: line(t.Address)},
		{Name: "Time", Value: second(t.At)},
	}
	if t.Revoked {
		facts = append(facts, views.Fact{Name: "Status", Value: "Revoked"})
	}
	return withValue(facts)
}

func abilitiesOf(e token.CreatedEmail, t token.CreatedToken) string {
	switch {
	case len(t.Abilities) > 0:
		words := make([]string, len(t.Abilities))
		for i, a := range t.Abilities {
			words[i] = string(a)
		}
		return strings.Join(words, ", ")
	case e.Tenant == "":
		return "everything on the platform"
	}
	return "none: it can only list, create and revoke tokens"
}
