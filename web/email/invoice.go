package email

import (
	"bytes"

	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/mail"
	"example.com/loyalty/web/invoice"
)

// Invoice sends an owner an invoice as a PDF, or a reminder of one.
func (m Mails) Invoice(to string, e billing.InvoiceEmail) mail.Email {
	i, business := e.Invoice, line(e.Invoice.TenantName)
	total, due := format.Money(i.TotalCents, i.Currency), format.Date(*i.DueAt, i.Zone())
	subject := "Invoice " + i.Name() + " for " + business
	preview := total + ", due on " + due + "."
	intro := "The invoice for " + business + " is attached as a PDF."
	facts := views.Facts{{Name: "Amount due", Value: total}, {Name: "Due", Value: due}, {Name: "Invoice", Value: i.Name()}, {Name: "Period", Value: i.Period()}}
	closing := "The invoice says how to pay. Nothing is charged automatically."
	switch {
	case e.Reminder:
		subject = "Reminder: invoice " + i.Name() + " for " + business + " is overdue"
		intro = "This invoice for " + business + " is overdue. If you have paid in the last few days, you don't need to do anything."
	case i.PaidAt != nil:
		preview = "This invoice is paid."
		facts[0].Name, facts[1] = "Amount", views.Fact{Name: "Paid", Value: format.Date(*i.PaidAt, i.Zone())}
		closing = "This invoice is paid. You don't need to do anything."
	}
	written := m.notice(to, "You get this e-mail because this is the owner address of "+business+".", views.Email{
		Subject: subject,
		Preview: preview,
		Blocks: []views.Block{
			greeting(""),
			views.Paragraph(intro),
			facts,
			views.Link{Label: "View invoices", URL: m.names.Tenant(i.TenantSlug) + links.Billing},
			views.Closing(closing),
		},
	})
	written.envelope.Attachment, written.err = pdf(i)
	return written
}

// pdf returns an invoice as a file.
func pdf(i billing.Invoice) (*mail.Attachment, error) {
	var file bytes.Buffer
	err := invoice.PDF(i, &file)
	return &mail.Attachment{Name: invoice.FileName(i), Bytes: file.Bytes()}, err
}
