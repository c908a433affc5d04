package job

import (
	"context"
	"slices"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Pauses are stored in a table that takeSQL reads: a process that is just connecting would miss a notification.

const pauseSQL = `
	insert into loyalty.queue_pause (lane, actor_name, paused_at)
	values (@lane, @actor, @now)
	on conflict do nothing`

const resumeSQL = `
	delete from loyalty.queue_pause
	where lane = @lane`

// Pause keeps a lane from taking jobs, in all processes from the commit on. Running jobs go on, and
// jobs can still be queued. It reports whether the lane was not paused before, or fails with
// core.ErrNotFound for an unknown lane.
func Pause(ctx context.Context, tx *db.Tx, by core.Actor, lane Lane) (changed bool, err error) {
	if !slices.Contains(Lanes, lane) {
		return false, core.ErrNotFound
	}
	n, err := db.Exec(ctx, tx, pauseSQL, db.Args{"lane": lane, "actor": by.Name, "now": tx.Now})
	return n > 0, err
}

// Resume lets a lane take jobs again, within a second of the commit. It reports whether the lane was
// paused, or fails like Pause.
func Resume(ctx context.Context, tx *db.Tx, lane Lane) (changed bool, err error) {
	if !slices.Contains(Lanes, lane) {
		return false, core.ErrNotFound
	}
	n, err := db.Exec(ctx, tx, resumeSQL, db.Args{"lane": lane})
	return n > 0, err
}
