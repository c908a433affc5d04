// Package mail sends mails by way of the database: a mail is written in the
// transaction of its cause, and a job delivers it later, so none is sent for
// something that was rolled back. What a mail looks like is not known here: a
// Renderer is handed in.
//
// A mail is delivered at least once: it goes out a second time only where the first
// could not be noted, and then under the same Message-ID. Once it is out, or given up,
// its words are not kept: they may hold secrets of which everywhere else there is but
// a hash.
package mail

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// Email is what a mail is about: a struct of the package that sends it.
type Email any

// Rendered is an e-mail as it is sent.
type Rendered struct {
	Subject, Text, HTML string

	From        string   // the name to send under; "" is the installation's own
	Unsubscribe string   // the URL that unsubscribes with one click (RFC 8058); "" for none
	Inline      []Inline // pictures, which HTML shows as cid:NAME
	Attachment  *Attachment
}

// Attachment is a file that travels with a mail.
type Attachment struct {
	Name  string // "invoice-2026-0118.pdf"
	Bytes []byte
}

// Inline is a picture that travels inside a mail.
type Inline struct {
	Name  string // "qr.png"
	Type  string // "image/png"
	Bytes []byte
}

// Renderer writes an e-mail.
type Renderer func(ctx context.Context, to string, email Email) (Rendered, error)

// Sender reaches a mail server.
type Sender interface {
	Dial(ctx context.Context) (Conn, error)
}

// Conn is a connection to a mail server, which delivers one mail after another. Send
// returns ErrRefused for a mail that will never be taken, ErrDeferred for one to try again
// later; after any other error the connection is of no more use.
type Conn interface {
	Send(ctx context.Context, m Mail) error
	Close() error
}

// What a mail server says of one mail.
var (
	// ErrRefused is a mail that will never be delivered: no such address, or refused content.
	ErrRefused = errors.New("the mail is refused for good")
	// ErrDeferred is a mail that the server does not take now: a full mailbox, too many mails.
	ErrDeferred = errors.New("the mail is to be tried again later")
)

// Reply is what a mail server said of a mail it did not take, without this package's words.
func Reply(err error) string {
	text := err.Error()
	for _, kind := range []error{ErrRefused, ErrDeferred} {
		text = strings.TrimPrefix(text, kind.Error()+": ")
	}
	return text
}

// Mail is a mail as it is kept.
type Mail struct {
	ID        core.ID
	Recipient string
	Subject   string
	Text      string
	HTML      string
	CreatedAt time.Time

	AttachmentName *string // nil: nothing is attached
	Attachment     []byte

	SenderName    string // the platform's own; "": that of the installation's setting
	SenderAddress string // likewise

	// Not stored: these are of mails that are sent as they are rendered.
	From        string   `db:"-"`
	Unsubscribe string   `db:"-"`
	Inline      []Inline `db:"-"`
}

// Service writes and delivers mails.
type Service struct {
	db     *db.DB
	jobs   *job.Queue
	render Renderer
	sender Sender // nil: mails are kept in the database, for development
	log    *slog.Logger
}

// New makes the service and registers its jobs.
func New(d *db.DB, jobs *job.Queue, render Renderer, sender Sender, log *slog.Logger) *Service {
	s := &Service{db: d, jobs: jobs, render: render, sender: sender, log: log}
	job.Handle(jobs, job.Mail, s.deliver)
	job.Handle(jobs, job.Upkeep, s.cleanUp)
	job.Every(jobs, river.PeriodicInterval(time.Hour), cleanup{})
	return s
}

// Queue writes a mail to an address in the caller's transaction. Two round trips
// for the job, which nobody at a till waits for.
func (s *Service) Queue(ctx context.Context, tx *db.Tx, to string, email Email) error {
	rendered, err := s.render(ctx, to, email)
	if err != nil {
		return err
	}
	var name *string
	var file []byte
	if a := rendered.Attachment; a != nil {
		name, file = &a.Name, a.Bytes
	}
	id := core.NewID(tx.Now)
	err = db.Queue(tx, insertSQL, db.Args{
		"tenant": int64(tx.Tenant), "id": id, "recipient": to,
		"subject": rendered.Subject, "text": rendered.Text, "html": rendered.HTML, "attachment_name": name, "attachment": file, "now": tx.Now,
	})
	if err != nil {
		return err
	}
	return s.jobs.Add(ctx, tx, Delivery{Tenant: tx.Tenant, Mail: id})
}
