package links

import "example.com/loyalty/core"

// Pages and forms of the till.
const (
	TillManifest = Till + "/manifest.webmanifest"
	TillTake     = Till + "/take" // takes what a customer shows
	TillFind     = Till + "/find"
	TillChoose   = Till + "/choose"
	TillLeave    = Till + "/leave"
	TillRecent   = Till + "/recent"
	TillEarns    = Till + "/earns" // what the amount will earn
	TillSale     = Till + "/sale"
	TillLast     = Till + "/last"
	TillShow     = Till + "/show" // shows a PIN for the customer to scan
	TillLocation = Till + "/location"

	TillCodes     = Till + "/c/" // followed by the code of a card
	TillCustomers = Till + "/customers"
	TillReceipts  = Till + "/receipts"
	TillPINs      = Till + "/pins"
)

// TillCustomer is the till with a customer.
func TillCustomer(id core.ID) string { return TillCustomers + "/" + id.String() }

// Receipt is what was recorded at once at the till.
func Receipt(checkout core.ID) string { return TillReceipts + "/" + checkout.String() }

// TillPIN is the page with a PIN.
func TillPIN(id core.ID) string { return TillPINs + "/" + id.String() }
