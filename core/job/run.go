package job

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"time"

	"example.com/loyalty/core/db"
)

const (
	pollEvery = time.Second           // how often each lane looks for jobs without being told of any
	rest      = 20 * time.Millisecond // between two looks, so that jobs which come or end together are one look
)

// newQueue makes a queue whose claims last as timing says.
func newQueue(d *db.DB, log *slog.Logger, t timing) *Queue {
	q := &Queue{
		db: d, name: processName(), handlers: map[string]handler{}, log: log, timing: t,
		wake: map[Lane]chan struct{}{}, busy: map[Lane]int{}, held: map[attempt]*claim{},
	}
	for _, lane := range Lanes {
		q.wake[lane] = make(chan struct{}, 1)
	}
	return q
}

// processName returns a name that no other process has: the machine and the time.
func processName() string {
	host, _ := os.Hostname()
	made := time.Now().Format("2006_01_02T15_04_05.000000") //nolint:forbidigo // a name, and no time of the product's
	return strings.ReplaceAll(host[:min(len(host), 60)]+"_"+made, ".", "_")
}

// Start runs jobs until Stop.
func (q *Queue) Start(ctx context.Context) error {
	looking, endLooking := context.WithCancel(ctx)
	work, endWork := context.WithCancelCause(ctx)
	q.endLooking, q.endWork = endLooking, endWork
	for _, lane := range Lanes {
		q.looking.Go(func() { q.look(looking, work, lane) })
	}
	q.looking.Go(func() { q.listen(looking) })
	q.looking.Go(func() { repeat(looking, 0, pollEvery, q.poll) })
	q.looking.Go(func() { repeat(looking, 0, electEvery, q.lead) })
	go repeat(work, q.timing.renew, q.timing.renew, q.renewAndRescue)
	return nil
}

// Stop waits a while for the running jobs. Then it cancels them and puts them back into the queue for
// the next process.
func (q *Queue) Stop(ctx context.Context) error {
	if q.endLooking == nil {
		return nil
	}
	q.endLooking()
	q.looking.Wait()
	q.resign(ctx)
	ended := make(chan struct{})
	go func() {
		q.working.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	case <-time.After(q.timing.drain):
	}
	q.endWork(errStopped)
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// repeat does something after a while and then at an interval, until ctx ends.
func repeat(ctx context.Context, first, every time.Duration, do func(ctx context.Context)) {
	for timer := time.NewTimer(first); ; timer.Reset(every) {
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
			do(ctx)
		}
	}
}

// look takes jobs for a lane whenever it is woken.
func (q *Queue) look(ctx, work context.Context, lane Lane) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-q.wake[lane]:
		}
		q.take(ctx, work, lane)
		time.Sleep(rest)
	}
}

func (q *Queue) wakeLane(lane Lane) {
	select {
	case q.wake[lane] <- struct{}{}:
	default: // it will look anyway, or there is no such lane
	}
}

func (q *Queue) wakeAll() {
	for _, lane := range Lanes {
		q.wakeLane(lane)
	}
}

// Jobs that wait for a time are not among those that takeSQL steps through.
const dueSQL = `
	update river.river_job j
	set state = 'available'
	where j.id in (
		select due.id
		from unnest(array['retryable', 'scheduled']::river.river_job_state[]) s (state)
		cross join unnest(@lanes::text[]) l (name)
		cross join generate_series(1, 4) p (priority)
		cross join lateral (
			select w.id
			from river.river_job w
			where w.state = s.state
				and w.queue = l.name
				and w.priority = p.priority
				and w.scheduled_at <= now()
			order by w.scheduled_at
			limit @batch
			for update skip locked
		) due
	)`

// poll makes jobs available whose time has come, and has all lanes look.
func (q *Queue) poll(ctx context.Context) {
	q.do(ctx, "jobs that are due not found", dueSQL, db.Args{"lanes": Lanes, "batch": Batch})
	q.wakeAll()
}

// The channels of River, and what it sends.
const (
	queuedChannel  = "river.river_insert"
	controlChannel = "river.river_control"
)

type message struct {
	Action string `json:"action,omitempty"`
	JobID  int64  `json:"job_id,omitempty"` // to be cancelled; 0: jobs of the lane were queued
	Lane   Lane   `json:"queue"`
}

// announce sends a message to all processes after the commit.
func announce(tx *db.Tx, channel string, m message) {
	text, _ := json.Marshal(m) // texts and a number can be written
	db.Notify(tx, channel, string(text))
}

// listen hears of jobs that are queued or cancelled. While the connection is lost, polls and renewals find them.
func (q *Queue) listen(ctx context.Context) {
	repeat(ctx, 0, time.Second, func(ctx context.Context) {
		err := db.Listen(ctx, q.db, []string{queuedChannel, controlChannel}, q.wakeAll, func(payload string) {
			var m message
			if json.Unmarshal([]byte(payload), &m) != nil {
				return
			}
			if m.Action == "cancel" {
				q.cancelHeld(m.JobID)
			} else {
				q.wakeLane(m.Lane)
			}
		})
		q.warn(ctx, "jobs are not announced, but found within a second", err)
	})
}

// becomeSQL gives a transaction the role that sees all jobs. With the policies of the other role, PostgreSQL would not use
// the indexes that begin with a job's state or have its tenant.
const becomeSQL = `
	select set_config('role', 'loyalty_queue', true) as role`

// exec makes a statement of the queue, in one round trip, and returns its rows.
func exec[T any](ctx context.Context, q *Queue, sql string, args db.Args) (rows []T, err error) {
	ctx, cancel := context.WithTimeout(ctx, q.timing.patience)
	defer cancel()
	var role struct{ Role string }
	err = db.Together(ctx, q.db.Platform(), db.OneInto(&role, becomeSQL, nil), db.AllInto(&rows, sql, args))
	return rows, err
}

// do makes a statement of the queue whose failure is only logged: it is made again soon.
func (q *Queue) do(ctx context.Context, failure, sql string, args db.Args) {
	_, err := exec[struct{}](ctx, q, sql, args)
	q.warn(ctx, failure, err)
}

// warn logs an error, unless the queue stops.
func (q *Queue) warn(ctx context.Context, message string, err error, about ...slog.Attr) {
	if err != nil && ctx.Err() == nil {
		q.log.LogAttrs(ctx, slog.LevelWarn, message, append(about, slog.Any("error", err))...) //nolint:sloglint // each caller has a message of its own
	}
}
