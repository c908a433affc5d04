-- Who did what to what. Rows are written once and never changed.
-- +goose Up

create table loyalty.audit_entry (
	tenant_id bigint not null references loyalty.tenant,
	id uuid not null,
	action text not null,
	subject_kind text not null,
	subject_id text not null,
	old jsonb,
	new jsonb,
	actor_kind text not null,
	actor_id text not null,
	actor_name text not null,
	address text not null,
	request_id text not null,
	created_at timestamptz(3) not null,
	primary key (tenant_id, id)
);
create index audit_entry_of_subject on loyalty.audit_entry (tenant_id, subject_kind, subject_id, id);
select loyalty.wall('loyalty.audit_entry');
revoke update, delete on loyalty.audit_entry from loyalty_app;

create table loyalty.platform_audit_entry (
	like loyalty.audit_entry including comments
);
alter table loyalty.platform_audit_entry
	drop column tenant_id,
	add primary key (id);
create index platform_audit_entry_of_subject on loyalty.platform_audit_entry (subject_kind, subject_id, id);
grant select, insert on loyalty.platform_audit_entry to loyalty_app;
-- The platform's own log is for the platform: no tenant set.
alter table loyalty.platform_audit_entry enable row level security;
create policy platform on loyalty.platform_audit_entry using (nullif(current_setting('app.tenant_id', true), '') is null);
