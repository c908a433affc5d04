begin;
select loyalty.enter(:tenant);
insert into loyalty.coupon_send (tenant_id, id, coupon_id, segment, form_key, actor_kind, actor_id, actor_name, created_at, send_at)
values (:tenant, bench.new_id(1, :id, :client_id), bench.coupon(8), 'all', 'pgbench', 'system', '', 'bench', now(), now());
with member as (
	select c.id, c.status = 'active' as active, c.email is not null as has_email, c.unsubscribed_at is not null as unsubscribed
	from loyalty.customer c
	where c.tenant_id = :tenant
		and c.merged_into is null
		and c.status = 'active' and c.created_at <= now()
), holding as (
	select customer_id, count(*) as vouchers
	from loyalty.voucher
	where tenant_id = :tenant
		and coupon_id = bench.coupon(8)
	group by customer_id
), judged as (
	select m.id, m.active, m.has_email, m.unsubscribed, coalesce(h.vouchers, 0) >= 4 as limit_reached
	from member m
	left join holding h on h.customer_id = m.id
), recipient as materialized (
	select loyalty.new_ulid(now()) as voucher_id, id as customer_id, has_email and not unsubscribed as mailed
	from judged
	where active and not limit_reached
), created as (
	insert into loyalty.voucher (tenant_id, id, coupon_id, send_id, customer_id, expires_at, created_at)
	select c.tenant_id, voucher_id, c.id, bench.new_id(1, :id, :client_id), customer_id, null, now()
	from recipient
	join loyalty.coupon c on c.tenant_id = :tenant and c.id = bench.coupon(8)
	returning 1
), queued as (
	insert into loyalty.voucher_mail (tenant_id, voucher_id, send_id, due_at)
	select c.tenant_id, voucher_id, bench.new_id(1, :id, :client_id), now()
	from recipient
	join loyalty.coupon c on c.tenant_id = :tenant and c.id = bench.coupon(8)
	where mailed
	returning 1
)
select count(*) as matched,
	count(*) filter (where active and not limit_reached) as sent,
	count(*) filter (where not active) as skipped_inactive,
	count(*) filter (where active and limit_reached) as skipped_limit,
	count(*) filter (where active and not limit_reached and not has_email) as no_email,
	count(*) filter (where active and not limit_reached and has_email and unsubscribed) as unsubscribed
from judged;
rollback;
