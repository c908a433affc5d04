package report

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Summary is the figures of a range of days, in all and for each day.
type Summary struct {
	From time.Time // midnights in UTC, as in Range
	To   time.Time
	Figures
	ActiveCustomers int64 // with a completed sale
	Days            []Day
}

// Day is the figures of one day.
type Day struct {
	Date time.Time
	Figures
}

// Figures count sales, redemptions and customers by created_at, vouchers by redeemed_at. Like a void, a refund counts on the
// day of its sale. Refunds of sales that were voided since don't count.
type Figures struct {
	TransactionsCount    int64 // completed
	VoidedCount          int64
	SpendTotalCents      int64 // of completed sales before refunds, like both awards
	PointsAwarded        int64
	StampsAwarded        int64
	PointsReversed       int64 // awards of voided sales
	PointsRedeemed       int64 // by redemptions that are not voided
	RedemptionsCount     int64
	VouchersRedeemed     int64
	NewCustomers         int64
	PointsExpired        int64 // when that was posted, like what was returned
	PointsExpiryReturned int64 // before an award that had expired was taken back
	PointsRefunded       int64 // taken back by refunds of completed sales
	RefundsCount         int64
	RefundedTotalCents   int64
	NetSpendTotalCents   int64 // the spend less what was refunded
}

// IsQuiet reports whether nothing was done: points expire by themselves.
func (f Figures) IsQuiet() bool {
	f.PointsExpired = 0
	return f == (Figures{})
}

// Summary returns the summary of a range.
func (s *Service) Summary(ctx context.Context, by core.Actor, r Range) (Summary, error) {
	picked, err := s.resolve(by, r)
	if err != nil {
		return Summary{}, err
	}
	dates := picked.dates()
	instants, ids := picked.bounds()
	rows, err := count[summaryRow](ctx, s, by, summarySQL, db.Args{
		"starts": instants[:len(dates)], "ends": instants[1:], "first_ids": ids[:len(dates)], "next_ids": ids[1:],
		"first_id": ids[0], "next_id": ids[len(dates)],
	})
	if err != nil {
		return Summary{}, err
	}
	total := rows[0]
	sum := Summary{From: picked.from, To: picked.to, Figures: total.Figures, ActiveCustomers: total.ActiveCustomers}
	for i, date := range dates {
		sum.Days = append(sum.Days, Day{Date: date, Figures: rows[1+i].Figures})
	}
	return sum, nil
}

type summaryRow struct {
	Figures
	ActiveCustomers int64 // of the whole range
}

// lostInSpans are the sums of what ended and what was refunded.
const lostInSpans = `
		least(coalesce(sum(ended.expired), 0), 9223372036854775807)::bigint as points_expired,
		least(coalesce(sum(ended.returned), 0), 9223372036854775807)::bigint as points_expiry_returned,
		least(coalesce(sum(refunded.points), 0), 9223372036854775807)::bigint as points_refunded,
		sum(refunded.refunds)::bigint as refunds_count,
		least(coalesce(sum(refunded.spend), 0), 9223372036854775807)::bigint as refunded_total_cents,
		least(coalesce(sum(sold.spend), 0) - coalesce(sum(refunded.spend), 0), 9223372036854775807)::bigint as net_spend_total_cents`

// The first row is the whole range, then comes each day. Sums of bigints are numeric and saturate, so that
// no record can break a report.
//
// Counting each day between two IDs costs half of grouping all sales by day. Completed sales, voided sales
// and active customers are each read from an index alone.
const summarySQL = `
	select sum(sold.transactions)::bigint as transactions_count,
		sum(voided.transactions)::bigint as voided_count,
		least(coalesce(sum(sold.spend), 0), 9223372036854775807)::bigint as spend_total_cents,
		least(coalesce(sum(sold.points), 0), 9223372036854775807)::bigint as points_awarded,
		least(coalesce(sum(sold.stamps), 0), 9223372036854775807)::bigint as stamps_awarded,
		least(coalesce(sum(voided.points), 0), 9223372036854775807)::bigint as points_reversed,
		least(coalesce(sum(redeemed.points), 0), 9223372036854775807)::bigint as points_redeemed,
		sum(redeemed.redemptions)::bigint as redemptions_count,
		sum(used.vouchers)::bigint as vouchers_redeemed,
		sum(joined.customers)::bigint as new_customers,` + lostInSpans + `,
		(
			select count(distinct customer_id)
			from loyalty.transaction
			where tenant_id = @tenant_id
				and id >= @first_id
				and id < @next_id
				and status = 'completed'
		) as active_customers
	from unnest(@starts::timestamptz[], @ends::timestamptz[], @first_ids::uuid[], @next_ids::uuid[])
		with ordinality as span (starts, ends, first_id, next_id, number)` + figuresOfSpan + `
	group by rollup (span.number)
	order by span.number nulls first`

// figuresOfSpan counts the figures of a span of time, which has starts, ends, first_id and next_id.
const figuresOfSpan = `
	cross join lateral (
		select count(*) as transactions, sum(spend_amount_cents) as spend, sum(points_awarded) as points, sum(stamps_awarded) as stamps
		from loyalty.transaction
		where tenant_id = @tenant_id
			and id >= span.first_id
			and id < span.next_id
			and status = 'completed'
	) sold
	cross join lateral (
		select count(*) as transactions, sum(points_awarded) as points
		from loyalty.transaction
		where tenant_id = @tenant_id
			and id >= span.first_id
			and id < span.next_id
			and status = 'voided'
	) voided
	cross join lateral (
		select count(*) as redemptions, sum(points_spent) as points
		from loyalty.redemption
		where tenant_id = @tenant_id
			and id >= span.first_id
			and id < span.next_id
			and status <> 'voided'
	) redeemed
	cross join lateral (
		select count(*) as vouchers
		from loyalty.voucher
		where tenant_id = @tenant_id
			and redeemed_at >= span.starts
			and redeemed_at < span.ends
			and status = 'redeemed'
	) used` + joinedInSpan + `
	cross join lateral (
		select -sum(amount) filter (where kind = 'expiry') as expired, sum(amount) filter (where kind = 'expiry_return') as returned
		from loyalty.ledger_entry
		where tenant_id = @tenant_id
			and id >= span.first_id
			and id < span.next_id
			and kind in ('expiry', 'expiry_return')
			and unit = 'points'
	) ended
	cross join lateral (
		select count(*) as refunds, sum(r.amount_cents) as spend, sum(r.points) as points
		from loyalty.refund r
		join loyalty.transaction t on t.tenant_id = r.tenant_id and t.id = r.transaction_id
		where r.tenant_id = @tenant_id
			and r.transaction_id >= span.first_id
			and r.transaction_id < span.next_id
			and t.status = 'completed'
	) refunded`

// joinedInSpan counts the new customers of a span, by an index that has them alone. Customers who were merged into
// another and imported ones aren't new.
const joinedInSpan = `
	cross join lateral (
		select count(*) as customers
		from loyalty.customer
		where tenant_id = @tenant_id
			and created_at >= span.starts
			and created_at < span.ends
			and merged_into is null
			and imported_at is null
	) joined`
