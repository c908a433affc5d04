package mail

import (
	"time"

	"example.com/loyalty/core/db"
)

// The outcomes of an attempt to deliver a mail.
const (
	Sent     = "sent"
	Refused  = "refused"  // for good, by the mail server
	Deferred = "deferred" // to be retried: the server was unreachable or deferred the mail
	GivenUp  = "given_up" // after too many attempts
	Dropped  = "dropped"  // not sent: the recipient has unsubscribed or can't use it
	Kept     = "kept"     // in the database, without a mail server
)

// Metric returns the metric of an outcome.
func Metric(outcome string) db.Metric { return db.Metric{Thing: "mail", Kind: outcome} }

// Backlog counts the waiting mails, and those that failed for good after an instant. It excludes the
// e-mails of vouchers, which core/coupon stores.
type Backlog struct{ Waiting, Failed int64 }

const backlogSQL = `
	select (select count(*) from loyalty.mail where status = 'queued') as waiting,
		(select count(*) from loyalty.mail where status = 'failed' and done_at > @after) as failed`

// ReadBacklog returns a reading of the backlog, for db.Together.
func ReadBacklog(to *Backlog, failedAfter time.Time) db.Reading {
	return db.OneInto(to, backlogSQL, db.Args{"after": failedAfter})
}
