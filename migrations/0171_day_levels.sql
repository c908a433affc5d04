-- Changes of levels by day, and who came for the second time up to an hour of a day (core/daily). All days are counted anew.
-- +goose Up
create table loyalty.day_level (
	tenant_id bigint not null,
	day date not null,
	to_level bigint not null, -- 0: none
	reason text not null,
	changes bigint not null,
	primary key (tenant_id, day, to_level, reason)
);
select loyalty.wall('loyalty.day_level');

-- A build that doesn't know it can't count days any more.
delete from loyalty.day_visit;
alter table loyalty.day_visit add column second_by_hour int[] not null; -- of second, likewise as by_hour
alter table loyalty.day_visit
	drop constraint day_visit_pkey,
	add primary key (tenant_id, location_id, day, prior) include (customers, second);

update loyalty.days_counted
set zone = '';
