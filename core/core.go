// Package core has the types that all packages share: who acts (Actor), for which business (Tenant),
// refusals (Error, Fields), the ids of records (ID), pages of lists (Page) and requests that take effect
// once (Once). It imports no other package of this module and does no I/O except for reading time
// zones.
package core

import "time"

// TenantID names a business. Zero means none: the platform.
type TenantID int64

// Tenant is what requests need to know about a business. It is read once, when the caller is
// identified.
type Tenant struct {
	ID       TenantID
	Name     string
	Slug     string         // the label in front of the host
	TimeZone *time.Location // of the days of reports and vouchers
	Currency string         // ISO 4217
	Country  string         // ISO 3166-1 alpha-2, by which phone numbers are read; "": none

	Suspended bool // sign-ins and tokens don't work, and customers can't change anything
	Test      bool // for tests of an integration: never billed

	// ConfirmAboveCents is the amount above which people must confirm a sale; 0: none. Programs need
	// not confirm.
	ConfirmAboveCents int64

	PhoneOptional bool // a new customer with an e-mail address needs no phone number

	// How points and stamps end.
	PointsExpiry, StampsExpiry Expiry

	// EarningVersion is raised by each change of what sales earn (transaction.Service.RulesNow).
	EarningVersion int64

	// Theme is read only with a request for a page.
	Theme
}

// Expires reports whether the business's points or stamps end.
func (t Tenant) Expires() bool { return t.PointsExpiry.Ends() || t.StampsExpiry.Ends() }

// Confirms reports whether people must confirm a sale of an amount.
func (t Tenant) Confirms(spendCents int64) bool {
	return t.ConfirmAboveCents > 0 && spendCents > t.ConfirmAboveCents
}
