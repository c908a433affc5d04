package mail

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// width is the length of a line of plain text. It leaves room for quoting.
const width = 72

// Text returns the plain form of an e-mail.
func (e Email) Text() string {
	var t text
	for _, b := range e.Blocks {
		b.plain(&t)
	}
	t.signature(e.Footer)
	return t.String()
}

// text is plain text: paragraphs with an empty line between them.
type text struct{ strings.Builder }

// paragraph writes a paragraph and keeps its line breaks.
func (t *text) paragraph(lines ...string) {
	t.gap()
	for _, words := range lines {
		t.wrap("", "", words)
	}
}

// facts writes a list in two columns.
func (t *text) facts(facts Facts) {
	t.gap()
	longest := 0
	for _, f := range facts {
		longest = max(longest, utf8.RuneCountInString(f.Name))
	}
	for _, f := range facts {
		column := strings.Repeat(" ", longest-utf8.RuneCountInString(f.Name)+2)
		t.wrap("  "+f.Name+":"+column, strings.Repeat(" ", longest+5), f.Value)
	}
}

func (t *text) steps(steps []string) {
	t.gap()
	for i, s := range steps {
		number := strconv.Itoa(i+1) + ". "
		t.wrap(number, strings.Repeat(" ", len(number)), s)
	}
}

// signature begins with "-- ", by which mail programs recognize a signature.
func (t *text) signature(f Footer) {
	t.WriteString("\n-- \n")
	for _, words := range f.Lines {
		t.wrap("", "", words)
	}
	if f.Unsubscribe != "" {
		t.wrap("", "", f.Label+":")
		t.wrap("", "", f.Unsubscribe)
	}
}

func (t *text) gap() {
	if t.Len() > 0 {
		t.WriteByte('\n')
	}
}

// wrap writes words in lines of at most width: the first begins with first, the others
// with next. A word longer than a line, such as an address, stays whole.
func (t *text) wrap(first, next, words string) {
	t.WriteString(first)
	column, started := utf8.RuneCountInString(first), false
	for word := range strings.FieldsSeq(words) {
		length := utf8.RuneCountInString(word)
		switch {
		case !started:
		case column+1+length > width:
			t.WriteString("\n" + next)
			column = utf8.RuneCountInString(next)
		default:
			t.WriteByte(' ')
			column++
		}
		t.WriteString(word)
		column += length
		started = true
	}
	t.WriteByte('\n')
}
