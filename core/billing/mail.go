package billing

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// InvoiceEmail brings an invoice to the owner of a business, as a PDF.
type InvoiceEmail struct {
	Invoice  Invoice
	Reminder bool // it is overdue
}

// Delivery is the job that mails an invoice.
type Delivery struct {
	Tenant   core.TenantID `json:"tenant"`
	Invoice  int64         `json:"invoice"`
	AskedAt  time.Time     `json:"asked_at"`
	Reminder bool          `json:"reminder,omitempty"`
}

// Kind names the job in the queue.
func (Delivery) Kind() string { return "invoice_delivery" }

// ForTenant is whose share of the workers the job takes.
func (d Delivery) ForTenant() core.TenantID { return d.Tenant }

// deliver writes the mail of an invoice and notes that it was sent, once for each request. An
// invoice that was voided or, for a reminder, paid meanwhile is not sent.
func (s *Service) deliver(ctx context.Context, d Delivery) error {
	_, err := db.Platform(ctx, s.db, system, func(tx *db.Tx) (int, error) {
		r, err := db.One[invoiceRow](ctx, tx, lockInvoiceSQL, db.Args{"id": d.Invoice, "now": tx.Now})
		if err != nil {
			return 0, err
		}
		i := r.invoice()
		if i.Status == Draft || i.Status == Void || d.Reminder && i.Status != Overdue || i.SentAt != nil && !i.SentAt.Before(d.AskedAt) && !d.Reminder {
			return 0, nil
		}
		statement := sentSQL
		if d.Reminder {
			statement = remindedSQL
		}
		noted, err := db.Exec(ctx, tx, statement, db.Args{"id": d.Invoice, "now": tx.Now, "to": i.TenantEmail})
		if err != nil || noted == 0 {
			return 0, err
		}
		if err := tx.Enter(i.TenantID); err != nil {
			return 0, err
		}
		return 0, s.mail.Queue(ctx, tx, i.TenantEmail, InvoiceEmail{Invoice: i, Reminder: d.Reminder})
	})
	return err
}
