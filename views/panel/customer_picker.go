package panel

import (
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
)

// CustomerPicker lets the person select a customer.
type CustomerPicker struct {
	Frame
	Question string
	Path     string // the page that needs the customer
	Search   ui.Field
	Heading  string // of the suggestions
	Note     string // above them; "": none
	Found    []customer.Customer
	Nothing  string // before a search, if nothing is found; "": there are no customers yet
}

// PathTo is where choosing a customer leads.
func (v CustomerPicker) PathTo(c customer.Customer) string {
	return links.WithQuery(v.Path, "customer_ulid", c.ID.String())
}

// Balance is a customer's balance in words; that of one who can't be served is their status.
func Balance(c customer.Customer) string {
	words := format.Units(c.PointsBalance, ledger.Points)
	if c.StampsBalance != 0 {
		words += ", " + format.Units(c.StampsBalance, ledger.Stamps)
	}
	return words
}

// CustomerStatus is the status of a customer.
func CustomerStatus(c customer.Customer) ui.Badge {
	switch {
	case c.Erased:
		return ui.Badge{Label: "Erased", Tone: ui.Neutral}
	case c.Status == customer.Inactive:
		return ui.Badge{Label: "Inactive", Tone: ui.Notice}
	}
	return ui.Badge{Label: "Active", Tone: ui.Good}
}
