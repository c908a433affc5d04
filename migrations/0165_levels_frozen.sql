-- While sales from before are counted for levels, sums aren't right yet, and nobody rises or drops. Changes of a customer's level are numbered:
-- of two transactions, the one that began first may have waited for the other.
-- +goose Up
alter table loyalty.level_programme add column frozen boolean not null default false;
alter table loyalty.level_change add column seq bigint not null default 0; -- of the customer's changes, from 1
drop index loyalty.level_change_of;
create index level_change_of on loyalty.level_change (tenant_id, customer_id, seq);
