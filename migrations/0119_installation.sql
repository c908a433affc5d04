-- What belongs to the installation as a whole.
-- +goose Up

-- A constant, sealed with the installation's secret when it is first used: a process that is
-- started with another secret can't open it, and says so.
create table loyalty.secret_check (
	id boolean primary key default true check (id),
	sealed bytea not null
);
select loyalty.platform_only('loyalty.secret_check');
revoke delete on loyalty.secret_check from loyalty_app;

-- The one row that readiness checks write, to see whether anything can be written.
create table loyalty.write_check (
	id boolean primary key default true check (id),
	written_at timestamptz(3) not null
) with (fillfactor = 50);
insert into loyalty.write_check (written_at) values ('epoch');
select loyalty.platform_only('loyalty.write_check');
revoke insert, delete on loyalty.write_check from loyalty_app;
