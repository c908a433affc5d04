package panel

import (
	"example.com/loyalty/views/format"
	views "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
)

// FullName is a customer's name. An erased customer's first and last name are both "Erased".
func FullName(first, last string) string {
	if first == "Erased" && last == first {
		return first
	}
	return first + " " + last
}

func CustomerCount(n int64) string { return format.Count(n, "customer", "customers") }

// CustomerFields are the fields of a customer in a form.
func CustomerFields(form *forms.Form) (v views.CustomerFields) {
	v.First, v.Last = form.Field("first_name", ui.Field{Label: "First name"}), form.Field("last_name", ui.Field{Label: "Last name"})
	v.Phone, v.Email = form.Field("phone", ui.Field{Label: "Phone"}), form.Field("email", ui.Field{Label: "E-mail"})
	v.Phone.Type, v.Phone.Help = "tel", "Used to find them at the till"
	v.Email.Type, v.Email.Optional = "email", true
	for _, field := range []*ui.Field{&v.First, &v.Last, &v.Phone, &v.Email} {
		field.Autocomplete = "off" // the browser knows the details of the person at the keyboard, not the customer's
	}
	FocusFirst(&v.First, &v.Last, &v.Phone, &v.Email)
	return v
}
