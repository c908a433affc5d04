package core

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fields maps the name of a field to what is wrong with it. Forms and JSON use
// the same names, so one map serves both.
type Fields map[string][]string

// Add notes one more message about a field.
func (f Fields) Add(field, message string) { f[field] = append(f[field], message) }

// Names returns the fields in order of name.
func (f Fields) Names() []string { return slices.Sorted(maps.Keys(f)) }

// Messages of the rules that several fields share, in Laravel's wording; the
// attribute is the field's name with spaces.
func attribute(field string) string { return strings.ReplaceAll(field, "_", " ") }

// Missing is "The … field is required."
func Missing(field string) string { return "The " + attribute(field) + " field is required." }

// MustBe is "The … field must be …."
func MustBe(field, what string) string {
	return "The " + attribute(field) + " field must be " + what + "."
}

// Selected is "The selected … is invalid.": a reference or a choice that does not exist.
func Selected(field string) string { return "The selected " + attribute(field) + " is invalid." }

// Taken is "The … has already been taken.": a value another record holds.
func Taken(field string) string { return "The " + attribute(field) + " has already been taken." }

// Check collects everything that is wrong with an input. It starts from what the
// front end could not even read (a number that is a string), so that the caller
// hears of all mistakes at once; a field that could not be read is not judged again.
type Check struct {
	fields     Fields
	unreadable Fields
}

// NewCheck starts a check of an input of which the front end already refused some fields.
func NewCheck(unreadable Fields) *Check {
	c := &Check{fields: Fields{}, unreadable: unreadable}
	for field, messages := range unreadable {
		c.fields[field] = slices.Clone(messages)
	}
	return c
}

// Add notes what is wrong with a field.
func (c *Check) Add(field, message string) {
	if _, known := c.unreadable[field]; !known {
		c.fields.Add(field, message)
	}
}

// Err is nil when nothing was wrong.
func (c *Check) Err() error {
	if len(c.fields) == 0 {
		return nil
	}
	return Invalid(c.fields)
}

// OK reports whether nothing is wrong with the field so far.
func (c *Check) OK(field string) bool { return len(c.fields[field]) == 0 }

// Required notes that a field is missing.
func (c *Check) Required(field string) { c.Add(field, Missing(field)) }

// Text reads a required text: trimmed, not empty, at most limit characters.
func (c *Check) Text(field string, v *string, limit int) string {
	text := c.OptionalText(field, v, limit)
	if text == nil {
		if c.OK(field) {
			c.Required(field)
		}
		return ""
	}
	return *text
}

// isInvisible reports whether nothing is seen of a character: a space, or a mark that comes along
// with what is copied from elsewhere. A name of those could not be read, nor clicked.
func isInvisible(r rune) bool {
	return unicode.IsSpace(r) || r == '\u00ad' || r == '\ufeff' || '\u200b' <= r && r <= '\u200f' || '\u202a' <= r && r <= '\u202e' || '\u2060' <= r && r <= '\u206f'
}

// OptionalText reads a text that may be missing: nil when it is absent or blank.
func (c *Check) OptionalText(field string, v *string, limit int) *string {
	if v == nil {
		return nil
	}
	text := strings.TrimFunc(*v, isInvisible)
	switch {
	case text == "":
		return nil
	case strings.ContainsRune(text, 0):
		// PostgreSQL cannot keep it, and nobody means it.
		c.Add(field, "The "+attribute(field)+" field must not contain NUL characters.")
		return nil
	case utf8.RuneCountInString(text) > limit:
		c.Add(field, fmt.Sprintf("The %s field must not be greater than %d characters.", attribute(field), limit))
		return nil
	}
	return &text
}

// Integer reads a required integer between lowest and highest.
func (c *Check) Integer(field string, v *int64, lowest, highest int64) int64 {
	switch {
	case v == nil:
		if c.OK(field) {
			c.Required(field)
		}
		return 0
	case *v < lowest:
		c.Add(field, MustBe(field, fmt.Sprintf("at least %d", lowest)))
	case *v > highest:
		c.Add(field, fmt.Sprintf("The %s field must not be greater than %d.", attribute(field), highest))
	}
	return *v
}

// Reference reads a required ULID. One that does not parse is looked up as the zero
// ID, nobody's: it must be refused like one that is missing.
func (c *Check) Reference(field string, v *string) ID {
	id, _ := ParseID(c.Text(field, v, 255))
	return id
}

// OneOf notes a value that is not among the allowed ones.
func OneOf[T ~string](c *Check, field string, v T, allowed ...T) {
	if !slices.Contains(allowed, v) {
		c.Add(field, Selected(field))
	}
}

// Optional is a field of a partial update: absent keeps what is stored, null
// clears it where that is allowed.
type Optional[T any] struct {
	Set   bool
	Value *T // nil is null
}

// Or is the field's value where it is set, else what is stored.
func (o Optional[T]) Or(stored *T) *T {
	if o.Set {
		return o.Value
	}
	return stored
}

// Set returns a field that changes something to v.
func Set[T any](v T) Optional[T] { return Optional[T]{Set: true, Value: &v} }
