-- Of each row of day_visit, when its customers came: a comparison up to this time of day counts those before it. An earlier build counts them by
-- the hour, and neither reads what the other counted (days_counted.zone).
-- +goose Up
alter table loyalty.day_visit
	alter column by_hour set default '{}',
	alter column second_by_hour set default '{}',
	add column came_at int[] not null default '{}', -- of each customer, the milliseconds from the beginning of the day to the first sale, in order
	add column second_at int[] not null default '{}'; -- likewise, of those who came for the second time
