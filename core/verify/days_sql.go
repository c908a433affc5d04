package verify

import "example.com/loyalty/core/daily"

// What was counted of days that are over is counted anew, in another way than core/daily does: for all days at once, and by what clocks
// showed. Days that are to be counted again aren't judged.
const (
	// Those that this build counted.
	zones = `
		select tenant_id, split_part(zone, ' ', 1) as zone, first_day, last_day, ends_at
		from loyalty.days_counted
		where zone like '%` + daily.Form + `'`

	// Nothing is materialized, so that a node of a distributed database compares its own days in one step.
	daysOf = `
	with zone as not materialized (` + zones + `
	), sale as not materialized (
		select t.*, z.zone, (t.created_at at time zone z.zone)::date as day, coalesce(t.points_awarded, t.stamps_awarded) as award,
			extract(hour from t.created_at at time zone z.zone) as hour, t.voided_at is null as completed
		from loyalty.transaction t
		join zone z on z.tenant_id = t.tenant_id
		where t.created_at < z.ends_at
	), kept as not materialized (`

	andCounted = `
	), counted as not materialized (`

	// What vouchers took off bills at the till, one after the other.
	bills = `
	), taken as not materialized (
		select s.tenant_id, s.day, s.spend_amount_cents as spend, s.spend_amount_cents + s.discount_cents as total,
			array_agg(v.coupon_id order by k.benefit_type desc, v.expires_at, v.id) as coupons,
			array_agg(k.benefit_value order by k.benefit_type desc, v.expires_at, v.id) as benefits,
			count(*) filter (where k.benefit_type = 'percent') as percents
		from sale s
		join loyalty.voucher v on v.transaction_id = s.id and v.tenant_id = s.tenant_id
		join loyalty.coupon k on k.id = v.coupon_id and k.tenant_id = v.tenant_id
		join loyalty.checkout_item i on i.checkout_id = s.id and i.voucher_id = v.id and i.tenant_id = s.tenant_id
		where s.voided_at is null
			and k.benefit_type in ('percent', 'amount')
		group by s.tenant_id, s.day, s.id, s.spend_amount_cents, s.discount_cents
	), bill as not materialized (
		select t.tenant_id, t.day, t.spend, t.coupons, b.n, b.before, b.remains
		from taken t
		cross join lateral loyalty.bill(t.total, t.percents::int, t.benefits) b`

	compareDays = `
	), judged as (
		select d.tenant_id, d.day || ' ' || d.key as id,
			d.rows_kept <> 1 or d.rows_counted <> 1 or f.differ as wrong
		from (
			select tenant_id, day, key, count(kept) as rows_kept, max(kept) as kept, count(counted) as rows_counted, max(counted) as counted
			from (
				select tenant_id, day, key, figures::numeric[] as kept, null::numeric[] as counted
				from kept
				union all
				select tenant_id, day, key, null, figures::numeric[]
				from counted
			) found
			group by tenant_id, day, key
		) d
		join zone z on z.tenant_id = d.tenant_id and d.day between z.first_day and z.last_day
		left join (
			select distinct m.tenant_id, (m.at at time zone z.zone)::date as day
			from loyalty.day_mark m
			join zone z on z.tenant_id = m.tenant_id
		) m on m.tenant_id = d.tenant_id and m.day = d.day
		cross join lateral (
			select bool_or(least(each.kept, 9223372036854775807) is distinct from least(each.counted, 9223372036854775807)) as differ
			from unnest(d.kept, d.counted) as each (kept, counted)
		) f
		where m.day is null
	)` + tally

	daySalesSQL = daysOf + `
		select tenant_id, day, location_id::text as key,
			array[transactions, spend, points, stamps, voided, reversed, refunds, refunded, points_refunded] as figures
		from loyalty.day_sales
		union all
		select tenant_id, day, location_id || ' at ' || hour,
			array[transactions, spend, points, stamps, voided, reversed, refunds, refunded, points_refunded]
		from loyalty.day_sales_hour` + andCounted + `
		select s.tenant_id, s.day, coalesce(s.location_id, 0) || coalesce(' at ' || h.hour, '') as key,
			array[count(*) filter (where completed), coalesce(sum(s.spend_amount_cents) filter (where completed), 0),
				coalesce(sum(s.points_awarded) filter (where completed), 0), coalesce(sum(s.stamps_awarded) filter (where completed), 0),
				count(*) filter (where not completed), coalesce(sum(s.points_awarded) filter (where not completed), 0),
				coalesce(sum(r.refunds) filter (where completed), 0), coalesce(sum(s.refunded_cents) filter (where completed), 0),
				coalesce(sum(s.refunded_award) filter (where completed and s.rule_type = 'points'), 0)] as figures
		from sale s
		left join (
			select tenant_id, transaction_id, count(*) as refunds
			from loyalty.refund
			group by tenant_id, transaction_id
		) r on r.transaction_id = s.id and r.tenant_id = s.tenant_id
		cross join unnest(array[null, s.hour]) as h (hour)
		group by s.tenant_id, s.day, s.location_id, h.hour` + compareDays

	dayHourSQL = daysOf + `
		select tenant_id, day, concat_ws(' ', hour, location_id, transaction_type_id) as key, array[transactions, spend] as figures
		from loyalty.day_hour` + andCounted + `
		select tenant_id, day, concat_ws(' ', hour, coalesce(location_id, 0), transaction_type_id) as key, array[count(*), sum(spend_amount_cents)] as figures
		from sale
		where voided_at is null
		group by 1, 2, 3` + compareDays

	// What the times of a row come to, as figures that don't need them in order. Those kept must be in order.
	ofTimes = `
			select count(*) as times, coalesce(sum(ms), 0) as sum, coalesce(bit_xor(ms::bigint), 0) as mix, count(*) filter (where ms > next) as unordered
			from unnest(`

	// The days on which a customer came, anywhere and at each location, in order, with the milliseconds from midnight to the first sale.
	dayVisitSQL = daysOf + `
		select v.tenant_id, v.day, concat_ws(' ', 'at', v.location_id, 'after', v.prior) as key,
			array[v.customers, v.second, c.times, c.sum, c.mix, s.times, s.sum, s.mix, c.unordered + s.unordered] as figures
		from loyalty.day_visit v
		cross join lateral (` + ofTimes + `v.came_at, v.came_at[2:]) as t (ms, next)) c
		cross join lateral (` + ofTimes + `v.second_at, v.second_at[2:]) as t (ms, next)) s
		union all
		select tenant_id, day, concat_ws(' ', 'since', first_month), array[customers, 0, 0, 0, 0, 0, 0, 0, 0]
		from loyalty.day_cohort` + andCounted + `
		select tenant_id, day, key,
			array[count(*), sum(second), sum(times), sum(ms), bit_xor(ms), sum(times * second), sum(ms * second), bit_xor(ms * second), 0] as figures
		from (
			select v.tenant_id, v.day, concat_ws(' ', 'at', v.place, 'after', case when e.ever then 'infinity' else v.prior end) as key,
				(not e.ever)::int as times, case when e.ever then 0 else v.ms end as ms, v.second
			from (
				select tenant_id, day, ms, place, coalesce(lag(day) over (partition by customer_id, place, tenant_id order by day), '-infinity')::text as prior,
					(row_number() over (partition by customer_id, place, tenant_id order by day) = 2)::int as second
				from (
					select s.tenant_id, s.customer_id, p.place, s.day,
						(extract(epoch from min(loyalty.id_time(s.id)) - s.day::timestamp at time zone s.zone) * 1000)::bigint as ms
					from sale s
					cross join unnest(array[0, s.location_id]) as p (place)
					where s.voided_at is null
						and p.place is not null
					group by s.tenant_id, s.customer_id, p.place, s.day, s.zone
				) came
			) v
			cross join unnest(array[false, true]) as e (ever)
			union all
			select tenant_id, min(day), concat_ws(' ', 'since', min(month) over (partition by customer_id, tenant_id)), 0, 0, 0
			from (
				select tenant_id, customer_id, day, date_trunc('month', day)::date as month
				from sale
				where voided_at is null
			) came
			group by tenant_id, customer_id, month
		) v
		group by 1, 2, 3` + compareDays

	dayStaffSQL = daysOf + `
		select tenant_id, day, concat_ws(' ', location_id, actor_kind, actor_id) as key, array[transactions, spend, points, stamps, voided, redemptions] as figures
		from loyalty.day_staff` + andCounted + `
		select tenant_id, day, key, array[sum(sold), sum(spend), sum(points), sum(stamps), sum(voided), sum(redeemed)] as figures
		from (
			select tenant_id, day, concat_ws(' ', coalesce(location_id, 0), actor_kind, actor_id) as key,
				(voided_at is null)::int as sold, case when voided_at is null then spend_amount_cents else 0 end as spend,
				case when voided_at is null then coalesce(points_awarded, 0) else 0 end as points,
				case when voided_at is null then coalesce(stamps_awarded, 0) else 0 end as stamps,
				(voided_at is not null)::int as voided, 0 as redeemed
			from sale
			union all
			select d.tenant_id, (d.created_at at time zone z.zone)::date, concat_ws(' ', 0, d.actor_kind, d.actor_id), 0, 0, 0, 0, 0, 1
			from loyalty.redemption d
			join zone z on z.tenant_id = d.tenant_id and d.created_at < z.ends_at
			where d.voided_at is null
		) acted
		group by 1, 2, 3` + compareDays

	dayRuleSQL = daysOf + `
		select tenant_id, day, concat_ws(' ', location_id, unit, promotion_id, level_id) as key,
			array[transactions, spend, issued, base, promotion, level, capped_sales, capped_off] as figures
		from loyalty.day_rule` + andCounted + `
		select tenant_id, day, concat_ws(' ', coalesce(location_id, 0), rule_type, coalesce(promotion_id, 0), coalesce(level_id, 0)) as key,
			array[count(*), sum(spend_amount_cents), sum(award), sum(base), sum(extra - base), sum(award - extra),
				coalesce(sum(capped::int), 0), sum(parts - award)] as figures
		from sale
		cross join lateral (
			select least(coalesce(base_award, award), award) as base,
				least(coalesce(base_award, award) + coalesce(promotion_award, 0), award) as extra,
				coalesce(base_award, award) + coalesce(promotion_award, 0) + coalesce(level_award, 0) as parts
		) p
		where voided_at is null
		group by 1, 2, 3` + compareDays

	dayUseSQL = daysOf + `
		select tenant_id, day, concat_ws(' ', reward_id, by_voucher) as key, array[redemptions, points, stamps, voided] as figures
		from loyalty.day_reward
		union all
		select tenant_id, day, coupon_id::text, array[sent, redeemed, transactions, spend, discount, granted, unpriced, transactions_once, spend_once,
			again, again_spend, before_spend, again_once, again_spend_once, before_spend_once]
		from loyalty.day_coupon` + bills + andCounted + `
		select d.tenant_id, (d.created_at at time zone z.zone)::date as day, concat_ws(' ', d.reward_id, d.points_spent + d.stamps_spent = 0) as key,
			array[sum((d.voided_at is null)::int), sum(case when d.voided_at is null then d.points_spent else 0 end),
				sum(case when d.voided_at is null then d.stamps_spent else 0 end), sum((d.voided_at is not null)::int)] as figures
		from loyalty.redemption d
		join zone z on z.tenant_id = d.tenant_id and d.created_at < z.ends_at
		group by 1, 2, 3
		union all
		select v.tenant_id, v.day, v.coupon_id::text, array[sum(v.sent), sum(v.redeemed), sum(v.sold), sum(v.spend), sum(v.off), sum(v.granted), sum(v.unpriced),
			sum(v.sold * v.first), sum(v.spend * v.first), count(v.before), coalesce(sum(v.spend) filter (where v.before is not null), 0),
			coalesce(sum(v.before), 0), coalesce(sum(v.first) filter (where v.before is not null), 0),
			coalesce(sum(v.spend * v.first) filter (where v.before is not null), 0), coalesce(sum(v.before * v.first), 0)]
		from (
			select v.tenant_id, (v.created_at at time zone z.zone)::date as day, v.coupon_id, 1 as sent, 0 as redeemed, 0 as sold, 0::bigint as spend, 0::bigint as off,
				0 as granted, 0 as unpriced, 0 as first, null::bigint as before
			from loyalty.voucher v
			join zone z on z.tenant_id = v.tenant_id and v.created_at < z.ends_at
			union all
			select v.tenant_id, (v.redeemed_at at time zone z.zone)::date, v.coupon_id, 0, 1, 0, 0, 0, (r.voided_at is null and r.id is not null)::int,
				(k.benefit_type in ('percent', 'amount') and i.voucher_id is null)::int, 0, null
			from loyalty.voucher v
			join zone z on z.tenant_id = v.tenant_id and v.redeemed_at < z.ends_at
			join loyalty.coupon k on k.id = v.coupon_id and k.tenant_id = v.tenant_id
			left join loyalty.redemption r on r.id = v.redemption_id and r.tenant_id = v.tenant_id
			left join loyalty.checkout_item i on i.voucher_id = v.id and i.checkout_id = v.transaction_id and i.tenant_id = v.tenant_id
			where v.redeemed_at is not null
			union all
			select s.tenant_id, s.day, v.coupon_id, 0, 0, 1, s.spend_amount_cents, 0, 0, 0,
				(rank() over (partition by s.tenant_id, s.id order by v.coupon_id) = 1)::int, s.before
			from (
				select tenant_id, id, day, spend_amount_cents, lag(spend_amount_cents) over (partition by customer_id, tenant_id order by id) as before
				from sale
				where voided_at is null
			) s
			join (
				select distinct tenant_id, transaction_id, coupon_id
				from loyalty.voucher
			) v on v.transaction_id = s.id and v.tenant_id = s.tenant_id
			union all
			select tenant_id, day, coupons[n], 0, 0, 0, 0, before - case when n < cardinality(coupons) then remains else spend end, 0, 0, 0, null
			from bill
		) v
		group by 1, 2, 3` + compareDays

	dayFlowSQL = daysOf + `
		select tenant_id, day, concat_ws(' ', unit, kind) as key, array[amount, below] as figures
		from loyalty.day_flow
		union all
		select tenant_id, day, concat_ws(' ', 'level', to_level, reason), array[changes]
		from loyalty.day_level
		union all
		select tenant_id, day, 'joined', array[customers]
		from loyalty.day_joined
		union all
		select tenant_id, month, concat_ws(' ', 'month', unit, kind), array[amount, below]
		from loyalty.month_flow` + andCounted + `
		select e.tenant_id, (e.created_at at time zone z.zone)::date as day, concat_ws(' ', e.unit, e.kind) as key,
			array[sum(e.amount), sum(least(e.balance_after, 0)) - sum(least(e.balance_after - e.amount::numeric, 0))] as figures
		from loyalty.ledger_entry e
		join zone z on z.tenant_id = e.tenant_id and e.created_at < z.ends_at
		group by 1, 2, 3
		union all
		select c.tenant_id, (c.created_at at time zone z.zone)::date, concat_ws(' ', 'level', coalesce(c.to_level, 0), c.reason), array[count(*)]
		from loyalty.level_change c
		join zone z on z.tenant_id = c.tenant_id and c.created_at < z.ends_at
		group by 1, 2, 3
		union all
		select c.tenant_id, (c.created_at at time zone z.zone)::date, 'joined', array[count(*)]
		from loyalty.customer c
		join zone z on z.tenant_id = c.tenant_id and c.created_at < z.ends_at
		where c.merged_into is null
			and c.imported_at is null
		group by 1, 2
		union all
		select f.tenant_id, date_trunc('month', f.day::timestamp)::date, concat_ws(' ', 'month', f.unit, f.kind), array[sum(f.amount), sum(f.below)]
		from loyalty.day_flow f
		join (
			select distinct tenant_id, month
			from loyalty.month_flow
		) m on m.tenant_id = f.tenant_id and m.month = date_trunc('month', f.day::timestamp)
		group by 1, 2, 3` + compareDays

	// Years are judged when no day of them is to be counted again, and groups when the years are counted up to the last day.
	yearSQL = `
	with zone as not materialized (
		select k.tenant_id, d.zone, k.as_of, k.high, k.as_of = (d.ends_at at time zone d.zone)::date - 1 as grouped
		from (` + zones + `
		) d
		join loyalty.year_counted k on k.tenant_id = d.tenant_id
		left join (
			select tenant_id, min(at) as first_at
			from loyalty.day_mark
			group by tenant_id
		) m on m.tenant_id = k.tenant_id
		where m.first_at is null
			or (m.first_at at time zone d.zone)::date > k.as_of
	), visit as (
		select t.tenant_id, t.customer_id, (t.created_at at time zone z.zone)::date as day, sum(t.spend_amount_cents) as spend
		from loyalty.transaction t
		join zone z on z.tenant_id = t.tenant_id
		where t.voided_at is null
		group by 1, 2, 3
	), year as (
		select v.tenant_id, v.customer_id, z.grouped, z.as_of - max(v.day) as since, count(*) as visits, sum(v.spend) as spend,
			ceil(2 * sum(sum(v.spend)) over (partition by v.tenant_id) / count(*) over (partition by v.tenant_id)) as high
		from visit v
		join zone z on z.tenant_id = v.tenant_id and v.day <= z.as_of and z.as_of - v.day < 365
		group by v.tenant_id, v.customer_id, z.as_of, z.grouped
	), found as (
		select y.tenant_id, y.customer_id::text as key, array[z.as_of - y.last_day, y.visits, y.spend] as kept, null::numeric[] as counted
		from loyalty.customer_year y
		join zone z on z.tenant_id = y.tenant_id
		union all
		select g.tenant_id, g.name, array[g.customers, g.spend, 0], null
		from loyalty.year_group g
		join zone z on z.tenant_id = g.tenant_id and z.grouped
		union all
		select tenant_id, 'high', array[0, 0, high], null
		from zone
		where grouped
			and high > 0
		union all
		select y.tenant_id, f.key, null, array[sum(f.first), sum(f.second), max(f.third)]
		from year y
		cross join lateral (
			values (y.customer_id::text, y.since, y.visits, y.spend),
				(case
					when not y.grouped then null
					when y.since >= 60 then case when greatest(y.visits / 6.0, y.spend / nullif(y.high, 0)) >= 1 then 'at_risk' else 'quiet' end
					when y.visits = 1 then 'new'
					when y.visits <= 5 then 'promising'
					when y.spend < y.high then 'regulars'
					else 'best'
				end, 1, y.spend, 0),
				(case when y.grouped and y.high > 0 then 'high' end, 0, 0, y.high)
		) f (key, first, second, third)
		where f.key is not null
		group by y.tenant_id, f.key
	), judged as (
		select tenant_id, key as id, count(kept) <> 1 or count(counted) <> 1 or max(kept) is distinct from max(counted) as wrong
		from found
		group by tenant_id, key
	)` + tally
)
