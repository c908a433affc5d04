-- Changes of levels by day, and sales and who came for the second time up to an hour of a day (core/daily). All days are counted anew.
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

-- day_sales by hour.
create table loyalty.day_sales_hour (
	tenant_id bigint not null,
	day date not null,
	hour int not null, -- that a clock showed
	location_id bigint not null, -- 0: none
	transactions bigint not null,
	spend bigint not null,
	points bigint not null,
	stamps bigint not null,
	voided bigint not null,
	reversed bigint not null,
	refunds bigint not null,
	refunded bigint not null,
	points_refunded bigint not null,
	primary key (tenant_id, day, hour, location_id)
);
select loyalty.wall('loyalty.day_sales_hour');

-- A build that doesn't know it can't count days any more.
delete from loyalty.day_visit;
alter table loyalty.day_visit add column second_by_hour int[] not null; -- of second, likewise as by_hour
alter table loyalty.day_visit
	drop constraint day_visit_pkey,
	add primary key (tenant_id, location_id, day, prior) include (customers, second);

update loyalty.days_counted
set zone = '';
