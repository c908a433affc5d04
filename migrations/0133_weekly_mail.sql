-- The weekly e-mail to owners and managers: which weeks were e-mailed, and who wants it.
-- +goose Up

-- One row for each business and week, however many processes look.
create table loyalty.weekly_mail (
	tenant_id bigint not null references loyalty.tenant,
	week date not null, -- the Monday of the e-mail, in the tenant's zone
	queued_at timestamptz(3) not null,
	mailed_at timestamptz(3), -- null: not yet. Also set if there was nothing to tell
	primary key (tenant_id, week)
);
select loyalty.platform_wall('loyalty.weekly_mail');

create table loyalty.weekly_preference (
	tenant_id bigint not null,
	staff_id bigint not null references loyalty.staff,
	id uuid not null, -- in the link that turns the e-mail off
	subscribed boolean not null,
	updated_at timestamptz(3) not null,
	primary key (tenant_id, staff_id),
	constraint weekly_preference_id unique (tenant_id, id)
);
select loyalty.wall('loyalty.weekly_preference');
revoke delete on loyalty.weekly_preference from loyalty_app;

-- The address that unsubscribes with one click (RFC 8058), of e-mails that have one.
alter table loyalty.mail add column unsubscribe text;
