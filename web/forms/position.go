package forms

import (
	"maps"
	"net/url"

	"example.com/loyalty/core"
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
