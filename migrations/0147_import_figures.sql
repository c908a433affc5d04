-- Validates the constraints of 0146, and finds new customers and adjustments without those that came by an import,
-- while requests go on. A try that was stopped left an invalid index.
-- +goose NO TRANSACTION
-- +goose Up

alter table loyalty.ledger_entry validate constraint ledger_entry_kind_check;
alter table loyalty.ledger_entry validate constraint ledger_entry_cause;
drop index concurrently if exists loyalty.customer_joined;
create index concurrently customer_joined on loyalty.customer (tenant_id, created_at, id) where merged_into is null and imported_at is null;
drop index concurrently if exists loyalty.ledger_entry_adjusted;
create index concurrently ledger_entry_adjusted on loyalty.ledger_entry (tenant_id, id) where kind = 'adjustment';
