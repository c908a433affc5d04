package panel

import (
	"example.com/loyalty/core"
	"example.com/loyalty/web/forms"
)

// SetTo sets a field of an edit to what the form has: empty clears it.
func SetTo[T any](v *T) core.Optional[T] { return core.Optional[T]{Set: true, Value: v} }

// IfChanged sets a field of an edit if one of the form's fields was changed. Otherwise the field
// keeps its current value, which a colleague may have changed meanwhile.
func IfChanged[T any](form *forms.Form, v *T, names ...string) core.Optional[T] {
	if !form.Changed(names...) {
		return core.Optional[T]{}
	}
	return SetTo(v)
}
