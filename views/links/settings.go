package links

import "strconv"

// Parts of the settings of a business.
const (
	Joining         = Business + "/joining" // the action of the form about consent
	Branding        = Business + "/look"    // the action of its form
	BrandingPreview = Branding + "/preview"
	BillingInvoices = Billing + "/invoices"
	Logos           = Panel + "/logo"
)

// Logo is the logo with a hash.
func Logo(hash string) string { return Logos + "/" + hash }

// Location is the form that renames a location.
func Location(id int64) string { return numbered(Locations, id) }

// SalesAt lists the sales at a location.
func SalesAt(location int64) string {
	return WithQuery(Transactions, "location_id", strconv.FormatInt(location, 10))
}

// BillingInvoice is an invoice of the business as a file.
func BillingInvoice(id int64) string { return numbered(BillingInvoices, id) }

// AuditOf lists what a member of the staff did.
func AuditOf(person int64) string {
	return WithQuery(Audit, "actor", "staff:"+strconv.FormatInt(person, 10))
}
