package panel

import (
	"strings"
)

// FullName is a customer's name. An erased customer's first and last name are both "Erased".
func FullName(first, last string) string {
	if first == "Erased" && last == first {
		return first
	}
	return first + " " + last
}

// CustomerLabel is fullName for a name that is stored as one text.
func CustomerLabel(name string) string {
	first, last, _ := strings.Cut(name, " ")
	return FullName(first, last)
}
