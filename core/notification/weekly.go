package notification

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/report"
)

// Mails queues this package's e-mail. Its words are in web/email.
type Mails interface {
	Queue(ctx context.Context, tx *db.Tx, e mail.Email) error
	Weekly(to string, e WeeklyEmail) mail.Email
}

// WeeklyEmail tells a person about last week and what needs attention; the first one of a month also about the month
// before.
type WeeklyEmail struct {
	Tenant        core.Tenant
	Person        string
	From, To      time.Time // days of last week, as midnights in UTC
	Week, Before  report.Figures
	Month         *Month         // nil: it isn't the first one of a month
	Notifications []Notification // that the person hasn't dismissed
	Unsubscribe   string         // the token of the link that turns the e-mail off
}

// Month is the figures of a calendar month beside those of the month before.
type Month struct {
	First           time.Time // its first day, as midnight in UTC
	Figures, Before report.Figures
}

// Weekly sends the weekly e-mail: on Mondays at 08:00 in the time zone of each business.
type Weekly struct {
	db      *db.DB
	jobs    *job.Queue
	mails   Mails
	links   link.Maker
	reports *report.Service
}

// NewWeekly makes the service and registers its jobs.
func NewWeekly(d *db.DB, jobs *job.Queue, mails Mails, links link.Maker, reports *report.Service) *Weekly {
	w := &Weekly{db: d, jobs: jobs, mails: mails, links: links, reports: reports}
	job.Handle(jobs, job.Upkeep, w.queueDue)
	job.Handle(jobs, job.Upkeep, w.Mail)
	job.Every(jobs, checkEvery, queueWeekly{})
	return w
}

// queueWeekly is the job that finds businesses whose week is due.
type queueWeekly struct{}

// Kind names the job in the queue.
func (queueWeekly) Kind() string { return "queue_weekly_mails" }

// WeeklyMail is the job that e-mails the people of a business.
type WeeklyMail struct {
	Tenant core.TenantID `json:"tenant"`
	Week   time.Time     `json:"week"` // the Monday of the e-mail, as its midnight in UTC
}

// Kind names the job in the queue.
func (WeeklyMail) Kind() string { return "weekly_mail" }

// ForTenant returns the tenant of the job.
func (m WeeklyMail) ForTenant() core.TenantID { return m.Tenant }

// queueDue queues the e-mails that are due. A week is queued in the transaction that notes it, once.
func (w *Weekly) queueDue(ctx context.Context, _ queueWeekly) error {
	_, err := w.Queue(ctx)
	return err
}

// Queue queues the e-mails that are due, and returns them. An e-mail that was missed for a day is left out.
func (w *Weekly) Queue(ctx context.Context) ([]WeeklyMail, error) {
	return db.In(ctx, w.db.Platform(), func(tx *db.Tx) ([]WeeklyMail, error) {
		due, err := db.All[WeeklyMail](ctx, tx, queueWeeklySQL, db.Args{"now": tx.Now})
		if err != nil {
			return nil, err
		}
		jobs := make([]job.Args, len(due))
		for i, m := range due {
			jobs[i] = m
		}
		return due, w.jobs.AddAll(ctx, tx, jobs)
	})
}

// Mail e-mails the people of a business, once. A suspended business gets nothing, nor does one that had
// nothing to tell.
func (w *Weekly) Mail(ctx context.Context, m WeeklyMail) error {
	row, err := db.One[db.TenantRow](ctx, w.db.Platform(), activeTenantSQL, db.Args{"id": int64(m.Tenant)})
	if errors.Is(err, core.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	t, err := row.Tenant()
	if err != nil {
		return err
	}
	by := core.Job(t, "weekly e-mail")
	email := WeeklyEmail{Tenant: t, From: m.Week.AddDate(0, 0, -7), To: m.Week.AddDate(0, 0, -1)}
	// Counted before the transaction, which would hold a connection meanwhile.
	if email.Week, err = w.figures(ctx, by, email.From, email.To); err != nil {
		return err
	}
	if email.Before, err = w.figures(ctx, by, email.From.AddDate(0, 0, -7), email.To.AddDate(0, 0, -7)); err != nil {
		return err
	}
	if email.Month, err = w.month(ctx, by, m.Week); err != nil {
		return err
	}
	return db.Run(ctx, w.db.Tenant(by), func(tx *db.Tx) error {
		if _, err := db.One[bool](ctx, tx, markWeeklySQL, db.Args{"week": m.Week, "now": tx.Now}); err != nil {
			if errors.Is(err, core.ErrNotFound) {
				return nil // e-mailed by an earlier run of this job
			}
			return err
		}
		return w.mailPeople(ctx, tx, email)
	})
}

// month counts the month before the first Monday of a month. Other Mondays have none.
func (w *Weekly) month(ctx context.Context, by core.Actor, monday time.Time) (*Month, error) {
	const week = 7
	if monday.Day() > week {
		return nil, nil //nolint:nilnil // as Month says
	}
	next := monday.AddDate(0, 0, 1-monday.Day())
	m := Month{First: next.AddDate(0, -1, 0)}
	var err error
	if m.Figures, err = w.figures(ctx, by, m.First, next.AddDate(0, 0, -1)); err != nil {
		return nil, err
	}
	m.Before, err = w.figures(ctx, by, m.First.AddDate(0, -1, 0), m.First.AddDate(0, 0, -1))
	return &m, err
}

func (w *Weekly) figures(ctx context.Context, by core.Actor, from, to time.Time) (report.Figures, error) {
	s, err := w.reports.Summary(ctx, by, report.Range{From: &from, To: &to})
	return s.Figures, err
}

// isQuiet reports whether the figures say nothing.
func (e WeeklyEmail) isQuiet() bool {
	return e.Week.IsQuiet() && (e.Month == nil || e.Month.Figures.IsQuiet())
}

// reader is a person who gets the e-mail.
type reader struct {
	StaffID   int64
	Name      string
	Email     string
	ID        core.ID   // in the link that turns the e-mail off
	Dismissed []core.ID // notifications
}

func (w *Weekly) mailPeople(ctx context.Context, tx *db.Tx, email WeeklyEmail) error {
	if err := db.Queue(tx, preferencesSQL, db.Args{"now": tx.Now}); err != nil {
		return err
	}
	var readers []reader
	var open []Notification
	err := db.Together(ctx, tx,
		db.AllInto(&readers, readersSQL, nil),
		db.AllInto(&open, listSQL, db.Args{"staff": int64(0), "now": tx.Now, "lasting_since": tx.Now.Add(-lasting), "listed": maxListed}))
	if err != nil {
		return err
	}
	for _, r := range readers {
		email.Person, email.Notifications = r.Name, notDismissed(open, r.Dismissed)
		if email.isQuiet() && len(email.Notifications) == 0 {
			continue
		}
		if email.Unsubscribe, err = w.links.Token(link.WeeklyMail, tx.Tenant, r.ID, 0); err != nil {
			return err
		}
		if err := w.mails.Queue(ctx, tx, w.mails.Weekly(r.Email, email)); err != nil {
			return err
		}
	}
	return nil
}

func notDismissed(open []Notification, dismissed []core.ID) (list []Notification) {
	gone := map[core.ID]bool{}
	for _, id := range dismissed {
		gone[id] = true
	}
	for _, n := range open {
		if !gone[n.ID] {
			list = append(list, n)
		}
	}
	return list
}

// Subscriber is a person and whether they get the weekly e-mail.
type Subscriber struct {
	StaffID    int64
	Name       string
	Role       core.Role
	Subscribed bool
}

// Subscribed reports whether the actor's person gets the weekly e-mail. It is on until they turn it off.
func (s *Service) Subscribed(ctx context.Context, by core.Actor) (bool, error) {
	if err := by.Require(core.Manager); err != nil {
		return false, err
	}
	found, err := db.One[struct{ Subscribed bool }](ctx, s.db.Tenant(by), subscribedSQL, db.Args{"staff": by.StaffID})
	return found.Subscribed, err
}

// Subscribe turns the actor's weekly e-mail on or off. Doing it again changes nothing.
func (s *Service) Subscribe(ctx context.Context, by core.Actor, subscribed bool) error {
	return db.Run(ctx, s.db.Tenant(by), func(tx *db.Tx) error {
		if err := by.Require(core.Manager); err != nil {
			return err
		}
		return subscribe(ctx, tx, by, subscribed)
	})
}

// FindSubscriber returns the person of a link, or core.ErrNotFound.
func (s *Service) FindSubscriber(ctx context.Context, by core.Actor, id core.ID) (Subscriber, error) {
	return db.One[Subscriber](ctx, s.db.Tenant(by), subscriberSQL, db.Args{"id": id})
}

// SubscribeByLink turns the weekly e-mail of a link's person on or off: the link is the permission. Doing it
// again changes nothing.
func (s *Service) SubscribeByLink(ctx context.Context, by core.Actor, found Subscriber, subscribed bool) error {
	by.Kind, by.StaffID, by.ID, by.Name, by.Role = core.ByStaff, found.StaffID, idText(found.StaffID), found.Name, found.Role
	return db.Run(ctx, s.db.Tenant(by), func(tx *db.Tx) error { return subscribe(ctx, tx, by, subscribed) })
}

func subscribe(ctx context.Context, tx *db.Tx, by core.Actor, subscribed bool) error {
	changed, err := db.Exec(ctx, tx, subscribeSQL, db.Args{"staff": by.StaffID, "id": core.NewID(tx.Now), "subscribed": subscribed, "now": tx.Now})
	if err != nil || changed == 0 {
		return err
	}
	return audit.Write(tx, by, audit.Entry{
		Action: "staff.weekly_mail", Subject: "staff", ID: by.ID, Name: by.Name,
		Old: map[string]any{"weekly_mail": !subscribed}, New: map[string]any{"weekly_mail": subscribed},
	})
}
