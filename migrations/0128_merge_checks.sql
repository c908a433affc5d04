-- Validates the constraints of 0127, while requests go on.
-- +goose Up

alter table loyalty.customer validate constraint customer_merged_into;
alter table loyalty.ledger_entry validate constraint ledger_entry_kind_check;
alter table loyalty.ledger_entry validate constraint ledger_entry_cause;
alter table loyalty.ledger_entry validate constraint ledger_entry_merge;
alter table loyalty.ledger_entry validate constraint ledger_entry_of_merge;
