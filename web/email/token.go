package email

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/loyalty/core/token"
	views "example.com/loyalty/views/mail"
)

// tokensMade tells of one token, or of several that were created within the hour.
func (p renderer) tokensMade(to string, l token.CreatedEmail) message {
	if len(l.Tokens) == 1 && l.More == 0 {
		return p.tokenMade(to, l, l.Tokens[0])
	}
	count := strconv.Itoa(len(l.Tokens) + l.More)
	v := views.Warning{
		Frame:    views.Frame{Service: p.service, To: to, Reason: "You get this mail because the tokens belong to you."},
		Greeting: greeting(line(l.Person)),
		Fine:     "If you expected this, you don't need to do anything.",
		Alarm:    "If you didn't expect this",
	}
	v.Preview = "If you didn't expect this, revoke them."
	tenant, panel, contact := tokenOwner(l, p.service)
	all := "Settings → People → your own name"
	if tenant == "" {
		all = "Settings → API Tokens"
		v.Subject = count + " new platform API tokens"
		v.Intro = count + " new API tokens for the platform were created since our last e-mail about tokens. They act for you, a super-admin, and work until they are revoked or expire."
	} else {
		v.Subject = count + " new API tokens for " + tenant
		v.Intro = count + " new API tokens for " + tenant + " were created since our last e-mail about tokens. They belong to you, and work until they are revoked or expire."
	}
	for _, t := range l.Tokens {
		g := views.Group{Title: line(t.Token), Facts: []views.Fact{{Name: "Abilities", Value: abilitiesOf(l, t)}}}
		g.Facts = append(g.Facts, present([]views.Fact{{Name: "Created by", Value: line(t.By)}, {Name: "From address", Value: line(t.Address)}})...)
		g.Facts = append(g.Facts, views.Fact{Name: "Time", Value: moment(t.At)})
		if t.Revoked {
			g.Facts = append(g.Facts, views.Fact{Name: "Status", Value: "Revoked"})
		}
		v.Groups = append(v.Groups, g)
	}
	if l.More > 0 {
		v.More = "And " + strconv.Itoa(l.More) + " more: the audit log lists all of them."
	}
	v.Steps = []string{
		"Revoke all your API tokens, not only these: in " + panel + " under " + all + ". They were created with another of your tokens, " +
			"or by someone signed in as you.",
		"Change your password, and tell " + contact + ".",
	}
	return warning(v)
}

// tokenOwner is the business that tokens are for, where they are revoked, and whom to tell.
func tokenOwner(l token.CreatedEmail, service string) (tenant, panel, contact string) {
	if l.Tenant == "" {
		return "", "the platform panel", "the other super-admins"
	}
	tenant = line(l.Tenant)
	return tenant, "the panel of " + tenant, "the people who run " + service + " for you"
}

// abilitiesOf says what a token may do.
func abilitiesOf(l token.CreatedEmail, t token.CreatedToken) string {
	switch {
	case len(t.Abilities) > 0:
		return join(t.Abilities)
	case l.Tenant == "":
		return "everything on the platform"
	}
	return "none: it can only list, make and revoke tokens"
}

// present leaves out facts that are not known: a command has no address.
func present(facts []views.Fact) []views.Fact {
	return slices.DeleteFunc(facts, func(f views.Fact) bool { return f.Value == "" })
}

func (p renderer) tokenMade(to string, l token.CreatedEmail, t token.CreatedToken) message {
	name := line(t.Token)
	v := views.Warning{
		Frame:    views.Frame{Service: p.service, To: to, Reason: "You get this mail because the token belongs to you."},
		Greeting: greeting(line(l.Person)),
		Fine:     "If you expected this, there is nothing to do.",
		Alarm:    "If this was not you",
		Facts:    []views.Fact{{Name: "Token", Value: name}, {Name: "Abilities", Value: abilitiesOf(l, t)}},
	}
	tenant, panel, contact := tokenOwner(l, p.service)
	if tenant == "" {
		v.Subject = "New platform API token “" + name + "”"
		v.Intro = "A new API token for the platform was made. It acts for you, a super-admin, and it works until it is revoked or expires."
	} else {
		v.Subject = "New API token “" + name + "” for " + tenant
		v.Intro = "A new API token for " + tenant + " was made. It belongs to you, and it works until it is revoked or expires."
	}
	v.Facts = append(v.Facts, present([]views.Fact{{Name: "Made by", Value: line(t.By)}, {Name: "From address", Value: line(t.Address)}})...)
	v.Facts = append(v.Facts, views.Fact{Name: "Time", Value: moment(t.At)})
	if t.Revoked {
		v.Facts = append(v.Facts, views.Fact{Name: "Status", Value: "Revoked"})
	}
	v.Preview = "Made by " + line(t.By) + ". If this was not you, revoke it."
	if line(t.By) == "" {
		v.Preview = "If this was not you, revoke it."
	}
	v.Steps = []string{
		"Revoke the token at once: in " + panel + " under Settings → API Tokens, or by the API: GET " + p.names.Base() +
			"/api/v1/tokens tells its id, and DELETE " + p.names.Base() + "/api/v1/tokens/{id} ends it.",
		"Revoke your other tokens too. Whoever made this one holds one of them, or was signed in as you.",
		"Change your password, and tell " + contact + ".",
	}
	return warning(v)
}

func greeting(person string) string {
	if person == "" {
		return "Hello,"
	}
	return "Hello " + person + ","
}

// moment is an instant to the second: a mail knows no reader's clock.
func moment(at time.Time) string { return at.UTC().Format("2 January 2006, 15:04:05") + " UTC" }

func join(abilities []token.Ability) string {
	words := make([]string, len(abilities))
	for i, a := range abilities {
		words[i] = string(a)
	}
	return strings.Join(words, ", ")
}
