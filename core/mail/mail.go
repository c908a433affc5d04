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
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// Letter is what a mail is about: a struct of the package that sends it.
type Letter any

// Rendered is a letter as it is sent.
type Rendered struct{ Subject, Text, HTML string }

// Renderer turns a letter into words.
type Renderer func(ctx context.Context, to string, letter Letter) (Rendered, error)

// Sender hands a mail to the world. A mail that failed is tried again, for days, unless
// the error is ErrRefused.
type Sender interface {
	Send(ctx context.Context, m Mail) error
}

// ErrRefused is a mail that the world will never take: to nobody, or of words that its
// recipient's server does not let in.
var ErrRefused = errors.New("the mail is refused for good")

// Mail is a mail as it is kept.
type Mail struct {
	ID        core.ID
	Recipient string
	Subject   string
	Text      string
	HTML      string
	CreatedAt time.Time
}

// Service writes and delivers mails.
type Service struct {
	db     *db.DB
	jobs   *job.Queue
	render Renderer
	sender Sender // nil: mails are kept in the database, for development
	log    *slog.Logger
}

// New makes the service and registers its job.
func New(d *db.DB, jobs *job.Queue, render Renderer, sender Sender, log *slog.Logger) *Service {
	s := &Service{db: d, jobs: jobs, render: render, sender: sender, log: log}
	job.Handle(jobs, s.deliver)
	return s
}

// Queue writes a mail to an address in the caller's transaction. Two round trips
// for the job, which nobody at a till waits for.
func (s *Service) Queue(ctx context.Context, tx *db.Tx, to string, letter Letter) error {
	rendered, err := s.render(ctx, to, letter)
	if err != nil {
		return err
	}
	id := core.NewID(tx.Now)
	err = db.Queue(tx, insertSQL, db.Args{
		"tenant": int64(tx.Tenant), "id": id, "recipient": to,
		"subject": rendered.Subject, "text": rendered.Text, "html": rendered.HTML, "now": tx.Now,
	})
	if err != nil {
		return err
	}
	return s.jobs.Add(ctx, tx, Delivery{Mail: id})
}
