// Package billing is the HTML of the pages about plans and invoices.
package billing

import (
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// InvoiceList is the page with the invoices of all tenants.
type InvoiceList struct {
	panel.Frame
	Search   ui.Field
	From, To ui.Field
	Hidden   []ui.Pair // the other filters
	Tabs     []panel.Choice
	Totals   []InvoiceTotal
	Tenant   string // the only tenant; "" for all
	Rows     []InvoiceRow
	Filtered bool
	Pager    ui.Pager
	Problem  *ui.Problem
}

// InvoiceTotal is a sum of the listed invoices in each currency.
type InvoiceTotal struct {
	Label   string
	Amounts []string
	Overdue bool // of overdue invoices, and not zero
}

// InvoiceRow is a line of a list of invoices.
type InvoiceRow struct {
	ID, Name, Path string
	Tenant         string
	TenantPath     string
	Period         string
	Issued, Due    string // days; "" for a draft
	Total          string
	Status         ui.Badge
	Void           bool
}

// Invoice is one invoice.
type Invoice struct {
	panel.Frame
	AmountLabel string // "Amount due"
	Amount      string
	AmountNote  string // "by 30 November 2026"
	Void        bool
	Facts       []ui.Pair
	To, From    InvoiceParty
	Lines       []InvoiceLine
	Subtotal    string
	TaxLabel    string
	Tax         string
	Total       string
	PaymentText string
	NoIssuer    bool // the issuer isn't set, so it can't be issued
	Steps       []InvoiceStep
	StepsZone   string // the time zone of the steps

	Tenant       string
	TenantHost   string
	TenantPath   string
	TenantFacts  []ui.Pair
	TenantOthers string // the invoices of the tenant

	PDF    string // the paths of the actions; "" if not possible
	Issue  string
	Pay    string
	Send   string
	Cancel string
}

// InvoiceParty is one side of an invoice.
type InvoiceParty struct {
	Label   string
	Name    string
	Address string // with line breaks
	Rest    []string
}

// InvoiceLine is a billed item.
type InvoiceLine struct{ Description, Quantity, Price, Amount string }

// InvoiceStep is a past or coming step of an invoice.
type InvoiceStep struct {
	State InvoiceState
	Label string
	Words string
}

// InvoiceState is the state of a step.
type InvoiceState string

// The states of a step.
const (
	StepDone    InvoiceState = "done"
	StepWaiting InvoiceState = "waiting"
	StepLate    InvoiceState = "late"
	StepEnded   InvoiceState = "ended" // the invoice was voided
	StepAhead   InvoiceState = "ahead"
)

func (s InvoiceState) icon() string {
	switch s {
	case StepDone:
		return "check"
	case StepWaiting:
		return "clock"
	case StepLate:
		return "alert-triangle"
	case StepEnded:
		return "x"
	case StepAhead:
	}
	return ""
}
