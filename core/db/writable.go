package db

import (
	"context"
	"fmt"
	"time"

	"example.com/loyalty/core"
)

// One process writes at a time. The others skip the locked row, and a fresh row need not be
// written again: one successful write is enough for all of them.
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

// An updated row may fit into existing files. Sorting a megabyte with little memory needs new
// disk space, and leaves nothing behind.
const spillSQL = `
	select count(*)
	from (
		select n, repeat('x', 100) as filling
		from generate_series(1, 10000) n
		order by filling, n desc
	) s`

// CheckWritable returns nil when the database can write: it commits a change of one row (at most
// every three seconds over all processes) and briefly uses some disk space. The error begins with
// the reason.
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
	switch c := errorCode(err); {
	case err == nil, c == "53400": // a limit on temporary files is no sign of a full disk
		return nil
	case c == diskFull:
		return fmt.Errorf("nothing can be written, because the database's disk is full: %w", err)
	case c == readOnly:
		return fmt.Errorf("nothing can be written, because the database is read-only: %w", err)
	case core.IsKind(err, core.KindUnavailable):
		return notReady(err) // it became unreachable after the last check
	}
	return fmt.Errorf("nothing can be written: %w", err)
}
