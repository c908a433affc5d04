package panel

import (
	"github.com/a-h/templ"

	"example.com/loyalty/views/ui"
)

// CustomerFields are what a customer is added with. CustomerInputs has them as a template.
type CustomerFields struct{ First, Last, Phone, Email ui.Field }

// customerFields completes the fields that a customer is added with. The first one is focused, or the first one with an
// error.
func customerFields(form ui.Form, phoneHelp string) (first, last, phone, email ui.Field) {
	// Browsers would complete them with the details of the person at the keyboard.
	first = form.Field("first_name", ui.Field{Label: "First name", Autocomplete: "off"})
	last = form.Field("last_name", ui.Field{Label: "Last name", Autocomplete: "off"})
	phone = form.Field("phone", ui.Field{Label: "Phone", Help: phoneHelp, Type: "tel", Autocomplete: "off"})
	email = form.Field("email", ui.Field{Label: "E-mail", Type: "email", Autocomplete: "off", Optional: true})
	ui.FocusFirst(&first, &last, &phone, &email)
	return first, last, phone, email
}

// Sorted is the aria-sort of a heading's cell.
func Sorted(h ui.Heading) templ.Attributes {
	if h.Sorted == "" {
		return nil
	}
	return templ.Attributes{"aria-sort": h.Sorted}
}
