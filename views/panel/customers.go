package panel

import (
	"github.com/a-h/templ"

	"example.com/loyalty/core"
	"example.com/loyalty/views/ui"
)

// CustomerFields are what a customer is added with.
type CustomerFields struct{ First, Last, Phone, Email, Birthday ui.Field }

// CustomerFieldsOf completes them. Browsers don't fill them in: they know the details of the person at the keyboard, not
// the customer's.
func CustomerFieldsOf(form ui.Form, t core.Tenant) CustomerFields {
	v := CustomerFields{
		First: form.Field("first_name", ui.Field{Label: "First name", Autocomplete: "off"}),
		Last:  form.Field("last_name", ui.Field{Label: "Last name", Autocomplete: "off"}),
		Phone: form.Field("phone", ui.Field{Label: "Phone", Type: "tel", Help: "Used to find them at the till", Autocomplete: "off"}),
		Email: form.Field("email", ui.Field{Label: "E-mail", Type: "email", Optional: true, Autocomplete: "off"}),
		Birthday: form.Field("birthday", ui.Field{
			Label: "Birthday", Help: "E.g. 1990-05-21, or 05-21 without the year", Optional: true, Autocomplete: "off",
		}),
	}
	if t.PhoneOptional {
		v.Phone.Optional, v.Email.Help = true, "Needed without a phone number"
	}
	ui.FocusFirst(&v.First, &v.Last, &v.Phone, &v.Email, &v.Birthday)
	return v
}

// Sorted is the aria-sort of a heading's cell.
func Sorted(h ui.Heading) templ.Attributes {
	if h.Sorted == "" {
		return nil
	}
	return templ.Attributes{"aria-sort": h.Sorted}
}
