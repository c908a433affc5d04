// Package mail stores mails in the transaction of their cause and delivers them with a job, so no mail
// is sent for a rollback. Their words are in web/email.
//
// A mail is delivered at least once. It is sent again only if the first delivery could not be stored,
// and then with the same Message-ID. When it is sent or given up, its text is deleted, because it may
// contain secrets that are stored elsewhere only as hashes.
package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// Email is an e-mail to one recipient, which is rendered when it is queued. A package that sends e-mails gets them from
// an interface of its own (Mails), which has a method for each.
type Email interface {
	Render(ctx context.Context) (Rendered, error)
}

// Rendered is an e-mail with its text.
type Rendered struct {
	To                  string // address of the recipient
	Subject, Text, HTML string

	From        string   // the sender's name; "": the installation's
	Unsubscribe string   // the URL that unsubscribes with one click (RFC 8058); "": none
	Inline      []Inline // pictures that the HTML shows as cid:NAME
	Attachment  *Attachment
}

// Attachment is a file attached to a mail.
type Attachment struct {
	Name  string // "invoice-2026-0118.pdf"
	Bytes []byte
}

// Inline is a picture in a mail.
type Inline struct {
	Name  string // "qr.png"
	Type  string // "image/png"
	Bytes []byte
}

// Sender connects to a mail server.
type Sender interface {
	Dial(ctx context.Context) (Conn, error)
}

// Conn is a connection to a mail server, which delivers one mail after another. Send returns
// ErrRefused or ErrDeferred for a mail; after any other error, the connection can't be used.
type Conn interface {
	Send(ctx context.Context, m Mail) error
	Close() error
}

// Refusals of a mail, most by the mail server.
var (
	// ErrRefused refuses a mail for good: an unknown address, or its content.
	ErrRefused = errors.New("the mail was refused for good")
	// ErrDeferred refuses a mail for now: a full mailbox, too many mails.
	ErrDeferred = errors.New("the mail was deferred")
	// ErrMailboxBusy is ErrDeferred for a reason of the recipient's mailbox: it is full or locked, or accepts no mail
	// from a new sender yet.
	ErrMailboxBusy = fmt.Errorf("%w", ErrDeferred)
)

// Unwritten begins the Reply of a mail that couldn't be built, so that no server has seen it.
const Unwritten = "This e-mail couldn't be written"

// ErrUnwritten returns the refusal of a mail that couldn't be built: another attempt would fail likewise.
func ErrUnwritten(cause error) error { return fmt.Errorf("%w: %s: %w", ErrRefused, Unwritten, cause) }

// Reply returns a mail server's own words from ErrRefused or ErrDeferred.
func Reply(err error) string {
	text := err.Error()
	for _, kind := range []error{ErrRefused, ErrDeferred} {
		text = strings.TrimPrefix(text, kind.Error()+": ")
	}
	return text
}

// Mail is a stored mail.
type Mail struct {
	ID        core.ID
	Recipient string
	Subject   string
	Text      string
	HTML      string
	CreatedAt time.Time

	AttachmentName *string // nil: no attachment
	Attachment     []byte

	SenderName    string // of the platform's settings; "": the installation's
	SenderAddress string // likewise

	Unsubscribe string // the URL that unsubscribes with one click; "": none

	// Not stored, because only mails that are sent at once have these.
	From   string   `db:"-"`
	Inline []Inline `db:"-"`
}

// Service writes and delivers mails.
type Service struct {
	db     *db.DB
	jobs   *job.Queue
	sender Sender // nil: mails stay in the database, for development
	log    *slog.Logger
}

// New makes the service and registers its jobs.
func New(d *db.DB, jobs *job.Queue, sender Sender, log *slog.Logger) *Service {
	s := &Service{db: d, jobs: jobs, sender: sender, log: log}
	job.Handle(jobs, job.Mail, s.deliver)
	job.Handle(jobs, job.Upkeep, s.runUpkeep)
	job.Every(jobs, time.Hour, upkeep{})
	return s
}

// Queue stores a mail, and its delivery job, in the caller's transaction.
func (s *Service) Queue(ctx context.Context, tx *db.Tx, e Email) error {
	return s.queue(ctx, tx, e, false)
}

// QueueToCustomer is Queue for a mail of a business to a customer, which isn't delivered while the business is
// suspended.
func (s *Service) QueueToCustomer(ctx context.Context, tx *db.Tx, e Email) error {
	return s.queue(ctx, tx, e, true)
}

func (s *Service) queue(ctx context.Context, tx *db.Tx, e Email, toCustomer bool) error {
	m, err := NewMail(ctx, core.NewID(tx.Now), e)
	if err != nil {
		return err
	}
	if err := insert(tx, m, "queued"); err != nil {
		return err
	}
	return s.jobs.Add(ctx, tx, Delivery{Tenant: tx.Tenant, Mail: m.ID, ToCustomer: toCustomer})
}

// NewMail renders an e-mail.
func NewMail(ctx context.Context, id core.ID, e Email) (Mail, error) {
	r, err := e.Render(ctx)
	m := Mail{
		ID: id, Recipient: r.To, Subject: r.Subject, Text: r.Text, HTML: r.HTML,
		From: r.From, Unsubscribe: r.Unsubscribe, Inline: r.Inline,
	}
	if r.Attachment != nil {
		m.AttachmentName, m.Attachment = &r.Attachment.Name, r.Attachment.Bytes
	}
	return m, err
}

// insert queues the storing of a mail. One that is stored already stays as it is.
func insert(tx *db.Tx, m Mail, status string) error {
	return db.Queue(tx, insertSQL, db.Args{
		"tenant": int64(tx.Tenant), "id": m.ID, "recipient": m.Recipient, "subject": m.Subject, "text": m.Text, "html": m.HTML,
		"attachment_name": m.AttachmentName, "attachment": m.Attachment, "unsubscribe": m.Unsubscribe, "status": status, "now": tx.Now,
	})
}
