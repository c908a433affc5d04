-- What the benchmark adds to a database: the data set of a business, and ids that the loads and
-- pgbench's scripts can compute from a number. The functions are simple enough for PostgreSQL
-- to inline them.
create schema bench;
grant usage on schema bench to public;

create function bench.customer(n bigint) returns uuid
	language sql immutable as $$
	select ('00000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid
$$;

create function bench.voucher(n bigint) returns uuid
	language sql immutable as $$
	select ('00000000-0000-4000-9000-' || lpad(to_hex(n), 12, '0'))::uuid
$$;

create function bench.coupon(n bigint) returns uuid
	language sql immutable as $$
	select ('00000000-0000-4000-a000-' || lpad(to_hex(n), 12, '0'))::uuid
$$;

create function bench.reward() returns uuid
	language sql immutable as $$
	select '00000000-0000-4000-b000-000000000001'::uuid
$$;

-- The phone number of a customer.
create function bench.phone(n bigint) returns text
	language sql immutable as $$
	select '+467' || lpad((n * 6364137 % 100000000)::text, 8, '0')
$$;

-- Before the ids of an instant and after all earlier ones.
create function bench.first_id(at timestamptz) returns uuid
	language sql immutable as $$
	select (lpad(to_hex((date_part('epoch', at) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid
$$;

-- The id of a record that pgbench inserts: ids grow, as the product's do, and two clients never
-- make the same one.
create function bench.new_id(kind int, number int, client int) returns uuid
	language sql immutable as $$
	select (lpad(to_hex(number), 8, '0') || '-' || lpad(to_hex(kind), 4, '0') || '-4000-' || lpad(to_hex(client), 4, '0') || '-000000000000')::uuid
$$;

-- Sales of a data set, evenly over the last two years. One in every `apart` is made by the first
-- buyer, so that one customer has 5,000; the others take turns. A buyer spends the same each
-- time, so balances follow from the number of a sale.
create function bench.sales(sales bigint, buyers bigint, step bigint)
	returns table (id uuid, customer_id uuid, seq bigint, points bigint, at timestamptz)
	language sql stable as $$
	select overlay(bench.first_id(at)::text placing '4000-8000-' || lpad(to_hex(n), 12, '0') from 15)::uuid,
		bench.customer(1 + (buyer - 1) * step), seq, 20 + buyer % 50, at
	from (select greatest(2, sales / 5000) as apart) often
	cross join generate_series(1, sales) n
	cross join lateral (select n - n / apart - 1 as others) earlier
	cross join lateral (
		select case when n % apart = 0 then 1 else 2 + others % (buyers - 1) end as buyer,
			case when n % apart = 0 then n / apart else 1 + others / (buyers - 1) end as seq,
			date_trunc('milliseconds', now() - interval '2 years' + n * (interval '2 years' / sales)) as at
	) sale
$$;

-- When the n-th of a business's customers was added, who came one after another: as many in each month, or with a bend below 1 more of
-- them in the first ones.
create function bench.joined(n bigint, customers bigint, over_time interval, bend float8) returns timestamptz
	language sql stable as $$
	select date_trunc('milliseconds', now() - over_time * ((customers - n) / customers::float8) ^ bend)
$$;

-- Adds customers, with names put together from parts of which the first are more common, phone numbers
-- written in two ways and, for seven in ten, an e-mail address, one in 50 inactive. They have no accounts yet.
create function bench.add_customers(tenant bigint, customers bigint, over_time interval, bend float8) returns void
	language plpgsql as $$
declare
	first_names constant text[] := array(
		select head || tail
		from unnest(string_to_array('Ann Mar Kar El Em Jo Lin Al Mal San Sof Ast Is Ev Nor Ros Til Vil Wil Ul Yl Ag Bir Dag Eb Fel Fri Gun Han Ing Jen Ker Lov Max Nat Ot Per Ron Sim Tor Åsl Öst', ' ')) with ordinality h (head, h),
			unnest(string_to_array('a an ia in ina ika e en et elie ette ea is ida ander as us on ar or ine ild run bjørn é', ' ')) with ordinality t (tail, t)
		order by h, t);
	last_names constant text[] := array(
		select head || tail
		from unnest(string_to_array('Lind Berg Sand Ek Norr Söder Väster Öster Sjö Ström Holm Hag Lund Dal Gran Björk Alm Asp Hell Hed Ny Ros Stål Silver Gyllen Fors Ål Åker Äng Kvarn Sten Land Mo Bok Löf Palm Vik Wall Wester Zetter', ' ')) with ordinality h (head, h),
			unnest(string_to_array('qvist ström berg gren holm man mark lund dahl stedt borg vall blad fors feldt sten ell in én bäck bom ros hag', ' ')) with ordinality t (tail, t)
		order by h, t);
begin
	update loyalty.tenant t set timezone = 'Europe/Stockholm', country = 'SE' where t.id = tenant;

	insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, email, email_key, folded, status, created_at, updated_at)
	select tenant, bench.customer(n), first_name, last_name, phone, bench.phone(n), email, email,
		lower(concat_ws(' ', first_name, last_name, case when n % 3 <> 0 then phone end, bench.phone(n), email)),
		case when n % 50 = 0 then 'inactive' else 'active' end, at, at
	from generate_series(1, customers) n
	cross join lateral (
		select bench.joined(n, customers, over_time, bend) as at,
			first_names[1 + floor(cardinality(first_names) * ((hashint8extended(n, 1) & 1048575) / 1048576.0) ^ 2)::int] as first_name,
			last_names[1 + floor(cardinality(last_names) * ((hashint8extended(n, 2) & 1048575) / 1048576.0) ^ 2)::int] as last_name,
			substr(bench.phone(n), 4) as number
	) person
	cross join lateral (
		select case when n % 3 = 0 then bench.phone(n)
			else '0' || substr(number, 1, 2) || '-' || substr(number, 3, 3) || ' ' || substr(number, 6, 2) || ' ' || substr(number, 8) end as phone
	) written
	cross join lateral (
		select case when n % 10 < 7 then translate(lower(first_name || '.' || last_name), 'åäöøé', 'aaooe') || n % 9973 || '.' || n / 9973
			|| (array['@example.com', '@example.org', '@example.net', '@example.com'])[1 + n % 4] end as email
	) address;
end
$$;

-- Fills a business: customers who came over three years; sales to every step-th of them (step is even, so these are
-- active), and one sale in a hundred besides that was voided; 1,000 people who may forget their passwords; eight coupons, of which the first has 100,000 vouchers. It writes past every check.
create function bench.fill(tenant bigint, type bigint, customers bigint, step bigint, sales bigint) returns void
	language plpgsql as $$
declare
	buyers constant bigint := customers / step;
	vouchers constant bigint := 100000;
	places bigint[];
begin
	perform set_config('session_replication_role', 'replica', true);
	perform bench.add_customers(tenant, customers, interval '3 years', 1);

	insert into loyalty.account (tenant_id, customer_id, points, entries, visits, spent_cents)
	select tenant, bench.customer(n), coalesce(points, 0), coalesce(entries, 0), coalesce(entries, 0), coalesce(points, 0) * 100
	from generate_series(1, customers) n
	left join (
		select customer_id, sum(points) as points, count(*) as entries
		from bench.sales(sales, buyers, step)
		group by customer_id
	) earned on earned.customer_id = bench.customer(n);

	-- One sale in four has no location, and eight people record them.
	insert into loyalty.location (tenant_id, name)
	select tenant, 'Branch ' || n
	from generate_series(1, 3) n;
	select array_agg(id order by id) into places
	from loyalty.location
	where tenant_id = tenant;

	insert into loyalty.transaction (tenant_id, id, customer_id, transaction_type_id, rule_type, spend_amount_cents, points_awarded,
		source, location_id, actor_kind, actor_id, actor_name, created_at)
	select tenant, id, customer_id, type, 'points', points * 100, points, 'pos', places[points % 4], 'staff', points % 8, 'Cashier ' || points % 8, at
	from bench.sales(sales, buyers, step);

	insert into loyalty.ledger_entry (tenant_id, id, customer_id, seq, unit, amount, balance_after, kind, cause,
		actor_kind, actor_id, actor_name, created_at)
	select tenant, id, customer_id, seq, 'points', points, seq * points, 'earn', id, 'system', '', 'bench', at
	from bench.sales(sales, buyers, step);

	-- Their ids begin with an instant, as all do, and are none of those above.
	insert into loyalty.transaction (tenant_id, id, customer_id, transaction_type_id, rule_type, spend_amount_cents, points_awarded,
		status, voided_at, source, actor_kind, actor_id, actor_name, created_at)
	select tenant, loyalty.new_ulid(at), customer_id, type, 'points', 50, 0, 'voided', at, 'pos', 'system', '', 'bench', at
	from bench.sales(sales / 100, buyers, step);

	with person as (
		insert into loyalty.staff (tenant_id, role, name, email, email_key, created_at)
		select tenant, 'manager', 'Bo Ek', email, email, now()
		from generate_series(1, 1000) n
		cross join lateral (select 'reset' || n || '@' || tenant || '.example' as email) address
		returning id
	)
	insert into loyalty.credential (staff_id, tenant_id, password_hash)
	select id, tenant, 'none'
	from person;

	insert into loyalty.reward (tenant_id, id, name, points_cost, created_at)
	values (tenant, bench.reward(), 'Espresso', 1, now());

	insert into loyalty.coupon (tenant_id, id, name, benefit_type, benefit_value, max_per_customer, created_at)
	select tenant, bench.coupon(n), 'Thank you ' || n, 'points', 1, vouchers, now()
	from generate_series(1, 8) n;

	insert into loyalty.coupon_send (tenant_id, id, coupon_id, segment, form_key, status, matched, sent, no_email,
		actor_kind, actor_id, actor_name, send_at, created_at)
	values (tenant, bench.coupon(1), bench.coupon(1), 'all', 'bench', 'done', vouchers, vouchers, vouchers, 'system', '', 'bench', now(), now());

	insert into loyalty.voucher (tenant_id, id, coupon_id, send_id, customer_id, created_at)
	select tenant, bench.voucher(n), bench.coupon(1), bench.coupon(1), bench.customer(1 + n % buyers * step), now()
	from generate_series(1, vouchers) n;
end
$$;

-- Creates small businesses, each with an owner, a transaction type, some customers and a token with the
-- secret of a given one.
create function bench.fill_small(businesses bigint, customers bigint, of_token bigint)
	returns table (tenant_id bigint, transaction_type_id bigint, token_id bigint)
	language plpgsql as $$
#variable_conflict use_column
begin
	insert into loyalty.tenant (name, slug, email, plan_id, billing_cycle, payment_method, created_at)
	select 'Small ' || n, 'small-' || n, 'small@example.com', (select min(id) from loyalty.plan), 'monthly', 'manual', now()
	from generate_series(1, businesses) n;

	create temporary table business as
	select id
	from loyalty.tenant
	where slug like 'small-%';

	-- On Mondays each would get an e-mail.
	insert into loyalty.weekly_mail (tenant_id, week, queued_at, mailed_at)
	select id, date_trunc('week', now()), now(), now()
	from business;

	insert into loyalty.staff (tenant_id, role, name, email, email_key, created_at)
	select id, 'owner', 'Bo Ek', 'small@example.com', 'small@example.com', now()
	from business;

	insert into loyalty.token (tenant_id, staff_id, name, hash, abilities, created_at)
	select owner.tenant_id, owner.id, 'all', given.hash, given.abilities, now()
	from loyalty.staff owner
	join business on business.id = owner.tenant_id
	cross join loyalty.token given
	where given.id = of_token;

	insert into loyalty.transaction_type (tenant_id, name, rule_type, points_per_unit, created_at)
	select id, 'Purchase', 'points', 1, now()
	from business;

	insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, folded, created_at, updated_at)
	select id, bench.customer(n), 'Bo', 'Ek', bench.phone(n), bench.phone(n), 'bo ek ' || bench.phone(n), now(), now()
	from business
	cross join generate_series(1, customers) n;

	insert into loyalty.account (tenant_id, customer_id)
	select id, bench.customer(n)
	from business
	cross join generate_series(1, customers) n;

	create temporary table small_type as
	select id, tenant_id
	from loyalty.transaction_type;

	return query
	select token.tenant_id, small_type.id, token.id
	from loyalty.token
	join business on business.id = token.tenant_id
	join small_type on small_type.tenant_id = token.tenant_id;
end
$$;

-- Gives the demo a record for pages that it has none for.
create function bench.furnish(tenant bigint) returns void
	language plpgsql as $$
begin
	insert into loyalty.location (tenant_id, name) values (tenant, 'Söder');

	insert into loyalty.tenant_look (tenant_id, logo, logo_type, logo_hash, updated_at)
	select tenant, picture, 'image/png', sha256(picture), now()
	from decode('89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c6310'
		'8b710700014500ba91f58fe30000000049454e44ae426082', 'hex') picture; -- one pixel

	insert into loyalty.password_reset (tenant_id, id, staff_id, hash, expires_at, created_at)
	select tenant, loyalty.new_ulid(now()), min(id), sha256('bench'), now() + interval '1 day', now()
	from loyalty.staff
	where tenant_id = tenant;

	with person as (
		insert into loyalty.staff (tenant_id, role, name, email, email_key, created_at)
		values (tenant, 'cashier', 'Bo Ek', 'bo@cafearo.example', 'bo@cafearo.example', now())
		returning id
	), credential as (
		insert into loyalty.credential (staff_id, tenant_id)
		select id, tenant
		from person
	)
	insert into loyalty.invitation (tenant_id, id, staff_id, hash, expires_at, created_at)
	select tenant, loyalty.new_ulid(now()), id, sha256('bench'), now() + interval '1 day', now()
	from person;

	insert into loyalty.notification (tenant_id, id, kind, cause, staff_id, day, name, figure, created_at)
	select tenant, loyalty.new_ulid(now()), 'staff_activity', 'bench', min(id), current_date, min(name), 6, now()
	from loyalty.staff
	where tenant_id = tenant;
end
$$;
