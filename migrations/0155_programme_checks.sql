-- Validates the constraints of 0154, and finds what ends on a day, while requests go on. A try that was stopped left an
-- invalid index.
-- +goose NO TRANSACTION
-- +goose Up

alter table loyalty.ledger_entry validate constraint ledger_entry_kind_check;
alter table loyalty.ledger_entry validate constraint ledger_entry_cause;
alter table loyalty.ledger_entry validate constraint ledger_entry_expiry;
alter table loyalty.ledger_entry validate constraint ledger_entry_lots;
alter table loyalty.transaction validate constraint transaction_refunded;
drop index concurrently if exists loyalty.account_points_end;
create index concurrently account_points_end on loyalty.account (tenant_id, least(points_expire_on, points_idle_on))
	where least(points_expire_on, points_idle_on) is not null;
drop index concurrently if exists loyalty.account_stamps_end;
create index concurrently account_stamps_end on loyalty.account (tenant_id, least(stamps_expire_on, stamps_idle_on))
	where least(stamps_expire_on, stamps_idle_on) is not null;
drop index concurrently if exists loyalty.ledger_entry_ended;
create index concurrently ledger_entry_ended on loyalty.ledger_entry (tenant_id, customer_id, unit, expires_on)
	where kind in ('expiry', 'expiry_return');
-- Reports add up what was spent and what ended; awards, which are most entries, aren't in it.
drop index concurrently if exists loyalty.ledger_entry_spent;
create index concurrently ledger_entry_spent on loyalty.ledger_entry (tenant_id, id) include (unit, kind, amount)
	where kind in ('redemption', 'redemption_refund', 'expiry', 'expiry_return');
