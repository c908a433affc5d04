package platform

import "example.com/loyalty/views/ui"

// Settings are what the platform decides for all tenants.
type Settings struct {
	Frame
	IssuerName, IssuerAddress, IssuerTaxNumber, IssuerEmail ui.Field
	TaxName, TaxRate                                        ui.Field
	PaymentText, PaymentDays                                ui.Field
	IssueAutomatically                                      ui.Field
	MailName, MailAddress                                   ui.Field
	Incomplete                                              bool // no invoice can be issued yet
	Original                                                string
	Problem                                                 *ui.Problem
}
