package page

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/unicode/bidi"

	"example.com/loyalty/core"
)

// Isolated returns a page on which no name turns the rest of its line. Pages are in English, so words that are written
// from right to left are what people typed, wherever they stand: they get a <bdi> of their own. Direction marks, with
// which a name could turn the words around it or look like another, are left out, but for the values of forms, which
// are sent back.
func Isolated(whole []byte) []byte {
	if !bytes.ContainsFunc(whole, isDirected) {
		return whole
	}
	var isolated bytes.Buffer
	isolated.Grow(len(whole) + len(whole)/8)
	z := html.NewTokenizer(bytes.NewReader(whole))
	var open []atom.Atom // of elements whose text is handled in its own way
	for {
		kind := z.Next()
		if kind == html.ErrorToken { // the end
			return isolated.Bytes()
		}
		raw := bytes.Clone(z.Raw()) // reading the tag's name overwrites it
		switch kind {
		case html.StartTagToken:
			name, hasAttributes := z.TagName()
			if tag := atom.Lookup(name); keepsText[tag] {
				open = append(open, tag)
			}
			isolated.Write(tagWithoutMarks(raw, z, hasAttributes))
		case html.SelfClosingTagToken:
			_, hasAttributes := z.TagName()
			isolated.Write(tagWithoutMarks(raw, z, hasAttributes))
		case html.EndTagToken:
			name, _ := z.TagName()
			if at := lastIndex(open, atom.Lookup(name)); at >= 0 {
				open = open[:at]
			}
			isolated.Write(raw)
		case html.TextToken:
			switch {
			case slices.Contains(open, atom.Textarea) || !bytes.ContainsFunc(raw, isDirected):
				isolated.Write(raw)
			case len(open) > 0:
				isolated.WriteString(core.WithoutDirectionMarks(string(raw)))
			default:
				isolateWords(&isolated, html.UnescapeString(string(raw)))
			}
		default:
			isolated.Write(raw)
		}
	}
}

// keepsText has the elements in which no <bdi> is possible or needed.
var keepsText = map[atom.Atom]bool{
	atom.Title: true, atom.Option: true, atom.Textarea: true, atom.Script: true, atom.Style: true, atom.Svg: true, atom.Bdi: true,
}

func lastIndex(list []atom.Atom, a atom.Atom) int {
	for i, one := range slices.Backward(list) {
		if one == a {
			return i
		}
	}
	return -1
}

// tagWithoutMarks returns a tag without direction marks, unless it has the value of a field.
func tagWithoutMarks(raw []byte, z *html.Tokenizer, more bool) []byte {
	if !bytes.ContainsFunc(raw, core.IsDirectionMark) {
		return raw
	}
	for more {
		var key []byte
		if key, _, more = z.TagAttr(); string(key) == "value" {
			return raw
		}
	}
	return []byte(core.WithoutDirectionMarks(string(raw)))
}

// isDirected reports whether a character is written from right to left, or changes the direction.
func isDirected(r rune) bool {
	const hebrew = 0x0590 // the first script that is written from right to left
	if r < hebrew {
		return false
	}
	return core.IsDirectionMark(r) || isRightToLeft(r)
}

func isRightToLeft(r rune) bool {
	properties, _ := bidi.LookupRune(r)
	return properties.Class() == bidi.R || properties.Class() == bidi.AL
}

// isolateWords writes a text with each run of words that are written from right to left, or have a direction mark, in
// a <bdi>. Numbers and signs between two of them are part of the run, those around it aren't.
func isolateWords(to *bytes.Buffer, text string) {
	write := func(s string) { to.WriteString(html.EscapeString(core.WithoutDirectionMarks(s))) }
	written, start, end := 0, -1, 0 // start is the current run's; -1: none
	finish := func() {
		if start < 0 {
			return
		}
		first, last := withoutSigns(text, start, end)
		write(text[written:first])
		if first < last {
			to.WriteString("<bdi>")
			write(text[first:last])
			to.WriteString("</bdi>")
		}
		written, start = last, -1
	}
	for from, to := range words(text) {
		word := text[from:to]
		switch {
		case strings.ContainsFunc(word, isDirected):
			if start < 0 {
				start = from
			}
			end = to
		case strings.ContainsFunc(word, unicode.IsLetter):
			finish()
		}
	}
	finish()
	write(text[written:])
}

// words returns where each word of a text starts and ends.
func words(text string) func(yield func(from, to int) bool) {
	return func(yield func(from, to int) bool) {
		from := -1
		for i, r := range text {
			switch space := unicode.IsSpace(r); {
			case space && from >= 0:
				if !yield(from, i) {
					return
				}
				from = -1
			case !space && from < 0:
				from = i
			}
		}
		if from >= 0 {
			yield(from, len(text))
		}
	}
}

// withoutSigns returns a part of a text without the signs around it, such as a comma or quotation marks.
func withoutSigns(text string, from, to int) (first, last int) {
	isSign := func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsSymbol(r) || core.IsDirectionMark(r)
	}
	part := text[from:to]
	first = from + len(part) - len(strings.TrimLeftFunc(part, isSign))
	last = from + len(strings.TrimRightFunc(part, isSign))
	return first, max(first, last)
}
