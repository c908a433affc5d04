package webtest

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/PuerkitoBio/goquery"
)

// spoiled are values that few fields accept: none, an unknown record or choice, a number below all limits, one above,
// a text that is too long, and one that can't be stored.
var spoiled = []string{"", "01JZZZZZZZZZZZZZZZZZZZZZZZ", "-1", "999999999999999999", strings.Repeat("x", 3000), "a\x00b"}

// RefuseForms sends each form of the pages at some paths, except to the actions in skip, with spoiled fields and
// without fields: all at once, and the references to records (hidden fields, menus and radio buttons) alone. Each
// refused page is checked as Browser.Do checks every page. It returns the number of refusals.
func (b *Browser) RefuseForms(paths []string, skip ...string) (refused int) {
	b.T.Helper()
	sent := map[string]bool{}
	for _, path := range paths {
		p := b.Ask(http.MethodGet, path)
		if p.Code != http.StatusOK {
			continue
		}
		p.Find("form").Each(func(_ int, form *goquery.Selection) {
			action := form.AttrOr("action", path)
			if !strings.EqualFold(form.AttrOr("method", "get"), http.MethodPost) || slices.ContainsFunc(skip, func(s string) bool { return strings.Contains(action, s) }) {
				return
			}
			all, references := fieldsOf(form)
			for _, fields := range spoil(all, references) {
				if key := action + "?" + fields.Encode(); sent[key] {
					continue
				} else {
					sent[key] = true
				}
				switch a := b.Post(action, fields); {
				case a.Code >= http.StatusInternalServerError:
					b.T.Errorf("POST %s %v = %d", action, fields, a.Code)
				case a.Code == http.StatusUnprocessableEntity:
					refused++
					if a.Text("[role=alert], .alert, .problem, .wrong, .invalid-feedback, .empty-subtitle, main.notice p, .card p") == "" && strings.TrimSpace(a.Text("body")) == "" {
						b.T.Errorf("POST %s %v is refused without a reason", action, fields)
					}
				}
			}
		})
	}
	return refused
}

// fieldsOf returns the fields of a form as they are shown, and the names of those that refer to a record or choice.
func fieldsOf(form *goquery.Selection) (all url.Values, references []string) {
	all = url.Values{}
	form.Find("input[name], textarea[name], select[name], button[name]").Each(func(_ int, field *goquery.Selection) {
		name, value := field.AttrOr("name", ""), field.AttrOr("value", "")
		kind := field.AttrOr("type", "")
		if goquery.NodeName(field) == "select" {
			value = field.Find("option[selected]").AttrOr("value", field.Find("option").AttrOr("value", ""))
		}
		if goquery.NodeName(field) == "select" || kind == "hidden" || kind == "radio" {
			references = append(references, name)
		}
		if !all.Has(name) {
			all.Set(name, value)
		}
	})
	return all, references
}

// spoil returns variants of a form.
func spoil(all url.Values, references []string) (variants []url.Values) {
	variants = append(variants, url.Values{})
	for _, value := range spoiled {
		whole := url.Values{}
		for name := range all {
			whole.Set(name, value)
			if name == "form_key" {
				whole.Set(name, all.Get(name))
			}
		}
		variants = append(variants, whole)
		for _, name := range references {
			if name == "form_key" || name == "original" {
				continue
			}
			one := maps.Clone(all)
			one.Set(name, value)
			variants = append(variants, one)
		}
	}
	return variants
}
