// Package ui has the parts that pages are built from: form fields, pagers, flashes, charts and
// icons. It knows nothing of loyalty programmes.
package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/a-h/templ"
)

// Field is a field of a form, with what was typed and what is wrong with it.
type Field struct {
	Name         string
	Label        string
	Value        string
	Errors       []string
	Help         string
	Type         string // of the input: "" is text
	Mode         string // inputmode: "decimal", "numeric", "tel"
	Autocomplete string
	Placeholder  string
	Before       string // text before the value: a currency
	After        string // text after it: a unit
	MaxLength    int
	Optional     bool
	ReadOnly     bool
	Autofocus    bool
	Checked      bool     // of a checkbox
	Rows         int      // of a text area
	Suggestions  []string // of a text input
	Options      []Option
	Groups       []Group          // of a select, after its options
	Attributes   templ.Attributes // more attributes of the input: hx-get and the like

	// Of an amount:
	Echo     bool   // show how it is read while it is typed
	Read     string // how it was read: "€ 24.50"
	Question string // which reading is meant, if it is ambiguous
	Readings []Reading
	Choice   string // the chosen reading of the text in the field
}

// Reading is one of the amounts that an ambiguous text can mean.
type Reading struct {
	Label  string // "€ 12,505.00"
	Choice string // what the form sends to choose it
	Text   string // what the field shows then
}

// Option is a choice of a select, of radio buttons or of checkboxes.
type Option struct {
	Value, Label, Help string
	Selected           bool

	// Proposes are values of other fields, by name, that panel.js chooses with this option if the person
	// has not chosen them.
	Proposes map[string]string
}

func (o Option) proposals() templ.Attributes {
	attributes := templ.Attributes{}
	for field, value := range o.Proposes {
		attributes["data-propose-"+field] = value
	}
	return attributes
}

// Group is a labelled group of choices of a select.
type Group struct {
	Label   string
	Options []Option
}

// ID is the id of the field's input.
func (f Field) ID() string { return "field-" + strings.ReplaceAll(f.Name, ".", "-") }

// ChoiceSuffix ends the name of the field with the chosen reading of an amount.
const ChoiceSuffix = "_choice"

// ReadID is the id of the element that shows how the amount was read.
func (f Field) ReadID() string { return f.ID() + "-read" }

// notedErrors are the errors below the input. Nothing is shown twice: a question about the amount is where
// its reading is.
func (f Field) notedErrors() []string {
	if f.Echo && f.Question != "" {
		return nil
	}
	return f.Errors
}

// DescribedBy lists the ids of the texts that describe the input.
func (f Field) DescribedBy() string {
	var ids []string
	if len(f.notedErrors()) > 0 {
		ids = append(ids, f.ID()+"-error")
	}
	if f.Echo {
		ids = append(ids, f.ReadID())
	}
	if f.Help != "" {
		ids = append(ids, f.ID()+"-help")
	}
	return strings.Join(ids, " ")
}

// class is the class of the input.
func (f Field) class() string {
	if len(f.Errors) > 0 {
		return "form-control is-invalid"
	}
	return "form-control"
}

func (f Field) inputType() string {
	if f.Type == "" {
		return "text"
	}
	return f.Type
}

// Pair is a name and a value: a hidden field, or a fact on a page.
type Pair struct{ Name, Value string }

// Problem is the summary of errors above a form. It links to each field by its label; the field has the
// message.
type Problem struct {
	Sentence string // of a rule; "" if fields are wrong
	Fields   []FieldProblem
}

// FieldProblem is the error of a field, with a link to it.
type FieldProblem struct {
	Field string // core's name
	ID    string // of its input; "" if the page doesn't show it
	Label string // of its input, which has the message
	Apart string // the message where the page doesn't show the field
}

// None reports whether nothing was refused.
func (p *Problem) None() bool { return p == nil || p.Sentence == "" && len(p.Fields) == 0 }

// At is the summary of a page that has a place for the messages of these fields alone. It says itself what is wrong
// with the others.
func (p *Problem) At(fields ...Field) *Problem {
	if p == nil {
		return nil
	}
	at := &Problem{Sentence: p.Sentence, Fields: slices.Clone(p.Fields)}
	for i, wrong := range at.Fields {
		if !slices.ContainsFunc(fields, func(f Field) bool { return f.ID() == wrong.ID }) {
			at.Fields[i].ID = ""
		}
	}
	return at
}

// linked are the fields that the page shows.
func (p *Problem) linked() (linked []FieldProblem) {
	for _, f := range p.Fields {
		if f.ID != "" {
			linked = append(linked, f)
		}
	}
	return linked
}

// heading is "2 fields need attention".
func (p *Problem) heading() string {
	if n := len(p.linked()); n != 1 {
		return number(int64(n)) + " fields need attention"
	}
	return "1 field needs attention"
}

// Place puts a field before those that the page doesn't show, in the order of the page.
func (p *Problem) Place(field, id, label string) {
	at := slices.IndexFunc(p.Fields, func(f FieldProblem) bool { return f.Field == field })
	if at < 0 {
		return
	}
	placed := FieldProblem{field, id, label, p.Fields[at].Apart}
	p.Fields = slices.DeleteFunc(p.Fields, func(f FieldProblem) bool { return f.Field == field })
	shown := slices.IndexFunc(p.Fields, func(f FieldProblem) bool { return f.ID == "" })
	if shown < 0 {
		shown = len(p.Fields)
	}
	p.Fields = slices.Insert(p.Fields, shown, placed)
}

// Flash is a message on the next page that says what was done.
type Flash struct {
	Kind    FlashKind
	Message string
	Undo    *Undo // nil: it can't be undone
}

// Heading is a table's heading that sorts the table.
type Heading struct {
	Label  string
	Path   string // of the table sorted by it; "": it can't be sorted now
	Sorted string // ascending, descending or ""
}

// Undo is the form that undoes what a flash says: it posts one value to a path.
type Undo struct {
	Path, Name, Value string

	Label string // of the button; "": Undo
}

func (u Undo) label() string { return cmp.Or(u.Label, "Undo") }

// FlashKind is how a flash looks.
type FlashKind string

// The kinds.
const (
	Done    FlashKind = "success"
	Warning FlashKind = "warning"
	Refused FlashKind = "danger"
)

func (k FlashKind) icon() string {
	if k == Done {
		return "circle-check"
	}
	return "alert-triangle"
}

// Crumb is a link of a breadcrumb.
type Crumb struct{ Label, Path string }

// Pager links to the neighbouring pages of a list; "" is no link.
type Pager struct {
	First, Prev, Next string
	Shown             string // "15 customers"
	Target            string // the selector that htmx replaces; "" for plain links
	Of                string // "vouchers", on a page with several lists; else ""
}

// id is the id of a link, by which it keeps the focus when the list is replaced.
func (p Pager) id(link string) string {
	if p.Of == "" {
		return link
	}
	return link + "-" + p.Of
}

func (p Pager) label() string {
	if p.Of == "" {
		return "Pages"
	}
	return "Pages of " + p.Of
}

// Badge is a coloured status.
type Badge struct {
	Label string
	Tone  Tone
}

// Tone is the colour of a badge.
type Tone string

// The tones.
const (
	Good    Tone = "green"
	Neutral Tone = "secondary"
	Notice  Tone = "yellow"
	Info    Tone = "azure"
	Bad     Tone = "red"
)

// Bar shows parts of a whole. It only repeats the numbers beside it.
type Bar struct{ Parts []BarPart }

// BarPart is a part of a bar, in percent of its length.
type BarPart struct {
	Start, Length float64
	Tone          BarTone
}

// BarTone is the colour of a part.
type BarTone string

// The tones.
const (
	First     BarTone = "1"
	Second    BarTone = "2"
	Light     BarTone = "light" // a part of the first
	Rest      BarTone = "rest"
	Complete  BarTone = "complete"
	Defective BarTone = "defective"
)

// BarShare is the number that a part of a bar stands for.
type BarShare struct {
	N    int64
	Tone BarTone
}

// Share is a part of a bar that stands for a number.
func Share(n int64, tone BarTone) BarShare { return BarShare{n, tone} }

// BarOf is a bar of which the parts take their shares of whole, one after the other.
func BarOf(whole int64, shares ...BarShare) (bar Bar) {
	at := 0.0
	for _, s := range shares {
		if whole == 0 || s.N == 0 {
			continue
		}
		length := 100 * float64(s.N) / float64(whole)
		bar.Parts = append(bar.Parts, BarPart{Start: at, Length: length, Tone: s.Tone})
		at += length
	}
	return bar
}

func percent(p float64) string { return strconv.FormatFloat(p, 'f', 2, 64) + "%" }

// Initials are the first letters of the first and the last name.
func Initials(name string) string {
	names := strings.FieldsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '-' && r != '’' && r != '\''
	})
	if len(names) == 0 {
		return "?"
	}
	initials := firstLetter(names[0])
	if len(names) > 1 {
		initials += firstLetter(names[len(names)-1])
	}
	return strings.ToUpper(initials)
}

func firstLetter(name string) string {
	for _, r := range name {
		return string(r)
	}
	return ""
}

// breakable allows a line break between a number and its unit, or a narrow card would break the
// number itself.
func breakable(text string) string { return strings.ReplaceAll(text, "\u00a0", " ") }

func number(n int64) string { return strconv.FormatInt(n, 10) }

// drawing returns an icon. It panics for an unknown name: names are constants in the code.
func drawing(name string) string {
	d, ok := icons[name]
	if !ok {
		panic("ui: no icon " + strconv.Quote(name))
	}
	return d
}
