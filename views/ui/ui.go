// Package ui is what pages are put together from: fields of forms, tables' ends,
// messages, charts, icons. It knows no word of the business.
package ui

import (
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
	Before       string // stands in front of the value: a currency
	After        string // stands behind it: a unit
	MaxLength    int
	Optional     bool
	ReadOnly     bool
	Autofocus    bool
	Checked      bool // of a checkbox
	Rows         int  // of a text area
	Options      []Option
	Groups       []Group          // of a select, after its options
	Attributes   templ.Attributes // more of the input: hx-get and the like

	Echo     bool   // of an amount: it is shown as read while it is typed
	Read     string // how it was read: "€ 24.50"
	Question string // which of its readings is meant, where that is not clear
	Readings []Reading
	Choice   string // which reading was chosen of the text that is in the field
}

// Reading is one of several amounts that a text can mean.
type Reading struct {
	Label  string // "€ 12,505.00"
	Choice string // what the form sends to choose it
	Text   string // what fills the field in
}

// Option is a choice of a select, of radio buttons or of checkboxes.
type Option struct {
	Value, Label, Help string
	Selected           bool
}

// Group is choices of a select that stand together.
type Group struct {
	Label   string
	Options []Option
}

// ID is the id of the field's input.
func (f Field) ID() string { return "field-" + strings.ReplaceAll(f.Name, ".", "-") }

// ChoiceSuffix ends the name of what a form sends to choose a reading of an amount.
const ChoiceSuffix = "_choice"

// ReadID is the id of what says how the field's amount was read.
func (f Field) ReadID() string { return f.ID() + "-read" }

// notedErrors are the errors below the input. A question is asked once: where the amount is
// shown as read.
func (f Field) notedErrors() []string {
	if f.Echo && f.Question != "" {
		return nil
	}
	return f.Errors
}

// describedBy names the texts that belong to the input.
func (f Field) describedBy() string {
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

func (f Field) inputType() string {
	if f.Type == "" {
		return "text"
	}
	return f.Type
}

// Pair is a name and a value: what a form carries unseen, a fact on a page.
type Pair struct{ Name, Value string }

// Problem heads a form that was refused: where to look, field by field.
type Problem struct {
	Sentence string // of a rule; "" where fields are wrong
	Fields   []FieldProblem
}

// FieldProblem is what is wrong with a field, and where it is.
type FieldProblem struct {
	Field   string // as core names it
	ID      string // of its input; "": the page doesn't show it
	Message string
}

// None reports whether nothing was refused.
func (p *Problem) None() bool { return p == nil || p.Sentence == "" && len(p.Fields) == 0 }

// Place moves a field's problem among those that the page shows, in the order of the page.
func (p *Problem) Place(field, id, message string) {
	p.Fields = slices.DeleteFunc(p.Fields, func(f FieldProblem) bool { return f.Field == field })
	shown := slices.IndexFunc(p.Fields, func(f FieldProblem) bool { return f.ID == "" })
	if shown < 0 {
		shown = len(p.Fields)
	}
	p.Fields = slices.Insert(p.Fields, shown, FieldProblem{field, id, message})
}

// Flash tells, on the next page, what was done.
type Flash struct {
	Kind    FlashKind
	Message string
}

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

// Crumb is a step of the way to a page.
type Crumb struct{ Label, Path string }

// Pager leads to the pages before and after one of a list. A path that is "" leads nowhere.
type Pager struct {
	First, Prev, Next string
	Shown             string // "15 customers"
	Target            string // what htmx replaces: a selector; "" for plain links
	Of                string // "vouchers": tells the lists of a page with several apart; "" for the only one
}

// id names a link of the pager: by it, the link keeps the focus when the list is replaced.
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

// Badge is a word with a colour: a status.
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

// Chart is drawn from its table, which is also there to be read.
type Chart struct {
	ID      string
	Title   string
	Summary string // one sentence that says what is to be seen
	Label   string // of the first column: "Day"
	Series  []string
	Rows    []ChartRow
	Bars    bool // instead of lines

	Unit     string // stands in front of the axis's numbers: a currency
	Decimals int    // how many digits of a number stand behind the point: of cents 2
}

// ChartRow is a point of each series.
type ChartRow struct {
	At     int64  // Unix seconds, for the axis; 0 for categories
	Label  string // "12 Oct"
	Values []ChartValue
}

// ChartValue is a number, for the drawing, and as it is written.
type ChartValue struct {
	Number int64
	Text   string
}

// Figure is a number that matters, beside what it was.
type Figure struct {
	Label, Value, Icon string
	Change             string // "+6.4%"; "" where there is nothing to compare with
	Trend              Trend
	Against            string // "vs previous 30 days"
}

// Trend is the direction of a change.
type Trend string

// The directions.
const (
	Up    Trend = "up"
	Down  Trend = "down"
	Level Trend = "level"
)

// Bar shows parts of a whole as lengths: a share of a row's number in the greatest one, or
// what became of something. It only repeats the numbers beside it.
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

func percent(p float64) string { return strconv.FormatFloat(p, 'f', 2, 64) + "%" }

// Initials stand for a face: of the first and the last name.
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

// loose lets a number and its unit part where they do not fit on one line: before the number
// itself is broken.
func loose(text string) string { return strings.ReplaceAll(text, "\u00a0", " ") }

func number(n int64) string { return strconv.FormatInt(n, 10) }

func chartKind(c Chart) string {
	if c.Bars {
		return "bars"
	}
	return "lines"
}

// drawing panics for an icon that does not exist: names are constants, so that is a
// mistake in the code.
func drawing(name string) string {
	d, ok := icons[name]
	if !ok {
		panic("ui: no icon " + strconv.Quote(name))
	}
	return d
}
