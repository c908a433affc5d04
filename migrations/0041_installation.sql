-- What belongs to the installation as a whole.
-- +goose Up

-- A constant, sealed with the installation's secret when it is first used: a process that is
-- started with another secret can't open it, and says so.
create table loyalty.secret_check (
	id boolean primary key default true check (id),
	sealed bytea not null
);
grant select, insert, update on loyalty.secret_check to loyalty_app;
alter table loyalty.secret_check enable row level security;
create policy platform on loyalty.secret_check using (nullif(current_setting('app.tenant_id', true), '') is null);

-- The one row that readiness checks write, to see whether anything can be written.
create table loyalty.write_check (
	id boolean primary key default true check (id),
	written_at timestamptz(3) not null
) with (fillfactor = 50);
insert into loyalty.write_check (written_at) values ('epoch');
grant select, update on loyalty.write_check to loyalty_app;
alter table loyalty.write_check enable row level security;
create policy platform on loyalty.write_check using (nullif(current_setting('app.tenant_id', true), '') is null);
