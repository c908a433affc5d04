package panel

import "example.com/loyalty/core/customer"

// PhoneConflict is why the country can't be changed: two customers who would have the same phone number, the one who was
// added first before the other, or one whose number can't be read.
type PhoneConflict []customer.Customer
