package mail

import (
	"unicode"
	"unicode/utf8"
)

// Blocks that are words alone.
type (
	// Title begins an e-mail to a customer.
	Title string
	// Greeting is "Hello Maja,".
	Greeting string
	// Paragraph is one sentence or several.
	Paragraph string
	// Heading names one of several things, above its facts.
	Heading string
	// Closing is the last paragraph, which says what to do if nothing is wrong.
	Closing string
	// Sample says that an e-mail is a sample.
	Sample string
	// Lines is a paragraph that keeps its line breaks.
	Lines []string
)

func (w Title) plain(t *text)     { t.paragraph(string(w)) }
func (w Greeting) plain(t *text)  { t.paragraph(string(w)) }
func (w Paragraph) plain(t *text) { t.paragraph(string(w)) }
func (w Heading) plain(t *text)   { t.paragraph(string(w)) }
func (w Closing) plain(t *text)   { t.paragraph(string(w)) }
func (w Sample) plain(t *text)    { t.paragraph(string(w)) }
func (w Lines) plain(t *text)     { t.paragraph(w...) }

// Button is a link that looks like a button.
type Button struct{ Label, URL string }

func (b Button) plain(t *text) { t.paragraph(b.Label+":", b.URL) }

// Link is a button above its address, so that people see where it leads.
type Link struct{ Label, URL string }

func (l Link) plain(t *text) {
	t.paragraph(l.Label + ":")
	t.paragraph(l.URL)
}

// Links is a list of links under a heading.
type Links struct {
	Heading string
	List    []Link
}

func (l Links) plain(t *text) {
	t.paragraph(l.Heading + ":")
	for _, link := range l.List {
		t.paragraph(link.Label+":", link.URL)
	}
}

// Facts is a small list of names and values.
type Facts []Fact

// Fact is a line of Facts.
type Fact struct{ Name, Value string }

func (f Facts) plain(t *text) { t.facts(f) }

// Steps is a numbered list of what to do, under a heading.
type Steps struct {
	Heading string
	List    []string
}

func (s Steps) plain(t *text) {
	t.paragraph(s.Heading + ":")
	t.steps(s.List)
}

// Figures is a table of a week or a month, and the one before.
type Figures struct {
	Heading string // "Last week"
	Days    string // of that week: "16–22 Nov"
	Before  string // "week before", as within a sentence
	List    []Figure
}

// Figure is a figure, what it was before, and how it has changed since.
type Figure struct {
	Name, Now, Before string
	Change            string // "+3.5%"; "": there is nothing to compare with
	Tone              Tone
}

// Tone says whether a change is good or bad news.
type Tone string

// The tones. Others are neither.
const (
	Good Tone = "good"
	Bad  Tone = "bad"
)

// colour is the colour of a change on white. The style sheet has those on dark.
func (t Tone) colour() string {
	switch t {
	case Good:
		return "#176a3a"
	case Bad:
		return "#b42323"
	}
	return "#55555f"
}

// class is the name of the colour in the style sheet.
func (t Tone) class() string {
	if t == "" {
		return "quiet"
	}
	return string(t)
}

func (f Figures) plain(t *text) {
	var facts Facts
	for _, one := range f.List {
		change := ""
		if one.Change != "" {
			change = one.Change + ", "
		}
		facts = append(facts, Fact{one.Name, one.Now + " (" + change + f.Before + ": " + one.Before + ")"})
	}
	t.facts(facts)
}

// capitalized returns words as the heading of a column begins.
func capitalized(words string) string {
	first, size := utf8.DecodeRuneInString(words)
	return string(unicode.ToUpper(first)) + words[size:]
}

// Voucher is a voucher with its QR code, and a button that opens it.
type Voucher struct {
	Worth  string // "€ 5.00"
	What   string // "off your order"
	Until  string // "Valid until 6 January 2027"; "": no end
	For    string // "For Gold and above"; "": for all customers
	QRSide int    // of the picture QRName, in pixels on the screen
	QRText string // for readers who don't see the picture
	Code   string
	Hint   string // what to do with it
	Open   Button
}

func (v Voucher) plain(t *text) {
	worth := []string{v.Worth + " " + v.What}
	if v.For != "" {
		worth = append(worth, v.For)
	}
	if v.Until != "" {
		worth = append(worth, v.Until)
	}
	t.paragraph(worth...)
	t.paragraph(v.Code, v.Hint)
	v.Open.plain(t)
}
