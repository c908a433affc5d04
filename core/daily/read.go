package daily

// Spans begins a statement that reads figures of spans of time. Its arguments are a zone and columns of one length: @parts, @periods and
// @buckets say what a span counts for, @days is its day, null for a part of a day, and @starts, @ends, @first_ids and @next_ids bound it.
// Of its customers, those count who didn't come since the day @since, which begins with @since_ids.
//
// A span is kept if its day was counted and isn't marked. Of those that aren't, who came may be kept.
const Spans = `
	with span as materialized (
		select s.*, @zone::text as zone, s.day between c.first_day and c.last_day and m.at is null as kept,
			s.day between c.first_day and c.last_day and m.visits is not true as visits_kept
		from unnest(@parts::bigint[], @periods::bigint[], @buckets::bigint[], @days::date[], @starts::timestamptz[], @ends::timestamptz[],
			@first_ids::uuid[], @next_ids::uuid[], @since::date[], @since_ids::uuid[]) as s (part, period, bucket, day, starts, ends, first_id, next_id, since, since_id)
		left join loyalty.days_counted c on c.tenant_id = @tenant_id and c.zone = @zone
		left join lateral (
			select min(at) as at, bool_or(visits) as visits
			from loyalty.day_mark
			where tenant_id = @tenant_id
				and at >= s.starts
				and at < s.ends
		) m on true
	)`

// The figures of each span, kept or counted: part, period and bucket of the span, and then the columns of a table.
const (
	SalesOfSpans = ofSpans + `d.location_id, d.transaction_type_id, d.source, d.transactions, d.spend, d.points, d.stamps, d.voided, d.reversed,
			d.refunds, d.refunded, d.points_refunded` + kept + `day_sales` + counted + sales + notKept

	HoursOfSpans = ofSpans + `d.hour, d.location_id, d.transaction_type_id, d.transactions, d.spend` + kept + `day_hour` + counted + hours + notKept

	StaffOfSpans = ofSpans + `d.location_id, d.actor_kind, d.actor_id, d.actor_name, d.transactions, d.spend, d.points, d.stamps, d.voided,
			d.redemptions` + kept + `day_staff` + counted + staff + notKept

	RulesOfSpans = ofSpans + `d.location_id, d.unit, d.promotion_id, d.level_id, d.transactions, d.spend, d.issued, d.base, d.promotion, d.level,
			d.capped_sales, d.capped_off` + kept + `day_rule` + counted + rules + notKept

	RewardsOfSpans = ofSpans + `d.reward_id, d.by_voucher, d.redemptions, d.points, d.stamps, d.voided` + kept + `day_reward` + counted + rewards + notKept

	CouponsOfSpans = ofSpans + `d.coupon_id, d.sent, d.redeemed, d.transactions, d.spend, d.discount, d.granted, d.unpriced, d.transactions_once,
			d.spend_once` + kept + `day_coupon` + counted + coupons + notKept

	// VouchersOfSpans are those of CouponsOfSpans that were redeemed.
	VouchersOfSpans = ofSpans + `d.redeemed` + kept + `day_coupon` + counted + vouchers + notKept

	// Entries are never changed, so a mark doesn't matter.
	FlowsOfSpans = ofSpans + `d.unit, d.kind, d.amount, d.below` + kept + `day_flow` + counted + flows + notKept

	JoinedOfSpans = ofSpans + `d.customers` + kept + `day_joined` + counted + joined + notKept

	ofSpans = `
		select span.part, span.period, span.bucket, `

	kept = `
		from span
		join loyalty.`

	counted = ` d on d.tenant_id = @tenant_id and d.day = span.day
		where span.kept
		union all
		select span.part, span.period, span.bucket, c.*
		from span
		cross join lateral (`

	notKept = `
		) c
		where span.kept is not true`
)

// VisitorsOfSpans are the customers of each span who didn't come since its day, and the new ones among them, who never came before: at a
// @location, or anywhere (0). For spans of the same day that follow one another, they add up to how many different customers came.
const VisitorsOfSpans = `
		select span.part, span.period, span.bucket, sum(d.customers) as customers, sum(d.customers) filter (where d.prior = '-infinity') as new
		from span
		join loyalty.day_visit d on d.tenant_id = @tenant_id and d.day = span.day and d.location_id = @location and d.prior < span.since
		where span.visits_kept
		group by span.part, span.period, span.bucket
		union all` + countedVisitors + visitors + came + `
			and @location::bigint = 0
		group by span.part, span.period, span.bucket
		union all` + countedVisitors + visitorsOfLocations + came + `
			and v.location_id = @location
		group by span.part, span.period, span.bucket`

const (
	countedVisitors = `
		select span.part, span.period, span.bucket, count(*), count(*) filter (where v.prior_id is null)
		from span
		cross join lateral (`

	came = `
		) v
		where span.visits_kept is not true
			and (v.prior_id is null or v.prior_id < span.since_id)`
)

// FlowsBefore is what changed balances before the day @before, which begins with @before_id, by the clocks of a @zone: unit, amount, below. It
// follows "with".
const FlowsBefore = `
	done as (
		select coalesce(c.first_day, 'infinity') as first_day, coalesce(c.last_day, '-infinity') as last_day,
			least(coalesce(c.first_id, @before_id::uuid), @before_id::uuid) as first_id, coalesce(c.next_id, @before_id::uuid) as next_id
		from (values (@zone::text)) given (zone)
		left join loyalty.days_counted c on c.tenant_id = @tenant_id and c.zone = given.zone
	), flow as materialized (
		select d.unit, d.amount, d.below
		from done
		join loyalty.day_flow d on d.tenant_id = @tenant_id and d.day between done.first_day and done.last_day and d.day < @before::date
		union all
		select c.unit, c.amount, c.below
		from (
			select '00000000-0000-0000-0000-000000000000'::uuid as first_id, first_id as next_id
			from done
			union all
			select next_id, @before_id::uuid
			from done
		) span
		cross join lateral (` + flows + `
		) c
	)`
