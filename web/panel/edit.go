package panel

import (
	"slices"

	"example.com/loyalty/core"
	"example.com/loyalty/views/ui"
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

// SentText returns a text field of an edit. A field that is missing or unchanged isn't set, an empty
// one is cleared.
func SentText(form *forms.Form, name string) core.Optional[string] {
	return core.Optional[string]{Set: form.Values.Has(name) && form.Changed(name), Value: form.Filled(name)}
}

// SentAmount is sentText for an amount. An unchanged one isn't read: the form may select another
// currency, with other decimals.
func SentAmount(form *forms.Form, name, currency string) core.Optional[int64] {
	if !form.Values.Has(name) || !form.Changed(name) {
		return core.Optional[int64]{}
	}
	return core.Optional[int64]{Set: true, Value: form.Amount(name, currency)}
}

// FocusFirst puts the focus on the first field with an error, or else on the first field.
func FocusFirst(fields ...*ui.Field) {
	wrong := slices.IndexFunc(fields, func(f *ui.Field) bool { return len(f.Errors) > 0 })
	fields[max(wrong, 0)].Autofocus = true
}
