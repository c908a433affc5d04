-- What a cashier records at the till at once is undone at once: a checkout. It has the ID of its sale, or its own
-- without one. Redemptions and vouchers name the sale that they were used with.
-- +goose Up

-- Of a redemption that was fulfilled at the till: the sale (null: none) and the location (null: unknown). The
-- sale is written last.
alter table loyalty.redemption add column transaction_id uuid;
alter table loyalty.redemption add column location_id bigint;
alter table loyalty.redemption add constraint redemption_transaction
	foreign key (tenant_id, transaction_id) references loyalty.transaction deferrable initially deferred not valid;
alter table loyalty.redemption add constraint redemption_location foreign key (tenant_id, location_id) references loyalty.location not valid;
alter table loyalty.redemption add constraint redemption_used
	check (status <> 'pending' or transaction_id is null and location_id is null) not valid;

-- Of a redeemed voucher. One that is valid again can be redeemed again: that is its next turn.
alter table loyalty.voucher add column transaction_id uuid;
alter table loyalty.voucher add column turn smallint not null default 1;
alter table loyalty.voucher add constraint voucher_transaction
	foreign key (tenant_id, transaction_id) references loyalty.transaction deferrable initially deferred not valid;
alter table loyalty.voucher add constraint voucher_used check (status = 'redeemed' or transaction_id is null) not valid;

-- "Once" holds for each turn of a voucher; everything else has one.
alter table loyalty.ledger_entry add column turn smallint not null default 1;

-- The rewards and vouchers of a checkout, in order. They stay as they were used: a voucher that is valid again
-- may since be an item of another checkout.
create table loyalty.checkout_item (
	tenant_id bigint not null,
	checkout_id uuid not null,
	place bigint not null,
	kind text not null check (kind in ('reward', 'pending', 'voucher')), -- redeemed and fulfilled, only fulfilled, redeemed
	redemption_id uuid, -- of a voucher: the reward that it granted
	voucher_id uuid,
	actor_id text not null, -- the cashier
	outcome text check (outcome in ('returned', 'kept')), -- of the undo; null: it wasn't undone
	primary key (tenant_id, checkout_id, place),
	constraint checkout_item_redemption foreign key (tenant_id, redemption_id) references loyalty.redemption,
	constraint checkout_item_voucher foreign key (tenant_id, voucher_id) references loyalty.voucher,
	constraint checkout_item_used check (case when kind = 'voucher' then voucher_id is not null else voucher_id is null and redemption_id is not null end)
);
-- Finds the voucher of a redemption at no cost, also after the voucher is valid again.
create index checkout_item_of_redemption on loyalty.checkout_item (tenant_id, redemption_id) where kind = 'voucher' and redemption_id is not null;
select loyalty.wall('loyalty.checkout_item');
revoke delete on loyalty.checkout_item from loyalty_app;
