package programme

import (
	"cmp"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

const storeSQL = `
	insert into loyalty.programme (tenant_id, unit, expiry, months, round_to, yearly_month, yearly_day, grace_days,
		opening_expires_on, hold_until, begun_at, updated_at)
	values (@tenant_id, @unit, @expiry, nullif(@months, 0), nullif(@round_to, ''), nullif(@month, 0), nullif(@day, 0), @grace_days,
		@opening::date, @hold::date, @now, @now)
	on conflict (tenant_id, unit) do update
	set expiry = excluded.expiry,
		months = excluded.months,
		round_to = excluded.round_to,
		yearly_month = excluded.yearly_month,
		yearly_day = excluded.yearly_day,
		grace_days = excluded.grace_days,
		hold_until = excluded.hold_until,
		version = programme.version + 1,
		updated_at = excluded.updated_at`

// Store queues a rule as it is, without a hold, jobs or e-mails, and the last day of what was there before (nil: none): for businesses
// that are made with a past.
func Store(tx *db.Tx, unit ledger.Unit, e core.Expiry, opening *time.Time) error {
	var hold any
	switch {
	case e.HoldsAll:
		hold = "infinity"
	case !e.Hold.IsZero():
		hold = e.Hold
	}
	err := db.Queue(tx, storeSQL, db.Args{
		"unit": unit, "expiry": e.Rule, "months": e.Months, "round_to": e.RoundTo, "month": int(e.Month), "day": e.Day,
		"grace_days": cmp.Or(e.GraceDays, 30), "opening": opening, "hold": hold, "now": tx.Now,
	})
	return errors.Join(err, Share(tx, tx.Tenant))
}

const storeRunSQL = `
	update loyalty.programme
	set expired_through = greatest(expired_through, @day::date)
	where tenant_id = @tenant_id
		and unit = @unit
		and coalesce(hold_until, '-infinity') <= @day::date`

// StoreRun queues that everything which ended before the transaction's day was posted.
func StoreRun(tx *db.Tx, by core.Actor, unit ledger.Unit) error {
	return db.Queue(tx, storeRunSQL, db.Args{"unit": unit, "day": core.DateOf(tx.Now, by.Tenant.TimeZone).AddDate(0, 0, -1)})
}
