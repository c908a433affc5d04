// Package level keeps the levels of a business: how customers rise to them, what sales count, and what happens when a level
// ends. core/award computes with them, and core/transaction raises customers in the statement that records a sale.
//
// Its surprising rule: levels change nothing while they are frozen, from their launch until each customer's earlier sales are counted.
package level

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// Service keeps levels.
type Service struct {
	db          *db.DB
	jobs        *job.Queue
	sizes       sizes
	previewTime time.Duration
}

// sizes are how many customers a transaction of a job is about.
type sizes struct{ counted, settled int }

// NewService makes the service and registers its jobs.
func NewService(d *db.DB, jobs *job.Queue) *Service {
	s := &Service{db: d, jobs: jobs, sizes: sizes{counted: 500, settled: 200}, previewTime: usualPreviewTime}
	job.Handle(jobs, job.Upkeep, s.Count)
	job.Handle(jobs, job.Upkeep, s.SettleDue)
	job.Handle(jobs, job.Upkeep, s.findDue)
	job.Every(jobs, time.Hour, findLevels{})
	return s
}

// At returns the service at another time, for levels that are dated in the past.
func (s *Service) At(instant time.Time) *Service {
	past := *s
	past.db = s.db.At(instant)
	return &past
}

// Programme is how the customers of a business rise. The zero Programme is none.
type Programme struct {
	award.LevelRules
	Active      bool
	Counting    bool     // earlier sales are being counted
	CountedTo   *core.ID // of customers in the order of their IDs; nil: counting hasn't begun
	BegunAt     time.Time
	SettledThru *time.Time // what ended by this day has been settled; nil: nothing has
	RunKept     int64      // since the last entry in the audit log
	RunDropped  int64
	Version     int64 // 0: there is none
}

const (
	programmeSQL = `
	select p.active, p.basis, p.period, p.year_month as month, p.year_day as day, p.drops, p.starts_on, p.frozen,
		p.counting, p.counted_to, p.begun_at, p.settled_through as settled_thru, p.run_kept, p.run_dropped, p.version
	from loyalty.level_programme p
	where p.tenant_id = @tenant_id`

	levelsSQL = `
	select ` + award.LevelColumns + `
	from loyalty.level
	where tenant_id = @tenant_id
	order by rank, id`
)

// stored is a programme with its levels, as it is read.
type stored struct {
	programmes []Programme
	levels     []award.Level
}

func (s *stored) readings() []db.Reading {
	return []db.Reading{db.AllInto(&s.programmes, programmeSQL, nil), db.AllInto(&s.levels, levelsSQL, nil)}
}

// setup returns what was read.
func (s *stored) setup() Setup {
	if len(s.programmes) == 0 {
		return Setup{}
	}
	return Setup{s.programmes[0], s.levels}
}

// Setup is a programme with its levels by rank. The zero Setup is none.
type Setup struct {
	Programme
	Levels []award.Level
}

// InForce reads the levels by which customers of a business rise now, together with what else is needed.
type InForce struct{ stored }

// Readings returns the readings.
func (r *InForce) Readings() []db.Reading { return r.readings() }

// Levels returns what was read; none where levels are off.
func (r *InForce) Levels() award.Levels { return r.setup().inForce() }

// inForce returns the levels by which customers rise now; none if they are off.
func (s Setup) inForce() award.Levels {
	if !s.Active {
		return award.Levels{}
	}
	return award.Levels{LevelRules: s.LevelRules, All: s.Levels}
}

// current returns the levels that can be reached, by rank.
func (s Setup) current() (levels []award.Level) {
	for _, l := range s.Levels {
		if !l.Retired {
			levels = append(levels, l)
		}
	}
	return levels
}

// Setup returns the levels of the actor's business, for pages that name one.
func (s *Service) Setup(ctx context.Context, by core.Actor) (Setup, error) {
	if err := by.Require(core.Cashier); err != nil {
		return Setup{}, err
	}
	var read stored
	err := db.Together(ctx, s.db.Tenant(by), read.readings()...)
	return read.setup(), err
}

// Find returns one of the levels, also one that is retired.
func (s Setup) Find(id *int64) *award.Level { return award.Levels{All: s.Levels}.Find(id) }

// Settings are the levels of a business for their page.
type Settings struct {
	Setup
	Customers map[int64]int64 // who have a level, by its ID; the first level has the others
	Counted   Counted         // how far earlier sales are counted
}

// Counted is how many customers' sales are counted, of all.
type Counted struct{ Customers, Of int64 }

// How many customers have each level, or none, and how many of them are counted.
const customersAtSQL = `
	select a.level_id, count(*) as customers, count(*) filter (where p.counted_to >= c.id) as counted
	from loyalty.customer c
	join loyalty.account a on a.tenant_id = @tenant_id and a.customer_id = c.id
	left join loyalty.level_programme p on p.tenant_id = @tenant_id
	where c.tenant_id = @tenant_id
		and c.merged_into is null
		and coalesce(c.phone_key, c.email_key) is not null
	group by a.level_id`

// Settings returns the levels of the actor's business, for managers.
func (s *Service) Settings(ctx context.Context, by core.Actor) (Settings, error) {
	if err := by.Require(core.Manager); err != nil {
		return Settings{}, err
	}
	var read stored
	var at []struct {
		LevelID   *int64
		Customers int64
		Counted   int64
	}
	err := db.Together(ctx, s.db.Tenant(by), append(read.readings(), db.AllInto(&at, customersAtSQL, nil))...)
	if err != nil {
		return Settings{}, err
	}
	v := Settings{Setup: read.setup(), Customers: map[int64]int64{}}
	for _, a := range at {
		v.Counted.Of += a.Customers
		v.Counted.Customers += a.Counted
		switch {
		case a.LevelID != nil:
			v.Customers[*a.LevelID] += a.Customers
		case len(v.Levels) > 0:
			v.Customers[v.Levels[0].ID] += a.Customers
		}
	}
	return v, nil
}
