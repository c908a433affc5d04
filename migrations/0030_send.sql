-- Sends go out now or at a time, can be cancelled before they begin, and mail their
-- vouchers. Customers can unsubscribe from these e-mails.
-- +goose Up

alter table loyalty.customer
	add column unsubscribed_at timestamptz(3), -- null: gets coupon e-mails
	add column link_version bigint not null default 0; -- raised to revoke the links that were mailed

alter table loyalty.coupon_send
	add column send_at timestamptz(3), -- the instant its segment is evaluated for
	add column subject text not null default '', -- of the e-mail
	add column message text not null default '', -- above the voucher
	add column begun_at timestamptz(3), -- its job has begun: it can't be cancelled any more
	add column ended_at timestamptz(3), -- done, cancelled or failed
	add column failure text, -- the code of the rule that refused it at its time
	add column no_email bigint not null default 0, -- vouchers of customers without an e-mail address
	add column unsubscribed bigint not null default 0, -- vouchers of customers who unsubscribed
	add column mails bigint not null default 0, -- vouchers that are mailed
	add column delivered bigint not null default 0, -- of them
	add column failed bigint not null default 0; -- of them, and not tried again by itself
update loyalty.coupon_send set send_at = created_at;
alter table loyalty.coupon_send alter column send_at set not null;
alter table loyalty.coupon_send drop constraint coupon_send_status_check;
alter table loyalty.coupon_send add constraint coupon_send_status
	check (status in ('waiting', 'mailing', 'stopped', 'done', 'cancelled', 'failed'));
alter table loyalty.coupon_send add constraint coupon_send_mails
	check (sent = no_email + unsubscribed + mails and delivered + failed <= mails);

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

-- Forgetting a customer also forgets the address their vouchers were mailed to.
-- +goose StatementBegin
create function loyalty.forget_voucher_mails(customer uuid) returns void
	language sql volatile security definer set search_path = ''
begin atomic
	update loyalty.voucher_mail m
	set recipient = null,
		error = case when m.error is null then null else 'Erased' end
	from loyalty.voucher v
	where m.tenant_id = nullif(current_setting('app.tenant_id', true), '')::bigint
		and v.tenant_id = m.tenant_id
		and v.id = m.voucher_id
		and v.customer_id = customer
		and (m.recipient is not null or m.error is not null);
end;
-- +goose StatementEnd
revoke execute on function loyalty.forget_voucher_mails from public;
grant execute on function loyalty.forget_voucher_mails to loyalty_app;

-- unfinished_sends are the sends of all tenants that are due and not over, for the job
-- that makes sure that none of them lost its own.
-- +goose StatementBegin
create function loyalty.unfinished_sends(due_before timestamptz)
	returns table (tenant_id bigint, id uuid, status text)
	language sql stable security definer set search_path = ''
begin atomic
	select s.tenant_id, s.id, s.status
	from loyalty.coupon_send s
	where s.status in ('waiting', 'mailing')
		and s.send_at < due_before;
end;
-- +goose StatementEnd
revoke execute on function loyalty.unfinished_sends from public;
grant execute on function loyalty.unfinished_sends to loyalty_app;
create index coupon_send_unfinished on loyalty.coupon_send (send_at) where status in ('waiting', 'mailing');
