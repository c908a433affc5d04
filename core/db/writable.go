package db

import (
	"context"
	"fmt"
	"time"

	"example.com/loyalty/core"
)

// One process writes at a time. The others need not wait for it, and while a row is fresh need
// not write: that one could write says it of all.
const touchSQL = `
	update loyalty.write_check
	set written_at = @now
	where id in (
		select id
		from loyalty.write_check
		where written_at not between @now::timestamptz - interval '3 seconds' and @now::timestamptz + interval '1 minute'
		for update skip locked
	)`

const smallMemorySQL = `select set_config('work_mem', '64kB', true)`

// A row that is updated may fit into what its files have already. Sorting a megabyte with little
// memory needs new space on the disk, and leaves nothing behind.
const spillSQL = `
	select count(*)
	from (
		select n, repeat('x', 100) as filling
		from generate_series(1, 10000) n
		order by filling, n desc
	) s`

// CheckWritable is nil when the database can write: it commits a change of one row, of which
// several processes make no more than one in three seconds, and takes some space on the disk for
// a moment. The error begins with why nothing can be written. Two round trips.
func (d *DB) CheckWritable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_, err := Platform(ctx, d, core.System(core.Tenant{}, "readiness"), func(tx *Tx) (int64, error) {
		if err := Queue(tx, touchSQL, Args{"now": tx.Now}); err != nil {
			return 0, err
		}
		if err := Queue(tx, smallMemorySQL, nil); err != nil {
			return 0, err
		}
		return Value[int64](ctx, tx, spillSQL, nil)
	})
	switch c := code(err); {
	case err == nil, c == "53400": // the operator limits temporary files, which is no sign of a full disk
		return nil
	case c == diskFull:
		return fmt.Errorf("nothing can be written, because the database's disk is full: %w", err)
	case c == readOnly:
		return fmt.Errorf("nothing can be written, because the database is read-only: %w", err)
	case core.IsKind(err, core.KindUnavailable):
		return unready(err) // it went away since it was last asked
	}
	return fmt.Errorf("nothing can be written: %w", err)
}
