package daily

// The statements that keep a day that is over, but for who came on it. Each insert returns its rows: a distributed database would copy those of
// one that doesn't to their node, which policies refuse (docs/scale.md).
var keeps = []string{
	keepSalesSQL, keepStaffSQL, keepRulesSQL, keepRewardsSQL,
	keepCouponsSQL, keepFlowsSQL, keepLevelChangesSQL, keepJoinedSQL,
}

const (
	// PostgreSQL expects one sale in a range of IDs that it knows, and would sort all of them. Of one that it doesn't, it expects many.
	ofDay = `
	from (
		select @first_id::uuid as first_id, @next_id::uuid as next_id, @starts::timestamptz as starts, @ends::timestamptz as ends, @zone::text as zone
		offset 0
	) span
	cross join lateral (`

	keepSalesSQL = `
	with c as materialized (
		select c.*` + ofDay + sales + `
		) c
	), types as (
		insert into loyalty.day_hour (tenant_id, day, hour, location_id, transaction_type_id, transactions, spend)
		select @tenant_id, @day::date, hour, location_id, transaction_type_id, transactions, spend
		from c
		where transactions > 0
		returning 1
	), hours as (
		insert into loyalty.day_sales_hour (tenant_id, day, hour, location_id, transactions, spend, points, stamps, voided, reversed, refunds, refunded,
			points_refunded)
		select @tenant_id, @day::date, hour, location_id` + salesOfAll + `
		group by hour, location_id
		returning 1
	)
	insert into loyalty.day_sales (tenant_id, day, location_id, transactions, spend, points, stamps, voided, reversed, refunds, refunded, points_refunded)
	select @tenant_id, @day::date, location_id` + salesOfAll + `
	group by location_id
	returning 1`

	salesOfAll = `, sum(transactions), least(sum(spend), 9223372036854775807), least(sum(points), 9223372036854775807),
			least(sum(stamps), 9223372036854775807), sum(voided), least(sum(reversed), 9223372036854775807), sum(refunds),
			least(sum(refunded), 9223372036854775807), least(sum(points_refunded), 9223372036854775807)
		from c`

	// Of a customer, the last four sales before the day say most: who comes again mostly came lately, and at the same location. Others are looked
	// for only if these don't tell. Of an index, PostgreSQL reads all of a page that its condition selects, even for one row, so sales of four
	// weeks are read faster than those of a year. One customer's sales are read after the other's, in the order of the index, so that what one look
	// reads is near for the next. Customers have a row for each location, the first of which (nth) also counts anywhere. The row with prior infinity
	// has all customers of the day.
	keepVisitsSQL = `
	with sold as materialized (
		select location_id, ms, nth, prior, ever, prior_here,
			case
				when not more then prior_here = oldest_here
				when prior_here is not null and (oldest_here < prior_here) is not true then (
					select true
					from loyalty.transaction
					where tenant_id = @tenant_id
						and customer_id = d.customer_id
						and id < d.prior_here_id
						and status = 'completed'
						and location_id = d.location_id
					order by id desc
					limit 1
				) is null
			end as second_here
		from (
			select d.*, (@day_ids::uuid[])[prior_here - @from_day::date + 1] as prior_here_id
			from (
				select customer_id, location_id, ms, nth, prior, more, ` + dayOf + `ids[here[cardinality(here)]]` + dayEnd + ` as oldest_here,
					case
						when not more then oldest
						when prior < date_trunc('month', @day::date::timestamp) or oldest = prior then (
							select ` + dayOf + `id` + dayEnd + `
							from loyalty.transaction
							where tenant_id = @tenant_id
								and customer_id = c.customer_id
								and status = 'completed'
							order by id
							limit 1
						)
					end as ever,
					case
						when here <> '{}' then ` + dayOf + `ids[here[1]]` + dayEnd + `
						when more and location_id is not null then (
							select ` + dayOf + `id` + dayEnd + `
							from loyalty.transaction
							where tenant_id = @tenant_id
								and customer_id = c.customer_id
								and id < c.oldest_id
								and status = 'completed'
								and location_id = c.location_id
							order by id desc
							limit 1
						)
					end as prior_here
				from (
					select s.customer_id, s.location_id, s.ms, s.nth, b.ids, b.more, array_positions(b.places, s.location_id) as here,
						b.ids[cardinality(b.ids)] as oldest_id,
						` + dayOf + `b.ids[1]` + dayEnd + ` as prior, ` + dayOf + `b.ids[cardinality(b.ids)]` + dayEnd + ` as oldest
					from (
						select customer_id, location_id, (date_part('epoch', min(created_at) - @starts::timestamptz) * 1000)::int as ms,
							row_number() over (partition by customer_id order by min(created_at)) as nth
						from loyalty.transaction
						where tenant_id = @tenant_id
							and id >= @first_id
							and id < @next_id
							and status = 'completed'
						group by customer_id, location_id
						order by customer_id
					) s
					cross join lateral (
						select array_agg(id) as ids, array_agg(location_id) as places, true as more` + salesBefore + `
								and id >= (select @lately_id::uuid)` + lastFour + `
						having count(*) > 1
						union all
						select array_agg(id), array_agg(location_id), count(*) = 4` + salesBefore + lastFour + `
						limit 1
					) b
					offset 0
				) c
				offset 0
			) d
			offset 0
		) d
	), visits as materialized (
		select location_id, prior, customers, second, array(select unnest(came_at) order by 1) as came_at, array(select unnest(second_at) order by 1) as second_at
		from (
			select location_id, coalesce(prior, '-infinity') as prior, count(*) as customers, count(*) filter (where is_second) as second,
				array_agg(ms) as came_at, array_agg(ms) filter (where is_second) as second_at
			from (
				select 0 as location_id, ms, prior, prior = ever as is_second
				from sold
				where nth = 1
				union all
				select location_id, ms, prior_here, second_here
				from sold
				where location_id is not null
			) came
			group by 1, 2
		) v
	), cohorts as (
		insert into loyalty.day_cohort (tenant_id, day, first_month, customers)
		select @tenant_id, @day::date, date_trunc('month', coalesce(ever, @day::date))::date, count(*)
		from sold
		where nth = 1
			and coalesce(prior, '-infinity') < date_trunc('month', @day::date::timestamp)
		group by 3
		returning 1
	)
	insert into loyalty.day_visit (tenant_id, day, location_id, prior, customers, second, came_at, second_at)
	select @tenant_id, @day::date, location_id, prior, customers, second, came_at, second_at
	from visits
	union all
	select @tenant_id, @day, location_id, 'infinity', sum(customers), sum(second), '{}', '{}'
	from visits
	group by location_id
	returning 1`

	// PostgreSQL looks through the sales of all customers in a range of IDs, for each customer, if it knows the range and expects few in it, as of a
	// new business. Of a range from subqueries it expects many.
	salesBefore = `
			from (
				select id, location_id
				from loyalty.transaction
				where tenant_id = @tenant_id
					and customer_id = s.customer_id
					and id < (select @first_id::uuid)
					and status = 'completed'`

	lastFour = `
				order by id desc
				limit 4
			) sale`

	// The day of an earlier sale: that of the last ID of @day_ids which isn't after the sale's. These are the first IDs of all days from @from_day on.
	dayOf  = `@from_day::date - 1 + width_bucket(`
	dayEnd = `, @day_ids::uuid[])`

	keepStaffSQL = `
	insert into loyalty.day_staff (tenant_id, day, location_id, actor_kind, actor_id, actor_name, transactions, spend, points, stamps, voided, redemptions)
	select @tenant_id, @day::date, c.*` + ofDay + staff + `
	) c
	returning 1`

	keepRulesSQL = `
	insert into loyalty.day_rule (tenant_id, day, location_id, unit, promotion_id, level_id, transactions, spend, issued, base, promotion, level,
		capped_sales, capped_off)
	select @tenant_id, @day::date, c.*` + ofDay + rules + `
	) c
	returning 1`

	keepRewardsSQL = `
	insert into loyalty.day_reward (tenant_id, day, reward_id, by_voucher, redemptions, points, stamps, voided)
	select @tenant_id, @day::date, c.*` + ofDay + rewards + `
	) c
	returning 1`

	keepCouponsSQL = `
	insert into loyalty.day_coupon (tenant_id, day, coupon_id, sent, redeemed, transactions, spend, discount, granted, unpriced, transactions_once,
		spend_once, again, again_spend, before_spend, again_once, again_spend_once, before_spend_once)
	select @tenant_id, @day::date, c.*` + ofDay + coupons + `
	) c
	returning 1`

	keepFlowsSQL = `
	insert into loyalty.day_flow (tenant_id, day, unit, kind, amount, below)
	select @tenant_id, @day::date, c.*` + ofDay + flows + `
	) c
	returning 1`

	// A month is kept when each day of it is counted: from @first_day to the one before @next_day. Days without records aren't counted one by
	// one, so with a day the months up to that of the next one that was counted may be complete.
	keepMonthsSQL = `
	insert into loyalty.month_flow (tenant_id, month, unit, kind, amount, below)
	select @tenant_id, m.month, f.unit, f.kind, sum(f.amount), sum(f.below)
	from (
		select month::date as month, (month + interval '1 month')::date as next
		from generate_series(date_trunc('month', @day::date::timestamp), @up_to::date, interval '1 month') month
		offset 0
	) m
	join loyalty.day_flow f on f.tenant_id = @tenant_id and f.day >= m.month and f.day < m.next
	where m.month >= coalesce(@first_day::date, '-infinity')
		and m.next <= @next_day::date
	group by m.month, f.unit, f.kind
	on conflict do nothing
	returning 1`

	keepLevelChangesSQL = `
	insert into loyalty.day_level (tenant_id, day, to_level, reason, changes)
	select @tenant_id, @day::date, c.*` + ofDay + levelChanges + `
	) c
	returning 1`

	keepJoinedSQL = `
	insert into loyalty.day_joined (tenant_id, day, customers)
	select @tenant_id, @day::date, c.*` + ofDay + Joined + `
	) c
	where c.customers > 0
	returning 1`
)

// Figures of days are dropped before they are counted anew.
const dropSQL = `
	with sales as (
		delete from loyalty.day_sales
		where tenant_id = @tenant_id
			and day between @first and @last
	), sales_hours as (
		delete from loyalty.day_sales_hour
		where tenant_id = @tenant_id
			and day between @first and @last
	), hours as (
		delete from loyalty.day_hour
		where tenant_id = @tenant_id
			and day between @first and @last
	), visits as (
		delete from loyalty.day_visit
		where tenant_id = @tenant_id
			and day between @first and @last
	), cohorts as (
		delete from loyalty.day_cohort
		where tenant_id = @tenant_id
			and day between @first and @last
	), staff as (
		delete from loyalty.day_staff
		where tenant_id = @tenant_id
			and day between @first and @last
	), rules as (
		delete from loyalty.day_rule
		where tenant_id = @tenant_id
			and day between @first and @last
	), rewards as (
		delete from loyalty.day_reward
		where tenant_id = @tenant_id
			and day between @first and @last
	), coupons as (
		delete from loyalty.day_coupon
		where tenant_id = @tenant_id
			and day between @first and @last
	), flows as (
		delete from loyalty.day_flow
		where tenant_id = @tenant_id
			and day between @first and @last
	), months as (
		delete from loyalty.month_flow
		where tenant_id = @tenant_id
			and month between date_trunc('month', @first::date::timestamp)::date and @last
	), levels as (
		delete from loyalty.day_level
		where tenant_id = @tenant_id
			and day between @first and @last
	), joined as (
		delete from loyalty.day_joined
		where tenant_id = @tenant_id
			and day between @first and @last
	)
	select`
