package report

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/daily"
)

// Sales is the completed sales of a part of the business.
type Sales struct {
	TransactionsCount int64
	SpendTotalCents   int64
	PointsAwarded     int64
	StampsAwarded     int64
}

// Voids are sales that were recorded and have been voided since.
type Voids struct {
	VoidedCount               int64
	PreviousTransactionsCount int64 // completed
	PreviousVoidedCount       int64
}

// MinRecorded is of how many recorded sales a void rate is told. Of fewer, one void would make it high.
const MinRecorded = 50

// VoidRate is how many of the sales that were recorded have been voided.
type VoidRate struct{ Voided, Recorded int64 }

// Known reports whether there are enough sales for a rate.
func (r VoidRate) Known() bool { return r.Recorded >= MinRecorded }

// voidRates returns the rates of the range and of the earlier period.
func (v Voids) voidRates(completed int64) (now, then VoidRate) {
	return VoidRate{v.VoidedCount, completed + v.VoidedCount}, VoidRate{v.PreviousVoidedCount, v.PreviousTransactionsCount + v.PreviousVoidedCount}
}

// Breakdown divides the figures of a selection among the parts of a business. Its total is counted
// together with its rows, so they add up. The earlier period ends as in Comparison.
type Breakdown[T any] struct {
	Period
	Against *Period // the earlier period; nil: not compared
	Total   T
	Rows    []T
}

// LocationSales is the sales of a location.
type LocationSales struct {
	Whole bool    // the total
	ID    *int64  // nil: sales without a location
	Name  *string // likewise
	Sales
	Voids
	PreviousSpendCents int64
}

// VoidRates returns the rates of the range and of the earlier period.
func (l LocationSales) VoidRates() (now, then VoidRate) { return l.voidRates(l.TransactionsCount) }

// Locations returns the sales of each location, the highest spend first.
func (s *Service) Locations(ctx context.Context, by core.Actor, sel Selection) (Breakdown[LocationSales], error) {
	sel.Location = nil
	return breakdown(ctx, s, by, sel, locationsSQL, func(l LocationSales) bool { return l.Whole })
}

// StaffSales is what a person or a token recorded.
type StaffSales struct {
	Whole     bool // the total
	ActorKind core.ActorKind
	ActorID   string
	Name      string
	Sales
	Voids                    // of sales that they recorded, also if others voided them
	RedemptionsCount   int64 // zero with a location: redemptions don't record one
	PreviousSpendCents int64
}

// VoidRates returns the rates of the range and of the earlier period.
func (p StaffSales) VoidRates() (now, then VoidRate) { return p.voidRates(p.TransactionsCount) }

// Staff returns what each person and token recorded, the highest spend first.
func (s *Service) Staff(ctx context.Context, by core.Actor, sel Selection) (Breakdown[StaffSales], error) {
	return breakdown(ctx, s, by, sel, staffSQL, func(p StaffSales) bool { return p.Whole })
}

// breakdown runs a statement for a selection.
func breakdown[T any](ctx context.Context, s *Service, by core.Actor, sel Selection, sql string, isTotal func(T) bool) (Breakdown[T], error) {
	picked, err := s.resolveSelection(by, sel)
	if err != nil {
		return Breakdown[T]{}, err
	}
	t := picked.timetable(picked.step, picked.against, s.db.Now())
	rows, err := count[T](ctx, s, by, sql, t.at(picked.location))
	if err != nil {
		return Breakdown[T]{}, err
	}
	b := Breakdown[T]{Period: Period{picked.from, picked.to}, Against: t.against}
	for _, row := range rows {
		if isTotal(row) {
			b.Total = row
		} else {
			b.Rows = append(b.Rows, row)
		}
	}
	return b, nil
}

// Parts with nothing in them have no row.
const locationsSQL = daily.Spans + `
	select s.whole, nullif(s.location_id, 0) as id, l.name, s.transactions_count, s.spend_total_cents, s.points_awarded, s.stamps_awarded,
		s.voided_count, s.previous_transactions_count, s.previous_voided_count, s.previous_spend_cents
	from (
		select grouping(location_id) = 1 as whole, location_id,
			coalesce(sum(transactions) filter (where part = 1), 0)::bigint as transactions_count,
			least(coalesce(sum(spend) filter (where part = 1), 0), 9223372036854775807)::bigint as spend_total_cents,
			least(coalesce(sum(points) filter (where part = 1), 0), 9223372036854775807)::bigint as points_awarded,
			least(coalesce(sum(stamps) filter (where part = 1), 0), 9223372036854775807)::bigint as stamps_awarded,
			coalesce(sum(voided) filter (where part = 1), 0)::bigint as voided_count,
			coalesce(sum(transactions) filter (where part = 2), 0)::bigint as previous_transactions_count,
			coalesce(sum(voided) filter (where part = 2), 0)::bigint as previous_voided_count,
			least(coalesce(sum(spend) filter (where part = 2), 0), 9223372036854775807)::bigint as previous_spend_cents
		from (` + daily.SalesOfSpans + `
		) sold
		where part in (1, 2)
			and @location::bigint in (0, location_id)
		group by grouping sets ((), (location_id))
	) s
	left join loyalty.location l on l.tenant_id = @tenant_id and l.id = s.location_id
	order by whole desc, spend_total_cents desc, s.location_id = 0, s.location_id`

// A person who was renamed has one row, under the present name.
const staffSQL = daily.Spans + `
	select a.whole, a.actor_kind, a.actor_id, case when a.whole then '' else coalesce(p.name, a.recorded_name) end as name, a.transactions_count, a.spend_total_cents, a.points_awarded, a.stamps_awarded,
		a.voided_count, a.previous_transactions_count, a.previous_voided_count, a.previous_spend_cents, a.redemptions_count
	from (
		select grouping(actor_id) = 1 as whole, coalesce(actor_kind, '') as actor_kind, coalesce(actor_id, '') as actor_id, max(actor_name) as recorded_name,
			coalesce(sum(transactions) filter (where part = 1), 0)::bigint as transactions_count,
			least(coalesce(sum(spend) filter (where part = 1), 0), 9223372036854775807)::bigint as spend_total_cents,
			least(coalesce(sum(points) filter (where part = 1), 0), 9223372036854775807)::bigint as points_awarded,
			least(coalesce(sum(stamps) filter (where part = 1), 0), 9223372036854775807)::bigint as stamps_awarded,
			coalesce(sum(voided) filter (where part = 1), 0)::bigint as voided_count,
			coalesce(sum(transactions) filter (where part = 2), 0)::bigint as previous_transactions_count,
			coalesce(sum(voided) filter (where part = 2), 0)::bigint as previous_voided_count,
			coalesce(sum(redemptions) filter (where part = 1), 0)::bigint as redemptions_count,
			least(coalesce(sum(spend) filter (where part = 2), 0), 9223372036854775807)::bigint as previous_spend_cents
		from (` + daily.StaffOfSpans + `
		) recorded
		where part in (1, 2)
			and @location::bigint in (0, location_id)
		group by grouping sets ((), (actor_kind, actor_id))
		having grouping(actor_id) = 1
			or sum(transactions + voided + redemptions) > 0
	) a
	left join loyalty.staff p on a.actor_kind = 'staff' and p.tenant_id = @tenant_id and p.id::text = a.actor_id
	order by whole desc, spend_total_cents desc, transactions_count desc, name, a.actor_id`
