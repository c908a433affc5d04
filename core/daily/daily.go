// Package daily counts local days that are over, once, so that a report adds up days and not sales. It keeps a table for each sort of
// figures, with a row for each part of a day, all of which follow from the records.
//
// Its surprising rule: nothing is added to a sale. Today, and days that aren't counted yet, are counted when a report asks, by the
// same SQL. What changes a record of another day marks that day in its own transaction (mark.go). A marked day counts as not counted
// until the job (count.go) has counted it anew.
package daily

import (
	"context"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// Service counts days.
type Service struct {
	db        *db.DB
	jobs      *job.Queue
	manySales int
}

// NewService makes the service and registers its jobs.
func NewService(d *db.DB, jobs *job.Queue) *Service {
	s := &Service{db: d, jobs: jobs, manySales: manySales}
	job.HandleWithin(jobs, job.Upkeep, longTime, s.Count)
	job.Handle(jobs, job.Upkeep, s.findDue)
	job.Every(jobs, step, findDays{})
	return s
}

// Form names what is kept of a day, after the zone in days_counted. An earlier build keeps something else, so what one build counted is of
// another zone to the other, which doesn't read it and counts all anew.
const Form = " by ms, sales before"

// zoneKept names what is kept of the days of a zone.
func zoneKept(zone *time.Location) string { return zone.String() + Form }

// At returns the service at another time.
func (s *Service) At(instant time.Time) *Service {
	at := *s
	at.db = s.db.At(instant)
	return &at
}

// findDays is the periodic job that finds businesses with days to count.
type findDays struct{}

// Kind names the job in the queue.
func (findDays) Kind() string { return "find_days" }

func (s *Service) findDue(ctx context.Context, _ findDays) error {
	_, err := s.QueueDue(ctx)
	return err
}

// What is to be counted: a day that is over, another zone's days, what is marked, days of the past, or today, of a business with many sales.
const findDueSQL = `
	select n.id
	from loyalty.tenant n
	left join loyalty.days_counted c on c.tenant_id = n.id
	left join loyalty.tenant_usage u on u.tenant_id = n.id
	where n.status = 'active'
		and (c.tenant_id is null
			or c.zone <> n.timezone || '` + Form + `'
			or c.first_day > '-infinity'
			or c.ends_at < (@over::timestamptz at time zone n.timezone)::date::timestamp at time zone n.timezone
			or c.ends_at <= @step::timestamptz and u.sales_lately >= @many
			or n.id in (select loyalty.marked_days()))
	order by n.id`

// QueueDue queues the jobs of all businesses that have days to count and no job for it, and returns them. Its cost doesn't grow with
// the number of sales.
func (s *Service) QueueDue(ctx context.Context) (queued []job.Args, err error) {
	return db.In(ctx, s.db.Platform(), func(tx *db.Tx) ([]job.Args, error) {
		due, err := db.All[core.TenantID](ctx, tx, findDueSQL, db.Args{
			"over": tx.Now.Add(-wait), "step": tx.Now.Add(-soon - step), "many": 30 * s.manySales,
		})
		if err != nil || len(due) == 0 {
			return nil, err
		}
		pending, cancelled, err := job.Pending[Counting](ctx, tx)
		if err != nil {
			return nil, err
		}
		known := slices.Concat(pending, cancelled)
		var missing []job.Args
		for _, tenant := range due {
			if c := (Counting{tenant}); !slices.Contains(known, c) {
				missing = append(missing, c)
			}
		}
		return missing, s.jobs.AddAll(ctx, tx, missing)
	})
}
