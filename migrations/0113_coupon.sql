-- Coupons, their sends, each customer's voucher, and the e-mails of vouchers.
-- +goose Up

create table loyalty.coupon (
	tenant_id bigint not null references loyalty.tenant,
	id uuid not null,
	name text not null,
	description text,
	benefit_type text not null check (benefit_type in ('points', 'stamps', 'percent', 'amount', 'reward')),
	benefit_value bigint check (benefit_value > 0), -- points, stamps, percent or cents
	benefit_reward_id uuid,
	max_per_customer bigint not null check (max_per_customer > 0),
	max_redemptions bigint check (max_redemptions > 0), -- null: no cap
	redemptions_count bigint not null default 0,
	starts_at timestamptz(3), -- only refuses sends before it
	expires_at timestamptz(3),
	voucher_valid_days bigint check (voucher_valid_days > 0),
	active boolean not null default true,
	created_at timestamptz(3) not null,
	primary key (tenant_id, id),
	constraint coupon_reward foreign key (tenant_id, benefit_reward_id) references loyalty.reward,
	constraint coupon_benefit check ((benefit_type = 'reward') = (benefit_reward_id is not null)
		and (benefit_type = 'reward') = (benefit_value is null)
		and (benefit_type <> 'percent' or benefit_value <= 100)),
	constraint coupon_cap check (max_redemptions is null or redemptions_count <= max_redemptions)
) with (fillfactor = 80);
create index coupon_age on loyalty.coupon (tenant_id, created_at, id);
select loyalty.wall('loyalty.coupon');
revoke delete on loyalty.coupon from loyalty_app;

-- A send is stored when it is confirmed; a job evaluates it once, for its time. All vouchers of
-- a send expire at one instant, so that a send knows what became of its vouchers without looking
-- at them, however many there are.
create table loyalty.coupon_send (
	tenant_id bigint not null,
	id uuid not null,
	coupon_id uuid not null,
	segment text not null check (segment in ('all', 'long_standing', 'recent_purchase', 'manual')),
	customer_ids uuid[], -- of a manual segment
	form_key text not null, -- of the form that confirmed it: a double click is one send
	subject text not null default '', -- of the e-mail
	message text not null default '', -- above the voucher
	status text not null default 'waiting'
		constraint coupon_send_status check (status in ('waiting', 'mailing', 'stopped', 'done', 'cancelled', 'failed')),
	failure text, -- the code of the rule that refused it at its time
	matched bigint not null default 0, -- members of the segment
	sent bigint not null default 0, -- vouchers
	skipped_inactive bigint not null default 0,
	skipped_limit bigint not null default 0, -- members who hold max_per_customer
	no_email bigint not null default 0, -- vouchers of customers without an e-mail address
	unsubscribed bigint not null default 0, -- vouchers of customers who unsubscribed
	mails bigint not null default 0, -- vouchers that are mailed
	delivered bigint not null default 0, -- of them
	failed bigint not null default 0, -- of them, and not tried again by itself
	redeemed bigint not null default 0, -- of its vouchers
	actor_kind text not null,
	actor_id text not null,
	actor_name text not null,
	created_at timestamptz(3) not null,
	send_at timestamptz(3) not null, -- the instant its segment is evaluated for
	begun_at timestamptz(3), -- its job has begun: it can't be cancelled any more
	evaluated_at timestamptz(3),
	expires_at timestamptz(3), -- of its vouchers, fixed when they are created; null: never
	ended_at timestamptz(3), -- done, cancelled or failed
	primary key (tenant_id, id),
	constraint coupon_send_coupon foreign key (tenant_id, coupon_id) references loyalty.coupon,
	constraint coupon_send_form unique (tenant_id, form_key),
	constraint coupon_send_manual check ((segment = 'manual') = (customer_ids is not null)),
	constraint coupon_send_counts check (matched = sent + skipped_inactive + skipped_limit),
	constraint coupon_send_mails check (sent = no_email + unsubscribed + mails and delivered + failed <= mails),
	constraint coupon_send_redeemed check (redeemed between 0 and sent)
) with (fillfactor = 80); -- room for an update to stay on its page, away from the index
create index coupon_send_of_coupon on loyalty.coupon_send (tenant_id, coupon_id, id);
-- What the jobs look for, of all tenants.
create index coupon_send_unfinished on loyalty.coupon_send (send_at) where status in ('waiting', 'mailing');
create index coupon_send_begun on loyalty.coupon_send (begun_at) where begun_at is not null;
select loyalty.wall('loyalty.coupon_send');
revoke delete on loyalty.coupon_send from loyalty_app;

create table loyalty.voucher (
	tenant_id bigint not null,
	id uuid not null,
	coupon_id uuid not null,
	send_id uuid not null,
	customer_id uuid not null,
	status text not null default 'pending' check (status in ('pending', 'redeemed', 'expired')),
	expires_at timestamptz(3), -- fixed at the send; null: never
	redeemed_at timestamptz(3),
	redemption_id uuid, -- of a voucher that is good for a reward
	created_at timestamptz(3) not null,
	primary key (tenant_id, id),
	constraint voucher_coupon foreign key (tenant_id, coupon_id) references loyalty.coupon,
	constraint voucher_send foreign key (tenant_id, send_id) references loyalty.coupon_send,
	constraint voucher_customer foreign key (tenant_id, customer_id) references loyalty.customer,
	constraint voucher_redemption foreign key (tenant_id, redemption_id) references loyalty.redemption,
	constraint voucher_redeemed check ((status = 'redeemed') = (redeemed_at is not null)
		and (redemption_id is null or status = 'redeemed'))
);
-- Who holds how many vouchers of a coupon, and what became of them.
create index voucher_of_coupon on loyalty.voucher (tenant_id, coupon_id, customer_id) include (status, expires_at);
create index voucher_of_send on loyalty.voucher (tenant_id, send_id, id);
create index voucher_of_customer on loyalty.voucher (tenant_id, customer_id, id);
create index voucher_redeemed_at on loyalty.voucher (tenant_id, redeemed_at) where status = 'redeemed';
-- The redemption history of a coupon, newest first.
create index voucher_redeemed_of_coupon on loyalty.voucher (tenant_id, coupon_id, redeemed_at, id) where status = 'redeemed';
-- A redemption comes of one voucher.
create unique index voucher_redemption_once on loyalty.voucher (tenant_id, redemption_id) where redemption_id is not null;
-- What the job that expires vouchers looks for, of all tenants.
create index voucher_due on loyalty.voucher (expires_at) where status = 'pending';
select loyalty.wall('loyalty.voucher');
revoke delete on loyalty.voucher from loyalty_app;

-- The e-mail of a voucher, until it is delivered or given up. It is written when it is
-- sent, from the coupon and the customer of that moment.
create table loyalty.voucher_mail (
	tenant_id bigint not null,
	voucher_id uuid not null,
	send_id uuid not null,
	status text not null default 'queued' check (status in ('queued', 'delivered', 'failed')),
	attempts bigint not null default 0,
	due_at timestamptz(3) not null, -- of a queued one: not before
	recipient text, -- of a failed one: the address that was tried
	error text, -- what the mail server said last
	permanent boolean not null default false, -- of a failed one: this address will never take it
	done_at timestamptz(3),
	primary key (tenant_id, voucher_id),
	constraint voucher_mail_voucher foreign key (tenant_id, voucher_id) references loyalty.voucher
);
create index voucher_mail_queued on loyalty.voucher_mail (tenant_id, send_id, due_at, voucher_id) where status = 'queued';
create index voucher_mail_problem on loyalty.voucher_mail (tenant_id, send_id, voucher_id) where error is not null;
select loyalty.wall('loyalty.voucher_mail');

-- expire_vouchers makes the stored status agree with the clock, for every tenant, so many at a
-- time, and passes by those that a till holds.
-- +goose StatementBegin
create function loyalty.expire_vouchers(at timestamptz, up_to bigint) returns bigint
	language plpgsql volatile security definer set search_path = ''
as $$
declare
	n bigint;
begin
	perform loyalty.require_platform();
	with due as (
		select tenant_id, id
		from loyalty.voucher
		where status = 'pending'
			and expires_at <= at
		limit up_to
		for no key update skip locked
	)
	update loyalty.voucher v
	set status = 'expired'
	from due
	where v.tenant_id = due.tenant_id
		and v.id = due.id;
	get diagnostics n = row_count;
	return n;
end;
$$;
-- +goose StatementEnd
select loyalty.serves('loyalty.expire_vouchers');

-- Forgetting a customer also forgets the address their vouchers were mailed to.
-- +goose StatementBegin
create function loyalty.forget_voucher_mails(customer uuid) returns void
	language plpgsql volatile security definer set search_path = ''
as $$
declare
	tenant constant bigint := current_setting('app.tenant_id', true)::bigint;
begin
	update loyalty.voucher_mail m
	set recipient = null,
		error = case when m.error is null then null else 'Erased' end
	from loyalty.voucher v
	where m.tenant_id = tenant
		and v.tenant_id = tenant
		and v.id = m.voucher_id
		and v.customer_id = customer
		and (m.recipient is not null or m.error is not null);
end;
$$;
-- +goose StatementEnd
select loyalty.serves('loyalty.forget_voucher_mails');

-- unfinished_sends are the sends of all tenants that are due and not over, for the job
-- that makes sure that none of them lost its own.
-- +goose StatementBegin
create function loyalty.unfinished_sends(due_before timestamptz)
	returns table (tenant_id bigint, id uuid, status text)
	language plpgsql stable security definer set search_path = ''
as $$
begin
	perform loyalty.require_platform();
	return query
	select s.tenant_id, s.id, s.status
	from loyalty.coupon_send s
	where s.status in ('waiting', 'mailing')
		and s.send_at < due_before;
end;
$$;
-- +goose StatementEnd
select loyalty.serves('loyalty.unfinished_sends');
