-- Two customers who are one person: the duplicate is merged into the other. Its sales, redemptions and
-- vouchers move; both ledgers stay, and entries that name the merge move the balances.
-- +goose Up

-- Of a duplicate: the customer into whom it was merged, at the end of a chain of merges. It keeps no
-- name and no key, so that no search and no form finds it.
alter table loyalty.customer add column merged_into uuid;
alter table loyalty.customer add constraint customer_merged_into foreign key (tenant_id, merged_into) references loyalty.customer not valid;

create table loyalty.customer_merge (
	tenant_id bigint not null,
	id uuid not null,
	merged_id uuid not null,
	kept_id uuid not null, -- who may have been merged later
	first_name text not null, -- the duplicate's
	last_name text not null,
	points bigint not null, -- moved
	stamps bigint not null,
	sales bigint not null,
	redemptions bigint not null,
	vouchers bigint not null,
	actor_kind text not null,
	actor_id text not null,
	actor_name text not null,
	created_at timestamptz(3) not null,
	primary key (tenant_id, id),
	constraint customer_merge_once unique (tenant_id, merged_id),
	constraint customer_merge_merged foreign key (tenant_id, merged_id) references loyalty.customer,
	constraint customer_merge_kept foreign key (tenant_id, kept_id) references loyalty.customer
);
select loyalty.wall('loyalty.customer_merge');
revoke delete on loyalty.customer_merge from loyalty_app;

alter table loyalty.ledger_entry add column merge_id uuid; -- of an entry that a merge made
alter table loyalty.ledger_entry drop constraint ledger_entry_kind_check;
alter table loyalty.ledger_entry add constraint ledger_entry_kind_check
	check (kind in ('earn', 'reversal', 'redemption', 'redemption_refund', 'voucher', 'adjustment', 'merge')) not valid;
alter table loyalty.ledger_entry drop constraint ledger_entry_cause;
alter table loyalty.ledger_entry add constraint ledger_entry_cause check ((cause is null) = (kind in ('adjustment', 'merge'))) not valid;
alter table loyalty.ledger_entry add constraint ledger_entry_merge check ((merge_id is not null) = (kind = 'merge')) not valid;
alter table loyalty.ledger_entry add constraint ledger_entry_of_merge
	foreign key (tenant_id, merge_id) references loyalty.customer_merge not valid;

-- A voucher's link is signed with the customer's link version and this. It keeps mailed links valid when
-- the voucher moves to a customer with another version.
alter table loyalty.voucher add column link_shift bigint not null default 0;
