package report

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/daily"
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
	h := Hours{Period: Period{picked.from, picked.to}}
	now := s.db.Now()
	t, to := timetable{days: picked.days}, picked.from.AddDate(0, 0, -1)
	for _, date := range picked.dates() {
		if picked.startOf(date).After(now) {
			break
		}
		h.Days[int(date.Weekday()+6)%7]++
		to = date
	}
	t.add(inRange, 0, Period{picked.from, to}, picked.from)
	h.Cells, err = count[HourSales](ctx, s, by, hoursSQL, t.at(picked.location))
	for _, cell := range h.Cells {
		if cell.Weekday == nil && cell.Hour == nil {
			h.Total = cell
		}
	}
	return h, err
}

const hoursSQL = daily.Spans + `
	select weekday, hour, sum(transactions)::bigint as transactions_count,
		least(sum(spend), 9223372036854775807)::bigint as spend_total_cents
	from (
		select extract(isodow from day)::bigint - 1 as weekday, hour, sum(transactions) as transactions, sum(spend) as spend
		from (` + daily.SalesByHour + `
		) sold
		where @location::bigint in (0, location_id)
		group by 1, hour
	) cell
	group by cube (weekday, hour)
	having count(*) > 0
	order by weekday, hour`
