-- Validates the constraints of 0139, and has the ledger's entries unique for each turn. Built while requests go on;
-- a try that was stopped left an invalid index.
-- +goose NO TRANSACTION
-- +goose Up

alter table loyalty.redemption validate constraint redemption_transaction;
alter table loyalty.redemption validate constraint redemption_location;
alter table loyalty.redemption validate constraint redemption_used;
alter table loyalty.voucher validate constraint voucher_transaction;
alter table loyalty.voucher validate constraint voucher_used;

-- "Once" as a fact: one award and one reversal of a transaction, one deduction and one refund of a redemption, one
-- award and one reversal of each turn of a voucher.
drop index concurrently if exists loyalty.ledger_entry_once_a_turn;
create unique index concurrently ledger_entry_once_a_turn on loyalty.ledger_entry (tenant_id, cause, kind, turn) where cause is not null;
drop index concurrently if exists loyalty.ledger_entry_once;
