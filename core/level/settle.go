package level

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
)

// Settling is the job that follows the last day of levels: they are kept, or customers drop. It is about the days before the
// business's present one.
type Settling struct {
	Tenant core.TenantID `json:"tenant"`
}

// Kind names the job in the queue.
func (Settling) Kind() string { return "settle_levels" }

// ForTenant returns the tenant of the job.
func (s Settling) ForTenant() core.TenantID { return s.Tenant }

// expiryWait is how long levels wait for points and stamps of the day before to expire.
const expiryWait = time.Minute

var errExpiring = errors.New("level: points of the day expire first")

// SettleDue settles levels that have ended, in batches. It may run twice and end anywhere: a settled account isn't due. A sale after
// midnight settles its customer's level itself, so the job's time changes nothing that anyone sees.
func (s *Service) SettleDue(ctx context.Context, d Settling) error {
	by, err := s.actor(ctx, d.Tenant)
	if err != nil {
		return err
	}
	for until := s.db.Now().Add(runTime); s.db.Now().Before(until); {
		ended, err := s.settleNext(ctx, by)
		switch {
		case errors.Is(err, errExpiring):
			return job.Again(expiryWait)
		case errors.Is(err, errBusy):
			return job.Again(waitTime)
		case errors.Is(err, errMoved):
			continue
		case errors.Is(err, core.ErrSuspended), ended:
			return nil
		case err != nil:
			return err
		}
	}
	return job.Again(0)
}

const (
	// Expiry comes first at midnight, where something can expire.
	expiringSQL = `
	select exists (
		select from loyalty.programme
		where tenant_id = @tenant_id
			and coalesce(hold_until, '-infinity') < @today::date
			and coalesce(expired_through, '-infinity') < @today::date - 1
	) as expiring`

	lockDueSQL = `
	select a.customer_id, ` + ledger.StandingColumns + `
	from loyalty.account a
	where a.tenant_id = @tenant_id
		and a.level_until < @today::date
	order by a.customer_id
	limit @limit
	for no key update skip locked`

	anyDueSQL = `
	select exists (select from loyalty.account where tenant_id = @tenant_id and level_until < @today::date) as due`

	countRunSQL = `
	update loyalty.level_programme
	set run_kept = run_kept + @kept,
		run_dropped = run_dropped + @dropped
	where tenant_id = @tenant_id
		and version = @version
		and not frozen`

	endRunSQL = `
	update loyalty.level_programme
	set settled_through = greatest(settled_through, @today::date - 1),
		run_kept = 0,
		run_dropped = 0
	where tenant_id = @tenant_id
		and version = @version
		and not frozen`
)

// settleNext settles a batch, or ends the run if nothing is due.
func (s *Service) settleNext(ctx context.Context, by core.Actor) (ended bool, err error) {
	return db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (bool, error) {
		today := core.DateOf(tx.Now, by.Tenant.TimeZone)
		var read stored
		var expiring bool
		var holders []holder
		readings := append(read.readings(), db.OneInto(&expiring, expiringSQL, db.Args{"today": today}),
			db.AllInto(&holders, lockDueSQL, db.Args{"today": today, "limit": s.sizes.settled}))
		if err := db.Together(ctx, tx, readings...); err != nil {
			return false, err
		}
		setup := read.setup()
		switch {
		case !setup.Active || setup.Frozen:
			return true, nil
		case expiring:
			return false, errExpiring
		case len(holders) == 0:
			return true, endRun(ctx, tx, by, setup, today)
		}
		var kept, dropped int64
		err := keep(tx, by, holders, func(h holder) (ledger.Standing, []award.Change) {
			standing, changes := setup.inForce().Settle(h.Standing, today)
			for _, c := range changes {
				switch c.Reason {
				case award.Kept:
					kept++
				case award.Dropped:
					dropped++
				case award.Rose, award.Undone, award.ByHand, award.Imported, award.Merged, award.NewRules:
				}
			}
			return standing, changes
		})
		if err != nil {
			return false, err
		}
		return false, moved(db.Exec(ctx, tx, countRunSQL, db.Args{"kept": kept, "dropped": dropped, "version": setup.Version}))
	})
}

// endRun stores that all earlier days are done, and writes into the audit log how many levels were kept and lost since the last time.
func endRun(ctx context.Context, tx *db.Tx, by core.Actor, setup Setup, today time.Time) error {
	left, err := db.One[bool](ctx, tx, anyDueSQL, db.Args{"today": today})
	if err != nil {
		return err
	}
	if left {
		return errBusy
	}
	// Locked, so that another run's figures are neither lost nor told twice.
	run, err := db.One[Programme](ctx, tx, lockProgrammeSQL, nil)
	if err != nil {
		return err
	}
	if run.RunKept+run.RunDropped > 0 {
		err := audit.Write(tx, by, audit.Entry{
			Action: "level.settle", Subject: "level", New: map[string]any{"kept": run.RunKept, "dropped": run.RunDropped},
		})
		if err != nil {
			return err
		}
	}
	return moved(db.Exec(ctx, tx, endRunSQL, db.Args{"today": today, "version": setup.Version}))
}
