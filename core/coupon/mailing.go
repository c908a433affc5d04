package coupon

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"golang.org/x/time/rate"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/tenant"
)

// Delivery is the job that mails a send's vouchers. After ten seconds it is queued again behind other
// jobs, so that sends take turns.
type Delivery struct {
	Tenant core.TenantID `json:"tenant"`
	Send   core.ID       `json:"send"`
}

// Kind names the job in the queue.
func (Delivery) Kind() string { return "coupon_delivery" }

// ForTenant returns the tenant whose share of the workers the job uses.
func (d Delivery) ForTenant() core.TenantID { return d.Tenant }

const (
	mailPage  = 50               // mails claimed at a time
	runTime   = 10 * time.Second // of a run
	claimTime = 2 * time.Minute  // until a claimed mail without a result is due again
	claimUse  = time.Minute      // of claimTime, in which mails are started
	perSecond = 50               // mails of one tenant, in each process
)

// The delays after which a deferred mail is tried again; after the last one it has failed.
var retryAfter = []time.Duration{time.Minute, 10 * time.Minute, time.Hour, 4 * time.Hour}

// mailing is what the mails of a send have in common.
type mailing struct {
	VoucherEmail
	send    core.ID
	courier *mail.Courier
}

// queuedMail is a mail to be sent, and its customer.
type queuedMail struct {
	VoucherID    core.ID
	CustomerID   core.ID
	FirstName    string
	Email        *string
	LinkVersion  int64
	Unsubscribed bool
	Pending      bool // the voucher can still be redeemed
	ExpiresAt    *time.Time
	Attempts     int64
}

// deliver mails vouchers of a send until its time is up or none is due.
func (s *Service) deliver(ctx context.Context, d Delivery) error {
	t, err := db.FindTenant(ctx, s.db, d.Tenant)
	if err != nil {
		return err
	}
	by := core.Job(t, "coupon send")
	until := s.db.Now().Add(runTime)
	about, err := s.loadMailing(ctx, by, d.Send)
	if err != nil {
		return err
	}
	for s.db.Now().Before(until) {
		page, err := db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) ([]queuedMail, error) {
			return db.All[queuedMail](ctx, tx, claimMailsSQL, db.Args{
				"send": d.Send, "limit": mailPage, "now": tx.Now, "again": tx.Now.Add(claimTime),
			})
		})
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return s.finishOrReschedule(ctx, by, d.Send)
		}
		if err := s.pace(d.Tenant).WaitN(ctx, len(page)); err != nil {
			return err
		}
		if err := s.mailPage(ctx, by, about, page); err != nil {
			return err
		}
	}
	return job.Again(0)
}

// pace limits the mails of a tenant over all its sends and jobs.
func (s *Service) pace(t core.TenantID) *rate.Limiter {
	limiter, _ := s.paces.LoadOrStore(t, rate.NewLimiter(perSecond, mailPage))
	return limiter.(*rate.Limiter)
}

// loadMailing reads what the mails of a send have in common.
func (s *Service) loadMailing(ctx context.Context, by core.Actor, send core.ID) (mailing, error) {
	found, err := db.One[struct {
		Subject, Message string
		Benefit
		RewardName *string
		LevelName  *string
	}](ctx, s.db.Tenant(by), mailingSQL, db.Args{"send": send})
	if err != nil {
		return mailing{}, err
	}
	branding, err := tenant.BrandingOf(ctx, s.db, by)
	if err != nil {
		return mailing{}, err
	}
	courier, err := s.mails.Courier(ctx)
	return mailing{VoucherEmail{
		Tenant: by.Tenant, Branding: branding, Subject: found.Subject, Message: found.Message, Benefit: found.Benefit, RewardName: found.RewardName,
		LevelName: found.LevelName,
	}, send, courier}, err
}

// mailPage delivers the mails of a page and stores each result at once: a process that is killed
// repeats one mail at most, under the same Message-ID.
func (s *Service) mailPage(ctx context.Context, by core.Actor, about mailing, page []queuedMail) error {
	defer about.courier.Close()
	last := s.db.Now().Add(claimUse)
	for i, q := range page {
		if s.db.Now().After(last) {
			return s.releaseMails(ctx, by, about.send, page[i:], nil)
		}
		if q.isDropped() {
			if err := s.dropMail(ctx, by, about.send, q); err != nil {
				return err
			}
			continue
		}
		m, err := s.voucherMail(ctx, about, q)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		tried := mail.Attempt{Outcome: mail.Refused, Err: mail.ErrUnwritten(err)} // it must not keep the others from their mails
		if err == nil {
			if err := about.courier.Open(ctx); err != nil {
				// No mail of the page has caused this, so all of the rest are sent later.
				return errors.Join(err, s.releaseMails(ctx, by, about.send, page[i:], err))
			}
			tried = about.courier.Deliver(ctx, m, q.Attempts >= int64(len(retryAfter)))
		}
		if tried.Err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.storeAttempt(ctx, by, about.send, q, m, tried); err != nil {
			return err
		}
	}
	return nil
}

// isDropped reports whether a mail is not sent after all: its customer unsubscribed or has no e-mail
// address any more, or the voucher can't be redeemed any more.
func (q queuedMail) isDropped() bool { return q.Unsubscribed || q.Email == nil || !q.Pending }

func (s *Service) dropMail(ctx context.Context, by core.Actor, send core.ID, q queuedMail) error {
	return s.storeResult(ctx, by, mail.Dropped, func(tx *db.Tx) error {
		return db.Queue(tx, dropMailSQL, db.Args{"send": send, "voucher": q.VoucherID, "unsubscribed": q.Unsubscribed || q.Email != nil})
	})
}

// storeAttempt stores how an attempt to deliver a mail ended, and when it is tried again.
func (s *Service) storeAttempt(ctx context.Context, by core.Actor, send core.ID, q queuedMail, m mail.Mail, tried mail.Attempt) error {
	return s.storeResult(ctx, by, tried.Outcome, func(tx *db.Tx) error {
		args := db.Args{
			"send": send, "voucher": q.VoucherID, "status": "delivered", "error": nil, "recipient": nil,
			"permanent": tried.Outcome == mail.Refused, "again": nil, "now": tx.Now,
		}
		if tried.Err != nil {
			args["status"], args["error"], args["recipient"] = "failed", mail.Reply(tried.Err), *q.Email
		}
		if tried.Outcome == mail.Deferred {
			args["status"], args["again"] = "queued", tx.Now.Add(retryAfter[q.Attempts])
		}
		if tried.Outcome == mail.Kept {
			return errors.Join(mail.Keep(tx, m), db.Queue(tx, storeAttemptSQL, args))
		}
		return db.Queue(tx, storeAttemptSQL, args)
	})
}

// storeResult stores the result of a mail.
func (s *Service) storeResult(ctx context.Context, by core.Actor, outcome string, store func(tx *db.Tx) error) error {
	// Also if the job is told to stop, or the business was suspended: otherwise the mail would be sent again.
	return db.Run(context.WithoutCancel(ctx), s.db.Tenant(by.EvenSuspended()), func(tx *db.Tx) error {
		db.Count(tx, mail.Metric(outcome), 1)
		return store(tx)
	})
}

// releaseMails makes claimed mails due again that were not sent, and logs why the mail server could
// not be reached, if that is the cause.
func (s *Service) releaseMails(ctx context.Context, by core.Actor, send core.ID, page []queuedMail, cause error) error {
	ids := make([]core.ID, len(page))
	for i, q := range page {
		ids[i] = q.VoucherID
	}
	if cause != nil {
		s.log.WarnContext(ctx, "mail server not reached", slog.String("send", send.String()), slog.Any("error", cause))
	}
	return db.Run(context.WithoutCancel(ctx), s.db.Tenant(by.EvenSuspended()), func(tx *db.Tx) error {
		return db.Queue(tx, releaseMailsSQL, db.Args{"ids": ids, "now": tx.Now})
	})
}

// finishOrReschedule ends a send without queued mails, or runs the job again when the next one is due.
func (s *Service) finishOrReschedule(ctx context.Context, by core.Actor, send core.ID) error {
	next, err := db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (*time.Time, error) {
		// Locked, so that a retry doesn't miss the end of the send.
		locked, err := db.One[Sending](ctx, tx, lockSendSQL, db.Args{"send": send})
		if err != nil || locked.Status != Mailing || locked.HeldAt != nil {
			return nil, err
		}
		next, err := db.One[*time.Time](ctx, tx, nextMailSQL, db.Args{"send": send})
		if err != nil || next != nil {
			return next, err
		}
		done, err := db.One[SendDetail](ctx, tx, finishSendSQL, db.Args{"send": send, "now": tx.Now})
		if err != nil {
			return nil, err
		}
		return nil, s.mailSendResult(ctx, tx, by, done)
	})
	if err != nil || next == nil {
		return err
	}
	return job.Again(max(time.Second, next.Sub(s.db.Now())))
}

// watchTime is how long people watch a send after confirming it. They aren't mailed a result that
// comes within it.
const watchTime = 5 * time.Minute

// MailsResult reports whether the person who confirmed the send is mailed its result if it is done
// at an instant.
func (s Sending) MailsResult(at time.Time) bool { return at.Sub(s.CreatedAt) >= watchTime }

// mailSendResult mails the person who confirmed a send its result, unless they were watching.
func (s *Service) mailSendResult(ctx context.Context, tx *db.Tx, by core.Actor, d SendDetail) error {
	if d.ActorKind != core.ByStaff || d.Status == Done && !d.MailsResult(tx.Now) {
		return nil
	}
	id, err := strconv.ParseInt(d.ActorID, 10, 64)
	if err != nil {
		return err
	}
	who, err := db.One[recipient](ctx, tx, staffSQL, db.Args{"id": id})
	if errors.Is(err, core.ErrNotFound) {
		return nil // they left meanwhile
	}
	if err != nil {
		return err
	}
	e := SendResultEmail{Tenant: by.Tenant, Person: who.Name, Coupon: d.CouponName, Sending: d.Sending}
	return s.mails.Queue(ctx, tx, s.mails.SendResult(who.Email, e))
}

// StopMails stops the unsent e-mails of a send. Its vouchers stay valid.
func (s *Service) StopMails(ctx context.Context, by core.Actor, send core.ID) (Sending, error) {
	return s.switchMails(ctx, by, send, "coupon.stop_mails", Mailing, Stopped)
}

// ResumeMails sends the e-mails that StopMails stopped.
func (s *Service) ResumeMails(ctx context.Context, by core.Actor, send core.ID) (Sending, error) {
	return s.switchMails(ctx, by, send, "coupon.resume_mails", Stopped, Mailing)
}

// switchMails changes the status of a send that has status from; others stay as they are.
func (s *Service) switchMails(ctx context.Context, by core.Actor, send core.ID, action string, from, to SendStatus) (Sending, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (Sending, error) {
		switched, err := db.One[Sending](ctx, tx, switchMailsSQL, db.Args{"send": send, "from": from, "to": to})
		if errors.Is(err, core.ErrNotFound) {
			return db.One[Sending](ctx, tx, findSendSQL, db.Args{"send": send})
		}
		if err != nil {
			return Sending{}, err
		}
		if err := audit.Write(tx, by, sendEntry(action, switched)); err != nil {
			return Sending{}, err
		}
		if to != Mailing {
			return switched, nil
		}
		return switched, s.jobs.Add(ctx, tx, Delivery{Tenant: by.Tenant.ID, Send: send})
	})
}

// RetryMails queues the e-mails of a send that failed temporarily, and returns their number.
func (s *Service) RetryMails(ctx context.Context, by core.Actor, send core.ID) (int64, error) {
	return s.requeueMails(ctx, by, send, nil)
}

// RetryMail queues one failed e-mail of a send. One that failed permanently is queued if the customer
// has another address now. It returns whether there was one.
func (s *Service) RetryMail(ctx context.Context, by core.Actor, send, voucher core.ID) (bool, error) {
	n, err := s.requeueMails(ctx, by, send, &voucher)
	return n > 0, err
}

// CountRetryable returns the number of e-mails that RetryMails would queue.
func (s *Service) CountRetryable(ctx context.Context, by core.Actor, send core.ID) (int64, error) {
	if err := by.Require(core.Manager); err != nil {
		return 0, err
	}
	found, err := db.One[struct{ Count int64 }](ctx, s.db.Tenant(by), countRetryableSQL, db.Args{"send": send})
	return found.Count, err
}

func (s *Service) requeueMails(ctx context.Context, by core.Actor, send core.ID, voucher *core.ID) (int64, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (int64, error) {
		locked, err := db.One[Sending](ctx, tx, lockSendSQL, db.Args{"send": send})
		if err != nil {
			return 0, err
		}
		n, err := db.Exec(ctx, tx, retryMailsSQL, db.Args{"send": send, "voucher": voucher, "now": tx.Now})
		if err != nil || n == 0 {
			return 0, err
		}
		if err := db.Queue(tx, retriedSQL, db.Args{"send": send, "count": n}); err != nil {
			return 0, err
		}
		entry := sendEntry("coupon.retry_mails", locked)
		entry.New = map[string]any{"send": send, "mails": n}
		if err := audit.Write(tx, by, entry); err != nil {
			return 0, err
		}
		return n, s.jobs.Add(ctx, tx, Delivery{Tenant: by.Tenant.ID, Send: send})
	})
}

// MarkDelivered marks the queued e-mails of a send as delivered without sending them, for the history
// that the demo and the sandbox create.
func (s *Service) MarkDelivered(ctx context.Context, by core.Actor, send core.ID) error {
	return db.Run(ctx, s.db.Tenant(by), func(tx *db.Tx) error {
		return db.Queue(tx, markDeliveredSQL, db.Args{"send": send, "now": tx.Now})
	})
}

// SendDetail is a send with its results so far and who confirmed it.
type SendDetail struct {
	Sending
	Redeemed  int64
	ExpiresAt *time.Time // of its vouchers; nil: never
	ActorKind core.ActorKind
	ActorID   string
	ActorName string
}

// FindSend returns a send, or core.ErrNotFound.
func (s *Service) FindSend(ctx context.Context, by core.Actor, send core.ID) (SendDetail, error) {
	return db.One[SendDetail](ctx, s.db.Tenant(by), findDetailSQL, db.Args{"send": send})
}

// ListSends returns a page of a coupon's sends, newest first, or core.ErrNotFound.
func (s *Service) ListSends(ctx context.Context, by core.Actor, coupon core.ID, p core.Page) (core.List[SendDetail], error) {
	position := func(s SendDetail) core.Cursor { return core.Cursor{At: s.CreatedAt, ID: s.ID} }
	l, err := db.ListPage(ctx, s.db, by, sendList, db.Args{"coupon": coupon}, p, position)
	return db.OfExisting(ctx, s.db, by, l, err, findSQL, db.Args{"id": coupon})
}

// MailProblem is an e-mail of a send that failed or will be tried again.
type MailProblem struct {
	VoucherID    core.ID
	CustomerID   core.ID
	CustomerName string
	Email        *string // the customer's current address
	Recipient    *string // the address that was tried
	Reply        string  // the mail server's
	Failed       bool    // not tried again automatically
	Permanent    bool    // the server refused this address
	DueAt        time.Time
	Attempts     int64
	CreatedAt    time.Time // of the voucher
}

// CanRetry reports whether a retry can help: the failure was temporary, or the customer has another
// address now.
func (p MailProblem) CanRetry() bool {
	return p.Failed && p.Email != nil && (!p.Permanent || p.Recipient == nil || *p.Email != *p.Recipient)
}

// ListMailProblems returns a page of the e-mails of a send that failed or will be tried again.
func (s *Service) ListMailProblems(ctx context.Context, by core.Actor, send core.ID, p core.Page) (core.List[MailProblem], error) {
	if err := by.Require(core.Manager); err != nil {
		return core.List[MailProblem]{}, err
	}
	position := func(m MailProblem) core.Cursor { return core.Cursor{At: m.CreatedAt, ID: m.VoucherID} }
	return db.ListPage(ctx, s.db, by, problemList, db.Args{"send": send}, p, position)
}
