package panel

import (
	"example.com/loyalty/views/format"
	views "example.com/loyalty/views/panel"
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
func CustomerFields(form *forms.Form) views.CustomerFields { return views.CustomerFieldsOf(form) }
