package report

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Hours is the completed sales of a selection by weekday and hour, in the tenant's time zone. A sale at
// 2:30 counts at 2, on whatever date and in winter or summer time: the hour that a clock showed.
type Hours struct {
	Period
	Days  [7]int64 // how many Mondays, Tuesdays … the range has, up to today
	Total HourSales
	Cells []HourSales // those with sales, also of a whole weekday and of an hour on all weekdays
}

// HourSales is the sales of an hour on a weekday.
type HourSales struct {
	Weekday           *int64 // 0: Monday; nil: all
	Hour              *int64 // from 0; nil: all
	TransactionsCount int64
	SpendTotalCents   int64
}

// Hours returns the sales of a selection by weekday and hour.
func (s *Service) Hours(ctx context.Context, by core.Actor, sel Selection) (Hours, error) {
	picked, err := s.resolveSelection(by, sel)
	if err != nil {
		return Hours{}, err
	}
	now := s.db.Now()
	h := Hours{Period: Period{picked.from, picked.to}}
	var weekdays, hours []int64
	var firstIDs, nextIDs []core.ID
	for _, date := range picked.dates() {
		start, end := picked.startOf(date), picked.startOf(date.AddDate(0, 0, 1))
		if start.After(now) {
			break
		}
		weekday := int64(date.Weekday()+6) % 7
		h.Days[weekday]++
		for start.Before(end) {
			next := nextHour(start.In(picked.zone))
			if next.After(end) {
				next = end
			}
			weekdays, hours = append(weekdays, weekday), append(hours, int64(start.In(picked.zone).Hour()))
			firstIDs, nextIDs = append(firstIDs, core.FirstID(start)), append(nextIDs, core.FirstID(next))
			start = next
		}
	}
	sql, args := hoursSQL, db.Args{"weekdays": weekdays, "hours": hours, "first_ids": firstIDs, "next_ids": nextIDs}
	if picked.location != nil {
		sql, args["location"] = hoursAtSQL, *picked.location
	}
	h.Cells, err = count[HourSales](ctx, s, by, sql, args)
	for _, cell := range h.Cells {
		if cell.Weekday == nil && cell.Hour == nil {
			h.Total = cell
		}
	}
	return h, err
}

// nextHour returns when the clock will show another hour. Clocks are set forward and back at full hours.
func nextHour(local time.Time) time.Time {
	_, minute, second := local.Clock()
	into := time.Duration(minute)*time.Minute + time.Duration(second)*time.Second + time.Duration(local.Nanosecond())
	return local.Add(time.Hour - into)
}

// Each hour is counted between two IDs, from the index of completed sales alone.
const (
	hoursSQL   = hourSales + hourTotals
	hoursAtSQL = hourSales + `
			and location_id = @location` + hourTotals

	hourSales = `
	select slot.weekday, slot.hour, coalesce(sum(sold.transactions), 0)::bigint as transactions_count,
		least(coalesce(sum(sold.spend), 0), 9223372036854775807)::bigint as spend_total_cents
	from unnest(@weekdays::bigint[], @hours::bigint[], @first_ids::uuid[], @next_ids::uuid[]) as slot (weekday, hour, first_id, next_id)
	cross join lateral (
		select count(*) as transactions, sum(spend_amount_cents) as spend
		from loyalty.transaction
		where tenant_id = @tenant_id
			and id >= slot.first_id
			and id < slot.next_id
			and status = 'completed'`

	hourTotals = `
	) sold
	where sold.transactions > 0
	group by cube (slot.weekday, slot.hour)`
)
