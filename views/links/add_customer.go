package links

import (
	"net/url"
	"regexp"
	"strings"
)

var phoneLike = regexp.MustCompile(`^[0-9+()/. \x{a0}-]+$`)

// AddCustomer is the form of a new customer, filled in with the text of a search without results: as an e-mail address,
// a phone number or a name.
func AddCustomer(searched string) string {
	text := strings.Join(strings.Fields(searched), " ")
	q := url.Values{}
	switch first, last, _ := strings.Cut(text, " "); {
	case strings.Contains(text, "@"):
		q.Set("email", text)
	case phoneLike.MatchString(text):
		q.Set("phone", text)
	default:
		q.Set("first_name", first)
		if last != "" {
			q.Set("last_name", last)
		}
	}
	return NewCustomer + "?" + q.Encode()
}
