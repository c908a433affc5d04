package daily

// The statements that keep a day that is over.
var keeps = []string{
	keepSalesSQL, keepHoursSQL, keepVisitsSQL, keepStaffSQL, keepRulesSQL, keepRewardsSQL,
	keepCouponsSQL, keepFlowsSQL, keepLevelChangesSQL, keepJoinedSQL,
}

const (
	ofDay = `
	from (
		select @first_id::uuid as first_id, @next_id::uuid as next_id, @starts::timestamptz as starts, @ends::timestamptz as ends, @zone::text as zone
	) span
	cross join lateral (`

	keepSalesSQL = `
	with c as materialized (
		select c.*` + ofDay + sales + `
		) c
	), hours as (
		insert into loyalty.day_sales_hour (tenant_id, day, hour, location_id, transactions, spend, points, stamps, voided, reversed, refunds, refunded,
			points_refunded)
		select @tenant_id, @day::date, c.*
		from c
	)
	insert into loyalty.day_sales (tenant_id, day, location_id, transactions, spend, points, stamps, voided, reversed, refunds, refunded, points_refunded)
	select @tenant_id, @day::date, location_id, sum(transactions), least(sum(spend), 9223372036854775807), least(sum(points), 9223372036854775807),
		least(sum(stamps), 9223372036854775807), sum(voided), least(sum(reversed), 9223372036854775807), sum(refunds),
		least(sum(refunded), 9223372036854775807), least(sum(points_refunded), 9223372036854775807)
	from c
	group by location_id`

	keepHoursSQL = `
	insert into loyalty.day_hour (tenant_id, day, hour, location_id, transaction_type_id, transactions, spend)
	select @tenant_id, @day::date, c.*` + ofDay + hours + `
	) c`

	// Each customer's sale before, and the first one of all, are found once for both tables. Of a location they are mostly the same, and
	// looked for only if they aren't. The row with prior infinity has all customers of the day.
	keepVisitsSQL = `
	with anywhere as materialized (
		select v.customer_id, v.places, v.first_ids, v.first_id, loyalty.id_time(v.first_id) as at,
			p.location_id as prior_place, p.id as prior_id, (loyalty.id_time(p.id) at time zone @zone)::date as prior,
			f.location_id as ever_place, (loyalty.id_time(coalesce(f.id, v.first_id)) at time zone @zone)::date as ever
		from (
			select customer_id, min(first_id::text collate "C")::uuid as first_id, array_agg(location_id) as places, array_agg(first_id) as first_ids
			from (
				select c.*` + ofDay + `
					select customer_id, location_id, min(id::text collate "C")::uuid as first_id
					from loyalty.transaction
					where tenant_id = @tenant_id
						and id >= span.first_id
						and id < span.next_id
						and status = 'completed'
					group by customer_id, location_id
				) c
			) sold
			group by customer_id
		) v
		left join lateral (
			select id, location_id
			from loyalty.transaction
			where tenant_id = @tenant_id
				and customer_id = v.customer_id
				and id < @first_id
				and status = 'completed'
			order by id desc
			limit 1
		) p on true
		left join lateral (
			select id, location_id
			from loyalty.transaction
			where tenant_id = @tenant_id
				and customer_id = v.customer_id
				and p.id is not null
				and status = 'completed'
			order by id
			limit 1
		) f on true
	), here as materialized (
		select s.location_id, a.customer_id, a.ever_place, a.ever,
			case when s.first_id = a.first_id then a.at else loyalty.id_time(s.first_id) end as at,
			case
				when a.prior_place = s.location_id then a.prior
				when a.prior_id is not null then (
					select (loyalty.id_time(id) at time zone @zone)::date
					from loyalty.transaction
					where tenant_id = @tenant_id
						and customer_id = a.customer_id
						and id < @first_id
						and status = 'completed'
						and location_id = s.location_id
					order by id desc
					limit 1
				)
			end as prior
		from anywhere a
		cross join lateral unnest(a.places, a.first_ids) s (location_id, first_id)
		where s.location_id is not null
	), came as materialized (
		select location_id, (extract(epoch from at - @starts::timestamptz) * 1000)::int as ms, coalesce(prior, '-infinity') as prior,
			coalesce(prior = ever, false) as is_second
		from (
			select 0 as location_id, at, prior, ever
			from anywhere
			union all
			select location_id, at, prior,
				case
					when ever_place = location_id then ever
					when prior is not null then (
						select (loyalty.id_time(id) at time zone @zone)::date
						from loyalty.transaction
						where tenant_id = @tenant_id
							and customer_id = here.customer_id
							and status = 'completed'
							and location_id = here.location_id
						order by id
						limit 1
					)
				end
			from here
		) v
	), visits as materialized (
		select location_id, prior, count(*) as customers, count(*) filter (where is_second) as second, array_agg(ms order by ms) as came_at,
			coalesce(array_agg(ms order by ms) filter (where is_second), '{}') as second_at
		from came
		group by location_id, prior
	), cohorts as (
		insert into loyalty.day_cohort (tenant_id, day, first_month, customers)
		select @tenant_id, @day::date, date_trunc('month', ever)::date, count(*)
		from anywhere
		where coalesce(prior, '-infinity') < date_trunc('month', @day::date::timestamp)
		group by 3
	)
	insert into loyalty.day_visit (tenant_id, day, location_id, prior, customers, second, came_at, second_at)
	select @tenant_id, @day::date, location_id, prior, customers, second, came_at, second_at
	from visits
	union all
	select @tenant_id, @day, location_id, 'infinity', sum(customers), sum(second), '{}', '{}'
	from visits
	group by location_id`

	keepStaffSQL = `
	insert into loyalty.day_staff (tenant_id, day, location_id, actor_kind, actor_id, actor_name, transactions, spend, points, stamps, voided, redemptions)
	select @tenant_id, @day::date, c.*` + ofDay + staff + `
	) c`

	keepRulesSQL = `
	insert into loyalty.day_rule (tenant_id, day, location_id, unit, promotion_id, level_id, transactions, spend, issued, base, promotion, level,
		capped_sales, capped_off)
	select @tenant_id, @day::date, c.*` + ofDay + rules + `
	) c`

	keepRewardsSQL = `
	insert into loyalty.day_reward (tenant_id, day, reward_id, by_voucher, redemptions, points, stamps, voided)
	select @tenant_id, @day::date, c.*` + ofDay + rewards + `
	) c`

	keepCouponsSQL = `
	insert into loyalty.day_coupon (tenant_id, day, coupon_id, sent, redeemed, transactions, spend, discount, granted, unpriced, transactions_once,
		spend_once)
	select @tenant_id, @day::date, c.*` + ofDay + coupons + `
	) c`

	keepFlowsSQL = `
	insert into loyalty.day_flow (tenant_id, day, unit, kind, amount, below)
	select @tenant_id, @day::date, c.*` + ofDay + flows + `
	) c`

	// A month is kept when each day of it is counted: from @first_day to the one before @next_day. Days without records aren't counted one by
	// one, so with a day the months up to that of the next one that was counted may be complete.
	keepMonthsSQL = `
	insert into loyalty.month_flow (tenant_id, month, unit, kind, amount, below)
	select @tenant_id, m.month, f.unit, f.kind, sum(f.amount), sum(f.below)
	from (
		select month::date as month, (month + interval '1 month')::date as next
		from generate_series(date_trunc('month', @day::date::timestamp), @up_to::date, interval '1 month') month
	) m
	join loyalty.day_flow f on f.tenant_id = @tenant_id and f.day >= m.month and f.day < m.next
	where m.month >= coalesce(@first_day::date, '-infinity')
		and m.next <= @next_day::date
	group by m.month, f.unit, f.kind
	on conflict do nothing`

	keepLevelChangesSQL = `
	insert into loyalty.day_level (tenant_id, day, to_level, reason, changes)
	select @tenant_id, @day::date, c.*` + ofDay + levelChanges + `
	) c`

	keepJoinedSQL = `
	insert into loyalty.day_joined (tenant_id, day, customers)
	select @tenant_id, @day::date, c.*` + ofDay + Joined + `
	) c
	where c.customers > 0`
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
