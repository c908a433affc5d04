-- Validates the constraints of 0162, and finds uses of promotions and customers by level, while requests go on. A try that was
-- stopped left an invalid index.
-- +goose NO TRANSACTION
-- +goose Up

alter table loyalty.transaction validate constraint transaction_parts;
alter table loyalty.customer validate constraint customer_birthday;
drop index concurrently if exists loyalty.transaction_of_promotion;
create index concurrently transaction_of_promotion on loyalty.transaction (tenant_id, promotion_id, customer_id, id) where promotion_id is not null;
drop index concurrently if exists loyalty.account_level;
create index concurrently account_level on loyalty.account (tenant_id, level_id) where level_id is not null;
drop index concurrently if exists loyalty.account_level_end;
create index concurrently account_level_end on loyalty.account (tenant_id, level_until) where level_until is not null;
