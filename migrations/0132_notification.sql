-- What owners and managers are told needs attention: notifications, which of them a person has
-- read or dismissed, and the thresholds of a business.
-- +goose Up

create table loyalty.notification (
	tenant_id bigint not null references loyalty.tenant,
	id uuid not null,
	kind text not null check (kind in ('stock_low', 'stock_empty', 'coupon_limit', 'redemptions_pending', 'send_failed', 'staff_activity')),
	cause text not null, -- what tells causes of a kind apart: a reward's id, a person and a day
	reward_id uuid,
	coupon_id uuid, -- of a send, too
	send_id uuid,
	staff_id bigint,
	day date, -- of a person's activity, in the tenant's zone then
	name text not null default '', -- of the reward, the coupon or the person
	figure bigint not null default 0, -- how many voids and adjustments
	created_at timestamptz(3) not null,
	resolved_at timestamptz(3), -- null: its cause still exists, as of the last check
	primary key (tenant_id, id),
	constraint notification_reward foreign key (tenant_id, reward_id) references loyalty.reward,
	constraint notification_coupon foreign key (tenant_id, coupon_id) references loyalty.coupon,
	constraint notification_send foreign key (tenant_id, send_id) references loyalty.coupon_send
);
-- A cause is told once, however many processes check.
create unique index notification_open on loyalty.notification (tenant_id, kind, cause) where resolved_at is null;
create index notification_resolved on loyalty.notification (tenant_id, resolved_at) where resolved_at is not null;
select loyalty.wall('loyalty.notification');

create table loyalty.notification_read (
	tenant_id bigint not null,
	staff_id bigint not null references loyalty.staff,
	notification_id uuid not null,
	read_at timestamptz(3) not null,
	dismissed_at timestamptz(3), -- null: still listed
	primary key (tenant_id, staff_id, notification_id),
	constraint notification_read_notification foreign key (tenant_id, notification_id) references loyalty.notification on delete cascade
);
create index notification_read_of_notification on loyalty.notification_read (tenant_id, notification_id);
select loyalty.wall('loyalty.notification_read');

create table loyalty.notification_setting (
	tenant_id bigint primary key references loyalty.tenant,
	stock_low bigint not null check (stock_low between 0 and 1000000),
	coupon_percent bigint not null check (coupon_percent between 1 and 100),
	pending_days bigint not null check (pending_days between 1 and 365),
	staff_daily bigint not null check (staff_daily between 1 and 10000),
	staff_factor bigint not null check (staff_factor between 2 and 100),
	updated_at timestamptz(3) not null
);
select loyalty.wall('loyalty.notification_setting');
revoke delete on loyalty.notification_setting from loyalty_app;

-- The few sends that failed, or with e-mails that did.
create index coupon_send_failed on loyalty.coupon_send (tenant_id, id) where status = 'failed' or failed > 0;
