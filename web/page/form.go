package page

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/views/ui"
)

// Form is a form: what was typed, or what it begins with, and what is wrong with it.
// Its fields have the names of core, so what core says of a field finds its place.
type Form struct {
	Values    url.Values
	Malformed core.Fields // what is no number, no amount, no day: for core to report with the rest

	violations core.Fields
	problem    *ui.Problem
	amounts    map[string]TypedAmount // the fields that hold one, by the name that core has for them
}

// Blank is a form that begins with these values.
func Blank(values map[string]string) *Form {
	f := &Form{Values: url.Values{}}
	for name, value := range values {
		f.Values.Set(name, value)
	}
	return f
}

// Query reads filters from an address.
func Query(q url.Values) *Form { return sent(q) }

// sent is a form of what was sent.
func sent(values url.Values) *Form {
	for _, texts := range values {
		for i := range texts {
			texts[i] = readable(texts[i])
		}
	}
	return &Form{Values: values}
}

// readable makes a text of what was sent, whatever its bytes are: the database takes no other.
func readable(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// Value is what stands in a field.
func (f *Form) Value(name string) string { return f.Values.Get(name) }

// Text is a field's text.
func (f *Form) Text(name string) *string {
	if !f.Values.Has(name) {
		return nil
	}
	return new(f.Values.Get(name))
}

// Filled is a field's text, or nil where nothing was typed: for filters.
func (f *Form) Filled(name string) *string {
	if strings.TrimSpace(f.Value(name)) == "" {
		return nil
	}
	return f.Text(name)
}

// Integer is a field's whole number, or nil where nothing was typed. A comma or a space is
// only read between thousands, as the pages write them: 12,505 has no second reading, for
// there are no decimals. 12,50 and 12.505 are refused.
func (f *Form) Integer(name string) *int64 {
	text := plainMarks.Replace(strings.TrimSpace(f.Value(name)))
	if text == "" {
		return nil
	}
	text = strings.Replace(text, "−", "-", 1)
	sign := text[:len(text)-len(strings.TrimLeft(text, "+-"))]
	n, err := strconv.ParseInt(sign+ungrouped(strings.TrimSpace(text[len(sign):]), ", "), 10, 64)
	if err != nil {
		f.unreadable(name, core.MustBeInteger)
		return nil
	}
	return &n
}

// Amount is a field's amount of a currency, in its smallest unit, or nil where nothing
// was typed.
func (f *Form) Amount(name, currency string) *int64 { return f.AmountOf(name, name, currency) }

// AmountOf is the amount of a field that core knows by another name than the page.
func (f *Form) AmountOf(known, name, currency string) *int64 {
	typed, text, chosen := ParseAmount(f.Value(name), currency).chosen(f.Value(name + ui.ChoiceSuffix))
	if chosen {
		f.Values.Set(name, text)
	}
	if !chosen || text != typed.typed { // what is in the field needs no choice any more
		f.Values.Del(name + ui.ChoiceSuffix)
	}
	if f.amounts == nil {
		f.amounts = map[string]TypedAmount{}
	}
	f.amounts[known] = typed
	switch {
	case strings.TrimSpace(f.Value(name)) == "":
		return nil
	case typed.State == AmountAmbiguous:
		f.unreadable(known, core.Violation{Rule: "ambiguous_amount"})
		return nil
	case typed.State == AmountUnreadable:
		f.unreadable(known, core.Violation{Rule: "amount", Other: AmountExample(currency)})
		return nil
	}
	return &typed.Cents
}

// rate is a percentage as people type it: 25, 25.5, 25,5 %.
var rate = regexp.MustCompile(`^(\d{1,3})(?:[.,](\d{1,2}))?\s*%?$`)

// Rate is a field's percentage in hundredths of a percent, or nil where nothing was typed:
// 25.5 is 2550.
func (f *Form) Rate(name string) *int64 {
	text := strings.TrimSpace(f.Value(name))
	if text == "" {
		return nil
	}
	parts := rate.FindStringSubmatch(text)
	if parts == nil {
		f.unreadable(name, core.Violation{Rule: "percentage"})
		return nil
	}
	n, err := strconv.ParseInt(parts[1]+(parts[2] + "00")[:2], 10, 64)
	if err != nil {
		f.unreadable(name, core.Violation{Rule: "percentage"})
		return nil
	}
	return &n
}

// Rate writes a percentage of hundredths of a percent as it is typed into a field: 25.5.
func Rate(hundredths int64) string {
	return strconv.FormatFloat(float64(hundredths)/100, 'f', -1, 64)
}

// SetAmount begins a field with an amount. The panel writes every amount with a point before
// its decimals, so it knows what it means where a person would have to be asked.
func (f *Form) SetAmount(name string, cents int64, currency string) {
	f.Values.Set(name, Amount(cents, currency))
	typed := ParseAmount(f.Value(name), currency)
	for _, r := range typed.Readings {
		if r.Cents == cents {
			f.Values.Set(name+ui.ChoiceSuffix, typed.choice(r))
		}
	}
}

// Date is a field's day, as its midnight in UTC, or nil where nothing was typed.
func (f *Form) Date(name string) *time.Time {
	text := strings.TrimSpace(f.Value(name))
	if text == "" {
		return nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || day.Year() < 1 {
		f.unreadable(name, core.MustBeDate)
		return nil
	}
	return &day
}

// Moment is the instant that a date and a time of day name in a zone. Where one of them is
// missing or can't be read it is nil, and the reason is noted for the field as core names it.
func (f *Form) Moment(date, clock, known string, zone *time.Location) *time.Time {
	day, text := f.Date(date), strings.TrimSpace(f.Value(clock))
	at, err := time.Parse("15:04", text)
	switch {
	case f.Malformed[date] != nil || text != "" && err != nil:
		delete(f.Malformed, date)
		f.unreadable(known, core.Violation{Rule: "date_and_time"})
	case day == nil || text == "":
		f.unreadable(known, core.Required)
	default:
		y, m, d := day.Date()
		return new(time.Date(y, m, d, at.Hour(), at.Minute(), 0, 0, zone))
	}
	return nil
}

// Switch runs a use case that turns something on or off, by a field that is 1 or 0.
func Switch[T any](f *Form, name string, set func(on bool) (T, error)) (T, error) {
	switch f.Value(name) {
	case "1":
		return set(true)
	case "0":
		return set(false)
	}
	var none T
	return none, errBroken
}

// Checked reports whether a checkbox was.
func (f *Form) Checked(name string) bool { return f.Values.Has(name) }

// Require notes a field where nothing was typed, and core would take that to mean something.
func (f *Form) Require(name string) {
	if strings.TrimSpace(f.Value(name)) == "" {
		f.unreadable(name, core.Required)
	}
}

// beganKey is the field of a record's form that keeps what the others began with.
const beganKey = "began"

// Began is what the form began with: for a hidden field, by which Touched knows it again.
func (f *Form) Began() string {
	if f.Values.Has(beganKey) {
		return f.Value(beganKey)
	}
	return f.Values.Encode()
}

// Pairs are the fields as they were sent, for a page that asks before it sends them on. Those
// named are left out.
func (f *Form) Pairs(but ...string) (pairs []ui.Pair) {
	for _, name := range slices.Sorted(maps.Keys(f.Values)) {
		if slices.Contains(but, name) {
			continue
		}
		for _, value := range f.Values[name] {
			pairs = append(pairs, ui.Pair{Name: name, Value: value})
		}
	}
	return pairs
}

// Touched reports whether somebody changed one of these fields. What nobody touched is not
// to be written: a colleague may have changed it since the form was shown. Of a form that
// does not tell what it began with, every field was.
func (f *Form) Touched(names ...string) bool {
	began, err := url.ParseQuery(f.Value(beganKey))
	return err != nil || !f.Values.Has(beganKey) || slices.ContainsFunc(names, func(name string) bool {
		return unbroken(began.Get(name)) != unbroken(f.Value(name))
	})
}

// Renew gives the fields that nobody touched what is stored now, of which stored is the form: a
// colleague may have changed it since this one was shown. For use cases that take all fields.
func (f *Form) Renew(stored *Form, names ...string) {
	for _, name := range names {
		if f.Touched(name) {
			continue
		}
		for _, part := range []string{name, name + ui.ChoiceSuffix} {
			f.Values.Del(part)
			if stored.Values.Has(part) {
				f.Values.Set(part, stored.Value(part))
			}
		}
	}
}

// unbroken is a text with its line breaks as they were before a browser sent them.
func unbroken(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

func (f *Form) unreadable(name string, v core.Violation) {
	if f.Malformed == nil {
		f.Malformed = core.Fields{}
	}
	f.Malformed[name] = []core.Violation{v}
}

// Field is a field of the form, to be drawn: label it, and add what it needs.
func (f *Form) Field(name, label string) ui.Field { return f.FieldOf(name, name, label) }

// FieldOf is a field that core knows by another name than the page.
func (f *Form) FieldOf(known, name, label string) ui.Field {
	field := ui.Field{Name: name, Label: label, Value: f.Value(name), Checked: f.Checked(name)}
	for _, v := range f.violations[known] {
		field.Errors = append(field.Errors, f.message(known, label, v))
	}
	field.Choice = f.Value(name + ui.ChoiceSuffix)
	if typed, amount := f.amounts[known]; amount {
		typed.show(&field)
	}
	if len(field.Errors) > 0 {
		f.Problem().Place(known, field.ID(), field.Errors[0])
	}
	return field
}

// message words what is wrong with a field.
func (f *Form) message(name, label string, v core.Violation) string {
	typed, amount := f.amounts[name]
	switch {
	case !amount:
		return Message(name, label, v, Number)
	case v.Rule == "ambiguous_amount":
		return typed.Question()
	}
	return Message(name, label, v, func(cents int64) string { return Money(cents, typed.currency) })
}

// Options are choices of which the field's value is the selected one.
func (f *Form) Options(name string, choices ...ui.Option) []ui.Option {
	for i := range choices {
		choices[i].Selected = slices.Contains(f.Values[name], choices[i].Value)
	}
	return choices
}

// Problem heads the form: what is wrong with its fields, those that the page doesn't show last.
func (f *Form) Problem() *ui.Problem {
	if f.problem == nil {
		f.problem = &ui.Problem{}
	}
	return f.problem
}

// Refused reports whether err is one to show on the form, which then knows it: fields
// that are wrong, or a sentence of core. Any other error is the caller's to return.
func (f *Form) Refused(err error) bool {
	refusal := refusalOf(err)
	switch {
	case refusal == nil:
		return false
	case refusal.Kind == core.KindInvalid:
		f.violations = refusal.Fields
		f.Problem().Fields = nil
		for _, name := range refusal.Fields.Names() {
			for _, v := range refusal.Fields[name] {
				f.problem.Fields = append(f.problem.Fields, ui.FieldProblem{Field: name, Message: f.message(name, attribute(name), v)})
			}
		}
		return true
	case refusal.Kind == core.KindRule, refusal.Kind == core.KindThrottled, refusal.Kind == core.KindUnauthenticated:
		f.Problem().Sentence = refusal.Message
		return true
	}
	return false
}

// Status is the status of a page that shows the form or filters after a use case: 422 where it
// refused them, which the form then knows, else 200. Any other error is returned.
func (f *Form) Status(err error) (int, error) {
	if f.Refused(err) {
		return http.StatusUnprocessableEntity, nil
	}
	return http.StatusOK, err
}
