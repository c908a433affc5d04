// Package forms reads the forms of pages, and completes their fields for templates: values, errors, amounts, uploads.
package forms

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
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/ui"
)

// Form holds the values of a form and what is wrong with them. Its fields have the names of core,
// so that the violations of core are shown at their fields.
type Form struct {
	Values    url.Values
	Malformed core.Fields // values that aren't numbers, amounts or dates: core reports them with the rest
	File      []byte      // the chosen file, of a form with one; nil: none

	violations core.Fields
	problem    *ui.Problem
	amounts    map[string]TypedAmount // the fields with an amount, by core's name
}

// Blank is a form with initial values.
func Blank(values map[string]string) *Form {
	f := &Form{Values: url.Values{}}
	for name, value := range values {
		f.Values.Set(name, value)
	}
	return f
}

// Query is a form of the filters in an address.
func Query(q url.Values) *Form { return formOf(q) }

// formOf is a form of sent values.
func formOf(values url.Values) *Form {
	for _, texts := range values {
		for i := range texts {
			texts[i] = readable(texts[i])
		}
	}
	return &Form{Values: values}
}

// readable replaces bytes that aren't UTF-8: the database refuses them.
func readable(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// Value is the text of a field, or "".
func (f *Form) Value(name string) string { return f.Values.Get(name) }

// Text is the text of a field, or nil if the form doesn't have the field.
func (f *Form) Text(name string) *string {
	if !f.Values.Has(name) {
		return nil
	}
	return new(f.Values.Get(name))
}

// Filled is the text of a field, or nil if it is blank: for filters.
func (f *Form) Filled(name string) *string {
	if strings.TrimSpace(f.Value(name)) == "" {
		return nil
	}
	return f.Text(name)
}

// RefuseDirectionMarks refuses a text that changes the direction of what is written beside it, in a form that strangers
// fill in: others read their name.
func (f *Form) RefuseDirectionMarks(name string) {
	if core.HasDirectionMark(f.Value(name)) {
		f.addMalformed(name, core.NoMark)
	}
}

// Integer is the whole number in a field, or nil if it is blank. A comma or a space is read between
// thousands only, in any script's digits: 12,505 is clear, since there are no decimals. 12,50 and 12.505 are refused.
func (f *Form) Integer(name string) *int64 {
	text := core.TypedNumber(f.Value(name))
	if text == "" {
		return nil
	}
	sign := text[:len(text)-len(strings.TrimLeft(text, "+-"))]
	n, err := strconv.ParseInt(sign+ungrouped(strings.TrimSpace(text[len(sign):]), ", "), 10, 64)
	if err != nil {
		f.addMalformed(name, core.MustBeInteger)
		return nil
	}
	return &n
}

// Number is the whole number in a required field.
func (f *Form) Number(name string) int64 { return f.Required(name, f.Integer(name)) }

// RequiredAmount is the amount in a required field, in the currency's smallest unit.
func (f *Form) RequiredAmount(name, currency string) int64 {
	return f.Required(name, f.Amount(name, currency))
}

// Required is the number that was read from a required field.
func (f *Form) Required(name string, v *int64) int64 {
	if v == nil && f.Malformed[name] == nil {
		f.addMalformed(name, core.Required)
	}
	return core.OrZero(v)
}

// Reference is the ULID in a required field.
func (f *Form) Reference(name string) core.ID {
	unread := core.Fields{}
	id := unread.Reference(name, f.Text(name))
	for _, v := range unread[name] {
		f.addMalformed(name, v)
	}
	return id
}

// Amount is the amount in a field, in the currency's smallest unit, or nil if it is blank.
func (f *Form) Amount(name, currency string) *int64 { return f.AmountOf(name, name, currency) }

// AmountOf is Amount for a field that core calls known.
func (f *Form) AmountOf(known, name, currency string) *int64 {
	typed, text, chosen := ParseAmount(f.Value(name), currency).chosen(f.Value(name + ui.ChoiceSuffix))
	if chosen {
		f.Values.Set(name, text)
	}
	if !chosen || text != typed.typed { // nothing is left to choose
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
		f.addMalformed(known, core.Violation{Rule: "ambiguous_amount"})
		return nil
	case typed.State == AmountUnreadable:
		example := format.AmountExample(currency)
		if typed.foreign {
			example = currency + " " + example
		}
		f.addMalformed(known, core.Violation{Rule: "amount", Other: example})
		return nil
	}
	return &typed.Cents
}

// rate matches a percentage as people type it: 25, 25.5, 25,5 %.
var rate = regexp.MustCompile(`^%?\s*(\d{1,3})(?:[.,](\d{1,2}))?\s*%?$`)

// Rate is the percentage in a field, in hundredths of a percent (25.5 is 2550), or nil if it is blank.
func (f *Form) Rate(name string) *int64 {
	text := core.TypedNumber(f.Value(name))
	if text == "" {
		return nil
	}
	parts := rate.FindStringSubmatch(text)
	if parts == nil {
		f.addMalformed(name, core.Violation{Rule: "percentage"})
		return nil
	}
	n, _ := strconv.ParseInt(parts[1]+(parts[2] + "00")[:2], 10, 64) // at most five digits
	return &n
}

// Rate formats hundredths of a percent for an input field: 25.5.
func Rate(hundredths int64) string {
	return strconv.FormatFloat(float64(hundredths)/100, 'f', -1, 64)
}

// SetAmount sets the amount in a field, together with its reading: people aren't asked about an
// amount that the panel itself wrote, as 12.505 in a currency with three decimals.
func (f *Form) SetAmount(name string, cents int64, currency string) {
	f.Values.Set(name, format.Amount(cents, currency))
	typed := ParseAmount(f.Value(name), currency)
	for _, r := range typed.Readings {
		if r.Cents == cents {
			f.Values.Set(name+ui.ChoiceSuffix, typed.choice(r))
		}
	}
}

// Date is the day in a field, as its midnight in UTC, or nil if it is blank.
func (f *Form) Date(name string) *time.Time {
	text := core.TypedNumber(f.Value(name))
	if text == "" {
		return nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || day.Year() < 1 {
		f.addMalformed(name, core.MustBeDate)
		return nil
	}
	return &day
}

// Moment is the instant of a date and a time of day in a zone. If one is missing or can't be read,
// it is nil, and the field that core calls known has the violation. moved says that clocks skip that time, which is
// then later; else it is "".
func (f *Form) Moment(date, clock, known string, zone *time.Location) (found *time.Time, moved string) {
	day, text := f.Date(date), core.TypedNumber(f.Value(clock))
	at, err := time.Parse("15:04", text)
	switch {
	case f.Malformed[date] != nil || text != "" && err != nil:
		delete(f.Malformed, date)
		f.addMalformed(known, core.Violation{Rule: "date_and_time"})
	case day == nil || text == "":
		f.addMalformed(known, core.Required)
	default:
		shown := day.Add(time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute)
		instant, skipped := core.LocalTime(shown, zone)
		if skipped {
			moved = shown.Format("15:04") + " doesn't exist on " + format.Date(shown, time.UTC) + ", when clocks go forward."
		}
		return &instant, moved
	}
	return nil, ""
}

// Switch runs a use case that turns something on or off, as a field with 1 or 0 says.
func Switch[T any](f *Form, name string, set func(on bool) (T, error)) (T, error) {
	switch f.Value(name) {
	case "1":
		return set(true)
	case "0":
		return set(false)
	}
	var none T
	return none, errIncompleteForm
}

// Checked reports whether a checkbox is checked.
func (f *Form) Checked(name string) bool { return f.Values.Has(name) }

// Require refuses a blank field for which core would use a default.
func (f *Form) Require(name string) {
	if strings.TrimSpace(f.Value(name)) == "" {
		f.addMalformed(name, core.Required)
	}
}

// originalKey is the hidden field with the initial values of a record's form.
const originalKey = "original"

// Original encodes the initial values of the form, for the hidden field that Changed reads.
func (f *Form) Original() string {
	if f.Values.Has(originalKey) {
		return f.Value(originalKey)
	}
	return f.Values.Encode()
}

// Pairs are the fields as they were sent, for a page that asks for confirmation, except those named.
func (f *Form) Pairs(except ...string) (pairs []ui.Pair) {
	for _, name := range slices.Sorted(maps.Keys(f.Values)) {
		if slices.Contains(except, name) {
			continue
		}
		for _, value := range f.Values[name] {
			pairs = append(pairs, ui.Pair{Name: name, Value: value})
		}
	}
	return pairs
}

// Changed reports whether the person changed one of these fields. Unchanged ones aren't written: a
// colleague may have changed the record since the form was shown. A form without its initial values
// counts as changed.
func (f *Form) Changed(names ...string) bool {
	original, err := url.ParseQuery(f.Value(originalKey))
	return err != nil || !f.Values.Has(originalKey) || slices.ContainsFunc(names, func(name string) bool {
		return unixLines(original.Get(name)) != unixLines(f.Value(name))
	})
}

// KeepStored sets the unchanged fields to those of the stored record's form, for use cases that write
// all fields: a colleague may have changed the record since this form was shown.
func (f *Form) KeepStored(stored *Form, names ...string) {
	for _, name := range names {
		if f.Changed(name) {
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

// unixLines undoes the line breaks of browsers, which send \r\n.
func unixLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

func (f *Form) addMalformed(name string, v core.Violation) {
	if f.Malformed == nil {
		f.Malformed = core.Fields{}
	}
	f.Malformed[name] = []core.Violation{v}
}

// Field completes a field with its name, value and errors, and selects the options that are its values.
func (f *Form) Field(name string, field ui.Field) ui.Field { return f.FieldOf(name, name, field) }

// FieldOf is Field for a field that core calls known.
func (f *Form) FieldOf(known, name string, field ui.Field) ui.Field {
	field.Name, field.Value, field.Checked = name, f.Value(name), f.Checked(name)
	field.Options = f.Options(name, field.Options...)
	for _, v := range f.violations[known] {
		field.Errors = append(field.Errors, f.message(known, field.Label, v))
	}
	field.Choice = f.Value(name + ui.ChoiceSuffix)
	if typed, amount := f.amounts[known]; amount {
		typed.show(&field)
	}
	if len(field.Errors) > 0 {
		f.Problem().Place(known, field.ID(), field.Label)
	}
	return field
}

// Violations are the violations of a field, by core's name.
func (f *Form) Violations(name string) []core.Violation { return f.violations[name] }

// message is the message for a violation of a field.
func (f *Form) message(name, label string, v core.Violation) string {
	if typed, amount := f.amounts[name]; amount && v.Rule == "ambiguous_amount" {
		return typed.Question()
	}
	return Message(name, label, v, f.limit(name))
}

// limit formats the limits of a field.
func (f *Form) limit(name string) func(int64) string {
	typed, amount := f.amounts[name]
	if !amount {
		return format.Number
	}
	return func(cents int64) string { return format.Money(cents, typed.currency) }
}

// Options returns the choices with those that are the field's values selected.
func (f *Form) Options(name string, choices ...ui.Option) []ui.Option {
	choices = slices.Clone(choices) // a variable of the package, often
	for i := range choices {
		choices[i].Selected = slices.Contains(f.Values[name], choices[i].Value)
	}
	return choices
}

// Problem is the summary of what is wrong with the form. Fields that the page doesn't show come last.
func (f *Form) Problem() *ui.Problem {
	if f.problem == nil {
		f.problem = &ui.Problem{}
	}
	return f.problem
}

// Refused reports whether err belongs on the form, and keeps it for Field and Problem: violations of
// fields, or the message of a rule. A violation of a field that the page doesn't show keeps a message that says
// what is wrong: there is nothing to enter or choose. Any other error is the caller's to return.
func (f *Form) Refused(err error) bool {
	refusal := RefusalOf(err)
	switch {
	case refusal == nil:
		return false
	case refusal.Kind == core.KindInvalid:
		f.violations = withItems(refusal.Fields)
		f.Problem().Fields = nil
		for _, name := range f.violations.Names() {
			for _, v := range f.violations[name] {
				f.problem.Fields = append(f.problem.Fields, ui.FieldProblem{Field: name, Apart: MessageApart(name, v, f.limit(name))})
			}
		}
		return true
	case refusal.Kind == core.KindRule, refusal.Kind == core.KindThrottled, refusal.Kind == core.KindUnauthenticated:
		f.Problem().Sentence = refusal.Message
		return true
	}
	return false
}

// withItems moves the violations of a list's items ("scopes.0") to the list, which is one field of the page.
func withItems(fields core.Fields) core.Fields {
	whole := core.Fields{}
	for _, name := range fields.Names() {
		list, _, _ := strings.Cut(name, ".")
		for _, v := range fields[name] {
			if !slices.Contains(whole[list], v) {
				whole.Add(list, v)
			}
		}
	}
	return whole
}

// Status is the status of a page that shows the form or filters after a use case: 422 where it
// refused them, which the form then knows, else 200. Any other error is returned.
func (f *Form) Status(err error) (int, error) {
	if f.Refused(err) {
		return http.StatusUnprocessableEntity, nil
	}
	return http.StatusOK, err
}
