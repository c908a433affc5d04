-- When a sale happened that was recorded later, and what a client keeps with a sale.
-- +goose Up
alter table loyalty.transaction add column occurred_at timestamptz(3); -- null: at created_at
alter table loyalty.transaction add column metadata jsonb; -- texts by key; null: none
