package daily

// Spans begins a statement that reads figures of spans of time. Its arguments are a zone and columns of one length: @parts, @periods and
// @buckets say what a span counts for, and @first_days and @last_days are its days. Of a day, @ends is an instant up to which it counts, and
// @starts one from which on; if sales do, @hours is the hour of that instant, for sales are kept by the hour. Of a span's customers, those count
// who didn't come since the day @since, which begins with @since_ids. Its bucket begins on the day @step_days. @counts says what counts of it
// (Counts). @midnights are when the days from @from_day on begin, and the one after them.
//
// Days that were counted and aren't marked are read together. All others are spans of their own: today is divided where it was counted up to. A
// piece is kept if it was counted and its day isn't marked. Of those that aren't, who came may be kept, and of those up to an instant, of which
// ms are the milliseconds after the day began. Figures of a piece with the sign -1 are taken off. Days come from arrays, of which a plan expects
// ten: of a series it expects a thousand.
const Spans = `
	with days as materialized (
		select first_day, last_day, ends_at, (ends_at at time zone @zone)::date - 1 as whole_day
		from loyalty.days_counted
		where tenant_id = @tenant_id
			and zone = @zone || '` + Form + `'
	), marked as materialized (
		select (m.at at time zone @zone)::date as day, bool_or(m.visits) as visits
		from days c
		join loyalty.day_mark m on m.tenant_id = @tenant_id and m.at < c.ends_at
		group by 1
	), given as materialized (
		select s.*, w.first_day as whole_from, w.last_day as whole_to
		from unnest(@parts::bigint[], @periods::bigint[], @buckets::bigint[], @first_days::date[], @last_days::date[], @hours::int[],
			@starts::timestamptz[], @ends::timestamptz[], @since::date[], @since_ids::uuid[], @step_days::date[], @counts::bigint[])
			as s (part, period, bucket, first_day, last_day, hour, starts, ends, since, since_id, step, counts)
		left join lateral (
			select greatest(s.first_day, c.first_day) as first_day, least(s.last_day, c.whole_day) as last_day
			from days c
			where s.counts = 0
		) w on w.first_day <= w.last_day
			and not exists (select from marked m where m.day between w.first_day and w.last_day)
	), piece as (
		select part, period, bucket, whole_from as first_day, whole_to as last_day, hour, since, since_id, step,
			(@midnights::timestamptz[])[whole_from - @from_day::date + 1] as starts, (@midnights::timestamptz[])[whole_to - @from_day::date + 2] as ends,
			true as kept, true as sales_kept, true as visits_kept, null::int as ms, 1 as sign
		from given
		where whole_from is not null
		union all
		select g.part, g.period, g.bucket, d.day, d.day, g.hour, g.since, g.since_id, g.step, p.starts, p.ends,
			case when g.counts in (0, 3, 4) then p.counted and g.ends is null and m.day is null end,
			case when g.counts in (0, 1) then p.counted and m.day is null end,
			case when g.counts in (0, 2) then p.counted and m.visits is not true end,
			case when g.starts is null and g.ends is not null then floor(extract(epoch from p.ends - p.starts) * 1000)::int end,
			case when g.counts = 4 then -1 else 1 end
		from given g
		cross join lateral (
			select g.first_day + n as day
			from unnest(array(select generate_series(0, g.last_day - g.first_day))) n
		) d
		left join days c on true
		cross join lateral (
			select coalesce(g.starts, (@midnights::timestamptz[])[d.day - @from_day::date + 1]) as starts,
				coalesce(g.ends, (@midnights::timestamptz[])[d.day - @from_day::date + 2]) as ends,
				coalesce(g.starts is null and d.day between c.first_day and c.last_day, false) as counted
		) s
		cross join lateral (
			select s.starts, least(s.ends, c.ends_at) as ends, true as counted
			where s.counted
			union all
			select case when s.counted then c.ends_at else s.starts end, s.ends, false
			where not s.counted
				or s.ends > c.ends_at
		) p
		left join marked m on m.day = d.day
		where coalesce(d.day not between g.whole_from and g.whole_to, true)
	), span as materialized (
		select *, @zone::text as zone, ` + firstIDOf + `starts` + firstIDEnd + ` as first_id, ` + firstIDOf + `ends` + firstIDEnd + ` as next_id
		from piece
	)`

// Counts says what counts of a span.
type Counts int64

// The values of @counts.
const (
	Everything Counts = 0
	Sales      Counts = 1 // which are kept by the hour
	Visits     Counts = 2
	Others     Counts = 3 // all other figures
	LessOthers Counts = 4 // these are taken off
)

// The first ID of an instant.
const (
	firstIDOf  = `(lpad(to_hex(floor(extract(epoch from `
	firstIDEnd = `) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`
)

// The figures of each span, kept or counted: part, period and bucket of the span, and then the columns of a table.
const (
	SalesOfSpans = ofSpans + salesFigures + kept + `day_sales d on d.tenant_id = @tenant_id and d.day between span.first_day and span.last_day
		where span.sales_kept
			and span.hour is null
		union all` + ofSpans + salesFigures + kept + `day_sales_hour d on d.tenant_id = @tenant_id and d.day = span.first_day and d.hour < span.hour
		where span.sales_kept
			and span.hour is not null
		union all` + ofSpans + salesFigures + each + sales + `
		) d
		where not span.sales_kept`

	salesFigures = `d.location_id, d.transactions, d.spend, d.points, d.stamps, d.voided, d.reversed, d.refunds, d.refunded, d.points_refunded`

	// SalesByHour are completed sales.
	SalesByHour = ofSpans + `d.day, d.hour, d.location_id, d.transactions, d.spend` + kept + `day_sales_hour d on d.tenant_id = @tenant_id and d.day between span.first_day and span.last_day
		where span.kept
			and d.transactions > 0
		union all` + ofSpans + `span.first_day, d.hour, d.location_id, d.transactions * span.sign, d.spend * span.sign` + each + sales + notKept + `
			and d.transactions > 0`

	// HoursOfSpans are those of SalesByHour, by type.
	HoursOfSpans = ofSpans + `d.hour, d.location_id, d.transaction_type_id, d.transactions, d.spend` + kept + `day_hour` + counted + `
			d.hour, d.location_id, d.transaction_type_id, d.transactions * span.sign, d.spend * span.sign` + each + sales + notKept + `
			and d.transactions > 0`

	StaffOfSpans = ofSpans + `d.location_id, d.actor_kind, d.actor_id, d.actor_name, d.transactions, d.spend, d.points, d.stamps, d.voided,
			d.redemptions` + kept + `day_staff` + counted + `
			d.location_id, d.actor_kind, d.actor_id, d.actor_name, d.transactions * span.sign, d.spend * span.sign, d.points * span.sign,
			d.stamps * span.sign, d.voided * span.sign, d.redemptions * span.sign` + each + staff + notKept

	RulesOfSpans = ofSpans + `d.location_id, d.unit, d.promotion_id, d.level_id, d.transactions, d.spend, d.issued, d.base, d.promotion,
			d.level, d.capped_sales, d.capped_off` + kept + `day_rule` + counted + `
			d.location_id, d.unit, d.promotion_id, d.level_id, d.transactions * span.sign, d.spend * span.sign, d.issued * span.sign,
			d.base * span.sign, d.promotion * span.sign, d.level * span.sign, d.capped_sales * span.sign, d.capped_off * span.sign` + each + rules + notKept

	RewardsOfSpans = ofSpans + `d.reward_id, d.by_voucher, d.redemptions, d.points, d.stamps, d.voided` + kept + `day_reward` + counted + `
			d.reward_id, d.by_voucher, d.redemptions * span.sign, d.points * span.sign, d.stamps * span.sign, d.voided * span.sign` + each + rewards + notKept

	CouponsOfSpans = ofSpans + `d.coupon_id, d.sent, d.redeemed, d.transactions, d.spend, d.discount, d.granted, d.unpriced,
			d.transactions_once, d.spend_once, d.again, d.again_spend, d.before_spend, d.again_once, d.again_spend_once, d.before_spend_once` + kept + `day_coupon` + counted + `
			d.coupon_id, d.sent * span.sign, d.redeemed * span.sign, d.transactions * span.sign, d.spend * span.sign, d.discount * span.sign,
			d.granted * span.sign, d.unpriced * span.sign, d.transactions_once * span.sign, d.spend_once * span.sign,
			d.again * span.sign, d.again_spend * span.sign, d.before_spend * span.sign, d.again_once * span.sign, d.again_spend_once * span.sign,
			d.before_spend_once * span.sign` + each + coupons + notKept

	// VouchersOfSpans are those of CouponsOfSpans that were redeemed.
	VouchersOfSpans = ofSpans + `d.redeemed` + kept + `day_coupon` + counted + `
			d.redeemed * span.sign` + each + vouchers + notKept

	FlowsOfSpans = ofSpans + `d.unit, d.kind, d.amount, d.below` + kept + `day_flow` + counted + `
			d.unit, d.kind, d.amount * span.sign, d.below * span.sign` + each + flows + notKept

	LevelChangesOfSpans = ofSpans + `d.to_level, d.reason, d.changes` + kept + `day_level` + counted + `
			d.to_level, d.reason, d.changes * span.sign` + each + levelChanges + notKept

	JoinedOfSpans = ofSpans + `d.customers` + kept + `day_joined` + counted + `
			d.customers * span.sign` + each + Joined + notKept

	ofSpans = `
		select span.part, span.period, span.bucket, `

	kept = `
		from span
		join loyalty.`

	counted = ` d on d.tenant_id = @tenant_id and d.day between span.first_day and span.last_day
		where span.kept
		union all` + ofSpans

	each = `
		from span
		cross join lateral (`

	notKept = `
		) d
		where not span.kept`
)

// VisitorsOfSpans are the customers of each span who didn't come since its day, at a @location or anywhere (0): part, customers. For spans of
// the same day that follow one another, they add up to how many different customers came.
const VisitorsOfSpans = `
		select span.part, sum(d.customers) as customers` + eachDay + `
		cross join lateral (` + notSince + `@location
		) d` + wholeDays + `
		group by span.part
		union all
		select span.part, sum(` + upToMS + `d.came_at))
		from span
		join loyalty.day_visit d on d.tenant_id = @tenant_id and d.day = span.first_day and d.location_id = @location and d.prior < span.since` + partsOfDays + `
		group by span.part
		union all
		select span.part, count(*)
		from (
			select *, @location::bigint as place
			from span
			where not visits_kept
		) span
		cross join lateral (` + visitors + `
		) v
		where v.prior_id is null
			or v.prior_id < span.since_id
		group by span.part`

// VisitsNotKept follows Spans in a statement that reads several figures of who came. The sales of a span that isn't kept are read once for
// all of them: how many customers came at a @location and anywhere (place 0), by the days of their visit before and of their first one. They
// are arrays, because PostgreSQL would join their rows one by one. The first visit is looked for if they didn't come earlier in the month, or if
// both sales before are of the same day; otherwise it isn't the one before, and the day is null.
const VisitsNotKept = `, visit as materialized (
		select span.first_id, span.next_id, span.place, c.*
		from (
			select distinct s.first_id, s.next_id, s.zone, date_trunc('month', s.first_day)::date as month, p.place
			from span s
			cross join unnest(array[0, @location::bigint]) p (place)
			where not s.visits_kept
		) span
		cross join lateral (
			select array_agg(prior) as prior, array_agg(first_day) as first_day, array_agg(customers) as customers
			from (
				select coalesce(v.prior, '-infinity') as prior, (loyalty.id_time(f.id) at time zone span.zone)::date as first_day, count(*) as customers
				from (
					select v.customer_id, (loyalty.id_time(v.prior_id) at time zone span.zone)::date as prior,
						(loyalty.id_time(v.earlier_id) at time zone span.zone)::date as earlier
					from (` + visitors + `
					) v
					offset 0
				) v
				left join lateral (
					select id
					from loyalty.transaction
					where tenant_id = @tenant_id
						and customer_id = v.customer_id
						and status = 'completed'
						and span.place in (0, location_id)
						and (v.prior >= span.month and v.earlier < v.prior) is not true
					order by id
					limit 1
				) f on true
				group by 1, 2
			) v
		) c
	)`

const (
	visitsAt = `
		from span
		join visit v on v.first_id = span.first_id and v.next_id = span.next_id and v.place = `

	eachVisit = `
		cross join lateral unnest(v.prior, v.first_day, v.customers) c (prior, first_day, customers)`

	visitsNotKept = eachVisit + `
		where not span.visits_kept`

	// A day is a column here: of what a condition computes itself from an outer row, PostgreSQL looks up nothing in the index of a table with a policy.
	eachDay = `
		from span
		cross join lateral unnest(array(select span.first_day + generate_series(0, span.last_day - span.first_day))) e (day)`

	wholeDays = `
		where span.visits_kept
			and span.ms is null`

	partsOfDays = `
		where span.visits_kept
			and span.ms is not null`

	// The customers of a day who hadn't come since the span's: all of them, less those who had, because those are fewer rows.
	notSince = `
			select sum(case when prior = 'infinity' then customers else -customers end) as customers
			from loyalty.day_visit
			where tenant_id = @tenant_id
				and day = e.day
				and prior >= span.since
				and location_id = `

	// How many of an array's milliseconds come before the end of a span.
	upToMS = `width_bucket(span.ms - 1, `
)

// AttendanceOfSpans are the customers of each span at a @location, or anywhere (0): on their first visit since its day (customers) and since
// its step (step_customers), on their first one of all (new), and on their second one of all, if that is another one since its day (second)
// or its step (step_second), and all (visits). So customers of spans of the same day that follow one another add up to how many different
// customers came. Of a day, few rows are read: from those of all its customers, those who had come since are taken off.
const AttendanceOfSpans = `
		select span.part, span.period, span.bucket, d.visits - coalesce(d.again, 0) as customers, d.visits - coalesce(d.step_again, 0) as step_customers,
			f.customers as new, d.second, d.step_second, d.visits` + eachDay + `
		cross join lateral (
			select sum(customers) filter (where prior = 'infinity') as visits, sum(customers) filter (where prior < 'infinity') as again,
				sum(customers) filter (where prior >= span.step and prior < 'infinity') as step_again,
				sum(second) filter (where prior < 'infinity') as second, sum(second) filter (where prior >= span.step and prior < 'infinity') as step_second
			from loyalty.day_visit
			where tenant_id = @tenant_id
				and location_id = @location
				and day = e.day
				and prior >= span.since
		) d
		cross join lateral (
			select sum(customers) as customers
			from loyalty.day_visit
			where tenant_id = @tenant_id
				and location_id = @location
				and day = e.day
				and prior = '-infinity'
		) f` + wholeDays + `
		union all
		select part, period, bucket, sum(customers) filter (where prior < since), sum(customers) filter (where prior < step),
			sum(customers) filter (where prior = '-infinity'), sum(second) filter (where prior >= since and prior < day),
			sum(second) filter (where prior >= step and prior < day), sum(customers) filter (where prior < day)
		from (
			select span.part, span.period, span.bucket, span.since, span.step, span.first_day as day, d.prior,
				` + upToMS + `d.came_at) as customers, ` + upToMS + `d.second_at) as second
			from span
			join loyalty.day_visit d on d.tenant_id = @tenant_id and d.day = span.first_day and d.location_id = @location and d.prior < 'infinity'` + partsOfDays + `
			union all
			select span.part, span.period, span.bucket, span.since, span.step, span.first_day, c.prior, c.customers,
				case when c.prior = c.first_day then c.customers else 0 end` + visitsAt + `@location` + visitsNotKept + `
		) part
		group by part, period, bucket`

// ReturnsOfSpans say how many customers came since a day of a span, anywhere, and had come before that day: as many as the rows of that day
// and of later ones add up to (part, day, customers). Each visit but the first adds one on its day, and takes one off the day of the visit before.
const ReturnsOfSpans = `
		select span.part, case when d.prior = 'infinity' then e.day else d.prior end as day,
			sum(case when d.prior = 'infinity' then d.customers else -d.customers end) as customers` + eachDay + `
		cross join lateral (
			select prior, customers
			from loyalty.day_visit
			where tenant_id = @tenant_id
				and location_id = 0
				and day = e.day
				and prior >= span.since
			offset 0
		) d` + wholeDays + `
		group by 1, 2
		union all
		select span.part, d.day, -d.customers
		from span
		join loyalty.day_visit d on d.tenant_id = @tenant_id and d.location_id = 0 and d.prior = '-infinity' and d.day between span.first_day and span.last_day` + wholeDays + `
		union all
		select span.part, k.day, k.sign * ` + upToMS + `d.came_at)
		from span
		join loyalty.day_visit d on d.tenant_id = @tenant_id and d.location_id = 0 and d.day = span.first_day and d.prior > '-infinity' and d.prior < 'infinity'
		cross join lateral (values (span.first_day, 1), (d.prior, -1)) k (day, sign)` + partsOfDays + `
		union all
		select span.part, k.day, k.sign * c.customers` + visitsAt + `0` + eachVisit + `
		cross join lateral (values (span.first_day, 1), (c.prior, -1)) k (day, sign)
		where not span.visits_kept
			and c.prior > '-infinity'`

// CohortsOfSpans are the customers of each span, anywhere, on their first visit of its month, by the month of their first visit of all.
const CohortsOfSpans = `
		select span.part, span.bucket, d.first_month, d.customers
		from span
		join loyalty.day_cohort d on d.tenant_id = @tenant_id and d.day between span.first_day and span.last_day
		where span.visits_kept
		union all
		select span.part, span.bucket, date_trunc('month', c.first_day)::date, c.customers` + visitsAt + `0` + visitsNotKept + `
			and c.prior < date_trunc('month', span.first_day)`

// FirstVisitsBefore is how many customers came for the first time, by day, of all days before @before, which begins with @before_id, by
// the clocks of a @zone: day, customers. It follows Spans. The sales of a marked day are among those of a day before it and after it.
const FirstVisitsBefore = `
	counted as (
		select coalesce(c.first_day, 'infinity') as first_day, coalesce(c.last_day, '-infinity') as last_day,
			least(coalesce(c.first_id, @before_id::uuid), @before_id::uuid) as first_id, coalesce(c.next_id, @before_id::uuid) as next_id
		from (values (@zone::text)) given (zone)
		left join loyalty.days_counted c on c.tenant_id = @tenant_id and c.zone = given.zone || '` + Form + `'
	), anew as materialized (
		select m.day, ` + firstIDOf + `(m.day - 1)::timestamp` + firstIDEnd + ` as first_id, ` + firstIDOf + `(m.day + 2)::timestamp` + firstIDEnd + ` as next_id
		from counted
		join marked m on m.visits and m.day between counted.first_day and counted.last_day
	), first_visit as materialized (
		select d.day, d.customers
		from counted
		join loyalty.day_visit d on d.tenant_id = @tenant_id and d.location_id = 0 and d.prior = '-infinity'
			and d.day between counted.first_day and counted.last_day and d.day < @before::date
		where not exists (select from anew where anew.day = d.day)
		union all
		select (f.created_at at time zone @zone)::date, count(*)
		from (
			select min(t.created_at) as created_at
			from counted
			join loyalty.transaction t on t.tenant_id = @tenant_id and t.id < counted.first_id and t.status = 'completed'
			group by t.customer_id
		) f
		group by 1
		union all
		select (t.created_at at time zone @zone)::date, count(*)
		from (
			select next_id as first_id, @before_id::uuid as next_id, null::date as day
			from counted
			union all
			select first_id, least(next_id, @before_id::uuid), day
			from anew
		) span
		join loyalty.transaction t on t.tenant_id = @tenant_id and t.id >= span.first_id and t.id < span.next_id and t.status = 'completed'
		where coalesce((t.created_at at time zone @zone)::date = span.day, true)
			and not exists (
				select
				from loyalty.transaction
				where tenant_id = @tenant_id
					and customer_id = t.customer_id
					and id < t.id
					and status = 'completed'
			)
		group by 1
	)`

// FlowsBefore is what changed balances before the day @before, which begins with @before_id, by the clocks of a @zone: unit, kind, amount,
// below, in several rows of each. FlowsBetween is that from the day @after on, which begins with @after_id. They follow "with". Of months that
// are kept, the days aren't read.
const (
	FlowsBefore = flowsAfter + `'-infinity'::date, '00000000-0000-0000-0000-000000000000'::uuid` + flowsUpTo

	FlowsBetween = flowsAfter + `@after::date, @after_id::uuid` + flowsUpTo

	flowsAfter = `
	done as (
		select greatest(coalesce(c.first_day, 'infinity'), given.after) as first_day, least(coalesce(c.last_day, '-infinity'), @before::date - 1) as last_day,
			given.after_id, least(coalesce(c.first_id, @before_id::uuid), @before_id::uuid) as first_id, coalesce(c.next_id, @before_id::uuid) as next_id
		from (values (@zone::text, `

	flowsUpTo = `)) given (zone, after, after_id)
		left join loyalty.days_counted c on c.tenant_id = @tenant_id and c.zone = given.zone || '` + Form + `'
	), month as materialized (
		select m.month, m.unit, m.kind, m.amount, m.below
		from done
		join loyalty.month_flow m on m.tenant_id = @tenant_id and m.month >= done.first_day and (m.month + interval '1 month')::date - 1 <= done.last_day
	), days_left as (
		select r.first_day, r.last_day
		from (
			select coalesce(lag(m.next) over (order by m.next), done.first_day) as first_day, m.month - 1 as last_day
			from done
			join (select distinct month, (month + interval '1 month')::date as next from month) m on true
			union all
			select coalesce((select max(month) + interval '1 month' from month)::date, done.first_day), done.last_day
			from done
		) r
		where r.first_day <= r.last_day
	), flow as materialized (
		select unit, kind, amount, below
		from month
		union all
		select d.unit, d.kind, d.amount, d.below
		from days_left l
		join loyalty.day_flow d on d.tenant_id = @tenant_id and d.day between l.first_day and l.last_day
		union all
		select c.unit, c.kind, c.amount, c.below
		from (
			select after_id as first_id, first_id as next_id
			from done
			union all
			select greatest(next_id, after_id), @before_id::uuid
			from done
		) span
		cross join lateral (` + flows + `
		) c
	)`
)
