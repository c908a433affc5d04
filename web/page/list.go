package page

import (
	"net/url"

	"example.com/loyalty/core"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
)

// Pager links to the next and previous page with the same filters. one and many are the noun of a record
// ("sale", "sales"), target is the selector that htmx replaces.
func Pager[T any](list core.List[T], u *url.URL, one, many, target string) ui.Pager {
	at := func(cursor *core.Cursor) string {
		if cursor == nil {
			return ""
		}
		return links.With(u, "cursor", cursor.String())
	}
	p := ui.Pager{Prev: at(list.Prev), Next: at(list.Next), Shown: shown(list, one, many), Target: target}
	if list.Prev != nil {
		p.First = links.With(u, "cursor", "")
	}
	return p
}

// shown says which records of a list a page shows: "26–50 of 397", or how many where all are on the page.
func shown[T any](list core.List[T], one, many string) string {
	n := int64(len(list.Items))
	switch p := list.Place; {
	case list.Prev == nil && list.Next == nil:
		return format.Count(n, one, many)
	case p == nil:
		return format.Count(n, one, many) + " on this page"
	case p.More:
		return format.Number(p.First) + "–" + format.Number(p.First+n-1) + " of more than " + format.Number(p.Total)
	default:
		return format.Number(p.First) + "–" + format.Number(p.First+n-1) + " of " + format.Number(p.Total)
	}
}
