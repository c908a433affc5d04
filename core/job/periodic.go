package job

import (
	"context"
	"time"

	"example.com/loyalty/core/db"
)

// One process of all leads: it queues the periodic jobs and deletes old ones.

const (
	electEvery = 5 * time.Second
	termTime   = 15 * time.Second // another process leads after the leader was silent for this long
)

const (
	// periodicAttempts is how often a periodic job is tried: the next one follows soon.
	periodicAttempts = 3
	// renamedAttempts is how often it is tried under a new name: for more than an hour. Processes of an earlier build
	// take it during an upgrade and refuse it, because they don't know the name.
	renamedAttempts = 8
)

// periodicJob is a job that is queued again and again.
type periodicJob struct {
	queued
	every time.Duration
	next  time.Time // in the term of this process
}

// Every queues a job of a handled kind at an interval, once in the whole installation.
func Every(q *Queue, interval time.Duration, args Args) {
	job, err := q.queued(args, 0, "")
	if err != nil {
		panic(err) // a mistake in the code, like two handlers of a kind
	}
	job.MaxAttempts = periodicAttempts
	if len(kinds(args)) > 1 {
		job.MaxAttempts = renamedAttempts
	}
	job.Metadata.Periodic = true
	q.periodic = append(q.periodic, periodicJob{queued: job, every: interval})
}

// The table is River's: a leader of an earlier build keeps this process from leading, and the other way round.
const electSQL = `
	insert into river.river_leader as l (elected_at, expires_at, leader_id)
	values (now(), now() + @term::interval, @name)
	on conflict (name) do update
	set expires_at = excluded.expires_at,
		elected_at = case when l.leader_id = excluded.leader_id and l.expires_at >= now() then l.elected_at else excluded.elected_at end,
		leader_id = excluded.leader_id
	where l.leader_id = excluded.leader_id
		or l.expires_at < now()
	returning elected_at, now() as now`

// lead has this process lead, or go on leading, unless another one does. Each leader begins by queueing every periodic job.
func (q *Queue) lead(ctx context.Context) {
	terms, err := exec[struct{ ElectedAt, Now time.Time }](ctx, q, electSQL, db.Args{"term": termTime, "name": q.name})
	q.warn(ctx, "the leader of the periodic jobs could not be found", err)
	if len(terms) == 0 {
		q.term = time.Time{}
		return
	}
	term := terms[0]
	var due []queued
	for i := range q.periodic {
		if p := &q.periodic[i]; !term.ElectedAt.Equal(q.term) || !term.Now.Before(p.next) {
			due, p.next = append(due, p.queued), term.Now.Add(p.every)
		}
	}
	q.term = term.ElectedAt
	if len(due) > 0 {
		q.do(ctx, "periodic jobs not queued", insertSQL, db.Args{"jobs": due, "at": nil})
		q.wakeAll()
	}
	q.do(ctx, "old jobs not deleted", deleteOldSQL, db.Args{"batch": Batch})
}

const resignSQL = `
	delete from river.river_leader
	where leader_id = @name`

// resign lets another process lead at once.
func (q *Queue) resign(ctx context.Context) {
	if !q.term.IsZero() {
		q.do(ctx, "the leader of the periodic jobs ends its term late", resignSQL, db.Args{"name": q.name})
	}
}

const deleteOldSQL = `
	delete from river.river_job j
	where j.id in (
		select old.id
		from (values ('completed', interval '1 day'), ('cancelled', interval '1 day'), ('discarded', interval '7 days')) as kept (state, age)
		cross join lateral (
			select w.id
			from river.river_job w
			where w.state = kept.state::river.river_job_state
				and w.finalized_at < now() - kept.age
			order by w.finalized_at
			limit @batch
		) old
	)`
