package mail

import (
	"time"

	"example.com/loyalty/core/db"
)

// How an attempt to deliver a mail ends, as a process counts it (Counted).
const (
	Sent     = "sent"
	Refused  = "refused"  // for good, by the mail server
	Deferred = "deferred" // to be tried again: the server was not reached, or did not take it now
	GivenUp  = "given_up" // after too many attempts
	Dropped  = "dropped"  // not sent: who was to get it unsubscribed, or can't use it any more
	Kept     = "kept"     // in the database: there is no mail server
)

// Metric are the attempts of this process that ended one way.
func Metric(outcome string) db.Metric { return db.Metric{Thing: "mail", Kind: outcome} }

// Backlog is how many mails wait, and how many failed for good after an instant. E-mails of
// vouchers are not among them: core/coupon keeps these.
type Backlog struct{ Waiting, Failed int64 }

const backlogSQL = `
	select (select count(*) from loyalty.mail where status = 'queued') as waiting,
		(select count(*) from loyalty.mail where status = 'failed' and done_at > @after) as failed`

// ReadBacklog is a reading of the backlog, for db.PlatformTogether.
func ReadBacklog(to *Backlog, failedAfter time.Time) db.Reading {
	return db.OneInto(to, backlogSQL, db.Args{"after": failedAfter})
}
