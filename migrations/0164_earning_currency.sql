-- A change of the currency also converts what promotions and levels ask to be spent. The caps of a day are set here: the
-- package that writes promotions writes no row of a tenant itself.
-- +goose Up

-- +goose StatementBegin
create function loyalty.set_earning_limits(tenant bigint, points bigint, stamps bigint, till boolean) returns void
	language sql
as $$
	update loyalty.tenant n
	set points_day_cap = points,
		stamps_day_cap = stamps,
		till_categories = till
	where n.id = tenant
$$;
-- +goose StatementEnd

-- Converts the amounts of the business that the transaction sees to a currency with that many decimals more, or less
-- if it is negative, and returns them. One that isn't whole in the new currency is rounded, but never to nothing.
-- +goose StatementBegin
create or replace function loyalty.convert_amounts(shift int)
	returns table (kind text, name text, quantity bigint, old bigint, new bigint)
	language plpgsql volatile set search_path = ''
as $$
#variable_conflict use_column
declare
	tenant constant bigint := current_setting('app.tenant_id', true)::bigint;
	factor constant numeric := 10::numeric ^ shift;
begin
	update loyalty.pin p
	set spend_amount_cents = least(round(p.spend_amount_cents * factor), 1000000000000)
	where p.tenant_id = tenant
		and p.spend_amount_cents > 0;
	return query
	with was as (
		select t.id, t.unit_cents, t.min_spend_cents
		from loyalty.transaction_type t
		where t.tenant_id = tenant
		for no key update
	), converted as (
		update loyalty.transaction_type t
		set unit_cents = greatest(1, least(round(t.unit_cents * factor), 1000000000000)),
			min_spend_cents = case when t.min_spend_cents = 0 then 0 else greatest(1, least(round(t.min_spend_cents * factor), 1000000000000)) end
		from was w
		where t.tenant_id = tenant
			and t.id = w.id
		returning t.id, t.name, t.rule_type, t.points_per_unit, w.unit_cents as old_unit, t.unit_cents as new_unit, w.min_spend_cents as old_least, t.min_spend_cents as new_least
	)
	select a.kind, c.name, c.points_per_unit, a.old, a.new
	from converted c
	cross join lateral (
		values (1, 'rule', c.old_unit, c.new_unit),
			(2, 'min_spend', c.old_least, c.new_least)
	) a (place, kind, old, new)
	where a.kind = 'rule' and c.rule_type = 'points' and c.points_per_unit > 0
		or a.kind = 'min_spend' and a.old > 0
	order by c.id, a.place;
	return query
	with was as (
		select r.id, r.cost_cents, r.value_cents
		from loyalty.reward r
		where r.tenant_id = tenant
			and (r.cost_cents > 0 or r.value_cents > 0)
		for no key update
	), converted as (
		update loyalty.reward r
		set cost_cents = case when r.cost_cents > 0 then greatest(1, least(round(r.cost_cents * factor), 1000000000000)) else r.cost_cents end,
			value_cents = case when r.value_cents > 0 then greatest(1, least(round(r.value_cents * factor), 1000000000000)) end
		from was w
		where r.tenant_id = tenant
			and r.id = w.id
		returning r.id, r.name, w.cost_cents as old_cost, r.cost_cents as new_cost, w.value_cents as old_value, r.value_cents as new_value
	)
	select a.kind, c.name, 0::bigint, a.old, a.new
	from converted c
	cross join lateral (
		values (1, 'reward_cost', c.old_cost, c.new_cost),
			(2, 'reward_value', c.old_value, c.new_value)
	) a (place, kind, old, new)
	where a.old > 0
	order by c.id, a.place;
	return query
	with was as (
		select k.id, k.benefit_value
		from loyalty.coupon k
		where k.tenant_id = tenant
			and k.benefit_type = 'amount'
		for no key update
	), converted as (
		update loyalty.coupon k
		set benefit_value = greatest(1, least(round(k.benefit_value * factor), 1000000000000))
		from was w
		where k.tenant_id = tenant
			and k.id = w.id
		returning k.id, k.name, w.benefit_value as old, k.benefit_value as new
	)
	select 'coupon'::text, c.name, 0::bigint, c.old, c.new
	from converted c
	order by c.id;
	return query
	with was as (
		select p.id, p.min_spend_cents
		from loyalty.promotion p
		where p.tenant_id = tenant
			and p.min_spend_cents > 0
		for no key update
	), converted as (
		update loyalty.promotion p
		set min_spend_cents = greatest(1, least(round(p.min_spend_cents * factor), 1000000000000))
		from was w
		where p.tenant_id = tenant
			and p.id = w.id
		returning p.id, p.name, w.min_spend_cents as old, p.min_spend_cents as new
	)
	select 'promotion'::text, c.name, 0::bigint, c.old, c.new
	from converted c
	order by c.id;
	return query
	with was as (
		select l.id, l.threshold
		from loyalty.level l
		where l.tenant_id = tenant
			and l.threshold > 0
			and exists (select from loyalty.level_programme g where g.tenant_id = tenant and g.basis = 'spend')
		for no key update
	), converted as (
		update loyalty.level l
		set threshold = greatest(1, least(round(l.threshold * factor), 1000000000000))
		from was w
		where l.tenant_id = tenant
			and l.id = w.id
		returning l.id, l.rank, l.name, w.threshold as old, l.threshold as new
	)
	select 'level'::text, c.name, 0::bigint, c.old, c.new
	from converted c
	order by c.rank, c.id;
	perform loyalty.raise_earning_version(tenant);
end;
$$;
-- +goose StatementEnd
