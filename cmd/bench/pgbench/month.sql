-- The month a year ago, in the time zone of the business.
\if :number = 1
select array_agg(day) as starts, array_agg(day + interval '1 day') as ends, array_agg(bench.first_id(day)) as first_ids,
	array_agg(bench.first_id(day + interval '1 day')) as next_ids, bench.first_id(min(day)) as first_id,
	bench.first_id(max(day) + interval '1 day') as next_id
from (select date_trunc('month', now() - interval '1 year', 'Europe/Stockholm') as month) past
cross join generate_series(month, month + interval '1 month - 1 day', interval '1 day') day
\gset
\endif
\startpipeline
select loyalty.enter(:tenant);
select set_config('statement_timeout', '40s', true) as set;
select sum(sold.transactions)::bigint as transactions_count,
	sum(voided.transactions)::bigint as voided_count,
	least(coalesce(sum(sold.spend), 0), 9223372036854775807)::bigint as spend_total_cents,
	least(coalesce(sum(sold.points), 0), 9223372036854775807)::bigint as points_awarded,
	least(coalesce(sum(sold.stamps), 0), 9223372036854775807)::bigint as stamps_awarded,
	least(coalesce(sum(voided.points), 0), 9223372036854775807)::bigint as points_reversed,
	least(coalesce(sum(redeemed.points), 0), 9223372036854775807)::bigint as points_redeemed,
	sum(redeemed.redemptions)::bigint as redemptions_count,
	sum(used.vouchers)::bigint as vouchers_redeemed,
	sum(joined.customers)::bigint as new_customers,
	least(coalesce(sum(ended.expired), 0), 9223372036854775807)::bigint as points_expired,
	least(coalesce(sum(ended.returned), 0), 9223372036854775807)::bigint as points_expiry_returned,
	least(coalesce(sum(refunded.points), 0), 9223372036854775807)::bigint as points_refunded,
	sum(refunded.refunds)::bigint as refunds_count,
	least(coalesce(sum(refunded.spend), 0), 9223372036854775807)::bigint as refunded_total_cents,
	least(coalesce(sum(sold.spend), 0) - coalesce(sum(refunded.spend), 0), 9223372036854775807)::bigint as net_spend_total_cents,
	(
		select count(distinct customer_id)
		from loyalty.transaction
		where tenant_id = :tenant
			and id >= :first_id
			and id < :next_id
			and status = 'completed'
	) as active_customers
from unnest(:starts::timestamptz[], :ends::timestamptz[], :first_ids::uuid[], :next_ids::uuid[])
	with ordinality as span (starts, ends, first_id, next_id, number)
cross join lateral (
	select count(*) as transactions, sum(spend_amount_cents) as spend, sum(points_awarded) as points, sum(stamps_awarded) as stamps
	from loyalty.transaction
	where tenant_id = :tenant
		and id >= span.first_id
		and id < span.next_id
		and status = 'completed'
) sold
cross join lateral (
	select count(*) as transactions, sum(points_awarded) as points
	from loyalty.transaction
	where tenant_id = :tenant
		and id >= span.first_id
		and id < span.next_id
		and status = 'voided'
) voided
cross join lateral (
	select count(*) as redemptions, sum(points_spent) as points
	from loyalty.redemption
	where tenant_id = :tenant
		and id >= span.first_id
		and id < span.next_id
		and status <> 'voided'
) redeemed
cross join lateral (
	select count(*) as vouchers
	from loyalty.voucher
	where tenant_id = :tenant
		and redeemed_at >= span.starts
		and redeemed_at < span.ends
		and status = 'redeemed'
) used
cross join lateral (
	select count(*) as customers
	from loyalty.customer
	where tenant_id = :tenant
		and created_at >= span.starts
		and created_at < span.ends
		and merged_into is null
		and imported_at is null
) joined
cross join lateral (
	select -sum(amount) filter (where kind = 'expiry') as expired, sum(amount) filter (where kind = 'expiry_return') as returned
	from loyalty.ledger_entry
	where tenant_id = :tenant
		and id >= span.first_id
		and id < span.next_id
		and kind in ('expiry', 'expiry_return')
		and unit = 'points'
) ended
cross join lateral (
	select count(*) as refunds, sum(r.amount_cents) as spend, sum(r.points) as points
	from loyalty.refund r
	join loyalty.transaction t on t.tenant_id = r.tenant_id and t.id = r.transaction_id
	where r.tenant_id = :tenant
		and r.transaction_id >= span.first_id
		and r.transaction_id < span.next_id
		and t.status = 'completed'
) refunded
group by rollup (span.number)
order by span.number nulls first;
\endpipeline
