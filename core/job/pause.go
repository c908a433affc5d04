package job

import (
	"context"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Pauses are kept in a table of our own that takeSQL reads, and not by River's own pause:
// its processes learn of that by a notification, which one that is just connecting misses.

// Paused is a lane that takes no jobs.
type Paused struct {
	Lane      Lane
	ActorName string // who paused it
	PausedAt  time.Time
}

const pausedSQL = `
	select lane, actor_name, paused_at
	from loyalty.queue_pause`

const pauseSQL = `
	insert into loyalty.queue_pause (lane, actor_name, paused_at)
	values (@lane, @actor, @now)
	on conflict do nothing`

const resumeSQL = `
	delete from loyalty.queue_pause
	where lane = @lane`

// Pause keeps a lane from taking jobs, in all processes as soon as the transaction commits.
// What runs goes on, and jobs can still be queued. It reports whether that changed anything,
// or fails with core.ErrNotFound where there is no such lane. One round trip.
func Pause(ctx context.Context, tx *db.Tx, by core.Actor, lane Lane) (changed bool, err error) {
	if !slices.Contains(Lanes, lane) {
		return false, core.ErrNotFound
	}
	n, err := db.Exec(ctx, tx, pauseSQL, db.Args{"lane": lane, "actor": by.Name, "now": tx.Now})
	return n > 0, err
}

// Resume lets a lane take jobs again, within a second of the commit. It returns what Pause
// does. One round trip.
func Resume(ctx context.Context, tx *db.Tx, lane Lane) (changed bool, err error) {
	if !slices.Contains(Lanes, lane) {
		return false, core.ErrNotFound
	}
	n, err := db.Exec(ctx, tx, resumeSQL, db.Args{"lane": lane})
	return n > 0, err
}
