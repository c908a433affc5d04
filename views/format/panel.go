package format

import (
	"strings"

	"example.com/loyalty/core/customer"
)

// CustomerName is a customer's full name, or "Erased customer".
func CustomerName(c customer.Customer) string {
	if c.Erased {
		return "Erased customer"
	}
	return strings.TrimSpace(c.FirstName + " " + c.LastName)
}
