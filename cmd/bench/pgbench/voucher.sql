\set voucher 1 + :client_id * 3000 + :number
\startpipeline
begin;
select loyalty.enter(:tenant);
select v.id, v.coupon_id, v.customer_id,
	case when v.status = 'pending' and v.expires_at <= now() then 'expired' else v.status end as status,
	c.benefit_type, c.benefit_value, c.benefit_reward_id, v.redemption_id, v.expires_at, v.redeemed_at, v.created_at,
	c.name as coupon_name, c.active as coupon_active, coalesce(c.redemptions_count >= c.max_redemptions, false) as cap_reached
from loyalty.voucher v
join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
join loyalty.customer k on k.tenant_id = v.tenant_id and k.id = v.customer_id
where v.tenant_id = :tenant
	and v.id = bench.voucher(:voucher)
	and k.merged_into is null
for key share of k;
\endpipeline
\startpipeline
update loyalty.customer
set unchecked_since = null
where tenant_id = :tenant
	and id = bench.customer(:n)
	and unchecked_since is not null;
with c as (
	update loyalty.coupon
	set redemptions_count = redemptions_count + 1
	where tenant_id = :tenant
		and id = bench.coupon(1)
		and active
		and (max_redemptions is null or redemptions_count < max_redemptions)
	returning benefit_type, benefit_value, benefit_reward_id
), redeemed as (
	update loyalty.voucher v
	set status = 'redeemed',
		redeemed_at = now(),
		redemption_id = null,
		transaction_id = null::uuid
	from c
	where v.tenant_id = :tenant
		and v.id = bench.voucher(:voucher)
		and v.status = 'pending'
		and (v.expires_at is null or v.expires_at > now())
	returning v.send_id, v.id, v.coupon_id, v.customer_id,
		case when v.status = 'pending' and v.expires_at <= now() then 'expired' else v.status end as status,
		c.benefit_type, c.benefit_value, c.benefit_reward_id, v.redemption_id, v.expires_at, v.redeemed_at, v.created_at, v.turn
), counted as (
	update loyalty.coupon_send s
	set redeemed = s.redeemed + 1
	from redeemed
	where s.tenant_id = :tenant
		and s.id = redeemed.send_id
)
select id, coupon_id, customer_id, status, benefit_type, benefit_value, benefit_reward_id, redemption_id, expires_at, redeemed_at, created_at, turn
from redeemed;
\endpipeline
\startpipeline
with moved as (
	update loyalty.account
	set points = points + case when 'points'::text = 'points' then 1::bigint else 0 end,
		stamps = stamps + case when 'points' = 'stamps' then 1 else 0 end,
		entries = entries + 1
	where tenant_id = :tenant
		and customer_id = bench.customer(:n)
		and (1::bigint > 0 or 'voucher'::text = 'reversal' or case when 'points' = 'points' then points else stamps end + 1 >= 0)
	returning 1
)
select 1 / count(*)
from moved;
insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount, kind, cause, turn, reason, actor_kind, actor_id, actor_name,
	created_at, seq, balance_after)
select a.tenant_id, bench.new_id(1, :id, :client_id), a.customer_id, 'points', 1, 'voucher', bench.voucher(:voucher), 1, null,
	'token', :token, 'all', now(), a.entries, case when 'points' = 'points' then a.points else a.stamps end
from loyalty.account a
where a.tenant_id = :tenant
	and a.customer_id = bench.customer(:n);
insert into loyalty.audit_entry (tenant_id, id, action, subject_kind, subject_id, subject_name, customer_id, customer_name,
	old, new, actor_kind, actor_id, actor_name, address, request_id, created_at)
select :tenant, bench.new_id(2, :id, :client_id), 'voucher.redeem', 'voucher', '00000000008009000000000001', 'Thank you',
	bench.customer(:n)::uuid,
	coalesce((
		select case when phone_key is null then first_name else first_name || ' ' || last_name end
		from loyalty.customer
		where tenant_id = :tenant
			and id = bench.customer(:n)
		for key share
	), ''),
	'{"status": "pending"}',
	'{"status": "redeemed"}', 'token', :token, 'all', '127.0.0.1', '01M82PP1EZ4TVMCWT1GY5KZX5D', now()
returning 1;
commit;
\endpipeline
