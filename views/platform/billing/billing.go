// Package billing is the HTML of the pages about plans and invoices.
package billing

import (
	"net/url"

	"example.com/loyalty/core/billing"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// InvoiceList is a page of the invoices that match the filters.
type InvoiceList struct {
	panel.Frame
	Form   ui.Form // the filters
	Asked  billing.Filter
	First  *url.URL // of the first page with these filters
	List   []billing.Invoice
	Counts []billing.Count // of any status
	Pager  ui.Pager
}

// InvoiceDetail is the page of an invoice.
type InvoiceDetail struct {
	panel.Frame
	Invoice billing.Invoice
	Host    string          // of its tenant
	Counts  []billing.Count // of the tenant's invoices
}

// PlanList is all plans.
type PlanList struct {
	panel.Frame
	Plans []billing.Plan
}

// PlanForm creates or edits a plan.
type PlanForm struct {
	panel.Frame
	Form       ui.Form
	FormKey    string
	Old        *billing.Plan // nil: a new one
	Currencies []ui.Option
}
