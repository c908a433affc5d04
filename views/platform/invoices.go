package platform

import "example.com/loyalty/views/ui"

// InvoiceList is invoices of all tenants, with what is unpaid of them.
type InvoiceList struct {
	Frame
	Search   ui.Field
	From, To ui.Field
	Hidden   []ui.Pair // the other filters
	Tabs     []Choice
	Totals   []InvoiceTotal
	Tenant   string // only those of this one; "": of all
	Rows     []InvoiceRow
	Filtered bool
	Pager    ui.Pager
	Problem  *ui.Problem
}

// InvoiceTotal is a sum of the invoices that are listed, in each currency.
type InvoiceTotal struct {
	Label   string
	Amounts []string
	Overdue bool // and there is something
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
	Frame
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
	NoIssuer    bool // so it can't be issued
	Steps       []InvoiceStep
	StepsZone   string // of the times of the steps

	Tenant       string
	TenantHost   string
	TenantPath   string
	TenantFacts  []ui.Pair
	TenantOthers string // the invoices of the tenant

	PDF    string // where these lead; "" where that is not possible
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

// InvoiceLine is one thing that is billed.
type InvoiceLine struct{ Description, Quantity, Price, Amount string }

// InvoiceStep is what happened to an invoice, or is to happen.
type InvoiceStep struct {
	State InvoiceState
	Label string
	Words string
}

// InvoiceState is how far a step is.
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
