package email

import (
	"bytes"

	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/mail"
	views "example.com/loyalty/views/mail"
	"example.com/loyalty/web/invoice"
	"example.com/loyalty/web/page"
)

// billed brings an invoice as a PDF, or reminds of one.
func (p renderer) billed(to string, l billing.InvoiceEmail) (message, error) {
	i := l.Invoice
	tenant := line(i.TenantName)
	var file bytes.Buffer
	if err := invoice.PDF(i, &file); err != nil {
		return message{}, err
	}
	v := views.Notice{
		Frame: views.Frame{
			Subject: "Invoice " + i.Name() + " for " + tenant,
			Preview: page.Money(i.TotalCents, i.Currency) + ", due on " + page.Date(*i.DueAt, i.Zone()) + ".",
			Service: p.service, To: to, Reason: "You get this e-mail because this is the owner address of " + tenant + ".",
		},
		Greeting: "Hello,",
		Intro:    "Here is the invoice for " + tenant + ", as a PDF.",
		Facts: []views.Fact{
			{Name: "Amount due", Value: page.Money(i.TotalCents, i.Currency)},
			{Name: "Due", Value: page.Date(*i.DueAt, i.Zone())},
			{Name: "Invoice", Value: i.Name()},
			{Name: "Period", Value: i.Period()},
		},
		Action:  "View your invoices",
		Address: p.names.Tenant(i.TenantSlug) + "/admin/settings/billing",
		Fine:    "How to pay is on the invoice. Nothing is charged automatically.",
	}
	switch {
	case l.Reminder:
		v.Subject = "Reminder: invoice " + i.Name() + " for " + tenant + " is overdue"
		v.Intro = "We haven't received the payment for this invoice of " + tenant + " yet. If you have paid in the last few days, you don't need to do anything."
	case i.PaidAt != nil:
		v.Preview = "It is paid."
		v.Facts[0].Name = "Amount"
		v.Facts[1] = views.Fact{Name: "Paid", Value: page.Date(*i.PaidAt, i.Zone())}
		v.Fine = "It is paid: you don't need to do anything."
	}
	d := notice(v)
	d.attachment = &mail.Attachment{Name: invoice.FileName(i), Bytes: file.Bytes()}
	return d, nil
}
