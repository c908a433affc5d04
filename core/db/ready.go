package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// readyTime is how long a check may take.
const readyTime = 2 * time.Second

// Ready returns nil when the database answers and has every migration of this build.
func (d *DB) Ready(ctx context.Context) error {
	_, err := d.CheckReady(ctx)
	return err
}

// CheckReady is Ready, and also returns a sentence about a database that can be used but is unusual, or "".
//
// It checks the pool that serves. One whose connections are all busy, or that can open no further one, is ready
// as long as statements are answered.
func (d *DB) CheckReady(ctx context.Context) (notice string, err error) {
	var s Steps
	calls, reads, err := bindAll([]Reading{ReadSteps(&s)}, 0)
	if err != nil {
		return "", err
	}
	err = d.check(ctx, calls, reads)
	switch {
	case d.onlyCheckFailed(err):
		return d.trouble(err), nil
	case err != nil:
		return "", d.notReady(err)
	case len(s.Applied) > 0 && s.Applied[0] <= 100:
		return "", errPrerelease
	case len(s.Missing) > 0:
		return "", fmt.Errorf("the database lacks migrations that this build needs: %s; run `loyalty migrate up`", versionList(s.Missing))
	}
	return s.Notice(), nil
}

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
	write := func(sql string, args Args) Reading { return into(new(int64), sql, args, rowsAffected) }
	calls, reads, err := bindAll([]Reading{write(touchSQL, Args{"now": d.Now()}), write(smallMemorySQL, nil), write(spillSQL, nil)}, 0)
	if err != nil {
		return err
	}
	calls, reads = d.transaction(enter(0), calls, reads)
	err = d.check(ctx, calls, reads)
	switch c := errorCode(err); {
	case err == nil, c == "53400": // a limit on temporary files is no sign of a full disk
		return nil
	case c == diskFull:
		return fmt.Errorf("nothing can be written, because the database's disk is full: %w", err)
	case c == readOnly:
		return fmt.Errorf("nothing can be written, because the database is read-only: %w", err)
	case d.onlyCheckFailed(err):
		return nil
	case mayComeUp(err):
		return d.notReady(err) // it became unreachable after the last check
	}
	return fmt.Errorf("nothing can be written: %w", err)
}

// check sends statements, whatever share of the pool others have. It may send them twice.
func (d *DB) check(ctx context.Context, calls []call, reads []func(pgx.Rows) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	return d.repeat(ctx, func() error { return d.read(ctx, calls, reads) })
}

// onlyCheckFailed reports whether the check got no connection or no answer, although others get theirs.
func (d *DB) onlyCheckFailed(err error) bool {
	isShort := errorCode(err) == tooManyConnections || pgconn.Timeout(err) || errors.Is(err, context.DeadlineExceeded)
	return isShort && d.pulse.isAlive()
}

// trouble says why the check got no answer: perhaps it got no connection.
func (d *DB) trouble(err error) string {
	if s := d.pool.Stat(); serverError(err).Code == "" && s.AcquiredConns() == s.MaxConns() {
		return fmt.Sprintf("all %d connections of this process are busy", s.MaxConns())
	}
	return troubleOf(err)
}

// notReady is the error of a database that can't be used, which begins with the reason. The reason stays the same as long as the
// state does.
func (d *DB) notReady(err error) error {
	reason := d.trouble(err)
	if waits := d.pulse.longest(); waits > answerTime && serverError(err).Code == "" {
		err = fmt.Errorf("a statement has been waiting for %s: %w", waits.Round(time.Second), err)
	}
	return fmt.Errorf("%s: %w", reason, err)
}
