-- Mails, written in the transaction of their cause; a job delivers them later.
-- +goose Up

create table loyalty.mail (
	id uuid primary key,
	tenant_id bigint references loyalty.tenant, -- null: the platform's
	recipient text not null,
	subject text not null,
	text text not null,
	html text not null,
	status text not null default 'queued' check (status in ('queued', 'sent', 'kept', 'failed')), -- kept: no mail server is set
	error text,
	created_at timestamptz(3) not null,
	done_at timestamptz(3)
);
create index mail_age on loyalty.mail (created_at);
select loyalty.platform_wall('loyalty.mail');
