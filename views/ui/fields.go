package ui

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/a-h/templ"
)

// Form is what a template needs of a form: the names of its fields lead to their values and errors.
type Form interface {
	// Field completes a field, of which the template says what it is called and how it is entered.
	Field(name string, field Field) Field
	// FieldOf is Field for a field that core calls known.
	FieldOf(known, name string, field Field) Field
	// Value is the text of a field, or "".
	Value(name string) string
	// Checked reports whether a checkbox is checked.
	Checked(name string) bool
	// Original encodes the initial values, for OriginalValues.
	Original() string
	// Problem is what is wrong. It knows the labels of the fields that were completed before.
	Problem() *Problem
}

// FocusFirst puts the focus on the first field with an error, or else on the first field.
func FocusFirst(fields ...*Field) {
	wrong := slices.IndexFunc(fields, func(f *Field) bool { return len(f.Errors) > 0 })
	fields[max(wrong, 0)].Autofocus = true
}

// Fields are the fields of a form below the summary of what is wrong with them. They are rendered first, because the
// summary links to them by their labels.
func Fields(f Form) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		var fields bytes.Buffer
		children := templ.GetChildren(ctx)
		ctx = templ.ClearChildren(ctx)
		if err := children.Render(ctx, &fields); err != nil {
			return err
		}
		if err := Refusal(f.Problem()).Render(ctx, w); err != nil {
			return err
		}
		_, err := w.Write(fields.Bytes())
		return err
	})
}
