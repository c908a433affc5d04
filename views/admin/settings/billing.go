// Package settings is the HTML of the settings of a business.
package settings

import (
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// Billing is a business's plan, usage, invoices and billing details.
type Billing struct {
	panel.Settings
	Plan, Price, Payment string
	Contact              string // the platform's e-mail address; "" if it has none
	Uses                 []PlanUse
	Next                 *NextInvoice // nil: there will be none
	Invoices             []InvoiceRow
	Pager                ui.Pager

	Problem                  *ui.Problem
	Began                    string
	Name, Address, TaxNumber ui.Field
	Email                    string // invoices are sent to it
}

// PlanUse is the usage of one limit of the plan.
type PlanUse struct {
	Label, Numbers string
	Used, Limit    string // numbers for the bar; Limit "": unlimited
	State          string // "", "near" or "reached"
	Advice         string
}

// NextInvoice is the invoice of the next billing period.
type NextInvoice struct {
	On, Amount string
	Items      []ui.Pair // its lines, if there are more than the plan's price
	Tax        string    // "plus 25.5% VAT"; "": no tax
}

// InvoiceRow is a row of the list of invoices.
type InvoiceRow struct {
	Name, Period, Issued, Due, Total string
	Status                           ui.Badge
	Path                             string // the PDF
}
