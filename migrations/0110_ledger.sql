-- Points and stamps. An account is a customer's balances; every change of one is
-- an entry, and a balance is the sum of its entries at every instant.
-- +goose Up

create table loyalty.account (
	tenant_id bigint not null,
	customer_id uuid not null,
	points bigint not null default 0,
	stamps bigint not null default 0,
	entries bigint not null default 0, -- how many there are; the next one's seq is one more
	primary key (tenant_id, customer_id),
	constraint account_customer foreign key (tenant_id, customer_id) references loyalty.customer
) with (fillfactor = 70); -- room for an update to stay on its page, away from the index
select loyalty.wall('loyalty.account');
revoke delete on loyalty.account from loyalty_app;

create table loyalty.ledger_entry (
	tenant_id bigint not null,
	id uuid not null,
	customer_id uuid not null,
	seq bigint not null, -- 1, 2, 3 … without a gap, in the order the balances changed
	unit text not null check (unit in ('points', 'stamps')),
	amount bigint not null check (amount <> 0),
	balance_after bigint not null,
	kind text not null check (kind in ('earn', 'reversal', 'redemption', 'redemption_refund', 'voucher', 'adjustment')),
	cause uuid, -- the transaction, redemption or voucher; an adjustment has none
	reason text, -- an adjustment's
	actor_kind text not null,
	actor_id text not null,
	actor_name text not null,
	created_at timestamptz(3) not null,
	primary key (tenant_id, id),
	constraint ledger_entry_account foreign key (tenant_id, customer_id) references loyalty.account,
	constraint ledger_entry_cause check ((cause is null) = (kind = 'adjustment')),
	constraint ledger_entry_seq unique (tenant_id, customer_id, seq)
);
-- "Once" as a fact: one award and one reversal of a transaction, one deduction
-- and one refund of a redemption, one award of a voucher.
create unique index ledger_entry_once on loyalty.ledger_entry (tenant_id, cause, kind) where cause is not null;
select loyalty.wall('loyalty.ledger_entry');
revoke update, delete on loyalty.ledger_entry from loyalty_app;
