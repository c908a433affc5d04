package programme

import (
	"context"
	"errors"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
)

const (
	runTime  = 10 * time.Second // after which a job lets others of its lane go first
	tillTime = time.Second      // after which a job looks again for customers who were being served
)

// Expiring is the job that expires what is due of a unit: of the days before the business's present one.
type Expiring struct {
	Tenant core.TenantID `json:"tenant"`
	Unit   ledger.Unit   `json:"unit"`
}

// Kind names the job in the queue.
func (Expiring) Kind() string { return "expire_points" }

// ForTenant returns the tenant of the job.
func (e Expiring) ForTenant() core.TenantID { return e.Tenant }

// Errors that end a step of a job.
var (
	errHeld = errors.New("programme: nothing ends now")
	errBusy = errors.New("programme: customers who are due are being served")
)

// Expire expires what is due of a unit, in batches. It may run twice, end anywhere and go on later: the accounts' locks and
// days are the guard. Nothing ends while the business is suspended or its rule is on hold. The job is queued again if
// customers who are due are being served, or if it takes long.
func (s *Service) Expire(ctx context.Context, e Expiring) error {
	t, err := db.FindTenant(ctx, s.db, e.Tenant)
	if err != nil {
		return err
	}
	by := core.Job(t, "points expiry")
	for until := s.db.Now().Add(runTime); s.db.Now().Before(until); {
		ended, err := s.expireNext(ctx, by, e.Unit)
		switch {
		case errors.Is(err, errBusy):
			return job.Again(tillTime)
		case errors.Is(err, errHeld), errors.Is(err, core.ErrSuspended), ended:
			return nil
		case err != nil:
			return err
		}
	}
	return job.Again(0)
}

// expireNext expires a batch, or ends the run if nothing is due.
func (s *Service) expireNext(ctx context.Context, by core.Actor, unit ledger.Unit) (ended bool, err error) {
	return db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (bool, error) {
		today := core.DateOf(tx.Now, by.Tenant.TimeZone)
		if unit.Of(by.Tenant).IsHeld(today) {
			return false, errHeld
		}
		looked, expired, err := ledger.ExpireDue(ctx, tx, by, unit, s.sizes.expired)
		if err != nil {
			return false, err
		}
		if looked == 0 {
			return true, endRun(ctx, tx, by, unit, today)
		}
		counted, err := db.Exec(ctx, tx, countRunSQL, db.Args{
			"unit": unit, "customers": expired.Customers, "points": expired.Points, "stamps": expired.Stamps, "today": today,
		})
		if err == nil && counted == 0 {
			err = errHeld
		}
		return false, err
	})
}

// endRun stores that all earlier days are done, and writes into the audit log what has ended since the last time.
func endRun(ctx context.Context, tx *db.Tx, by core.Actor, unit ledger.Unit, today time.Time) error {
	left, err := ledger.AnyDue(ctx, tx, by, unit)
	if err != nil {
		return err
	}
	if left {
		return errBusy
	}
	run, err := db.One[state](ctx, tx, lockStateSQL, db.Args{"unit": unit})
	if errors.Is(err, core.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if run.IsHeld(today) {
		return errHeld
	}
	if run.RunCustomers > 0 {
		err := audit.Write(tx, by, audit.Entry{
			Action: "programme.expire", Subject: "programme", ID: string(unit), Name: string(unit),
			New: map[string]any{"customers": run.RunCustomers, "points": run.RunPoints, "stamps": run.RunStamps},
		})
		if err != nil {
			return err
		}
	}
	return db.Queue(tx, endRunSQL, db.Args{"unit": unit, "through": today.AddDate(0, 0, -1)})
}

// state is a rule and how far its jobs have come.
type state struct {
	Rule
	OpenedTo, ToldTo                   *core.ID
	RunCustomers, RunPoints, RunStamps int64
}

// findExpiries is the periodic job that finds businesses whose day has ended, and jobs that were lost.
type findExpiries struct{}

// Kind names the job in the queue.
func (findExpiries) Kind() string { return "find_expiries" }

func (s *Service) findDue(ctx context.Context, _ findExpiries) error {
	_, err := s.QueueDue(ctx)
	return err
}

// QueueDue queues the jobs of all businesses that have something to do and no job for it, and returns them. Its cost doesn't grow with the
// number of customers.
func (s *Service) QueueDue(ctx context.Context) (queued []job.Args, err error) {
	return db.In(ctx, s.db.Platform(), func(tx *db.Tx) ([]job.Args, error) {
		found, err := db.All[struct {
			Tenant                     core.TenantID
			Unit                       ledger.Unit
			Expiring, Opening, Telling bool
		}](ctx, tx, findWorkSQL, db.Args{"now": tx.Now})
		if err != nil || len(found) == 0 {
			return nil, err
		}
		expiring, err := known[Expiring](ctx, tx)
		if err != nil {
			return nil, err
		}
		openings, err := known[Opening](ctx, tx)
		if err != nil {
			return nil, err
		}
		notices, err := known[Notice](ctx, tx)
		if err != nil {
			return nil, err
		}
		var missing []job.Args
		for _, f := range found {
			if e := (Expiring{f.Tenant, f.Unit}); f.Expiring && !slices.Contains(expiring, e) {
				missing = append(missing, e)
			}
			if o := (Opening{f.Tenant, f.Unit}); f.Opening && !slices.Contains(openings, o) {
				missing = append(missing, o)
			}
			if n := (Notice{f.Tenant, f.Unit}); f.Telling && !slices.Contains(notices, n) {
				missing = append(missing, n)
			}
		}
		return missing, s.jobs.AddAll(ctx, tx, missing)
	})
}

// known returns the unfinished jobs of a kind, and those that an operator cancelled in the last day.
func known[T job.Args](ctx context.Context, tx *db.Tx) ([]T, error) {
	unfinished, cancelled, err := job.Pending[T](ctx, tx)
	return slices.Concat(unfinished, cancelled), err
}
