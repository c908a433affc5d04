-- Mails, written in the transaction of their cause; a job delivers them later.
-- +goose Up

create table loyalty.mail (
	id uuid primary key,
	tenant_id bigint references loyalty.tenant, -- null: the platform's
	recipient text not null,
	subject text not null,
	text text not null,
	html text not null,
	attachment_name text,
	attachment bytea,
	status text not null default 'queued' check (status in ('queued', 'sent', 'kept', 'failed')), -- kept: no mail server is set
	error text,
	created_at timestamptz(3) not null,
	done_at timestamptz(3)
);
create index mail_age on loyalty.mail (created_at);
-- What a customer's page and the end of their data look for.
create index mail_of_recipient on loyalty.mail (tenant_id, recipient);
-- Mails that no server was there for are read on a page, newest first.
create index mail_unsent on loyalty.mail (created_at, id) where status in ('queued', 'kept');
-- E-mails that failed lately, for the page that says how the installation is.
create index mail_failed on loyalty.mail (done_at) where status = 'failed';
select loyalty.platform_wall('loyalty.mail');
