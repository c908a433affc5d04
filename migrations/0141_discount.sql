-- What vouchers took off a sale's amount at the till. spend_amount_cents is what was paid.
-- +goose Up

alter table loyalty.transaction add column discount_cents bigint not null default 0;
