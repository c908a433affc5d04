package daily

// What is counted, of spans of time. A span has starts, ends, first_id and next_id, which are the first instant and ID in it and after it,
// and its zone. The same is kept of a day that is over and counted of any other span, when a report asks.
const (
	// By the hour that a clock showed, location and type. Refunds are few, so the sales of refunds are found, not the refunds of each sale.
	sales = `
			select s.hour, s.location_id, s.transaction_type_id, sum(s.transactions)::bigint as transactions, least(sum(s.spend), 9223372036854775807)::bigint as spend,
				least(sum(s.points), 9223372036854775807)::bigint as points, least(sum(s.stamps), 9223372036854775807)::bigint as stamps,
				sum(s.voided)::bigint as voided, least(sum(s.reversed), 9223372036854775807)::bigint as reversed, sum(s.refunds)::bigint as refunds,
				least(sum(s.refunded), 9223372036854775807)::bigint as refunded, least(sum(s.points_refunded), 9223372036854775807)::bigint as points_refunded
			from (
				select date_part('hour', created_at at time zone span.zone)::int as hour, coalesce(location_id, 0) as location_id, transaction_type_id,
					count(*) filter (where status = 'completed') as transactions,
					coalesce(sum(spend_amount_cents) filter (where status = 'completed'), 0) as spend,
					coalesce(sum(points_awarded) filter (where status = 'completed'), 0) as points,
					coalesce(sum(stamps_awarded) filter (where status = 'completed'), 0) as stamps,
					count(*) filter (where status = 'voided') as voided,
					coalesce(sum(points_awarded) filter (where status = 'voided'), 0) as reversed,
					0 as refunds, 0::numeric as refunded, 0::numeric as points_refunded
				from loyalty.transaction
				where tenant_id = @tenant_id
					and id >= span.first_id
					and id < span.next_id
				group by 1, coalesce(location_id, 0), transaction_type_id
				union all
				select date_part('hour', t.created_at at time zone span.zone)::int, coalesce(t.location_id, 0), t.transaction_type_id, 0, 0, 0, 0, 0, 0, count(*), sum(r.amount_cents), coalesce(sum(r.points), 0)
				from loyalty.refund r
				join loyalty.transaction t on t.tenant_id = @tenant_id and t.id = r.transaction_id and t.status = 'completed'
				where r.tenant_id = @tenant_id
					and r.transaction_id >= span.first_id
					and r.transaction_id < span.next_id
				group by 1, coalesce(t.location_id, 0), t.transaction_type_id
			) s
			group by s.hour, s.location_id, s.transaction_type_id`

	// Customers who came to the span's place, a location or anywhere (0), with their first sale of the span and the two before it. A customer
	// has few sales, and those before are found from the end of an index, without the table.
	visitors = `
			select v.customer_id, v.first_id, p.ids[1] as prior_id, p.ids[2] as earlier_id
			from (
				select customer_id, min(id::text collate "C")::uuid as first_id
				from loyalty.transaction
				where tenant_id = @tenant_id
					and id >= span.first_id
					and id < span.next_id
					and status = 'completed'
					and span.place in (0, location_id)
				group by customer_id
			) v
			cross join lateral (
				select array(
						select id
						from loyalty.transaction
						where tenant_id = @tenant_id
							and customer_id = v.customer_id
							and id < span.first_id
							and status = 'completed'
							and span.place in (0, location_id)
						order by id desc
						limit 2
					) as ids
				offset 0
			) p`

	staff = `
			select a.location_id, a.actor_kind, a.actor_id, max(a.actor_name) as actor_name, sum(a.transactions)::bigint as transactions,
				least(sum(a.spend), 9223372036854775807)::bigint as spend, least(sum(a.points), 9223372036854775807)::bigint as points, least(sum(a.stamps), 9223372036854775807)::bigint as stamps, sum(a.voided)::bigint as voided, sum(a.redemptions)::bigint as redemptions
			from (
				select coalesce(location_id, 0) as location_id, actor_kind, actor_id, max(actor_name) as actor_name,
					count(*) filter (where status = 'completed') as transactions,
					coalesce(sum(spend_amount_cents) filter (where status = 'completed'), 0) as spend,
					coalesce(sum(points_awarded) filter (where status = 'completed'), 0) as points,
					coalesce(sum(stamps_awarded) filter (where status = 'completed'), 0) as stamps,
					count(*) filter (where status = 'voided') as voided, 0 as redemptions
				from loyalty.transaction
				where tenant_id = @tenant_id
					and id >= span.first_id
					and id < span.next_id
				group by coalesce(location_id, 0), actor_kind, actor_id
				union all
				select 0, actor_kind, actor_id, max(actor_name), 0, 0, 0, 0, 0, count(*)
				from loyalty.redemption
				where tenant_id = @tenant_id
					and id >= span.first_id
					and id < span.next_id
					and status <> 'voided'
				group by actor_kind, actor_id
			) a
			group by a.location_id, a.actor_kind, a.actor_id`

	// What an earlier build recorded, and most sales, have no parts: all of the award is its base. Of a capped award, the base counts
	// first, then the promotion, then the level. The parts of any other award add up to it.
	rules = `
			select coalesce(location_id, 0) as location_id, rule_type as unit, coalesce(promotion_id, 0) as promotion_id, coalesce(level_id, 0) as level_id,
				count(*) as transactions, least(sum(spend_amount_cents), 9223372036854775807)::bigint as spend, least(sum(award), 9223372036854775807)::bigint as issued, least(sum(base), 9223372036854775807)::bigint as base, least(sum(promotion), 9223372036854775807)::bigint as promotion,
				least(sum(award - base - promotion), 9223372036854775807)::bigint as level, count(*) filter (where capped) as capped_sales,
				least(coalesce(sum(coalesce(base_award, award)::numeric + coalesce(promotion_award, 0) + coalesce(level_award, 0) - award) filter (where capped), 0), 9223372036854775807)::bigint as capped_off
			from loyalty.transaction
			cross join lateral (select coalesce(points_awarded, stamps_awarded) as award) a
			cross join lateral (select least(coalesce(base_award, award), award) as base) b
			cross join lateral (select least(coalesce(promotion_award, 0), award - base) as promotion) p
			where tenant_id = @tenant_id
				and id >= span.first_id
				and id < span.next_id
				and status = 'completed'
			group by coalesce(location_id, 0), rule_type, coalesce(promotion_id, 0), coalesce(level_id, 0)`

	// Only a voucher gives a reward at no cost.
	rewards = `
			select reward_id, points_spent = 0 and stamps_spent = 0 as by_voucher,
				count(*) filter (where status <> 'voided') as redemptions,
				least(coalesce(sum(points_spent) filter (where status <> 'voided'), 0), 9223372036854775807)::bigint as points,
				least(coalesce(sum(stamps_spent) filter (where status <> 'voided'), 0), 9223372036854775807)::bigint as stamps,
				count(*) filter (where status = 'voided') as voided
			from loyalty.redemption
			where tenant_id = @tenant_id
				and id >= span.first_id
				and id < span.next_id
			group by reward_id, points_spent = 0 and stamps_spent = 0`

	// Vouchers count on the days on which they were sent and redeemed, sales on their own. A sale counts for each coupon of which it had
	// vouchers, and once for the first of these. Beside the spend of a customer's sale is that of their sale before it, if there was one.
	//
	// The till takes discounts off in the order of coupon.BillFor. The last one took off the rest, so they add up to what is recorded with the
	// sale. What a voucher took off that wasn't redeemed at the till together with its sale isn't known.
	coupons = `
			with recursive used as (
				select v.coupon_id, v.transaction_id as sale_id, t.customer_id, t.spend_amount_cents as spend, t.discount_cents as discount, k.benefit_type, k.benefit_value,
					v.expires_at, v.id, first_value(v.coupon_id) over (partition by v.transaction_id order by v.coupon_id) = v.coupon_id as first
				from loyalty.voucher v
				join loyalty.transaction t on t.tenant_id = @tenant_id and t.id = v.transaction_id and t.status = 'completed'
				join loyalty.coupon k on k.tenant_id = @tenant_id and k.id = v.coupon_id
				where v.tenant_id = @tenant_id
					and v.transaction_id >= span.first_id
					and v.transaction_id < span.next_id
			), taken as (
				select u.*, row_number() over (partition by u.sale_id order by u.benefit_type = 'amount', u.expires_at, u.id) as place,
					count(*) over (partition by u.sale_id) as places
				from used u
				where u.benefit_type in ('percent', 'amount')
					and` + atTill + `u.sale_id
							and voucher_id = u.id
					)
			), bill as (
				select sale_id, null::uuid as coupon_id, 0::bigint as place, 0::bigint as off, spend + discount as remains
				from taken
				where place = 1
				union all
				select b.sale_id, t.coupon_id, t.place, o.off, b.remains - o.off
				from bill b
				join taken t on t.sale_id = b.sale_id and t.place = b.place + 1
				cross join lateral (
					select greatest(least(case when t.place = t.places then b.remains - t.spend
						when t.benefit_type = 'percent' then b.remains / 100 * t.benefit_value + (b.remains % 100 * t.benefit_value + 50) / 100
						else t.benefit_value end, b.remains), 0) as off
				) o
			)
			select v.coupon_id, sum(v.sent)::bigint as sent, sum(v.redeemed)::bigint as redeemed, sum(v.transactions)::bigint as transactions,
				least(sum(v.spend), 9223372036854775807)::bigint as spend, least(sum(v.discount), 9223372036854775807)::bigint as discount,
				 sum(v.granted)::bigint as granted, sum(v.unpriced)::bigint as unpriced,
				sum(v.transactions_once)::bigint as transactions_once, least(sum(v.spend_once), 9223372036854775807)::bigint as spend_once,
				sum(v.again)::bigint as again, least(sum(v.again_spend), 9223372036854775807)::bigint as again_spend,
				least(sum(v.before_spend), 9223372036854775807)::bigint as before_spend, sum(v.again_once)::bigint as again_once,
				least(sum(v.again_spend_once), 9223372036854775807)::bigint as again_spend_once,
				least(sum(v.before_spend_once), 9223372036854775807)::bigint as before_spend_once
			from (
				select coupon_id, count(*) as sent, 0 as redeemed, 0 as transactions, 0::numeric as spend, 0::numeric as discount, 0 as granted, 0 as unpriced,
					0 as transactions_once, 0::numeric as spend_once, 0 as again, 0::numeric as again_spend, 0::numeric as before_spend, 0 as again_once,
					0::numeric as again_spend_once, 0::numeric as before_spend_once
				from loyalty.voucher
				where tenant_id = @tenant_id
					and id >= span.first_id
					and id < span.next_id
				group by coupon_id
				union all
				select u.coupon_id, 0, count(*), 0, 0, 0, count(r.id), count(*) filter (where k.benefit_type in ('percent', 'amount') and not` + atTill + `u.transaction_id
							and voucher_id = u.id
					)), 0, 0, 0, 0, 0, 0, 0, 0
				from loyalty.voucher u
				join loyalty.coupon k on k.tenant_id = @tenant_id and k.id = u.coupon_id
				left join loyalty.redemption r on r.tenant_id = @tenant_id and r.id = u.redemption_id and r.status <> 'voided'
				where u.tenant_id = @tenant_id
					and u.redeemed_at >= span.starts
					and u.redeemed_at < span.ends
					and u.status = 'redeemed'
				group by u.coupon_id
				union all
				select s.coupon_id, 0, 0, count(*), sum(s.spend), 0, 0, 0, count(*) filter (where s.first), coalesce(sum(s.spend) filter (where s.first), 0),
					count(b.spend), coalesce(sum(s.spend) filter (where b.spend is not null), 0), coalesce(sum(b.spend), 0),
					count(b.spend) filter (where s.first), coalesce(sum(s.spend) filter (where s.first and b.spend is not null), 0),
					coalesce(sum(b.spend) filter (where s.first), 0)
				from (select distinct coupon_id, sale_id, customer_id, spend, first from used) s
				left join lateral (
					select spend_amount_cents as spend
					from loyalty.transaction
					where tenant_id = @tenant_id
						and customer_id = s.customer_id
						and id < s.sale_id
						and status = 'completed'
					order by id desc
					limit 1
				) b on true
				group by s.coupon_id
				union all
				select coupon_id, 0, 0, 0, 0, sum(off), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
				from bill
				where place > 0
				group by coupon_id
			) v
			group by v.coupon_id`

	vouchers = `
			select count(*) as redeemed
			from loyalty.voucher
			where tenant_id = @tenant_id
				and redeemed_at >= span.starts
				and redeemed_at < span.ends
				and status = 'redeemed'`

	// atTill begins a condition: a voucher is an item of the checkout of a sale.
	atTill = ` exists (
						select
						from loyalty.checkout_item
						where tenant_id = @tenant_id
							and checkout_id = `

	flows = `
			select unit, kind, sum(amount) as amount,
				coalesce(sum(least(balance_after, 0) - least(balance_after - amount::numeric, 0)) filter (where balance_after < 0 or balance_after < amount), 0) as below
			from loyalty.ledger_entry
			where tenant_id = @tenant_id
				and id >= span.first_id
				and id < span.next_id
			group by unit, kind`

	levelChanges = `
			select coalesce(to_level, 0) as to_level, reason, count(*) as changes
			from loyalty.level_change
			where tenant_id = @tenant_id
				and id >= span.first_id
				and id < span.next_id
			group by coalesce(to_level, 0), reason`

	// Joined is the new customers, from an index that has them alone. Imported ones aren't new.
	Joined = `
			select count(*) as customers
			from loyalty.customer
			where tenant_id = @tenant_id
				and created_at >= span.starts
				and created_at < span.ends
				and merged_into is null
				and imported_at is null`
)
