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

// Delivery is the job that mails a send's vouchers: some seconds' worth of them, then it
// lets the next send have its turn and comes again.
type Delivery struct {
	Tenant core.TenantID `json:"tenant"`
	Send   core.ID       `json:"send"`
}

// Kind names the job in the queue.
func (Delivery) Kind() string { return "coupon_delivery" }

// ForTenant is whose share of the workers the job takes.
func (d Delivery) ForTenant() core.TenantID { return d.Tenant }

const (
	mailPage  = 50               // mails that a run claims at a time
	runTime   = 10 * time.Second // of a run, then others have their turn
	claimTime = 2 * time.Minute  // after which a claimed mail is due again, unless it was noted
	claimUse  = time.Minute      // of it, mails are begun for so long
	perSecond = 50               // mails of one tenant, in each process
)

// A mail that its server defers is tried again after each of these, then it failed.
var retryAfter = []time.Duration{time.Minute, 10 * time.Minute, time.Hour, 4 * time.Hour}

// mailing is what all mails of a send share.
type mailing struct {
	VoucherEmail
	send core.ID
}

// queuedMail is a mail to be sent, and whom to.
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

// deliver mails vouchers of a send until its time is over or none is due.
func (s *Service) deliver(ctx context.Context, d Delivery) error {
	t, err := tenant.ByID(ctx, s.db, d.Tenant)
	if err != nil {
		return err
	}
	by := core.System(t, "coupon send")
	until := s.db.Now().Add(runTime)
	about, err := s.loadMailing(ctx, by, d.Send)
	if err != nil {
		return err
	}
	for s.db.Now().Before(until) {
		page, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) ([]queuedMail, error) {
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

// pace limits the mails of a tenant, however many sends and jobs it has at once.
func (s *Service) pace(t core.TenantID) *rate.Limiter {
	limiter, _ := s.paces.LoadOrStore(t, rate.NewLimiter(perSecond, mailPage))
	return limiter.(*rate.Limiter)
}

// loadMailing reads what all mails of a send share. Two round trips.
func (s *Service) loadMailing(ctx context.Context, by core.Actor, send core.ID) (mailing, error) {
	found, err := db.ReadOne[struct {
		Subject, Message string
		Benefit
		RewardName *string
	}](ctx, s.db, by, mailingSQL, db.Args{"send": send})
	if err != nil {
		return mailing{}, err
	}
	branding, err := tenant.BrandingOf(ctx, s.db, by)
	return mailing{VoucherEmail{
		Tenant: by.Tenant, Branding: branding, Subject: found.Subject, Message: found.Message, Benefit: found.Benefit, RewardName: found.RewardName,
	}, send}, err
}

// mailPage sends the mails of a page and notes each as soon as it is out: a process that is
// killed forgets one at the most, and sends that one again under its Message-ID.
func (s *Service) mailPage(ctx context.Context, by core.Actor, about mailing, page []queuedMail) error {
	if s.mails.Keeps() {
		return s.keepPage(ctx, by, about, page)
	}
	var conn mail.Conn
	defer func() {
		if conn != nil {
			_ = conn.Close() // what it took is noted
		}
	}()
	last := s.db.Now().Add(claimUse)
	for i, q := range page {
		if s.db.Now().After(last) {
			return s.releaseMails(ctx, by, about.send, page[i:], nil)
		}
		if drop, args := shouldDrop(q); drop {
			if err := s.storeMailResult(ctx, by, dropMailSQL, mail.Dropped, about.send, q, args); err != nil {
				return err
			}
			continue
		}
		m, err := s.voucherMail(ctx, about, q)
		if err != nil {
			return err
		}
		if conn == nil {
			if conn, err = s.mails.Dial(ctx); err != nil {
				// No mail of the page is to blame.
				return errors.Join(err, s.releaseMails(ctx, by, about.send, page[i:], err))
			}
		}
		err = conn.Send(ctx, m)
		if ctx.Err() != nil && err != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, mail.ErrRefused) && !errors.Is(err, mail.ErrDeferred) {
			_ = conn.Close() // it is of no more use
			conn = nil
		}
		if err := s.recordDelivery(ctx, by, about.send, q, err); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) voucherMail(ctx context.Context, about mailing, q queuedMail) (mail.Mail, error) {
	l, err := s.letter(about, q)
	if err != nil {
		return mail.Mail{}, err
	}
	return s.renderMail(ctx, q.VoucherID, *q.Email, l)
}

// keepPage keeps the mails of a page in the database, where there is no mail server.
func (s *Service) keepPage(ctx context.Context, by core.Actor, about mailing, page []queuedMail) error {
	var mails []mail.Mail
	for _, q := range page {
		if drop, _ := shouldDrop(q); drop {
			continue
		}
		m, err := s.voucherMail(ctx, about, q)
		if err != nil {
			return err
		}
		mails = append(mails, m)
	}
	_, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (int, error) {
		for _, q := range page {
			if drop, args := shouldDrop(q); drop {
				if err := db.Queue(tx, dropMailSQL, mailResultArgs(about.send, q, args)); err != nil {
					return 0, err
				}
			}
		}
		db.Count(tx, mail.Metric(mail.Kept), int64(len(mails)))
		for _, m := range mails {
			if err := mail.Keep(tx, m); err != nil {
				return 0, err
			}
			if err := db.Queue(tx, deliveredSQL, db.Args{"send": about.send, "voucher": m.ID, "now": tx.Now}); err != nil {
				return 0, err
			}
		}
		return 0, nil
	})
	return err
}

// shouldDrop reports whether a mail is not sent any more: its customer unsubscribed, has no
// e-mail address left, or can't redeem the voucher any more.
func shouldDrop(q queuedMail) (drop bool, args db.Args) {
	return q.Unsubscribed || q.Email == nil || !q.Pending, db.Args{"unsubscribed": q.Unsubscribed || q.Email != nil}
}

func mailResultArgs(send core.ID, q queuedMail, args db.Args) db.Args {
	args["send"], args["voucher"] = send, q.VoucherID
	return args
}

// storeMailResult stores the result of a mail. One round trip.
func (s *Service) storeMailResult(
	ctx context.Context, by core.Actor, statement, outcome string, send core.ID, q queuedMail, args db.Args,
) error {
	// A mail that is out is noted also where the job is told to stop.
	ctx = context.WithoutCancel(ctx)
	_, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (int, error) {
		db.Count(tx, mail.Metric(outcome), 1)
		return 0, db.Queue(tx, statement, mailResultArgs(send, q, args))
	})
	return err
}

// recordDelivery notes what the mail server said of a mail.
func (s *Service) recordDelivery(ctx context.Context, by core.Actor, send core.ID, q queuedMail, err error) error {
	now := s.db.Now()
	if err == nil {
		return s.storeMailResult(ctx, by, deliveredSQL, mail.Sent, send, q, db.Args{"now": now})
	}
	permanent := errors.Is(err, mail.ErrRefused)
	said := db.Args{"error": mail.Reply(err), "recipient": *q.Email}
	if !permanent && q.Attempts < int64(len(retryAfter)) {
		said["again"] = now.Add(retryAfter[q.Attempts])
		return s.storeMailResult(ctx, by, deferMailSQL, mail.Deferred, send, q, said)
	}
	said["permanent"], said["now"] = permanent, now
	outcome := mail.GivenUp
	if permanent {
		outcome = mail.Refused
	}
	return s.storeMailResult(ctx, by, failMailSQL, outcome, send, q, said)
}

// releaseMails makes mails due again that were claimed and not sent, and notes why the mail
// server could not be reached, if that was it.
func (s *Service) releaseMails(ctx context.Context, by core.Actor, send core.ID, page []queuedMail, cause error) error {
	ids := make([]core.ID, len(page))
	for i, q := range page {
		ids[i] = q.VoucherID
	}
	if cause != nil {
		s.log.WarnContext(ctx, "mail server not reached", slog.String("send", send.String()), slog.Any("error", cause))
	}
	ctx = context.WithoutCancel(ctx)
	_, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (int, error) {
		return 0, db.Queue(tx, releaseMailsSQL, db.Args{"ids": ids, "now": tx.Now})
	})
	return err
}

// finishOrReschedule ends a send none of whose mails is queued, or has the job come again when the next
// one is due.
func (s *Service) finishOrReschedule(ctx context.Context, by core.Actor, send core.ID) error {
	next, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (*time.Time, error) {
		// Held, so that a retry and the end of a send do not miss each other.
		held, err := db.One[Sending](ctx, tx, holdSendSQL, db.Args{"send": send})
		if err != nil || held.Status != Mailing {
			return nil, err
		}
		next, err := db.Value[*time.Time](ctx, tx, nextMailSQL, db.Args{"send": send})
		if err != nil || next != nil {
			return next, err
		}
		done, err := db.One[detail](ctx, tx, finishSendSQL, db.Args{"send": send, "now": tx.Now})
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

// watched is how long after confirming a send people still watch it: they aren't mailed
// what they have seen.
const watched = 5 * time.Minute

// detail is a send and who confirmed it.
type detail struct {
	Sending
	ActorKind core.ActorKind
	ActorID   string
}

// MailsResult reports whether the person who confirmed the send gets an e-mail about its end,
// if it is done at that instant.
func (s Sending) MailsResult(at time.Time) bool { return at.Sub(s.CreatedAt) >= watched }

// mailSendResult mails the person who confirmed a send how it ended, unless they were watching.
func (s *Service) mailSendResult(ctx context.Context, tx *db.Tx, by core.Actor, d detail) error {
	if d.ActorKind != core.ByStaff || d.Status == Done && !d.MailsResult(tx.Now) {
		return nil
	}
	id, err := strconv.ParseInt(d.ActorID, 10, 64)
	if err != nil {
		return err
	}
	who, err := db.One[recipient](ctx, tx, staffSQL, db.Args{"id": id})
	if errors.Is(err, core.ErrNotFound) {
		return nil // they have left since
	}
	if err != nil {
		return err
	}
	return s.mails.Queue(ctx, tx, who.Email, SendResultEmail{Tenant: by.Tenant, Person: who.Name, Coupon: d.CouponName, Sending: d.Sending})
}

// StopMails stops the e-mails of a send that have not gone out. Its vouchers stay valid.
func (s *Service) StopMails(ctx context.Context, by core.Actor, send core.ID) (Sending, error) {
	return s.switchMails(ctx, by, send, "coupon.stop_mails", Mailing, Stopped)
}

// ResumeMails sends the e-mails that StopMails stopped.
func (s *Service) ResumeMails(ctx context.Context, by core.Actor, send core.ID) (Sending, error) {
	return s.switchMails(ctx, by, send, "coupon.resume_mails", Stopped, Mailing)
}

// switchMails moves a send from one status to the other. One that has another status stays
// as it is.
func (s *Service) switchMails(ctx context.Context, by core.Actor, send core.ID, action string, from, to SendStatus) (Sending, error) {
	if err := by.Require(core.Manager); err != nil {
		return Sending{}, err
	}
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Sending, error) {
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

// RetryMails queues the e-mails of a send that failed for reasons that may be gone, and
// returns how many there are. Addresses that don't exist are not tried again.
func (s *Service) RetryMails(ctx context.Context, by core.Actor, send core.ID) (int64, error) {
	return s.requeueMails(ctx, by, send, nil)
}

// RetryMail queues one failed e-mail of a send, also one to an address that was refused for
// good if the customer has another address by now. It returns whether there was one.
func (s *Service) RetryMail(ctx context.Context, by core.Actor, send, voucher core.ID) (bool, error) {
	n, err := s.requeueMails(ctx, by, send, &voucher)
	return n > 0, err
}

// CountRetryable returns how many e-mails of a send RetryMails would queue.
func (s *Service) CountRetryable(ctx context.Context, by core.Actor, send core.ID) (int64, error) {
	if err := by.Require(core.Manager); err != nil {
		return 0, err
	}
	found, err := db.ReadOne[struct{ Count int64 }](ctx, s.db, by, countRetryableSQL, db.Args{"send": send})
	return found.Count, err
}

func (s *Service) requeueMails(ctx context.Context, by core.Actor, send core.ID, voucher *core.ID) (int64, error) {
	if err := by.Require(core.Manager); err != nil {
		return 0, err
	}
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (int64, error) {
		held, err := db.One[Sending](ctx, tx, holdSendSQL, db.Args{"send": send})
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
		entry := sendEntry("coupon.retry_mails", held)
		entry.New = map[string]any{"send": send, "mails": n}
		if err := audit.Write(tx, by, entry); err != nil {
			return 0, err
		}
		return n, s.jobs.Add(ctx, tx, Delivery{Tenant: by.Tenant.ID, Send: send})
	})
}

// MarkDelivered notes every queued e-mail of a send as delivered, without sending it: for
// records of the past, which the demo and the sandbox make.
func (s *Service) MarkDelivered(ctx context.Context, by core.Actor, send core.ID) error {
	_, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (int64, error) {
		return db.Exec(ctx, tx, deliveredAllSQL, db.Args{"send": send, "now": tx.Now})
	})
	return err
}

// SendDetail is a send, its results so far, and who confirmed it.
type SendDetail struct {
	Sending
	Redeemed  int64
	ExpiresAt *time.Time // of its vouchers; nil: never
	ActorKind core.ActorKind
	ActorName string
}

// FindSend returns a send, or core.ErrNotFound. One round trip.
func (s *Service) FindSend(ctx context.Context, by core.Actor, send core.ID) (SendDetail, error) {
	return db.ReadOne[SendDetail](ctx, s.db, by, findDetailSQL, db.Args{"send": send})
}

// ListSends returns a page of a coupon's sends, the last one first, or core.ErrNotFound.
// One round trip, and a second for an empty page.
func (s *Service) ListSends(ctx context.Context, by core.Actor, coupon core.ID, p core.Page) (core.List[SendDetail], error) {
	position := func(s SendDetail) core.Cursor { return core.Cursor{At: s.CreatedAt, ID: s.ID} }
	l, err := db.ListPage(ctx, s.db, by, sendList, db.Args{"coupon": coupon}, p, position)
	return db.OfExisting(ctx, s.db, by, l, err, findSQL, db.Args{"id": coupon})
}

// MailProblem is an e-mail of a send that failed, or that is tried again later.
type MailProblem struct {
	VoucherID    core.ID
	CustomerID   core.ID
	CustomerName string
	Email        *string // the customer's, now
	Recipient    *string // the address that was tried
	Reply        string  // what the mail server said
	Failed       bool    // not tried again by itself
	Permanent    bool    // the server will never take it for this address
	DueAt        time.Time
	Attempts     int64
	CreatedAt    time.Time // of the voucher
}

// CanRetry reports whether trying again can help: the reason may be gone, or the customer
// has another address by now.
func (p MailProblem) CanRetry() bool {
	return p.Failed && p.Email != nil && (!p.Permanent || p.Recipient == nil || *p.Email != *p.Recipient)
}

// ListMailProblems returns a page of the e-mails of a send that failed or are tried again
// later. One round trip.
func (s *Service) ListMailProblems(ctx context.Context, by core.Actor, send core.ID, p core.Page) (core.List[MailProblem], error) {
	if err := by.Require(core.Manager); err != nil {
		return core.List[MailProblem]{}, err
	}
	position := func(m MailProblem) core.Cursor { return core.Cursor{At: m.CreatedAt, ID: m.VoucherID} }
	return db.ListPage(ctx, s.db, by, problemList, db.Args{"send": send}, p, position)
}
