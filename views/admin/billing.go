package admin

import "example.com/loyalty/views/ui"

// Billing is what a business pays for, and its invoices.
type Billing struct {
	Settings
	Plan, Price, Payment string
	Contact              string // where to ask; "" where no address is known
	Uses                 []PlanUse
	Next                 *NextInvoice // nil: nothing will be billed
	Invoices             []InvoiceRow
	Pager                ui.Pager

	Problem                  *ui.Problem
	Began                    string
	Name, Address, TaxNumber ui.Field
	Email                    string // where invoices are mailed to
}

// PlanUse is how much of a limit of the plan is used.
type PlanUse struct {
	Label, Numbers string
	Used, Limit    string // as numbers, for the bar; no limit: ""
	State          string // "", near, reached
	Advice         string
}

// NextInvoice is what is billed next.
type NextInvoice struct {
	On, Amount string
	Items      []ui.Pair // what it is made of, where that is more than the price
	Tax        string    // what comes on top; "" for nothing
}

// InvoiceRow is an invoice in the list.
type InvoiceRow struct {
	Name, Period, Issued, Due, Total string
	Status                           ui.Badge
	Path                             string // of the PDF
}

// PlanNotice warns that a limit of the plan is near or reached.
type PlanNotice struct {
	Reached bool
	Words   string
	Path    string // to the plan; "" for people who can't see it
}
