package customers

import (
	"strings"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// SearchList is the page of the search without scripts.
type SearchList struct {
	panel.Frame
	Form    ui.Form
	Voucher *coupon.ShownVoucher // with the typed code; nil: none
	List    []customer.Row
	Pager   ui.Pager
}

// SearchResults are the results of the search from every page, in its dialog.
type SearchResults struct {
	format.Reader
	Form    ui.Form
	Voucher *coupon.ShownVoucher // with the typed code; nil: none
	List    core.List[customer.Row]
}

// count is how many customers match: "4 customers"; "" for suggestions.
func (v SearchResults) count() string {
	found := v.List.Place
	if found == nil {
		return ""
	}
	count := format.Count(found.Total, "customer", "customers")
	if found.More {
		return "More than " + count
	}
	return count
}

// contact is by what a customer was found, and their last visit. A line breaks only at the dot.
func (v SearchResults) contact(r customer.Row) string {
	contact, search := format.Contact(r.Phone, r.Email), core.Fold(v.Form.Value("search"))
	if r.Email != nil && !strings.Contains(core.Fold(contact), search) && strings.Contains(core.Fold(*r.Email), search) {
		contact = *r.Email
	}
	if r.LastVisit == nil {
		return contact
	}
	return contact + " · " + strings.ReplaceAll("Last visit "+v.Ago(*r.LastVisit), " ", "\u00a0")
}

// searched is the text of a search with single spaces; "": none.
func searched(form ui.Form) string { return strings.Join(strings.Fields(form.Value("search")), " ") }

// markedText is a part of a text, marked if it matches a search.
type markedText struct {
	text   string
	marked bool
}

// mark marks the words of a search in a text, as a search finds them (core.Fold).
func mark(text, search string) (parts []markedText) {
	runes := []rune(text)
	var folded []rune
	var from []int // the place in the text of each folded character: ß is folded to two
	for i, r := range runes {
		for _, f := range core.Fold(string(r)) {
			folded, from = append(folded, f), append(from, i)
		}
	}
	hit := make([]bool, len(runes))
	for word := range strings.FieldsSeq(core.Fold(search)) {
		w := []rune(word)
		for at := 0; at+len(w) <= len(folded); at++ {
			if string(folded[at:at+len(w)]) == word {
				for i := range w {
					hit[from[at+i]] = true
				}
			}
		}
	}
	for from := 0; from < len(runes); {
		to := from + 1
		for to < len(runes) && hit[to] == hit[from] {
			to++
		}
		parts = append(parts, markedText{text: string(runes[from:to]), marked: hit[from]})
		from = to
	}
	return parts
}
