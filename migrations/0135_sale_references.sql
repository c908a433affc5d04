-- Each sale looked up its type, customer and location twice, and wrote a lock into the row that all sales
-- of a type share. The statement that records a sale reads all three and locks the customer; a ledger
-- entry is written with the change of its account. None of these rows can be deleted, so the
-- references refused nothing. `loyalty verify` checks them every night.
-- +goose NO TRANSACTION
-- +goose Up

revoke delete on loyalty.customer, loyalty.transaction_type, loyalty.location from loyalty_app;
alter table loyalty.transaction drop constraint if exists transaction_type;
alter table loyalty.transaction drop constraint if exists transaction_location;
alter table loyalty.transaction drop constraint if exists transaction_customer;
alter table loyalty.ledger_entry drop constraint if exists ledger_entry_account;
