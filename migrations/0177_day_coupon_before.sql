-- What customers spent at their sale before one with a voucher. An earlier build counts days without it, and neither reads what the other counted
-- (days_counted.zone).
-- +goose Up
alter table loyalty.day_coupon
	add column again bigint not null default 0, -- of transactions, those of customers who had a completed sale before
	add column again_spend bigint not null default 0, -- of these
	add column before_spend bigint not null default 0, -- of the last one before each
	add column again_once bigint not null default 0, -- as transactions_once
	add column again_spend_once bigint not null default 0,
	add column before_spend_once bigint not null default 0;
