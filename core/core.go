// Package core holds the words that every other package shares: who acts
// (Actor), for which business (Tenant), what was refused and why (Error,
// Fields), how a record is named (ID), how a list is paged (Page) and how a
// request is answered once (Once). It imports no other package of this module and
// does no I/O, but for reading time zones.
package core

import "time"

// TenantID names a business. Zero means none: the platform.
type TenantID int64

// Tenant is what the rest of the product needs to know of a business while
// serving it: read once, when the caller is identified.
type Tenant struct {
	ID       TenantID
	Name     string
	Slug     string         // the label in front of the host
	TimeZone *time.Location // days of reports and vouchers are days here
	Currency string         // ISO 4217
	Country  string         // ISO 3166-1 alpha-2, or "": phone numbers are read as of here

	Suspended bool // no one can sign in, no token works, and customers can only look

	// ConfirmAboveCents is the ceiling of sales that people record without being asked once
	// more; 0: there is none. Programs are never asked.
	ConfirmAboveCents int64
}

// Confirms reports whether people are asked once more before a sale of that amount is recorded.
func (t Tenant) Confirms(spendCents int64) bool {
	return t.ConfirmAboveCents > 0 && spendCents > t.ConfirmAboveCents
}
