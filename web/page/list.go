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
	p := core.Page{Size: pageSize}
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

// Pager links to the next and previous page with the same filters. shown describes this page,
// target is the selector that htmx replaces.
func Pager[T any](list core.List[T], u *url.URL, shown, target string) ui.Pager {
	at := func(cursor *core.Cursor) string {
		if cursor == nil {
			return ""
		}
		return With(u, "cursor", cursor.String())
	}
	p := ui.Pager{Prev: at(list.Prev), Next: at(list.Next), Shown: shown, Target: target}
	if list.Prev != nil {
		p.First = With(u, "cursor", "")
	}
	return p
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
