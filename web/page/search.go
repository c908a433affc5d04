package page

import (
	"net/url"
	"regexp"
	"strings"
)

var phoneLike = regexp.MustCompile(`^[0-9+()/. \x{a0}-]+$`)

// NewCustomerFrom returns the text of a search without results, and the path of the form to add a
// customer prefilled with it: as an e-mail address, a phone number or a name.
func NewCustomerFrom(search string) (text, path string) {
	text = strings.Join(strings.Fields(search), " ")
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
	return text, "/admin/customers/new?" + q.Encode()
}
