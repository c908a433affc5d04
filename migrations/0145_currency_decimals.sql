-- Currencies have the decimals of ISO 4217. Until now 22 had none that have two or three there (a dinar's hundredth),
-- so what is stored in whole dinars becomes hundredths. Each business is converted in one transaction, which the
-- audit log tells its owners and a second try.
-- +goose NO TRANSACTION
-- +goose Up

-- A stored sale may be larger than one that can be recorded: 10^10 rials were, and are 10^12 hundredths.
alter table loyalty.transaction drop constraint if exists transaction_spend_amount_cents_check;
alter table loyalty.transaction drop constraint if exists transaction_spend;
alter table loyalty.transaction add constraint transaction_spend check (spend_amount_cents between 0 and 1000000000000000) not valid;

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
		select r.id, r.cost_cents
		from loyalty.reward r
		where r.tenant_id = tenant
			and r.cost_cents > 0
		for no key update
	), converted as (
		update loyalty.reward r
		set cost_cents = greatest(1, least(round(r.cost_cents * factor), 1000000000000))
		from was w
		where r.tenant_id = tenant
			and r.id = w.id
		returning r.id, r.name, w.cost_cents as old, r.cost_cents as new
	)
	select 'reward_cost'::text, c.name, 0::bigint, c.old, c.new
	from converted c
	order by c.id;
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
end;
$$;
-- +goose StatementEnd
select loyalty.serves('loyalty.convert_amounts');

-- +goose StatementBegin
do $$
declare
	digits constant jsonb := '{"AFN": 2, "ALL": 2, "AMD": 2, "COP": 2, "GYD": 2, "IDR": 2, "IQD": 3, "IRR": 2, "KPW": 2, "LAK": 2, "LBP": 2,
		"MGA": 2, "MMK": 2, "MNT": 2, "MUR": 2, "PKR": 2, "RSD": 2, "SOS": 2, "SYP": 2, "TZS": 2, "UZS": 2, "YER": 2}';
	one record;
	factor bigint;
	known_plans boolean;
begin
	select exists (
			select from loyalty.platform_audit_entry
			where action = 'plan.edit'
				and new ? 'currency_decimals'
		)
	into known_plans;
	-- An earlier build would show the converted amounts a hundred times too large, and record sales in whole units.
	if exists (
			select from pg_stat_activity
			where datname = current_database()
				and pid <> pg_backend_pid()
				and (application_name = 'loyalty' or usename in ('loyalty_app', 'loyalty_queue'))
		) and (
			exists (
				select from loyalty.tenant t
				where digits ? t.currency
					and not exists (
						select from loyalty.audit_entry e
						where e.tenant_id = t.id
							and e.action = 'tenant.edit'
							and e.new ? 'currency_decimals'
					)
			)
			or not known_plans and exists (select from loyalty.plan where digits ? currency)
			or not known_plans and exists (select from loyalty.invoice where digits ? currency)
		)
	then
		raise exception 'a business or a plan has a currency whose decimals change (%): stop the earlier build first, then start this one',
			(select string_agg(distinct c.currency, ', ') from (select currency from loyalty.tenant union all select currency from loyalty.plan) c where digits ? c.currency);
	end if;

	if not known_plans then
		update loyalty.plan
		set monthly_cents = monthly_cents * (10 ^ (digits ->> currency)::int)::bigint,
			yearly_cents = yearly_cents * (10 ^ (digits ->> currency)::int)::bigint
		where digits ? currency;
		update loyalty.billing_period
		set rate_cents = rate_cents * (10 ^ (digits ->> currency)::int)::bigint,
			price_cents = price_cents * (10 ^ (digits ->> currency)::int)::bigint
		where digits ? currency;
		update loyalty.billing_item
		set amount_cents = amount_cents * (10 ^ (digits ->> currency)::int)::bigint
		where digits ? currency;
		update loyalty.invoice i
		set amount_cents = amount_cents * (10 ^ (digits ->> currency)::int)::bigint,
			tax_cents = tax_cents * (10 ^ (digits ->> currency)::int)::bigint,
			total_cents = total_cents * (10 ^ (digits ->> currency)::int)::bigint,
			lines = (
				select coalesce(jsonb_agg(l.line || jsonb_build_object(
					'unit_cents', (l.line ->> 'unit_cents')::bigint * (10 ^ (digits ->> i.currency)::int)::bigint,
					'amount_cents', (l.line ->> 'amount_cents')::bigint * (10 ^ (digits ->> i.currency)::int)::bigint) order by l.place), '[]')
				from jsonb_array_elements(i.lines) with ordinality as l (line, place)
			)
		where digits ? currency;
		if found or exists (select from loyalty.plan where digits ? currency) then
			insert into loyalty.platform_audit_entry (id, action, subject_kind, subject_id, new, actor_kind, actor_id, actor_name, address, request_id, created_at)
			values (loyalty.new_ulid(now()), 'plan.edit', 'plan', '', '{"currency_decimals": "ISO 4217"}', 'system', 'upgrade', 'upgrade', '', '', now());
		end if;
		commit;
	end if;

	for one in select id, name, currency from loyalty.tenant where digits ? currency order by id loop
		continue when exists (
			select from loyalty.audit_entry e
			where e.tenant_id = one.id
				and e.action = 'tenant.edit'
				and e.new ? 'currency_decimals'
		);
		factor := (10 ^ (digits ->> one.currency)::int)::bigint;
		perform set_config('app.tenant_id', one.id::text, true);
		perform from loyalty.convert_amounts((digits ->> one.currency)::int);
		update loyalty.transaction
		set spend_amount_cents = spend_amount_cents * factor
		where tenant_id = one.id;
		update loyalty.account
		set spent_cents = spent_cents * factor
		where tenant_id = one.id;
		update loyalty.tenant
		set confirm_above_cents = confirm_above_cents * factor
		where id = one.id;
		update loyalty.audit_entry e
		set old = (
				select jsonb_object_agg(o.key, case when o.key like '%\_cents' and jsonb_typeof(o.value) = 'number' or o.key = 'benefit_value' and e.old ->> 'benefit_type' = 'amount'
					then to_jsonb((o.value #>> '{}')::numeric * factor) else o.value end)
				from jsonb_each(e.old) o
			),
			new = (
				select jsonb_object_agg(n.key, case when n.key like '%\_cents' and jsonb_typeof(n.value) = 'number' or n.key = 'benefit_value' and e.new ->> 'benefit_type' = 'amount'
					then to_jsonb((n.value #>> '{}')::numeric * factor) else n.value end)
				from jsonb_each(e.new) n
			)
		where e.tenant_id = one.id
			and (e.old::text like '%\_cents"%' or e.new::text like '%\_cents"%' or e.new ->> 'benefit_type' = 'amount' or e.old ->> 'benefit_type' = 'amount');
		insert into loyalty.audit_entry (tenant_id, id, action, subject_kind, subject_id, subject_name, old, new, actor_kind, actor_id, actor_name, address, request_id, created_at)
		values (one.id, loyalty.new_ulid(now()), 'tenant.edit', 'tenant', one.id::text, one.name,
			'{"currency_decimals": 0}', jsonb_build_object('currency_decimals', (digits ->> one.currency)::int), 'system', 'upgrade', 'upgrade', '', '', now());
		commit;
	end loop;
end
$$;
-- +goose StatementEnd
