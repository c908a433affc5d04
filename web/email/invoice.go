package email

import (
	"bytes"

	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/views/format"
	views "example.com/loyalty/views/mail"
	"example.com/loyalty/web/invoice"
)

// invoice sends an invoice as a PDF, or a reminder of one.
func (p renderer) invoice(to string, l billing.InvoiceEmail) (message, error) {
	i := l.Invoice
	business := line(i.TenantName)
	var file bytes.Buffer
	if err := invoice.PDF(i, &file); err != nil {
		return message{}, err
	}
	v := views.Notice{
		Subject: "Invoice " + i.Name() + " for " + business,
		Preview: format.Money(i.TotalCents, i.Currency) + ", due on " + format.Date(*i.DueAt, i.Zone()) + ".",
		Reason:  "You get this e-mail because this is the owner address of " + business + ".",
		Intro:   "The invoice for " + business + " is attached as a PDF.",
		Facts: []views.Fact{
			{Name: "Amount due", Value: format.Money(i.TotalCents, i.Currency)},
			{Name: "Due", Value: format.Date(*i.DueAt, i.Zone())},
			{Name: "Invoice", Value: i.Name()},
			{Name: "Period", Value: i.Period()},
		},
		Action:  "View invoices",
		Address: p.names.Tenant(i.TenantSlug) + "/admin/settings/billing",
		Fine:    "The invoice says how to pay. Nothing is charged automatically.",
	}
	switch {
	case l.Reminder:
		v.Subject = "Reminder: invoice " + i.Name() + " for " + business + " is overdue"
		v.Intro = "This invoice for " + business + " is overdue. If you have paid in the last few days, you don't need to do anything."
	case i.PaidAt != nil:
		v.Preview = "This invoice is paid."
		v.Facts[0].Name = "Amount"
		v.Facts[1] = views.Fact{Name: "Paid", Value: format.Date(*i.PaidAt, i.Zone())}
		v.Fine = "This invoice is paid. You don't need to do anything."
	}
	m := p.notice(to, v)
	m.attachment = &mail.Attachment{Name: invoice.FileName(i), Bytes: file.Bytes()}
	return m, nil
}
