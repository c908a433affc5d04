package page

import (
	"maps"
	"net/url"

	"example.com/loyalty/core"
	"example.com/loyalty/views/ui"
)

// pageSize is the number of records on a page of a list.
const pageSize = 25

// Position returns the page of a list that an address asks for.
func Position(q url.Values) core.Page {
	p := core.Page{Size: pageSize, Counted: true}
	if text := q.Get("cursor"); text != "" {
		cursor, err := core.ParseCursor(text)
		if err != nil {
			p.Malformed = core.Fields{"cursor": {core.InvalidChoice}}
			return p
		}
		p.Cursor = &cursor
	}
	return p
}

// Position returns the page of a list that a form of filters asks for, with the violations found
// while the filters were read. Call it after reading them.
func (f *Form) Position() core.Page {
	p := Position(f.Values)
	if p.Malformed == nil {
		p.Malformed = f.Malformed
	} else {
		maps.Copy(p.Malformed, f.Malformed)
	}
	return p
}

// Pager links to the next and previous page with the same filters. one and many are the noun of a record
// ("sale", "sales"), target is the selector that htmx replaces.
func Pager[T any](list core.List[T], u *url.URL, one, many, target string) ui.Pager {
	at := func(cursor *core.Cursor) string {
		if cursor == nil {
			return ""
		}
		return With(u, "cursor", cursor.String())
	}
	p := ui.Pager{Prev: at(list.Prev), Next: at(list.Next), Shown: shown(list, one, many), Target: target}
	if list.Prev != nil {
		p.First = With(u, "cursor", "")
	}
	return p
}

// shown says which records of a list a page shows: "26–50 of 397", or how many where all are on the page.
func shown[T any](list core.List[T], one, many string) string {
	n := int64(len(list.Items))
	switch p := list.Place; {
	case list.Prev == nil && list.Next == nil:
		return Count(n, one, many)
	case p == nil:
		return Count(n, one, many) + " on this page"
	case p.More:
		return Number(p.First) + "–" + Number(p.First+n-1) + " of more than " + Number(p.Total)
	default:
		return Number(p.First) + "–" + Number(p.First+n-1) + " of " + Number(p.Total)
	}
}

// With sets a value in the query of an address; "" removes it.
func With(u *url.URL, name, value string) string {
	q := u.Query()
	q.Del(name)
	if value != "" {
		q.Set(name, value)
	}
	if len(q) == 0 {
		return u.Path
	}
	return u.Path + "?" + q.Encode()
}

// WithQuery adds a value to a path as its query, unless the value is "".
func WithQuery(path, name, value string) string { return With(&url.URL{Path: path}, name, value) }
