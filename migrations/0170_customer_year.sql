-- What each customer did in a year of days that are over, by which reports group customers, and the groups (core/daily). They follow
-- from the records, and the job that counts days counts them.
-- +goose Up

-- Customers who came in the 365 days up to the last day of year_counted.
create table loyalty.customer_year (
	tenant_id bigint not null,
	customer_id uuid not null,
	last_day date not null, -- of a completed sale
	visits bigint not null, -- days with a completed sale
	spend numeric not null, -- cents
	primary key (tenant_id, customer_id)
);
create index customer_year_day on loyalty.customer_year (tenant_id, last_day, customer_id) include (visits, spend);
select loyalty.wall('loyalty.customer_year');

-- Up to which day the years are counted, and the groups as of that day.
create table loyalty.year_counted (
	tenant_id bigint primary key,
	as_of date not null,
	high numeric not null -- cents: twice what a customer of the year spent on average
);
select loyalty.wall('loyalty.year_counted');

create table loyalty.year_group (
	tenant_id bigint not null,
	name text not null,
	customers bigint not null,
	spend numeric not null,
	primary key (tenant_id, name)
);
select loyalty.wall('loyalty.year_group');

-- Of customers who came again, how many came for the second time.
alter table loyalty.day_visit add column second bigint not null default 0;

-- How many customers ever came up to a day.
create index day_visit_new on loyalty.day_visit (tenant_id, day) include (customers) where location_id = 0 and prior = '-infinity';

-- The group of a report that the customers of a manual segment were in when the send was confirmed.
alter table loyalty.coupon_send add column audience text;
