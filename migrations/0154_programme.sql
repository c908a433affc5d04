-- Points and stamps with a last day: the rule of a business, what ends on which day, and sales refunded in part.
-- +goose Up

-- How points and stamps of a business end; no row: they never did. Read with the tenant, before the tenant is known.
create table loyalty.programme (
	tenant_id bigint not null references loyalty.tenant,
	unit text not null check (unit in ('points', 'stamps')),
	expiry text not null check (expiry in ('never', 'after', 'yearly', 'inactive')),
	months int check (months between 1 and 120),
	round_to text check (round_to in ('day', 'month', 'quarter', 'year')),
	yearly_month int check (yearly_month between 1 and 12), -- of the last day of each year's
	yearly_day int check (yearly_day between 1 and 31),
	grace_days int not null default 30 check (grace_days between 1 and 365), -- what a voided redemption returns lasts at least so long
	opening_expires_on date, -- the last day of what was there before the first rule; null: that never ends
	opening_idle_on date, -- by which that ends if the customer does nothing; null: it doesn't
	opened_to uuid, -- accounts up to this customer have these days; null: all have
	told_to uuid, -- customers up to this one were e-mailed about the first rule; null: all were
	hold_until date, -- nothing ends on this day or before; infinity: while there is no rule
	expired_through date, -- all that ended by this day has been posted; null: nothing has
	run_customers bigint not null default 0, -- what the job has posted since its last entry in the audit log
	run_points bigint not null default 0,
	run_stamps bigint not null default 0,
	version bigint not null default 1, -- of the rule
	begun_at timestamptz(3) not null, -- when the first rule was set
	updated_at timestamptz(3) not null,
	primary key (tenant_id, unit),
	constraint programme_months check ((months is not null) = (expiry in ('after', 'inactive'))),
	constraint programme_round check ((round_to is not null) = (expiry in ('after', 'inactive'))),
	constraint programme_day check ((yearly_month is not null and yearly_day is not null) = (expiry = 'yearly')
		and (yearly_month is null) = (yearly_day is null)),
	constraint programme_off check (expiry <> 'never' or hold_until = 'infinity')
);
select loyalty.platform_wall('loyalty.programme');
revoke delete on loyalty.programme from loyalty_app;

-- Of each unit. No unspent point ends before expire_on; null: none has a last day. By idle_on, everything without a last day
-- ends, unless the customer does something before. Entries up to lots_seq are in lots; what was there at entry lots_from is
-- the first lot (null: there are no lots yet).
alter table loyalty.account
	add column points_expire_on date,
	add column stamps_expire_on date,
	add column points_idle_on date,
	add column stamps_idle_on date,
	add column points_lots_from bigint,
	add column stamps_lots_from bigint,
	add column points_lots_seq bigint,
	add column stamps_lots_seq bigint;

-- What is left of points and stamps, by their last day. Derived from entries when that is needed.
create table loyalty.lot (
	tenant_id bigint not null,
	customer_id uuid not null,
	unit text not null check (unit in ('points', 'stamps')),
	expires_on date not null, -- infinity: none
	remaining bigint not null check (remaining > 0),
	primary key (tenant_id, customer_id, unit, expires_on),
	constraint lot_account foreign key (tenant_id, customer_id) references loyalty.account
) with (fillfactor = 80);
select loyalty.wall('loyalty.lot');

-- Of an award: its last day (null: by no rule). Of an expiry and its return: the day that ended.
alter table loyalty.ledger_entry add column expires_on date;
-- What an entry did to lots: null for an award, which is in the lot of its last day.
alter table loyalty.ledger_entry add column lot_dates date[];
alter table loyalty.ledger_entry add column lot_amounts bigint[];
alter table loyalty.ledger_entry drop constraint ledger_entry_kind_check;
alter table loyalty.ledger_entry add constraint ledger_entry_kind_check check (kind in
	('earn', 'reversal', 'redemption', 'redemption_refund', 'voucher', 'adjustment', 'merge', 'opening', 'expiry', 'expiry_return', 'refund')) not valid;
alter table loyalty.ledger_entry drop constraint ledger_entry_cause;
alter table loyalty.ledger_entry add constraint ledger_entry_cause
	check ((cause is null) = (kind in ('adjustment', 'merge', 'opening', 'expiry'))) not valid;
alter table loyalty.ledger_entry add constraint ledger_entry_expiry check (expires_on is not null or kind not in ('expiry', 'expiry_return')) not valid;
alter table loyalty.ledger_entry add constraint ledger_entry_lots
	check (coalesce(cardinality(lot_dates), -1) = coalesce(cardinality(lot_amounts), -1)) not valid;

-- Of a sale: the last day of its award, and what was refunded of it. A sale that is refunded in part stays completed.
alter table loyalty.transaction add column expires_on date;
alter table loyalty.transaction add column refunded_cents bigint not null default 0;
alter table loyalty.transaction add column refunded_award bigint not null default 0;
alter table loyalty.transaction add constraint transaction_refunded
	check (refunded_cents between 0 and spend_amount_cents and refunded_award between 0 and coalesce(points_awarded, stamps_awarded)) not valid;

create table loyalty.refund (
	tenant_id bigint not null,
	id uuid not null,
	transaction_id uuid not null,
	amount_cents bigint not null check (amount_cents > 0),
	points bigint check (points >= 0), -- taken of the award; null where the sale earned stamps
	stamps bigint check (stamps >= 0),
	external_reference text,
	reason text,
	actor_kind text not null,
	actor_id text not null,
	actor_name text not null,
	created_at timestamptz(3) not null,
	primary key (tenant_id, id),
	constraint refund_transaction foreign key (tenant_id, transaction_id) references loyalty.transaction,
	constraint refund_unit check ((points is null) <> (stamps is null))
);
create index refund_of on loyalty.refund (tenant_id, transaction_id);
create unique index refund_external_reference on loyalty.refund (tenant_id, external_reference) where external_reference is not null;
select loyalty.wall('loyalty.refund');
revoke update, delete on loyalty.refund from loyalty_app;

-- An earlier build, which serves during the upgrade, knows no lots. What it deducts is taken from the soonest, and what it
-- awards never ends. A database that is distributed by tenant has no triggers, and is upgraded while nothing else serves.
-- +goose StatementBegin
create function loyalty.take_lots() returns trigger
	language plpgsql
as $$
declare
	had bigint; -- the account's lots_seq
	part record;
	open bigint := -new.amount;
begin
	select case new.unit when 'points' then a.points_lots_seq else a.stamps_lots_seq end
	into had
	from loyalty.account a
	where a.tenant_id = new.tenant_id
		and a.customer_id = new.customer_id;
	if had is null or had >= new.seq then -- there are no lots, or the entry is copied from another installation
		return new;
	end if;
	insert into loyalty.lot as l (tenant_id, customer_id, unit, expires_on, remaining)
	select e.tenant_id, e.customer_id, e.unit, coalesce(e.expires_on, 'infinity'), sum(least(e.amount, greatest(0, e.balance_after)))
	from loyalty.ledger_entry e
	where e.tenant_id = new.tenant_id
		and e.customer_id = new.customer_id
		and e.unit = new.unit
		and e.seq > had
		and e.amount > 0
		and e.balance_after > 0
		and e.lot_dates is null
	group by e.tenant_id, e.customer_id, e.unit, 4
	on conflict (tenant_id, customer_id, unit, expires_on) do update
	set remaining = l.remaining + excluded.remaining;
	new.lot_dates := '{}';
	new.lot_amounts := '{}';
	for part in
		select l.expires_on, l.remaining
		from loyalty.lot l
		where l.tenant_id = new.tenant_id
			and l.customer_id = new.customer_id
			and l.unit = new.unit
		order by l.expires_on
	loop
		exit when open = 0;
		new.lot_dates := new.lot_dates || part.expires_on;
		new.lot_amounts := new.lot_amounts || -least(open, part.remaining);
		if part.remaining > open then
			update loyalty.lot l
			set remaining = l.remaining - open
			where l.tenant_id = new.tenant_id and l.customer_id = new.customer_id and l.unit = new.unit and l.expires_on = part.expires_on;
			open := 0;
		else
			delete from loyalty.lot l
			where l.tenant_id = new.tenant_id and l.customer_id = new.customer_id and l.unit = new.unit and l.expires_on = part.expires_on;
			open := open - part.remaining;
		end if;
	end loop;
	update loyalty.account a
	set points_lots_seq = case new.unit when 'points' then new.seq else a.points_lots_seq end,
		stamps_lots_seq = case new.unit when 'stamps' then new.seq else a.stamps_lots_seq end
	where a.tenant_id = new.tenant_id
		and a.customer_id = new.customer_id;
	return new;
end;
$$;

do $$
begin
	if not exists (select from pg_extension where extname = 'citus') then
		create trigger take_lots before insert on loyalty.ledger_entry
			for each row when (new.amount < 0 and new.lot_dates is null)
			execute function loyalty.take_lots();
	end if;
end
$$;
-- +goose StatementEnd
