\startpipeline
begin;
select loyalty.enter(:tenant, now());
with buyer as (
	select id, status
	from loyalty.customer
	where tenant_id = :tenant
		and id = (select coalesce(bench.customer(:n)::uuid, '00000000-0000-0000-0000-000000000000'))
		and merged_into is null
	for key share
)
select t.id, coalesce(t.rule_type, '') as rule_type, coalesce(t.active, false) as active,
	coalesce(t.points_per_unit, 0) as points_per_unit, coalesce(t.unit_cents, 1) as unit_cents,
	coalesce(t.stamps_per_transaction, 0) as stamps_per_transaction, coalesce(t.min_spend_cents, 0) as min_spend_cents, t.max_award,
	coalesce(t.excluded_categories, '{}') as excluded_categories,
	c.status as customer_status, coalesce(l.active, false) as location_active, n.earning_version
from loyalty.tenant n
left join loyalty.transaction_type t on t.tenant_id = :tenant and t.id = coalesce(:type::bigint, 0)
left join buyer c on true
left join loyalty.location l on l.tenant_id = :tenant and l.id = coalesce(null::bigint, 0)
where n.id = :tenant;
\endpipeline
\startpipeline
select set_config('app.visits_counted', 'yes', true) as set;
insert into loyalty.transaction (tenant_id, id, customer_id, transaction_type_id, rule_type, spend_amount_cents, discount_cents,
	points_awarded, stamps_awarded, expires_on, source, location_id, external_reference, occurred_at, metadata,
	base_award, promotion_id, promotion_award, level_id, level_award, capped, eligible_cents, items, actor_kind, actor_id, actor_name, created_at)
values (:tenant, bench.new_id(1, :id, :client_id), bench.customer(:n), :type, 'points', 1250, 0,
	12, null, null, 'api', null, null, null, null,
	(null::jsonb ->> 'base')::bigint, (null::jsonb ->> 'promotion')::bigint, (null::jsonb ->> 'promotion_award')::bigint,
	(null::jsonb ->> 'level')::bigint, (null::jsonb ->> 'level_award')::bigint, (null::jsonb ->> 'capped')::boolean,
	(null::jsonb ->> 'eligible')::bigint, null::jsonb -> 'items', 'token', :token, 'all', now());
update loyalty.account
set visits = visits + 1,
	spent_cents = spent_cents + 1250::bigint,
	points_idle_on = greatest(points_idle_on, null::date),
	stamps_idle_on = greatest(stamps_idle_on, null::date)
where tenant_id = :tenant
	and customer_id = bench.customer(:n);
with moved as (
	update loyalty.account
	set points = points + case when 'points'::text = 'points' then 12::bigint else 0 end,
		stamps = stamps + case when 'points' = 'stamps' then 12 else 0 end,
		entries = entries + 1,
		points_expire_on = case when 'points' = 'points' and points + 12 > 0 then least(points_expire_on, nullif(null::date, 'infinity')) else points_expire_on end,
		stamps_expire_on = case when 'points' = 'stamps' and stamps + 12 > 0 then least(stamps_expire_on, nullif(null::date, 'infinity')) else stamps_expire_on end,
		points_idle_on = greatest(points_idle_on, null::date),
		stamps_idle_on = greatest(stamps_idle_on, null::date)
	where tenant_id = :tenant
		and customer_id = bench.customer(:n)
	returning tenant_id, customer_id, entries, points, stamps
), entry as (
	insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount,
		kind, cause, turn, reason, actor_kind, actor_id, actor_name, created_at, seq, balance_after, expires_on)
	select c.tenant_id, bench.new_id(2, :id, :client_id), c.id, 'points', 12,
		'earn', bench.new_id(1, :id, :client_id), 1, null, 'token', :token, 'all', now(), m.entries, case when 'points' = 'points' then m.points else m.stamps end, null
	from moved m
	join loyalty.customer c on c.tenant_id = :tenant and c.id = m.customer_id
)
select 1 / count(*)
from moved;
commit;
\endpipeline
