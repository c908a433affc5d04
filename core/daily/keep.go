package daily

// The statements that keep a day that is over.
var keeps = []string{
	keepSalesSQL, keepHoursSQL, keepVisitsSQL, keepStaffSQL, keepRulesSQL, keepRewardsSQL,
	keepCouponsSQL, keepFlowsSQL, keepJoinedSQL,
}

const (
	ofDay = `
	from (
		select @first_id::uuid as first_id, @next_id::uuid as next_id, @starts::timestamptz as starts, @ends::timestamptz as ends, @zone::text as zone
	) span
	cross join lateral (`

	keepSalesSQL = `
	insert into loyalty.day_sales (tenant_id, day, location_id, transactions, spend, points, stamps, voided, reversed, refunds, refunded, points_refunded)
	select @tenant_id, @day::date, c.*` + ofDay + sales + `
	) c`

	keepHoursSQL = `
	insert into loyalty.day_hour (tenant_id, day, hour, location_id, transaction_type_id, transactions, spend)
	select @tenant_id, @day::date, c.*` + ofDay + hours + `
	) c`

	// Each customer's sale before, and the first one of all, are found once for both tables.
	keepVisitsSQL = `
	with came as materialized (
		select v.location_id, extract(hour from loyalty.id_time(v.first_id) at time zone span.zone) as hour, ` + priorDay + ` as prior,
			` + firstDay + ` as first_day` + ofDay + visitors + `
			union all` + visitorsOfLocations + withFirst + `
	), cohorts as (
		insert into loyalty.day_cohort (tenant_id, day, first_month, customers)
		select @tenant_id, @day::date, date_trunc('month', first_day)::date, count(*)
		from came
		where location_id = 0
			and prior < date_trunc('month', @day::date::timestamp)
		group by 3
	)
	insert into loyalty.day_visit (tenant_id, day, location_id, prior, customers, second, by_hour)
	select @tenant_id, @day::date, location_id, prior, count(*), count(*) filter (where prior = first_day), array[
			count(*) filter (where hour = 0), count(*) filter (where hour = 1), count(*) filter (where hour = 2), count(*) filter (where hour = 3),
			count(*) filter (where hour = 4), count(*) filter (where hour = 5), count(*) filter (where hour = 6), count(*) filter (where hour = 7),
			count(*) filter (where hour = 8), count(*) filter (where hour = 9), count(*) filter (where hour = 10), count(*) filter (where hour = 11),
			count(*) filter (where hour = 12), count(*) filter (where hour = 13), count(*) filter (where hour = 14), count(*) filter (where hour = 15),
			count(*) filter (where hour = 16), count(*) filter (where hour = 17), count(*) filter (where hour = 18), count(*) filter (where hour = 19),
			count(*) filter (where hour = 20), count(*) filter (where hour = 21), count(*) filter (where hour = 22), count(*) filter (where hour = 23)
		]
	from came
	group by location_id, prior`

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
	), joined as (
		delete from loyalty.day_joined
		where tenant_id = @tenant_id
			and day between @first and @last
	)
	select`
