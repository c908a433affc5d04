package notification

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// kept is how long a notification is kept after its cause is gone.
const kept = 90 * 24 * time.Hour

// averageDays is the length of the time that a person's day is compared with.
const averageDays = 30

// leastUnusual is how many voids, refunds and adjustments in a day are never unusual, however low the average.
const leastUnusual = 3

// unusualActions are the audit log's voids, refunds and adjustments.
var unusualActions = []string{"transaction.void", "transaction.refund", "redemption.void", "customer.adjust"}

// Joins online are unusual if an hour has more than usualJoins, and more than joinsFactor times the average hour of the
// week before.
const (
	usualJoins  = 30
	joinsFactor = 5
	weekHours   = 7 * 24
)

// checkNotifications is the job that looks for causes at all active businesses.
type checkNotifications struct{}

// Kind names the job in the queue.
func (checkNotifications) Kind() string { return "check_notifications" }

func (s *Service) checkAll(ctx context.Context, _ checkNotifications) error {
	rows, err := db.All[db.TenantRow](ctx, s.db.Platform(), activeTenantsSQL, nil)
	if err != nil {
		return err
	}
	var failed []error // one business that can't be checked must not stop the others
	for _, row := range rows {
		t, err := row.Tenant()
		if err == nil {
			err = s.Check(ctx, t)
		}
		if err != nil && !errors.Is(err, core.ErrSuspended) { // meanwhile
			failed = append(failed, fmt.Errorf("notifications of tenant %d: %w", row.TenantID, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed...)
}

// Check writes a notification for each new cause at a business and ends those without a cause. It may run
// twice at the same time.
func (s *Service) Check(ctx context.Context, t core.Tenant) error {
	return db.Run(ctx, s.db.Tenant(core.Job(t, "notifications")), func(tx *db.Tx) error {
		year, week := tx.Now.In(t.TimeZone).ISOWeek()
		thisWeek, since := fmt.Sprintf("%d-W%02d", year, week), tx.Now.Add(-lasting)
		days, first, next, month := lastDays(tx.Now, t.TimeZone)
		if err := db.Queue(tx, countCustomersSQL, nil); err != nil {
			return err
		}
		for _, x := range []struct {
			statement string
			args      db.Args
		}{
			{resolveSQL, db.Args{"lasting_since": since, "week": thisWeek}},
			{raiseStockSQL, db.Args{}},
			{raiseCouponSQL, db.Args{}},
			{raisePendingSQL, db.Args{"week": thisWeek}},
			{raiseSendSQL, db.Args{"lasting_since": since}},
			{raiseHeldSQL, db.Args{}},
			{raiseStaffSQL, db.Args{
				"days": days, "first_ids": first, "next_ids": next, "month_ids": month,
				"actions": unusualActions, "least": leastUnusual, "average_days": averageDays,
			}},
			{raisePlanSQL, db.Args{}},
			{raiseJoinsSQL, db.Args{
				"hour_id": core.FirstID(tx.Now.Add(-time.Hour)), "week_id": core.FirstID(tx.Now.Add(-weekHours * time.Hour)),
				"day": days[len(days)-1], "usual": usualJoins, "factor": joinsFactor, "hours": weekHours,
			}},
		} {
			x.args["now"] = tx.Now
			if err := db.Queue(tx, x.statement, x.args); err != nil {
				return err
			}
		}
		return db.Queue(tx, deleteOldSQL, db.Args{"kept_since": tx.Now.Add(-kept)})
	})
}

// span is a day between two ids, and the first id of the 30 days before it.
type span struct{ first, next, month core.ID }

// spanOf returns the span of a day, given as its midnight in UTC.
func spanOf(day time.Time, zone *time.Location) span {
	at := func(days int) core.ID { return core.FirstID(core.StartOfDate(day.AddDate(0, 0, days), zone)) }
	return span{first: at(0), next: at(1), month: at(-averageDays)}
}

// lastDays returns yesterday and today with their spans. Yesterday's last voids may be newer than the check
// before.
func lastDays(now time.Time, zone *time.Location) (days []time.Time, first, next, month []core.ID) {
	y, m, d := now.In(zone).Date()
	for _, ago := range []int{1, 0} {
		day := time.Date(y, m, d-ago, 0, 0, 0, 0, time.UTC)
		s := spanOf(day, zone)
		days, first, next, month = append(days, day), append(first, s.first), append(next, s.next), append(month, s.month)
	}
	return days, first, next, month
}
