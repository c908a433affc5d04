package email_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core/billing"
)

func invoiceEmail() billing.InvoiceEmail {
	at := func(month time.Month, day int) time.Time { return time.Date(2026, month, day, 8, 0, 0, 0, time.UTC) }
	return billing.InvoiceEmail{Invoice: billing.Invoice{
		ID: 7, Number: new(int64(118)), TenantName: "Café\nÅro", TenantSlug: "cafe-aro", Timezone: "Europe/Stockholm", Status: billing.Issued, Currency: "EUR",
		Lines:       []billing.Line{{Description: "Growth plan, 1–30 November 2026", Quantity: 1, UnitCents: 7900, AmountCents: 7900}},
		AmountCents: 7900, TaxName: "VAT", TaxRate: 2500, TaxCents: 1975, TotalCents: 9875,
		PeriodStart: at(11, 1), PeriodEnd: at(11, 30), IssuedAt: new(at(11, 1)), DueAt: new(at(12, 1)),
		Issuer: billing.Party{Name: "Loyalty AB"}, Recipient: billing.Party{Name: "Café Åro"},
	}}
}

// "PDF … e-mailed to the owner".
func TestInvoiceEmail(t *testing.T) {
	t.Parallel()
	reminder, paid := invoiceEmail(), invoiceEmail()
	reminder.Reminder = true
	paid.Invoice.Status, paid.Invoice.PaidAt = billing.Paid, new(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC))
	for name, e := range map[string]billing.InvoiceEmail{"invoice": invoiceEmail(), "invoice-reminder": reminder, "invoice-paid": paid} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := render(t, mails(t).Invoice(maja, e))
			if !strings.Contains(got.Subject, "2026-0118") {
				t.Errorf("the subject %q has no invoice number", got.Subject)
			}
			if a := got.Attachment; a == nil || a.Name != "invoice-2026-0118.pdf" || !bytes.HasPrefix(a.Bytes, []byte("%PDF-")) {
				t.Errorf("attachment = %+v, want the PDF", a)
			}
			golden(t, name, got)
		})
	}
}
