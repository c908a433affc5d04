package billing

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/mail"
)

// Mails queues this package's e-mail. Its words are in web/email.
type Mails interface {
	Queue(ctx context.Context, tx *db.Tx, e mail.Email) error
	Invoice(to string, e InvoiceEmail) mail.Email
}

// InvoiceEmail sends an invoice to the owner of a business, as a PDF.
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

// ForTenant returns the tenant whose share of the workers the job uses.
func (d Delivery) ForTenant() core.TenantID { return d.Tenant }

// deliver queues the mail of an invoice and stores that it was sent, once for each request. An
// invoice that was voided meanwhile is not sent, and a reminder only while it is overdue.
func (s *Service) deliver(ctx context.Context, d Delivery) error {
	return db.Run(ctx, s.db.Platform(), func(tx *db.Tx) error {
		i, err := db.One[Invoice](ctx, tx, lockInvoiceSQL, db.Args{"id": d.Invoice, "now": tx.Now})
		if err != nil {
			return err
		}
		if i.TenantID != d.Tenant {
			return core.ErrNotFound
		}
		statement, wanted := sentSQL, i.Status != Draft && i.Status != Void && (i.SentAt == nil || i.SentAt.Before(d.AskedAt))
		if d.Reminder {
			statement, wanted = remindedSQL, i.Status == Overdue
		}
		if !wanted {
			return nil
		}
		noted, err := db.Exec(ctx, tx, statement, db.Args{"id": d.Invoice, "now": tx.Now, "to": i.TenantEmail})
		if err != nil || noted == 0 {
			return err
		}
		if err := tx.Enter(i.TenantID); err != nil {
			return err
		}
		return s.mails.Queue(ctx, tx, s.mails.Invoice(i.TenantEmail, InvoiceEmail{Invoice: i, Reminder: d.Reminder}))
	})
}
