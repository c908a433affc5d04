package customer

import "example.com/loyalty/core"

// ErrNoCountry refuses a new customer of a business that has not chosen its country: without one,
// 912 34 567 and +47 912 34 567 would be two people.
var ErrNoCountry = core.Refuse("country-required", "Choose the country of the business first. Phone numbers are read by it.")

// RequireCountry refuses with ErrNoCountry if people add customers to a business without a country. The
// API adds them as before: numbers without a country code are then compared by their digits.
func RequireCountry(by core.Actor) error {
	if by.Tenant.Country == "" && (by.Kind == core.ByStaff || by.Kind == core.ByCustomer) {
		return ErrNoCountry
	}
	return nil
}
