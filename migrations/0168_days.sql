-- Figures of local days that are over, which reports add up instead of sales (core/daily). They follow from the records, and a job
-- counts them: nothing is added to a sale. Sums that exceed 64 bits saturate, as in reports.
-- +goose Up

-- The time that an ID contains.
create function loyalty.id_time(id uuid) returns timestamptz
	language sql immutable parallel safe
	return to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0);

-- Which days of a business are counted: those from the first to the last, by the clocks of a zone.
create table loyalty.days_counted (
	tenant_id bigint primary key references loyalty.tenant,
	zone text not null, -- empty: all days are to be counted anew
	first_day date not null, -- -infinity: nothing was recorded before the others
	last_day date not null, -- before first_day: none is counted
	first_id uuid not null, -- of a record of these days
	next_id uuid not null, -- of a record after them
	ends_at timestamptz(3) not null -- with next_id: the end of last_day, or of an hour of it
);
select loyalty.platform_wall('loyalty.days_counted');
revoke delete on loyalty.days_counted from loyalty_app;

-- Records of these times have changed since, so their days are to be counted anew.
create table loyalty.day_mark (
	tenant_id bigint not null,
	at timestamptz(3) not null,
	id uuid not null,
	visits boolean not null, -- who came changed, not only sums
	primary key (tenant_id, at, id)
);
select loyalty.wall('loyalty.day_mark');

create table loyalty.day_sales (
	tenant_id bigint not null,
	day date not null,
	location_id bigint not null, -- 0: none
	transactions bigint not null, -- completed, like all that isn't said to be voided
	spend bigint not null, -- cents
	points bigint not null,
	stamps bigint not null,
	voided bigint not null,
	reversed bigint not null, -- points of voided sales
	refunds bigint not null,
	refunded bigint not null, -- cents
	points_refunded bigint not null,
	primary key (tenant_id, day, location_id)
);
select loyalty.wall('loyalty.day_sales');

create table loyalty.day_hour (
	tenant_id bigint not null,
	day date not null,
	hour int not null, -- that a clock showed
	location_id bigint not null, -- 0: none
	transaction_type_id bigint not null,
	transactions bigint not null,
	spend bigint not null,
	primary key (tenant_id, day, hour, location_id, transaction_type_id)
);
select loyalty.wall('loyalty.day_hour');

-- Customers with a completed sale on a day, by the day of their sale before.
create table loyalty.day_visit (
	tenant_id bigint not null,
	day date not null,
	location_id bigint not null, -- 0: anywhere; of a location, only its sales count
	prior date not null, -- -infinity: they had none
	customers bigint not null,
	by_hour int[] not null, -- of these, those whose first sale of the day was at 0, 1, 2 … o'clock
	primary key (tenant_id, location_id, day, prior) include (customers)
);
select loyalty.wall('loyalty.day_visit');

-- Customers with their first completed sale of a month on a day, by the month of their first sale of all.
create table loyalty.day_cohort (
	tenant_id bigint not null,
	day date not null,
	first_month date not null, -- its first day
	customers bigint not null,
	primary key (tenant_id, day, first_month)
);
select loyalty.wall('loyalty.day_cohort');

create table loyalty.day_staff (
	tenant_id bigint not null,
	day date not null,
	location_id bigint not null, -- 0: none, which redemptions have
	actor_kind text not null,
	actor_id text not null,
	actor_name text not null,
	transactions bigint not null,
	spend bigint not null,
	points bigint not null,
	stamps bigint not null,
	voided bigint not null, -- that they recorded
	redemptions bigint not null,
	primary key (tenant_id, day, location_id, actor_kind, actor_id)
);
select loyalty.wall('loyalty.day_staff');

create table loyalty.day_rule (
	tenant_id bigint not null,
	day date not null,
	location_id bigint not null, -- 0: none
	unit text not null,
	promotion_id bigint not null, -- 0: none
	level_id bigint not null, -- 0: none
	transactions bigint not null,
	spend bigint not null,
	issued bigint not null,
	base bigint not null,
	promotion bigint not null,
	level bigint not null,
	capped_sales bigint not null,
	capped_off bigint not null,
	primary key (tenant_id, day, location_id, unit, promotion_id, level_id)
);
select loyalty.wall('loyalty.day_rule');

create table loyalty.day_reward (
	tenant_id bigint not null,
	day date not null,
	reward_id uuid not null,
	by_voucher boolean not null, -- at no cost
	redemptions bigint not null, -- not voided, like what was spent
	points bigint not null,
	stamps bigint not null,
	voided bigint not null,
	primary key (tenant_id, day, reward_id, by_voucher)
);
select loyalty.wall('loyalty.day_reward');

create table loyalty.day_coupon (
	tenant_id bigint not null,
	day date not null,
	coupon_id uuid not null,
	sent bigint not null, -- vouchers
	redeemed bigint not null,
	transactions bigint not null, -- completed sales of the day that vouchers were redeemed with, on any day
	spend bigint not null, -- of these
	discount bigint not null, -- that they were given
	granted bigint not null, -- rewards by vouchers of the day, not voided
	unpriced bigint not null, -- vouchers of the day whose discount isn't recorded
	transactions_once bigint not null, -- without those that another coupon counts
	spend_once bigint not null, -- likewise
	primary key (tenant_id, day, coupon_id)
);
select loyalty.wall('loyalty.day_coupon');

-- What changed balances.
create table loyalty.day_flow (
	tenant_id bigint not null,
	day date not null,
	unit text not null,
	kind text not null,
	amount numeric not null,
	below numeric not null, -- of it, what balances below zero became lower (below zero) or higher
	primary key (tenant_id, day, unit, kind)
);
select loyalty.wall('loyalty.day_flow');

create table loyalty.day_joined (
	tenant_id bigint not null,
	day date not null,
	customers bigint not null, -- neither imported nor merged into another since
	primary key (tenant_id, day)
);
select loyalty.wall('loyalty.day_joined');

-- marked_days returns the tenants with days to be counted anew.
-- +goose StatementBegin
create function loyalty.marked_days() returns setof bigint
	language plpgsql stable security definer set search_path = ''
as $$
begin
	perform loyalty.require_platform();
	return query
	select distinct m.tenant_id
	from loyalty.day_mark m
	join loyalty.days_counted c on c.tenant_id = m.tenant_id
	where c.zone <> ''
		and m.at < c.ends_at;
end;
$$;

-- Marks what an earlier build changes, which serves during the upgrade and after going back, and what an operator changes by hand. This build
-- does it itself, and says so in app.marks_days. A database that is distributed by tenant has no triggers.
create function loyalty.mark_day() returns trigger
	language plpgsql
as $$
begin
	insert into loyalty.day_mark (tenant_id, at, id, visits)
	values (old.tenant_id, (to_jsonb(old) ->> tg_argv[0])::timestamptz, loyalty.new_ulid(clock_timestamp()), false);
	return null;
end;
$$;

-- Who came on a day follows from the sales before it, so a sale that is voided or moved changes its customer's next visits. If it was
-- the first one, it changes from when on they are a customer, in all later months.
create function loyalty.mark_visits() returns trigger
	language plpgsql
as $$
begin
	insert into loyalty.day_mark (tenant_id, at, id, visits)
	select old.tenant_id, x.created_at, loyalty.new_ulid(clock_timestamp()), true
	from (
		select old.created_at
		union
		select t.created_at
		from loyalty.transaction t
		where t.tenant_id = old.tenant_id
			and t.customer_id in (old.customer_id, new.customer_id)
			and t.id > old.id
	) x;
	return null;
end;
$$;

-- A sale counts for the coupons of its vouchers.
create function loyalty.mark_sale_of_voucher() returns trigger
	language plpgsql
as $$
begin
	insert into loyalty.day_mark (tenant_id, at, id, visits)
	select t.tenant_id, t.created_at, loyalty.new_ulid(clock_timestamp()), false
	from loyalty.transaction t
	where t.tenant_id = old.tenant_id
		and t.id in (old.transaction_id, new.transaction_id);
	return null;
end;
$$;

do $$
declare
	by_hand constant text := 'coalesce(current_setting(''app.marks_days'', true), '''') = ''''';
begin
	if not exists (select from pg_extension where extname = 'citus') then
		execute 'create trigger mark_visits after update of status, customer_id on loyalty.transaction
			for each row when ((old.status, old.customer_id) is distinct from (new.status, new.customer_id) and ' || by_hand || ')
			execute function loyalty.mark_visits()';
		execute 'create trigger mark_refund after update of refunded_cents, refunded_award on loyalty.transaction
			for each row when ((old.refunded_cents, old.refunded_award) is distinct from (new.refunded_cents, new.refunded_award) and ' || by_hand || ')
			execute function loyalty.mark_day(''created_at'')';
		execute 'create trigger mark_day after update of status on loyalty.redemption
			for each row when ((old.status = ''voided'') <> (new.status = ''voided'') and ' || by_hand || ')
			execute function loyalty.mark_day(''created_at'')';
		execute 'create trigger mark_day after update of redeemed_at on loyalty.voucher
			for each row when (old.redeemed_at is not null and new.redeemed_at is distinct from old.redeemed_at and ' || by_hand || ')
			execute function loyalty.mark_day(''redeemed_at'')';
		execute 'create trigger mark_sale after update of transaction_id on loyalty.voucher
			for each row when (new.transaction_id is distinct from old.transaction_id and ' || by_hand || ')
			execute function loyalty.mark_sale_of_voucher()';
		execute 'create trigger mark_day after update of merged_into on loyalty.customer
			for each row when ((old.merged_into is null) <> (new.merged_into is null) and ' || by_hand || ')
			execute function loyalty.mark_day(''created_at'')';
	end if;
end
$$;
-- +goose StatementEnd
select loyalty.serves('loyalty.marked_days');
