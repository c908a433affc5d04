package panel

// PhoneConflict is why the country can't be changed: customers who would have the same phone number, or one
// whose number can't be read.
type PhoneConflict struct {
	Customers []PhoneCustomer
	Merge     string // path to merge the two; "" for one
}

// PhoneCustomer is a customer with their phone number.
type PhoneCustomer struct{ Name, Phone, Path string }
