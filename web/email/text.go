package email

import (
	"strconv"
	"strings"
	"unicode/utf8"

	views "example.com/loyalty/views/mail"
)

// width is the length of a line of plain text. It leaves room for quoting.
const width = 72

// text is the plain form of an e-mail: paragraphs with an empty line between them.
type text struct{ b strings.Builder }

func (t *text) String() string { return t.b.String() }

func (t *text) paragraph(words string) {
	t.gap()
	t.wrap("", "", words)
}

// lines writes a paragraph and keeps its line breaks.
func (t *text) lines(list []string) {
	t.gap()
	for _, words := range list {
		t.wrap("", "", words)
	}
}

// facts writes a list in two columns.
func (t *text) facts(facts []views.Fact) {
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
func (t *text) signature(lines ...string) {
	t.b.WriteString("\n-- \n")
	for _, words := range lines {
		t.wrap("", "", words)
	}
}

func (t *text) gap() {
	if t.b.Len() > 0 {
		t.b.WriteByte('\n')
	}
}

// wrap writes words in lines of at most width: the first begins with first, the others
// with next. A word longer than a line, such as an address, stays whole.
func (t *text) wrap(first, next, words string) {
	t.b.WriteString(first)
	column, started := utf8.RuneCountInString(first), false
	for word := range strings.FieldsSeq(words) {
		length := utf8.RuneCountInString(word)
		switch {
		case !started:
		case column+1+length > width:
			t.b.WriteString("\n" + next)
			column = utf8.RuneCountInString(next)
		default:
			t.b.WriteByte(' ')
			column++
		}
		t.b.WriteString(word)
		column += length
		started = true
	}
	t.b.WriteByte('\n')
}
