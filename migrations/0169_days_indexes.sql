-- Who came on a day follows from each customer's sale before it (core/daily). An index that also has whether a sale was voided, and its
-- location, answers without the table. It replaces the one with the same order.
-- +goose NO TRANSACTION
-- +goose Up
drop index concurrently if exists loyalty.transaction_by_customer;
create index concurrently transaction_by_customer on loyalty.transaction (tenant_id, customer_id, id) include (status, location_id);
drop index concurrently if exists loyalty.transaction_of_customer;

-- What a coupon brought follows from the sales that its vouchers were redeemed with.
drop index concurrently if exists loyalty.voucher_of_transaction;
create index concurrently voucher_of_transaction on loyalty.voucher (tenant_id, transaction_id) where transaction_id is not null;
