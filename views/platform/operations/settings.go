package operations

import (
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// Settings is the page with the platform's settings.
type Settings struct {
	panel.Frame
	IssuerName, IssuerAddress, IssuerTaxNumber, IssuerEmail ui.Field
	TaxName, TaxRate                                        ui.Field
	PaymentText, PaymentDays                                ui.Field
	IssueAutomatically                                      ui.Field
	MailName, MailAddress                                   ui.Field
	Incomplete                                              bool // invoices can't be issued yet
	Original                                                string
	Problem                                                 *ui.Problem
}
