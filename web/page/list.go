package page

import (
	"net/url"

	"example.com/loyalty/core"
	"example.com/loyalty/views/ui"
)

// size is how many records a page of a list shows.
const size = 25

// Position is the part of a list that an address asks for.
func Position(q url.Values) core.Page {
	p := core.Page{Size: size}
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

// Position is the part of a list that a form of filters asks for, with what could not be
// read of them: it is made last.
func (f *Form) Position() core.Page {
	p := Position(f.Values)
	for name, messages := range f.Malformed {
		if p.Malformed == nil {
			p.Malformed = core.Fields{}
		}
		p.Malformed[name] = messages
	}
	return p
}

// Pager leads to the neighbours of a page, with the same filters. shown says what is on
// it, target is what htmx replaces.
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

// With is an address with a value of its query set, or, by "", left out.
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

// WithQuery is a path with a value in its query, or without one where the value is "".
func WithQuery(path, name, value string) string { return With(&url.URL{Path: path}, name, value) }
