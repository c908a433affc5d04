package core

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Violation is a rule that a field breaks, with the rule's parameters. It has no words: api writes
// Laravel's sentences (decisions §3), web what helps the person at the form.
type Violation struct {
	Rule    string
	Limit   int64  // the minimum or maximum
	Other   string // another field, or a value, to compare with
	Records [2]ID  // the records that the rule is about; zero: none
}

// Rules of several packages. Each package declares its own beside the code that checks them.
var (
	Required      = Violation{Rule: "required"}
	Filled        = Violation{Rule: "filled"}   // a parameter that may be left out, but not be empty
	Unknown       = Violation{Rule: "unknown"}  // a parameter that doesn't exist
	InvalidChoice = Violation{Rule: "selected"} // an unknown choice or record
	Duplicate     = Violation{Rule: "taken"}    // another record has this value
	MustBeString  = Violation{Rule: "string"}
	MustBeInteger = Violation{Rule: "integer"}
	MustBeArray   = Violation{Rule: "array"}
	MustBeObject  = Violation{Rule: "object"}
	MustBeDate    = Violation{Rule: "date"}
	MustBeMoment  = Violation{Rule: "moment"} // a date and time with an offset
	MustBeEmail   = Violation{Rule: "email"}
	MustBePhone   = Violation{Rule: "phone"}
	MustBeURL     = Violation{Rule: "url"}
	MustBeFuture  = Violation{Rule: "future"}
	MustBePast    = Violation{Rule: "past"} // today or earlier
	Accepted      = Violation{Rule: "accepted"}
	NoNUL         = Violation{Rule: "no_nul"} // PostgreSQL stores no NUL characters in texts
	NotZero       = Violation{Rule: "not_zero"}
	NoMark        = Violation{Rule: "no_direction_mark"} // of texts by visitors, which strangers read
)

// Min requires a number of at least n.
func Min(n int64) Violation { return Violation{Rule: "min", Limit: n} }

// Max requires a number of at most n.
func Max(n int64) Violation { return Violation{Rule: "max", Limit: n} }

// MinLength requires at least n characters.
func MinLength(n int64) Violation { return Violation{Rule: "min_length", Limit: n} }

// MaxLength requires at most n characters.
func MaxLength(n int64) Violation { return Violation{Rule: "max_length", Limit: n} }

// MaxItems requires at most n items.
func MaxItems(n int64) Violation { return Violation{Rule: "max_items", Limit: n} }

// RequiredWithout requires a field if another one has no value.
func RequiredWithout(field string) Violation {
	return Violation{Rule: "required_without", Other: field}
}

// AfterOrEqual requires a date that is not before another field's.
func AfterOrEqual(field string) Violation { return Violation{Rule: "after_or_equal", Other: field} }

// WithinDays requires a date at most n days after another field's.
func WithinDays(n int64, field string) Violation {
	return Violation{Rule: "within_days", Limit: n, Other: field}
}

// String returns the rule and its parameters.
func (v Violation) String() string {
	text := v.Rule
	if v.Limit != 0 {
		text += " " + strconv.FormatInt(v.Limit, 10)
	}
	if v.Other != "" {
		text += " " + v.Other
	}
	return text
}

// ParseViolation reads the result of String.
func ParseViolation(text string) Violation {
	rule, rest, _ := strings.Cut(text, " ")
	v := Violation{Rule: rule}
	first, other, _ := strings.Cut(rest, " ")
	if n, err := strconv.ParseInt(first, 10, 64); err == nil {
		v.Limit, rest = n, other
	}
	v.Other = rest
	return v
}

// Fields maps the names of fields to the rules they break. Forms and JSON use the same names.
type Fields map[string][]Violation

// Add adds a violation of a field.
func (f Fields) Add(field string, v Violation) { f[field] = append(f[field], v) }

// Names returns the names of the fields, sorted.
func (f Fields) Names() []string { return slices.Sorted(maps.Keys(f)) }

// Reference reads a required ULID for a front end, and adds what it can't read. A malformed one becomes the zero ID, which is refused like the
// id of an unknown record.
func (f Fields) Reference(field string, v *string) ID {
	check := NewCheck(f)
	text := check.Text(field, v, 255)
	maps.Copy(f, check.fields)
	id, _ := ParseID(text)
	return id
}

// Number reads a required integer for a front end, and adds that it is missing.
func (f Fields) Number(field string, v *int64) int64 {
	if v == nil && len(f[field]) == 0 {
		f.Add(field, Required)
	}
	return OrZero(v)
}

// Check collects the violations of an input. It starts with what the front end could not read, such as
// a number that is a string, so that the caller gets all violations at once. A malformed field is not
// checked again.
type Check struct {
	fields    Fields
	malformed Fields
}

// NewCheck starts a check of an input with malformed fields.
func NewCheck(malformed Fields) *Check {
	c := &Check{fields: Fields{}, malformed: malformed}
	for field, violations := range malformed {
		c.fields[field] = slices.Clone(violations)
	}
	return c
}

// Add adds a violation of a field.
func (c *Check) Add(field string, v Violation) {
	if _, malformed := c.malformed[field]; !malformed {
		c.fields.Add(field, v)
	}
}

// Err returns the refusal, or nil if there is no violation.
func (c *Check) Err() error {
	if len(c.fields) == 0 {
		return nil
	}
	return Invalid(c.fields)
}

// OK reports whether a field has no violation so far.
func (c *Check) OK(field string) bool { return len(c.fields[field]) == 0 }

// Text reads a required text: composed, trimmed, not empty, at most limit characters.
func (c *Check) Text(field string, v *string, limit int) string {
	text := c.OptionalText(field, v, limit)
	if text == nil {
		if c.OK(field) {
			c.Add(field, Required)
		}
		return ""
	}
	return *text
}

// OptionalText reads a text that may be missing: composed and trimmed, nil when it is absent or blank.
func (c *Check) OptionalText(field string, v *string, limit int) *string {
	if v == nil {
		return nil
	}
	text := Trimmed(Composed(*v))
	switch {
	case text == "":
		return nil
	case strings.ContainsRune(text, 0):
		c.Add(field, NoNUL)
		return nil
	case utf8.RuneCountInString(text) > limit:
		c.Add(field, MaxLength(int64(limit)))
		return nil
	}
	return &text
}

// TextOrEmpty reads a text that may be missing: "" when it is absent or blank.
func (c *Check) TextOrEmpty(field string, v *string, limit int) string {
	if text := c.OptionalText(field, v, limit); text != nil {
		return *text
	}
	return ""
}

// Integer reads a required integer between lowest and highest.
func (c *Check) Integer(field string, v *int64, lowest, highest int64) int64 {
	if v == nil {
		if c.OK(field) {
			c.Add(field, Required)
		}
		return 0
	}
	c.Range(field, *v, lowest, highest)
	return *v
}

// Range checks that an integer is between lowest and highest.
func (c *Check) Range(field string, v, lowest, highest int64) {
	switch {
	case v < lowest:
		c.Add(field, Min(lowest))
	case v > highest:
		c.Add(field, Max(highest))
	}
}

// OneOf adds a violation if v is not one of the allowed values.
func OneOf[T ~string](c *Check, field string, v T, allowed ...T) {
	if !slices.Contains(allowed, v) {
		c.Add(field, InvalidChoice)
	}
}

// Optional is a field of a partial update: absent keeps the stored value, null clears it where that is
// allowed.
type Optional[T any] struct {
	Set   bool
	Value *T // nil is null
}

// Or returns the field's value if it is set, else the stored value.
func (o Optional[T]) Or(stored *T) *T {
	if o.Set {
		return o.Value
	}
	return stored
}

// Set returns a field with a value.
func Set[T any](v T) Optional[T] { return Optional[T]{Set: true, Value: &v} }

// OrZero is what p points to, or the zero value for nil.
func OrZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
