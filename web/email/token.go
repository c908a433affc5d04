package email

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/loyalty/core/token"
	views "example.com/loyalty/views/mail"
)

// notExpected is the heading of what to do about unexpected tokens.
const notExpected = "If you didn't expect this"

// tokens tells a person that one API token, or several within an hour, were created for them.
func (p renderer) tokens(to string, l token.CreatedEmail) message {
	business, panel, contact := line(l.Tenant), "the panel of "+line(l.Tenant), "the operator of "+p.service
	all, owner := "Settings → Staff → your own name", "you"
	if l.Tenant == "" {
		business, panel, contact = "the platform", "the platform panel", "the other super-admins"
		all, owner = "Settings → API Tokens", "you, a super-admin,"
	}
	count := len(l.Tokens) + l.More
	v := views.Notice{
		Subject:  strconv.Itoa(count) + " new API tokens for " + business,
		Preview:  notExpected + ", revoke them.",
		Reason:   "You get this e-mail because the tokens belong to you.",
		Greeting: greeting(line(l.Person)),
		Intro: strconv.Itoa(count) + " API tokens for " + business + " were created since our last e-mail about tokens. They act for " + owner +
			" and work until they are revoked or expire.",
		Fine:  "If you expected this, you don't need to do anything.",
		Alarm: notExpected,
		Steps: []string{
			"Revoke all your API tokens, not only these: in " + panel + " under " + all + ". They were created with another of your tokens, " +
				"or by someone signed in as you.",
			"Change your password, and tell " + contact + ".",
		},
	}
	for _, t := range l.Tokens {
		facts := []views.Fact{
			{Name: "Abilities", Value: abilitiesOf(l, t)},
			{Name: "Created by", Value: line(t.By)},
			{Name: "IP address", Value: line(t.Address)},
			{Name: "Time", Value: second(t.At)},
		}
		if t.Revoked {
			facts = append(facts, views.Fact{Name: "Status", Value: "Revoked"})
		}
		v.Groups = append(v.Groups, views.Group{Title: line(t.Token), Facts: withValue(facts)})
	}
	if l.More > 0 {
		v.More = "And " + strconv.Itoa(l.More) + " more: the audit log lists all of them."
	}
	if count == 1 {
		v.Subject = "New API token “" + v.Groups[0].Title + "” for " + business
		v.Preview = notExpected + ", revoke it."
		v.Reason = "You get this e-mail because the token belongs to you."
		v.Intro = "An API token for " + business + " was created. It acts for " + owner + " and works until it is revoked or expires."
		v.Steps[0] = "Revoke this token and your other tokens: in " + panel + " under " + all + ", or by the API with DELETE " + p.names.Base() +
			"/api/v1/tokens/{id} (GET " + p.names.Base() + "/api/v1/tokens lists the ids). It was created with another of your tokens, or by someone signed in as you."
	}
	return p.notice(to, v)
}

func abilitiesOf(l token.CreatedEmail, t token.CreatedToken) string {
	switch {
	case len(t.Abilities) > 0:
		words := make([]string, len(t.Abilities))
		for i, a := range t.Abilities {
			words[i] = string(a)
		}
		return strings.Join(words, ", ")
	case l.Tenant == "":
		return "everything on the platform"
	}
	return "none: it can only list, create and revoke tokens"
}

// withValue leaves out facts without a value: a command, for example, has no IP address.
func withValue(facts []views.Fact) []views.Fact {
	return slices.DeleteFunc(facts, func(f views.Fact) bool { return f.Value == "" })
}

func greeting(person string) string {
	if person == "" {
		return "Hello,"
	}
	return "Hello " + person + ","
}

// An e-mail doesn't know its reader's time zone, so it gives times in UTC.
func minute(at time.Time) string { return at.UTC().Format("2 January 2006, 15:04") + " UTC" }

func second(at time.Time) string { return at.UTC().Format("2 January 2006, 15:04:05") + " UTC" }
