package page

import (
	"net/http"
	"strings"
	"unicode"

	"example.com/loyalty/core"
)

// AsMeant returns the request that a copied link means. Mail programs and people put a full stop, a bracket or a slash
// behind a link, break it by a space, or escape its hyphens. No page's path ends so, or has a space or an escape.
func AsMeant(r *http.Request) *http.Request {
	path := strings.TrimRightFunc(core.Unspaced(r.URL.Path), func(c rune) bool {
		return c != '-' && c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
	if path == "" {
		path = "/"
	}
	if path == r.URL.Path && r.URL.RawPath == "" {
		return r
	}
	meant, address := *r, *r.URL
	address.Path, address.RawPath = path, ""
	meant.URL = &address
	return &meant
}
