-- The data set for reports: a business that opened two years ago, with customers who come as real ones do. Everything follows from
-- the number of a customer and of their visit, so it is the same each time, except for the days.

-- A number from 0 to 1, another one for each seed.
create function bench.chance(n bigint, seed bigint) returns float8
	language sql immutable as $$
	select (hashint8extended(n, seed) & 1048575) / 1048576.0::float8
$$;

-- When customers come: 43 in a hundred once, 25 a few times, 20 weekly and 12 three times a week, most of whom stop after a year or so.
-- The business is open from 7 to 20 except on Sundays, and busiest in the middle of the day and on Saturdays. A customer comes 25 times on
-- average.
create function bench.visits(customers bigint, zone text)
	returns table (customer bigint, visit bigint, number bigint, at timestamptz)
	language sql stable as $$
	select n, v, number, date_trunc('milliseconds', at)
	from generate_series(1, customers) n
	cross join lateral (
		select bench.joined(n, customers, interval '2 years', 0.5) as joined,
			bench.chance(n, 11) as habit,
			bench.chance(n, 12) as loyal
	) person
	cross join lateral (
		select case when habit < 0.68 then 30 when habit < 0.88 then 7 else 2.3 end as days
	) rhythm
	cross join lateral (
		select case when habit < 0.43 then 1 when habit < 0.68 then 2 + 8 * loyal else 1 - ln(1 - loyal) * 440 / days end as most
	) stay
	cross join lateral generate_series(1, floor(least(most, 1 + date_part('epoch', now() - joined) / 86400 / days))::bigint) v
	cross join lateral (select n * 1024 + v as number) numbered
	cross join lateral (select (joined at time zone zone)::date + floor(days * (v - 1 + case when v > 1 then bench.chance(number, 13) else 0 end))::int as day) planned
	cross join lateral (
		select (day - (date_part('isodow', day) = 7)::int + time '07:00' + interval '13 hours' * (bench.chance(number, 14) + bench.chance(number, 15)) / 2)
			at time zone zone as at
	) came
	where at < now() - interval '1 minute'
$$;

-- Drops the indexes of a table besides its primary key, which are made faster when it is full, and returns the statements for that.
create function bench.drop_indexes(of_table regclass) returns text[]
	language plpgsql as $$
declare
	index record;
	again text[];
begin
	for index in
		select i.indexrelid::regclass as name, c.conname as of_constraint, pg_get_constraintdef(c.oid) as definition, pg_get_indexdef(i.indexrelid) as made
		from pg_index i
		left join pg_constraint c on c.conindid = i.indexrelid and c.contype = 'u'
		where i.indrelid = of_table
			and not i.indisprimary
	loop
		if index.of_constraint is null then
			execute format('drop index %s', index.name);
			again := again || index.made;
		else
			execute format('alter table %s drop constraint %I', of_table, index.of_constraint);
			again := again || format('alter table %s add constraint %I %s', of_table, index.of_constraint, index.definition);
		end if;
	end loop;
	return again;
end
$$;

-- Gives customers the levels of their visits in this calendar year and the one before.
create function bench.give_levels(tenant bigint) returns void
	language plpgsql as $$
declare
	zone constant text := (select timezone from loyalty.tenant t where t.id = tenant);
	this_year constant int := date_part('year', now() at time zone zone);
begin
	delete from loyalty.level_programme where tenant_id = tenant;
	insert into loyalty.level_programme (tenant_id, basis, period, starts_on, counting, begun_at, updated_at)
	values (tenant, 'visits', 'year', make_date(this_year - 1, 1, 1), false, now(), now());
	update loyalty.tenant t set earning_version = earning_version + 1 where t.id = tenant;

	update loyalty.account a
	set level_year = this_year,
		level_sum = coalesce(now_in_year, 0),
		level_sum_before = coalesce(year_before, 0),
		level_id = l.id,
		level_by = case when l.id is not null then 'earned' end,
		level_until = l.until
	from loyalty.customer c
	left join (
		select customer_id, count(*) filter (where year = this_year) as now_in_year, count(*) filter (where year = this_year - 1) as year_before
		from (
			select customer_id, date_part('year', coalesce(occurred_at, created_at) at time zone zone) as year
			from loyalty.transaction
			where tenant_id = tenant
				and status = 'completed'
		) sale
		group by customer_id
	) s on s.customer_id = c.id
	left join lateral (
		select id, make_date(this_year + (threshold <= now_in_year)::int, 12, 31) as until
		from loyalty.level
		where tenant_id = tenant
			and rank > 0
			and threshold <= greatest(now_in_year, year_before)
		order by rank desc
		limit 1
	) l on true
	where c.tenant_id = tenant
		and a.tenant_id = tenant
		and a.customer_id = c.id;

	insert into loyalty.level_change (tenant_id, id, customer_id, seq, to_level, reason, until, actor_kind, actor_id, actor_name, created_at)
	select tenant, loyalty.new_ulid(at), customer_id, 1, level_id, 'reached', level_until, 'system', '', 'bench', at
	from loyalty.account
	cross join lateral (select date_trunc('milliseconds', now() - interval '1 year' * bench.chance(hashtext(customer_id::text), 41)) as at) reached
	where tenant_id = tenant
		and level_id is not null;
end
$$;

-- Fills a business with customers and their sales, two in a hundred of them voided and two refunded by half; three rewards, one of
-- which each customer has at every tenth visit; coupons sent nine times to a fifth of the customers; and the ledger of all that. No
-- balance goes below zero: a sale earns at least 5, of ten in a row at least seven earn points, and one at most is voided. It returns
-- the statements that make the indexes.
create function bench.fill_reports(tenant bigint, points_type bigint, stamps_type bigint, customers bigint, zone text) returns text[]
	language plpgsql
	set work_mem = '512MB'
	set enable_nestloop = off -- what was just filled has no statistics
	as $$
declare
	indexes constant text[] := bench.drop_indexes('loyalty.transaction') || bench.drop_indexes('loyalty.ledger_entry');
	last_customer constant uuid := bench.customer(customers);
	promoted_since constant timestamptz := now() - interval '1 year';
	rewards constant uuid[] := array(select loyalty.new_ulid(now() - interval '2 years') from generate_series(1, 3));
	coupons constant uuid[] := array(select loyalty.new_ulid(now() - interval '2 years') from generate_series(1, 3));
	places bigint[];
	people bigint[];
	shop_token record;
	morning bigint;
	welcome bigint;
	gold bigint;
begin
	perform set_config('app.visits_counted', 'yes', true); -- by what follows
	-- Checking the foreign keys of each row takes longer than all else. A superuser may do without.
	perform set_config('session_replication_role', 'replica', true)
	from pg_roles
	where rolname = current_user
		and rolsuper;
	perform bench.add_customers(tenant, customers, interval '2 years', 0.5);
	update loyalty.tenant t set timezone = zone where t.id = tenant;

	with made as (
		insert into loyalty.location (tenant_id, name)
		select tenant, 'Branch ' || n
		from generate_series(1, 5) n
		returning id
	)
	select array_agg(id) into places
	from made;

	with made as (
		insert into loyalty.staff (tenant_id, role, name, email, email_key, created_at)
		select tenant, 'cashier', 'Cashier ' || n, email, email, now() - interval '2 years'
		from generate_series(1, 15) n
		cross join lateral (select 'cashier' || n || '@bench.example' as email) address
		returning id
	)
	select array_agg(id) into people
	from made;

	select id::text, name into shop_token
	from loyalty.token
	where tenant_id = tenant
	order by id
	limit 1;

	-- Levels are given at the end.
	delete from loyalty.level_change where tenant_id = tenant;
	delete from loyalty.level where tenant_id = tenant;
	insert into loyalty.level (tenant_id, name, rank, threshold, percent)
	values (tenant, 'Member', 0, 0, 100), (tenant, 'Silver', 1, 20, 100), (tenant, 'Gold', 2, 60, 110);
	select id into gold
	from loyalty.level
	where tenant_id = tenant
		and rank = 2;

	insert into loyalty.promotion (tenant_id, name, unit, percent, windows, starts_on, created_at, audience)
	values (tenant, 'Double points on Tuesday mornings', 'points', 200, '[{"days": [2], "from": "09:00", "to": "12:00"}]', promoted_since, promoted_since, 'all')
	returning id into morning;
	insert into loyalty.promotion (tenant_id, name, unit, extra, starts_on, created_at, audience)
	values (tenant, 'Welcome', 'points', 10, now() - interval '2 years', now() - interval '2 years', 'first_visit')
	returning id into welcome;

	create unlogged table bench.sale as
	select overlay(bench.first_id(at)::text placing '4' || lpad(to_hex(visit), 3, '0') || '-8000-' || lpad(to_hex(customer), 12, '0') from 15)::uuid as id,
		bench.customer(customer) as customer_id, customer, visit, number, at, unit, cents, base, promotion, promoted, levelled, base + promoted + levelled as award,
		case when outcome = 7 then at + interval '1 hour' * bench.chance(number, 21) end as voided_at,
		outcome = 20 and at < now() - interval '2 days' as refunded,
		case when bench.chance(number, 22) < 0.12 then 'api' when bench.chance(number, 22) < 0.2 then 'panel' else 'pos' end as source,
		case when bench.chance(number, 23) < 0.9 then customer % 5 else floor(5 * bench.chance(number, 24))::int end as place
	from bench.visits(customers, zone) came
	cross join lateral (
		select 500 + floor(3000 * bench.chance(number, 25) ^ 2)::int as cents,
			case when (customer + visit) % 4 = 3 then 'stamps' else 'points' end as unit,
			case when at < now() - interval '1 hour' then (customer + visit) % 50 end as outcome,
			came.at at time zone zone as local
	) sale
	cross join lateral (
		select case unit when 'points' then cents / 100 else 1 end as base,
			case when unit = 'stamps' then null
				when visit = 1 then welcome
				when at >= promoted_since and date_part('isodow', local) = 2 and date_part('hour', local) between 9 and 11 then morning end as promotion
	) earned
	cross join lateral (
		select case promotion when welcome then 10 when morning then base else 0 end as promoted,
			case when unit = 'points' and visit > 60 then base / 10 else 0 end as levelled
	) rules
	order by id;
	analyze bench.sale;

	insert into loyalty.transaction (tenant_id, id, customer_id, transaction_type_id, rule_type, spend_amount_cents,
		points_awarded, stamps_awarded, base_award, promotion_id, promotion_award, level_id, level_award, status, voided_at, refunded_cents, refunded_award,
		source, location_id, actor_kind, actor_id, actor_name, created_at)
	select tenant, id, customer_id, case unit when 'points' then points_type else stamps_type end, unit, cents,
		case unit when 'points' then award end, case unit when 'stamps' then award end, base, promotion, nullif(promoted, 0),
		case when levelled > 0 then gold end, nullif(levelled, 0),
		case when voided_at is null then 'completed' else 'voided' end, voided_at, case when refunded then cents / 2 else 0 end, case when refunded then award / 2 else 0 end,
		source, case when source <> 'api' then places[1 + place] end,
		case source when 'api' then 'token' else 'staff' end,
		case source when 'api' then coalesce(shop_token.id, '') else people[1 + person]::text end,
		case source when 'api' then coalesce(shop_token.name, '') else 'Cashier ' || 1 + person end, at
	from bench.sale
	cross join lateral (select place * 3 + floor(3 * bench.chance(number, 26))::int as person) recorded;

	insert into loyalty.refund (tenant_id, id, transaction_id, amount_cents, points, stamps, actor_kind, actor_id, actor_name, created_at)
	select tenant, loyalty.new_ulid(later), id, cents / 2, case unit when 'points' then award / 2 end, case unit when 'stamps' then award / 2 end, 'system', '', 'bench', later
	from bench.sale
	cross join lateral (select at + interval '1 day' as later) refunded
	where refunded;

	insert into loyalty.reward (tenant_id, id, name, points_cost, stamps_cost, cost_cents, value_cents, created_at)
	values (tenant, rewards[1], 'Coffee', 20, null, 60, 350, now() - interval '2 years'),
		(tenant, rewards[2], 'Cake', 25, null, 110, 450, now() - interval '2 years'),
		(tenant, rewards[3], 'Sandwich', null, 2, 250, 700, now() - interval '2 years');

	insert into loyalty.redemption (tenant_id, id, customer_id, reward_id, points_spent, stamps_spent, took_stock, status, fulfilled_at, voided_at,
		actor_kind, actor_id, actor_name, created_at, transaction_id, location_id)
	select tenant, loyalty.new_ulid(redeemed), customer_id, rewards[1 + choice], (array[20, 25, 0])[1 + choice], (array[0, 0, 2])[1 + choice], false, status,
		case status when 'fulfilled' then redeemed end, case status when 'voided' then redeemed + interval '5 minutes' end,
		'staff', people[1 + place * 3]::text, 'Cashier ' || 1 + place * 3, redeemed,
		case when status <> 'pending' then id end, case when status <> 'pending' and source <> 'api' then places[1 + place] end
	from bench.sale
	cross join lateral (
		select date_trunc('milliseconds', at + interval '1 second') as redeemed, visit / 10 % 3 as choice,
			case when bench.chance(number, 27) < 0.03 then 'voided' when bench.chance(number, 27) < 0.2 and at > now() - interval '3 days' then 'pending' else 'fulfilled' end as status
	) redemption
	where visit % 10 = 0;

	-- A voucher is used with its customer's first sale within 30 days, by every third one who comes.
	create temporary table holder on commit drop as
	with send as (
		select n, loyalty.new_ulid(sent_at) as send_id, sent_at, coupons[1 + n % 3] as coupon_id
		from generate_series(0, 8) n
		cross join lateral (select date_trunc('milliseconds', now() - n * interval '80 days' - interval '10 days') as sent_at) sent
	), used as (
		select distinct on (n, customer) n, customer, id, date_trunc('milliseconds', at + interval '2 seconds') as redeemed_at
		from send
		join bench.sale on customer % 5 = n % 5 and at between sent_at + interval '1 hour' and sent_at + interval '29 days'
		where voided_at is null
			and not refunded
			and bench.chance(customer * 16 + n, 31) < 0.33
		order by n, customer, at
	)
	select send.*, bench.customer(c) as customer_id, loyalty.new_ulid(sent_at) as id, sent_at + interval '30 days' as expires_at, used.id as transaction_id, redeemed_at,
		case when redeemed_at is not null and coupon_id = coupons[3] then loyalty.new_ulid(redeemed_at) end as redemption_id
	from send
	join generate_series(1, customers) c on c % 5 = n % 5 and c % 50 > 0 and bench.joined(c, customers, interval '2 years', 0.5) < sent_at
	left join used on used.n = send.n and used.customer = c;

	insert into loyalty.coupon (tenant_id, id, name, benefit_type, benefit_value, benefit_reward_id, max_per_customer, redemptions_count, created_at)
	select tenant, coupons[n], name, type, value, case type when 'reward' then rewards[2] end, 100,
		(select count(redeemed_at) from holder where coupon_id = coupons[given.n]), now() - interval '2 years'
	from (values (1, '5 off', 'amount', 500), (2, '20 points', 'points', 20), (3, 'A cake', 'reward', null)) given (n, name, type, value);

	insert into loyalty.coupon_send (tenant_id, id, coupon_id, segment, form_key, status, matched, sent, no_email, redeemed,
		actor_kind, actor_id, actor_name, created_at, send_at, begun_at, evaluated_at, expires_at, ended_at)
	select tenant, send_id, coupon_id, 'all', 'bench ' || n, 'done', count(*), count(*), count(*), count(redeemed_at),
		'system', '', 'bench', sent_at, sent_at, sent_at, sent_at, expires_at, sent_at
	from holder
	group by send_id, coupon_id, n, sent_at, expires_at;

	insert into loyalty.redemption (tenant_id, id, customer_id, reward_id, points_spent, stamps_spent, took_stock, status, fulfilled_at,
		actor_kind, actor_id, actor_name, created_at, transaction_id)
	select tenant, redemption_id, customer_id, rewards[2], 0, 0, false, 'fulfilled', redeemed_at, 'system', '', 'bench', redeemed_at, transaction_id
	from holder
	where redemption_id is not null;

	insert into loyalty.voucher (tenant_id, id, coupon_id, send_id, customer_id, status, expires_at, redeemed_at, redemption_id, created_at, transaction_id)
	select tenant, id, coupon_id, send_id, customer_id,
		case when redeemed_at is not null then 'redeemed' when expires_at < now() then 'expired' else 'pending' end,
		expires_at, redeemed_at, redemption_id, sent_at, transaction_id
	from holder;

	insert into loyalty.ledger_entry (tenant_id, id, customer_id, seq, unit, amount, balance_after, kind, cause, actor_kind, actor_id, actor_name, created_at)
	select tenant, id, customer_id, seq, unit, amount, case unit when 'points' then points else stamps end, kind, cause, 'system', '', 'bench', at
	from (
		select entry.*, row_number() over account as seq,
			sum(amount) filter (where unit = 'points') over account as points,
			sum(amount) filter (where unit = 'stamps') over account as stamps
		from (
			select id, customer_id, unit, award as amount, 'earn' as kind, id as cause, at
			from bench.sale
			union all
			select loyalty.new_ulid(voided_at), customer_id, unit, -award, 'reversal', id, voided_at
			from bench.sale
			where voided_at is not null
			union all
			select loyalty.new_ulid(r.created_at), customer_id, unit, -(award / 2), 'refund', r.id, r.created_at
			from loyalty.refund r
			join bench.sale s on s.id = r.transaction_id
			where r.tenant_id = tenant
				and award > 1
			union all
			select loyalty.new_ulid(created_at), customer_id, case when stamps_spent > 0 then 'stamps' else 'points' end, -(points_spent + stamps_spent)::int, 'redemption', id, created_at
			from loyalty.redemption
			where tenant_id = tenant
				and customer_id <= last_customer
				and points_spent + stamps_spent > 0
			union all
			select loyalty.new_ulid(voided_at), customer_id, case when stamps_spent > 0 then 'stamps' else 'points' end, (points_spent + stamps_spent)::int, 'redemption_refund', id, voided_at
			from loyalty.redemption
			where tenant_id = tenant
				and customer_id <= last_customer
				and voided_at is not null
			union all
			select loyalty.new_ulid(redeemed_at), customer_id, 'points', 20, 'voucher', id, redeemed_at
			from holder
			where redeemed_at is not null
				and coupon_id = coupons[2]
		) entry
		window account as (partition by customer_id order by at, id rows unbounded preceding)
	) numbered
	order by id;

	insert into loyalty.account (tenant_id, customer_id, points, stamps, entries, visits, spent_cents)
	select tenant, bench.customer(n), coalesce(points, 0), coalesce(stamps, 0), coalesce(entries, 0), coalesce(visits, 0), coalesce(spent_cents, 0)
	from generate_series(1, customers) n
	left join (
		select customer_id, sum(amount) filter (where unit = 'points') as points, sum(amount) filter (where unit = 'stamps') as stamps, count(*) as entries
		from loyalty.ledger_entry
		where tenant_id = tenant
		group by customer_id
	) posted on posted.customer_id = bench.customer(n)
	left join (
		select customer, count(*) as visits, sum(cents - case when refunded then cents / 2 else 0 end) as spent_cents
		from bench.sale
		where voided_at is null
		group by customer
	) sold on sold.customer = n;

	drop table bench.sale;
	perform bench.give_levels(tenant);
	return indexes;
end
$$;
