\startpipeline
begin;
select loyalty.enter(:tenant);
with held as (
	select id, name, active, points_cost, stamps_cost, stock
	from loyalty.reward
	where tenant_id = :tenant
		and id = bench.reward()
	for key share
), buyer as (
	select id, status
	from loyalty.customer
	where tenant_id = :tenant
		and id = coalesce(bench.customer(:n)::uuid, '00000000-0000-0000-0000-000000000000')
		and merged_into is null
	for key share
)
select r.id as reward_id, coalesce(r.name, '') as name, coalesce(r.active, false) as active, r.points_cost, r.stamps_cost, r.stock, c.status as customer_status,
	coalesce(a.points, 0) as points, coalesce(a.stamps, 0) as stamps
from (values (1)) as always
left join held r on true
left join buyer c on true
left join loyalty.account a on a.tenant_id = :tenant and a.customer_id = c.id;
\endpipeline
\startpipeline
update loyalty.customer
set unchecked_since = null
where tenant_id = :tenant
	and id = bench.customer(:n)
	and unchecked_since is not null;
insert into loyalty.redemption (tenant_id, id, customer_id, reward_id, points_spent, stamps_spent, took_stock,
	actor_kind, actor_id, actor_name, created_at)
values (:tenant, bench.new_id(1, :id, :client_id), bench.customer(:n), bench.reward(), 1, 0, false, 'token', :token, 'all', now());
update loyalty.account
set points = points + case when 'points'::text = 'points' then -1::bigint else 0 end,
	stamps = stamps + case when 'points' = 'stamps' then -1 else 0 end,
	entries = entries + 1
where tenant_id = :tenant
	and customer_id = bench.customer(:n)
	and (-1::bigint > 0 or 'redemption'::text = 'reversal' or case when 'points' = 'points' then points else stamps end + -1 >= 0)
returning points, stamps;
\endpipeline
\startpipeline
insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount, kind, cause, turn, reason, actor_kind, actor_id, actor_name,
	created_at, seq, balance_after)
select a.tenant_id, bench.new_id(2, :id, :client_id), a.customer_id, 'points', -1, 'redemption', bench.new_id(1, :id, :client_id), 1, null,
	'token', :token, 'all', now(), a.entries, case when 'points' = 'points' then a.points else a.stamps end
from loyalty.account a
where a.tenant_id = :tenant
	and a.customer_id = bench.customer(:n);
commit;
\endpipeline
