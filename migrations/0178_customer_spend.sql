-- What a customer spent at their sale before one with a voucher (core/daily) is read from the index that tells their sales before a day, so
-- that no page is read for it that a day's visits don't need. It replaces the one with the same order.
-- +goose NO TRANSACTION
-- +goose Up
drop index concurrently if exists loyalty.transaction_of_customer;
create index concurrently transaction_of_customer on loyalty.transaction (tenant_id, customer_id, id)
	include (status, location_id, spend_amount_cents);
drop index concurrently if exists loyalty.transaction_by_customer;
