package letter

import (
	"strings"
	"time"

	"example.com/loyalty/core/token"
	views "example.com/loyalty/views/mail"
)

func (p post) tokenMade(to string, l token.Letter) draft {
	name, tenant, person := line(l.Token), line(l.Tenant), line(l.Person)
	v := views.Warning{
		Frame:    views.Frame{Service: p.service, To: to, Reason: "You get this mail because the token belongs to you."},
		Greeting: greeting(person),
		Fine:     "If you expected this, there is nothing to do.",
		Alarm:    "If this was not you",
		Facts:    []views.Fact{{Name: "Token", Value: name}},
	}
	abilities := "none: it can only list, make and revoke tokens"
	panel, contact := "the panel of "+tenant, "the people who run "+p.service+" for you"
	if tenant == "" {
		v.Subject = "New platform API token “" + name + "”"
		v.Intro = "A new API token for the platform was made. It acts for you, a super-admin, and it works until it is revoked or expires."
		abilities = "everything on the platform"
		panel, contact = "the platform panel", "the other super-admins"
	} else {
		v.Subject = "New API token “" + name + "” for " + tenant
		v.Intro = "A new API token for " + tenant + " was made. It belongs to you, and it works until it is revoked or expires."
	}
	if len(l.Abilities) > 0 {
		abilities = join(l.Abilities)
	}
	v.Facts = append(v.Facts, views.Fact{Name: "Abilities", Value: abilities})
	for _, f := range []views.Fact{{Name: "Made by", Value: line(l.By)}, {Name: "From address", Value: line(l.Address)}} {
		if f.Value != "" { // a command has no address
			v.Facts = append(v.Facts, f)
		}
	}
	v.Facts = append(v.Facts, views.Fact{Name: "Time", Value: moment(l.At)})
	v.Preview = "Made by " + line(l.By) + ". If this was not you, revoke it."
	if line(l.By) == "" {
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
