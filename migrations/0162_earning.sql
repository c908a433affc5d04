-- What sales earn besides the rule of their type: promotions, categories of what was bought, a day's cap, and levels that
-- customers rise to.
-- +goose Up

-- The version is raised by each change of what sales earn. Processes remember these rules, and a sale's statement compares.
alter table loyalty.tenant
	add column earning_version bigint not null default 0,
	add column points_day_cap bigint, -- what a customer can earn on a local day; null: no cap
	add column stamps_day_cap bigint,
	add column till_categories boolean not null default false; -- cashiers choose what a sale is about

-- What is sold, as far as the rules know it. Tills and shops send codes, each of one category at most.
create table loyalty.category (
	tenant_id bigint not null references loyalty.tenant,
	id bigserial not null,
	name text not null,
	name_key text not null generated always as (lower(name)) stored,
	active boolean not null default true, -- one that isn't has no codes
	created_at timestamptz(3) not null,
	primary key (tenant_id, id),
	constraint category_name unique (tenant_id, name_key)
);
select loyalty.wall('loyalty.category');
grant usage on sequence loyalty.category_id_seq to loyalty_app;
revoke delete on loyalty.category from loyalty_app;

create table loyalty.category_code (
	tenant_id bigint not null,
	code text not null, -- as codes are compared
	category_id bigint not null,
	primary key (tenant_id, code),
	constraint code_category foreign key (tenant_id, category_id) references loyalty.category
);
select loyalty.wall('loyalty.category_code');

-- Codes that sales sent and no category has.
create table loyalty.unmapped_code (
	tenant_id bigint not null references loyalty.tenant,
	code text not null,
	first_seen_at timestamptz(3) not null,
	last_seen_at timestamptz(3) not null,
	sales bigint not null check (sales > 0),
	primary key (tenant_id, code)
);
select loyalty.wall('loyalty.unmapped_code');

alter table loyalty.transaction_type add column excluded_categories bigint[] not null default '{}'; -- whose items earn nothing

create table loyalty.promotion (
	tenant_id bigint not null references loyalty.tenant,
	id bigserial not null,
	name text not null,
	unit text not null check (unit in ('points', 'stamps')),
	percent bigint check (percent between 101 and 1000), -- of what a sale earns
	extra bigint check (extra between 1 and 1000000000000),
	type_ids bigint[], -- null: all
	location_ids bigint[], -- null: all
	category_ids bigint[], -- null: the whole sale
	min_spend_cents bigint not null default 0 check (min_spend_cents >= 0), -- of what it is about
	starts_on date not null,
	ends_on date, -- the last day; null: it goes on
	windows jsonb not null default '[]', -- of the week; none: at all times
	audience text not null default 'all' check (audience in ('all', 'level', 'birthday', 'first_visit')),
	level_id bigint, -- the lowest one of the audience
	birthday_days int check (birthday_days between 1 and 366), -- from the birthday on
	limit_times bigint check (limit_times between 1 and 1000000), -- how often a customer can use it; null: always
	limit_per text check (limit_per in ('day', 'ever')),
	active boolean not null default true,
	created_at timestamptz(3) not null,
	primary key (tenant_id, id),
	constraint promotion_gives check ((percent is null) <> (extra is null)),
	constraint promotion_days check (ends_on >= starts_on),
	constraint promotion_audience check ((audience = 'level') = (level_id is not null) and (audience = 'birthday') = (birthday_days is not null)),
	constraint promotion_limit check ((limit_times is null) = (limit_per is null))
);
select loyalty.wall('loyalty.promotion');
grant usage on sequence loyalty.promotion_id_seq to loyalty_app;
revoke delete on loyalty.promotion from loyalty_app;

-- How customers rise; no row: there are no levels.
create table loyalty.level_programme (
	tenant_id bigint not null references loyalty.tenant,
	active boolean not null default true,
	basis text not null check (basis in ('points', 'spend', 'visits')),
	period text not null check (period in ('year', 'ever')),
	year_month int not null default 1 check (year_month between 1 and 12), -- the first day of the programme's year
	year_day int not null default 1 check (year_day between 1 and 31),
	drops boolean not null default true, -- a level that isn't earned again is lost at its end
	starts_on date not null, -- sales from this local day on count
	counting boolean not null default true, -- the sums of customers after counted_to are still to be counted
	counted_to uuid,
	begun_at timestamptz(3) not null, -- when the rules that are counted came into force
	settled_through date, -- what ended by this day has been settled; null: nothing has
	run_kept bigint not null default 0, -- what the job has done since its last entry in the audit log
	run_dropped bigint not null default 0,
	version bigint not null default 1,
	updated_at timestamptz(3) not null,
	primary key (tenant_id)
);
select loyalty.platform_wall('loyalty.level_programme');
revoke delete on loyalty.level_programme from loyalty_app;

create table loyalty.level (
	tenant_id bigint not null references loyalty.tenant,
	id bigserial not null,
	name text not null,
	rank int not null check (rank >= 0), -- 0 is everybody's
	threshold bigint not null check (threshold >= 0),
	percent bigint not null default 100 check (percent between 100 and 1000), -- of a sale's base award
	colour text not null default '' check (colour = '' or colour ~ '^#[0-9a-f]{6}$'),
	perks text not null default '' check (length(perks) <= 500),
	retired_at timestamptz(3), -- it can no longer be reached; null: it can
	primary key (tenant_id, id),
	constraint level_first check ((rank = 0) = (threshold = 0) and (rank > 0 or retired_at is null))
);
create unique index level_name on loyalty.level (tenant_id, lower(name)) where retired_at is null;
select loyalty.wall('loyalty.level');
grant usage on sequence loyalty.level_id_seq to loyalty_app;
revoke delete on loyalty.level from loyalty_app;

-- Each change of a customer's level, which is never changed itself. Null is the first level.
create table loyalty.level_change (
	tenant_id bigint not null,
	id uuid not null,
	customer_id uuid not null,
	seq int not null, -- 1, 2, 3 … of the customer, in the order in which their account was locked
	from_level bigint,
	to_level bigint,
	reason text not null check (reason in ('reached', 'kept', 'dropped', 'void', 'hand', 'import', 'merge', 'rules')),
	cause uuid, -- the sale, the merge or the import; null: a job, or a change by hand
	note text, -- why, by hand
	from_until date, -- the last day of from_level
	until date, -- and of to_level; null: none
	actor_kind text not null,
	actor_id text not null,
	actor_name text not null,
	created_at timestamptz(3) not null,
	primary key (tenant_id, id),
	constraint level_change_customer foreign key (tenant_id, customer_id) references loyalty.customer,
	constraint level_change_from foreign key (tenant_id, from_level) references loyalty.level,
	constraint level_change_to foreign key (tenant_id, to_level) references loyalty.level
);
create unique index level_change_seq on loyalty.level_change (tenant_id, customer_id, seq);
create unique index level_change_once on loyalty.level_change (tenant_id, cause, reason, customer_id) where cause is not null;
select loyalty.wall('loyalty.level_change');

-- What an account remembers for awards and levels. All are null while the business has no rule that asks.
alter table loyalty.account
	add column earned_on date, -- a local day
	add column earned_points bigint, -- by sales of that day
	add column earned_stamps bigint,
	add column level_year int, -- of the programme; 0: all time
	add column level_sum bigint, -- what counts of that year's sales
	add column level_sum_before bigint, -- and of the year's before
	add column level_id bigint, -- null: the first one
	add column level_until date, -- the last day of the level; null: it has none
	add column level_by text;

-- The parts of an award. Null: what an earlier build recorded, and most sales: all of the award is its base.
alter table loyalty.transaction
	add column base_award bigint, -- by the rule of its type
	add column promotion_id bigint,
	add column promotion_award bigint,
	add column level_id bigint,
	add column level_award bigint,
	add column capped boolean, -- a cap reduced the sum of the parts
	add column eligible_cents bigint, -- the spend without what earns nothing; null: all of it
	add column items jsonb; -- as they were sent
alter table loyalty.transaction add constraint transaction_parts check (
	base_award is null
	or coalesce(points_awarded, stamps_awarded) = base_award + coalesce(promotion_award, 0) + coalesce(level_award, 0)
	or capped and coalesce(points_awarded, stamps_awarded) < base_award + coalesce(promotion_award, 0) + coalesce(level_award, 0)) not valid;

-- Of a customer: their birthday, the year only if it is known.
alter table loyalty.customer
	add column birth_month int,
	add column birth_day int,
	add column birth_year int;
alter table loyalty.customer add constraint customer_birthday check (
	(birth_month is null) = (birth_day is null) and (birth_year is null or birth_month is not null)
	and birth_month between 1 and 12 and birth_day between 1 and 31 and birth_year between 1900 and 2200) not valid;

-- What rewards and coupons may ask for.
alter table loyalty.reward
	add column min_level_id bigint,
	add column max_per_customer bigint check (max_per_customer > 0), -- redemptions that weren't voided; null: no limit
	add column starts_on date,
	add column ends_on date; -- the last local day
alter table loyalty.coupon add column min_level_id bigint;

-- Raises the version of what sales earn. An earlier build, which serves during the upgrade, edits types without it, so a
-- trigger does. A database that is distributed by tenant has no triggers, and is upgraded while nothing else serves.
-- +goose StatementBegin
create function loyalty.raise_earning_version(tenant bigint) returns void
	language sql
as $$
	update loyalty.tenant n
	set earning_version = n.earning_version + 1
	where n.id = tenant
$$;

create function loyalty.type_changed() returns trigger
	language plpgsql
as $$
begin
	perform loyalty.raise_earning_version(new.tenant_id);
	return null;
end;
$$;

do $$
begin
	if not exists (select from pg_extension where extname = 'citus') then
		create trigger type_changed after update on loyalty.transaction_type
			for each row when ((old.active, old.rule_type, old.points_per_unit, old.unit_cents, old.stamps_per_transaction, old.min_spend_cents, old.max_award, old.excluded_categories)
				is distinct from (new.active, new.rule_type, new.points_per_unit, new.unit_cents, new.stamps_per_transaction, new.min_spend_cents, new.max_award, new.excluded_categories))
			execute function loyalty.type_changed();
	end if;
end
$$;
-- +goose StatementEnd
