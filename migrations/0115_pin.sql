-- Walk-in sales: a PIN, shown as six digits and as a QR code, that is taken once within 90
-- seconds.
-- +goose Up

-- Digits and code are stored as keyed hashes only. A row is deleted an hour after the PIN
-- has ended; the audit log keeps what happened.
create table loyalty.pin (
	tenant_id bigint not null,
	id uuid not null,
	direction text not null check (direction in ('card', 'till')), -- who shows it
	issuer text not null, -- the customer or the till that shows it: one open PIN each
	status text not null default 'open' check (status in ('open', 'taken', 'used', 'replaced', 'cancelled')),
	pin_hash bytea not null,
	code_hash bytea not null,
	customer_id uuid, -- of a card's; of a till's from the claim on
	transaction_type_id bigint, -- of a till's, like the next two
	spend_amount_cents bigint,
	location_id bigint,
	actor_id text not null, -- who showed it
	actor_name text not null,
	taken_by text, -- a till, or the hash of what a browser's cookie holds
	created_at timestamptz(3) not null,
	expires_at timestamptz(3) not null, -- not taken from then on
	taken_at timestamptz(3),
	complete_before timestamptz(3), -- of a taken one
	ended_at timestamptz(3), -- used, replaced or cancelled
	transaction_id uuid, -- the sale that it completed
	new_customer boolean not null default false, -- the sale's customer joined with it
	primary key (tenant_id, id),
	constraint pin_customer foreign key (tenant_id, customer_id) references loyalty.customer,
	constraint pin_transaction_type foreign key (tenant_id, transaction_type_id) references loyalty.transaction_type,
	constraint pin_location foreign key (tenant_id, location_id) references loyalty.location,
	constraint pin_transaction foreign key (tenant_id, transaction_id) references loyalty.transaction,
	constraint pin_sale check ((direction = 'till') = (spend_amount_cents is not null and transaction_type_id is not null))
);
create unique index pin_issuer on loyalty.pin (tenant_id, issuer) where status = 'open';
create unique index pin_digits on loyalty.pin (tenant_id, pin_hash) where status in ('open', 'taken');
create unique index pin_code on loyalty.pin (tenant_id, code_hash);
create index pin_taker on loyalty.pin (tenant_id, taken_by, taken_at desc) where taken_by is not null;
create index pin_created on loyalty.pin (created_at);
select loyalty.wall('loyalty.pin');

-- forget_pins deletes the PINs of all tenants that were made before an instant.
-- +goose StatementBegin
create function loyalty.forget_pins(made_before timestamptz, up_to bigint) returns bigint
	language plpgsql volatile security definer set search_path = ''
as $$
declare
	n bigint;
begin
	perform loyalty.require_platform();
	delete from loyalty.pin
	where (tenant_id, id) in (
		select tenant_id, id
		from loyalty.pin
		where created_at < made_before
		limit up_to
	);
	get diagnostics n = row_count;
	return n;
end;
$$;
-- +goose StatementEnd
select loyalty.serves('loyalty.forget_pins');
