-- Coupons, their sends, and each customer's copy.
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

-- A send is stored when it is confirmed; a job evaluates it once.
create table loyalty.coupon_send (
	tenant_id bigint not null,
	id uuid not null,
	coupon_id uuid not null,
	segment text not null check (segment in ('all', 'long_standing', 'recent_purchase', 'manual')),
	customer_ids uuid[], -- of a manual segment
	form_key text not null, -- of the form that confirmed it: a double click is one send
	status text not null default 'waiting' check (status in ('waiting', 'mailing', 'done')),
	matched bigint not null default 0, -- members of the segment
	sent bigint not null default 0, -- vouchers made
	skipped_inactive bigint not null default 0,
	skipped_limit bigint not null default 0, -- members who hold max_per_customer
	actor_kind text not null,
	actor_id text not null,
	actor_name text not null,
	created_at timestamptz(3) not null,
	evaluated_at timestamptz(3),
	primary key (tenant_id, id),
	constraint coupon_send_coupon foreign key (tenant_id, coupon_id) references loyalty.coupon,
	constraint coupon_send_form unique (tenant_id, form_key),
	constraint coupon_send_manual check ((segment = 'manual') = (customer_ids is not null)),
	constraint coupon_send_counts check (matched = sent + skipped_inactive + skipped_limit)
);
create index coupon_send_of_coupon on loyalty.coupon_send (tenant_id, coupon_id, id);
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
-- The redemption history of a coupon, newest first.
create index voucher_redeemed_of_coupon on loyalty.voucher (tenant_id, coupon_id, redeemed_at, id) where status = 'redeemed';
-- A redemption comes of one voucher.
create unique index voucher_redemption_once on loyalty.voucher (tenant_id, redemption_id) where redemption_id is not null;
-- What the job that expires vouchers looks for, of all tenants.
create index voucher_due on loyalty.voucher (expires_at) where status = 'pending';
select loyalty.wall('loyalty.voucher');
revoke delete on loyalty.voucher from loyalty_app;

-- expire_vouchers makes the stored status agree with the clock, for every tenant, so
-- many at a time, and passes by those that a till holds.
-- +goose StatementBegin
create function loyalty.expire_vouchers(at timestamptz, up_to bigint) returns bigint
	language sql volatile security definer set search_path = ''
begin atomic
	with due as (
		select tenant_id, id
		from loyalty.voucher
		where status = 'pending'
			and expires_at <= at
		limit up_to
		for no key update skip locked
	), expired as (
		update loyalty.voucher v
		set status = 'expired'
		from due
		where v.tenant_id = due.tenant_id
			and v.id = due.id
		returning v.id
	)
	select count(*)
	from expired;
end;
-- +goose StatementEnd
revoke execute on function loyalty.expire_vouchers from public;
grant execute on function loyalty.expire_vouchers to loyalty_app;
