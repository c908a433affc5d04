package level

import (
	"context"
	"errors"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/promotion"
)

const (
	runTime  = 10 * time.Second // after which a job lets others of its lane go first
	waitTime = time.Second      // after which a job looks again for what it waits for
)

// actorName is the actor of what happens by itself.
const actorName = "levels"

// Counting is the job that counts each customer's earlier sales after the levels were changed, and raises those who reach one.
type Counting struct {
	Tenant core.TenantID `json:"tenant"`
}

// Kind names the job in the queue.
func (Counting) Kind() string { return "count_levels" }

// ForTenant returns the tenant of the job.
func (c Counting) ForTenant() core.TenantID { return c.Tenant }

// Errors that end a step of a job.
var (
	errMoved = errors.New("level: the levels were changed, or another process goes on with this")
	errBusy  = errors.New("level: what came before isn't done")
)

// Count counts sales in batches of customers, from where an earlier run ended. It may run twice, end anywhere and go on later: each batch counts
// its customers' sales anew, while their accounts are locked.
//
// Frozen levels take two passes: the first one makes all sums right while no sale raises its customer; the second one raises all who have earned it.
func (s *Service) Count(ctx context.Context, c Counting) error {
	by, err := s.actor(ctx, c.Tenant)
	if err != nil {
		return err
	}
	for until := s.db.Now().Add(runTime); s.db.Now().Before(until); {
		done, err := s.countNext(ctx, by)
		switch {
		case errors.Is(err, errBusy):
			return job.Again(waitTime)
		case errors.Is(err, errMoved):
			continue
		case errors.Is(err, core.ErrSuspended), done:
			return nil
		case err != nil:
			return err
		}
	}
	return job.Again(0)
}

// actor returns the actor of the jobs of a business.
func (s *Service) actor(ctx context.Context, tenant core.TenantID) (core.Actor, error) {
	t, err := db.FindTenant(ctx, s.db, tenant)
	return core.Job(t, actorName), err
}

// A sale that began before a change of the levels is perhaps not counted for them. So counting begins after all
// transactions have ended that were there when it was marked to begin, after the change; the clock is the database's, as in loyalty.settle_changes,
// and read before: a distributed database's nodes set no clocks.
const (
	clockSQL = `
	select clock_timestamp() as at`

	beginCountSQL = `
	update loyalty.level_programme
	set begun_at = @begun_at,
		counted_to = @first
	where tenant_id = @tenant_id
		and version = @version
		and counting
		and counted_to is null`

	settleSQL = `
	select loyalty.settle_changes()`

	countedToSQL = `
	update loyalty.level_programme
	set counted_to = @to
	where tenant_id = @tenant_id
		and version = @version
		and counting
		and counted_to = @from`

	endCountSQL = `
	update loyalty.level_programme
	set counting = frozen,
		frozen = false,
		counted_to = null
	where tenant_id = @tenant_id
		and version = @version
		and counting
		and counted_to = @from`
)

// Locked in the order in which sales lock them.
const lockNextSQL = `
	select a.customer_id, ` + ledger.StandingColumns + `
	from loyalty.account a
	where a.tenant_id = @tenant_id
		and a.customer_id > @after
	order by a.customer_id
	limit @limit
	for no key update`

// What sales count by year, as award.Levels.Of counts each.
const (
	sumsSQL = `
	with sale as (
		select ` + saleColumns + `
		from unnest(@customers::uuid[]) c (id)
		join loyalty.transaction t on t.tenant_id = @tenant_id and t.customer_id = c.id
		where ` + counts + `
	)` + sums

	saleColumns = `t.customer_id, (coalesce(t.occurred_at, t.created_at) at time zone @zone)::date as day, t.spend_amount_cents, t.refunded_cents,
			case @basis::text
				when 'visits' then 1
				when 'spend' then coalesce(t.eligible_cents, t.spend_amount_cents)
				else case when t.rule_type = 'points' then coalesce(t.base_award, t.points_awarded) else 0 end
			end as whole`

	// A sale is recorded at the earliest when it happens.
	counts = `t.id >= @from_id
			and t.status = 'completed'`

	sums = `
	select customer_id,
		coalesce(sum(counted) filter (where day >= @this_year::date), 0)::bigint as this,
		coalesce(sum(counted) filter (where day < @this_year::date), 0)::bigint as before
	from (
		select customer_id, day,
			case
				when @basis = 'visits' or refunded_cents = 0 then whole
				else div(whole::numeric * (spend_amount_cents - refunded_cents), spend_amount_cents)
			end as counted
		from sale
		where day >= @from_day::date
	) part
	group by customer_id`
)

// clockDifference is by how much the clocks of two processes may differ.
const clockDifference = time.Minute

// sumArgs are the arguments of sums.
func sumArgs(levels award.Levels, today time.Time, zone *time.Location) db.Args {
	year := levels.YearOf(today)
	this := levels.FirstDay(year)
	from := this
	if levels.Period == award.ByYear {
		from = levels.FirstDay(year - 1)
	}
	return db.Args{
		"basis": levels.Basis, "zone": zone.String(), "this_year": this, "from_day": from,
		"from_id": core.FirstID(core.StartOfDate(from, zone).Add(-clockDifference)),
	}
}

// holder is a customer whose account is locked.
type holder struct {
	CustomerID core.ID
	ledger.Standing
}

// countNext counts a batch, or does another step of counting.
func (s *Service) countNext(ctx context.Context, by core.Actor) (done bool, err error) {
	return db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (bool, error) {
		var read stored
		if err := db.Together(ctx, tx, read.readings()...); err != nil {
			return false, err
		}
		setup := read.setup()
		if !setup.Counting {
			return true, nil
		}
		args := db.Args{"version": setup.Version}
		if setup.CountedTo == nil {
			args["first"] = core.ID{}
			if args["begun_at"], err = db.One[time.Time](ctx, tx, clockSQL, nil); err != nil {
				return false, err
			}
			return false, moved(db.Exec(ctx, tx, beginCountSQL, args))
		}
		if setup.CountedTo.IsZero() {
			settled, err := db.One[core.ID](ctx, tx, settleSQL, nil)
			if err == nil && settled.Time().Before(setup.BegunAt) {
				err = errBusy
			}
			if err != nil {
				return false, err
			}
		}
		args["from"] = *setup.CountedTo
		holders, err := db.All[holder](ctx, tx, lockNextSQL, db.Args{"after": *setup.CountedTo, "limit": s.sizes.counted})
		if err != nil {
			return false, err
		}
		if len(holders) == 0 {
			if setup.Frozen {
				err = promotion.RulesChanged(tx)
			}
			if err == nil {
				err = moved(db.Exec(ctx, tx, endCountSQL, args))
			}
			return false, err
		}
		if err := count(ctx, tx, by, setup.inForce(), holders); err != nil {
			return false, err
		}
		args["to"] = holders[len(holders)-1].CustomerID
		return false, moved(db.Exec(ctx, tx, countedToSQL, args))
	})
}

const (
	soldSQL = `
	select exists (select from loyalty.transaction where tenant_id = @tenant_id) as sold`

	nothingToCountSQL = `
	update loyalty.level_programme
	set counting = false,
		frozen = false
	where tenant_id = @tenant_id
		and counted_to is null`
)

// NothingToCount puts the levels of an actor's business in force at once if it has no sale: it was just made, and its sales are all ahead.
// A business that others know may have a sale under way.
func NothingToCount(ctx context.Context, d *db.DB, by core.Actor) error {
	return db.Run(ctx, d.Tenant(by), func(tx *db.Tx) error {
		sold, err := db.One[bool](ctx, tx, soldSQL, nil)
		if sold || err != nil {
			return err
		}
		return errors.Join(db.Queue(tx, nothingToCountSQL, nil), promotion.RulesChanged(tx))
	})
}

// moved returns errMoved if a statement about the state of a job changed nothing.
func moved(affected int64, err error) error {
	if err == nil && affected == 0 {
		return errMoved
	}
	return err
}

// count counts what customers' sales count. A statement of its own reads it, after those that held the accounts have ended.
func count(ctx context.Context, tx *db.Tx, by core.Actor, levels award.Levels, holders []holder) error {
	type sum struct {
		CustomerID   core.ID
		This, Before int64
	}
	today := core.DateOf(tx.Now, by.Tenant.TimeZone)
	args := sumArgs(levels, today, by.Tenant.TimeZone)
	args["customers"] = db.Column(holders, func(h holder) core.ID { return h.CustomerID })
	found, err := db.All[sum](ctx, tx, sumsSQL, args)
	if err != nil {
		return err
	}
	of := map[core.ID]sum{}
	for _, f := range found {
		of[f.CustomerID] = f
	}
	return keep(tx, by, holders, func(h holder) (ledger.Standing, []award.Change) {
		sold, has := of[h.CustomerID]
		if !has && h.LevelYear == nil && h.LevelID == nil {
			return h.Standing, nil
		}
		return levels.Recount(h.Standing, today, sold.This, sold.Before)
	})
}

// keep queues what becomes of customers whose accounts are locked.
func keep(tx *db.Tx, by core.Actor, holders []holder, become func(holder) (ledger.Standing, []award.Change)) error {
	var customers []core.ID
	var standings []ledger.Standing
	var moves []Move
	for _, h := range holders {
		standing, changes := become(h)
		for _, c := range changes {
			moves = append(moves, Move{h.CustomerID, c})
		}
		if !isSame(standing, h.Standing) {
			customers, standings = append(customers, h.CustomerID), append(standings, standing)
		}
	}
	return errors.Join(ledger.KeepStandings(tx, customers, standings), QueueAll(tx, by, moves))
}

// isSame reports whether a standing is another one, as far as levels go.
func isSame(a, b ledger.Standing) bool {
	return isEqual(a.LevelYear, b.LevelYear) && a.LevelSum == b.LevelSum && a.LevelSumBefore == b.LevelSumBefore &&
		isEqual(a.LevelID, b.LevelID) && isEqual(a.LevelBy, b.LevelBy) &&
		(a.LevelUntil == nil) == (b.LevelUntil == nil) && (a.LevelUntil == nil || a.LevelUntil.Equal(*b.LevelUntil))
}

func isEqual[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// findLevels is the periodic job that finds businesses whose levels have ended, and jobs that were lost.
type findLevels struct{}

// Kind names the job in the queue.
func (findLevels) Kind() string { return "find_levels" }

func (s *Service) findDue(ctx context.Context, _ findLevels) error {
	_, err := s.QueueDue(ctx)
	return err
}

// What is to be done for businesses: sales to count, or a day that has ended.
const findWorkSQL = `
	select p.tenant_id as tenant, p.counting, w.settling
	from loyalty.level_programme p
	join loyalty.tenant n on n.id = p.tenant_id
	cross join lateral (
		select not p.frozen and coalesce(p.settled_through, '-infinity') < (@now::timestamptz at time zone n.timezone)::date - 1 as settling
	) w
	where n.status = 'active'
		and p.active
		and (p.counting or w.settling)
	order by p.tenant_id`

// QueueDue queues the jobs of all businesses that have something to do and no job for it, and returns them. Its cost doesn't grow with the
// number of customers.
func (s *Service) QueueDue(ctx context.Context) (queued []job.Args, err error) {
	return db.In(ctx, s.db.Platform(), func(tx *db.Tx) ([]job.Args, error) {
		found, err := db.All[struct {
			Tenant             core.TenantID
			Counting, Settling bool
		}](ctx, tx, findWorkSQL, db.Args{"now": tx.Now})
		if err != nil || len(found) == 0 {
			return nil, err
		}
		countings, err := known[Counting](ctx, tx)
		if err != nil {
			return nil, err
		}
		settlings, err := known[Settling](ctx, tx)
		if err != nil {
			return nil, err
		}
		var missing []job.Args
		for _, f := range found {
			if c := (Counting{f.Tenant}); f.Counting && !slices.Contains(countings, c) {
				missing = append(missing, c)
			}
			if d := (Settling{f.Tenant}); f.Settling && !slices.Contains(settlings, d) {
				missing = append(missing, d)
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
