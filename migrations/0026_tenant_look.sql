-- How a business's pages look.
-- +goose Up

create table loyalty.tenant_look (
	tenant_id bigint primary key references loyalty.tenant,
	colour text check (colour ~ '^#[0-9a-f]{6}$'), -- null: the product's own
	logo bytea check (octet_length(logo) between 1 and 262144), -- null: none
	logo_type text check (logo_type in ('image/png', 'image/jpeg', 'image/webp')),
	logo_hash bytea, -- SHA-256: its address
	updated_at timestamptz(3) not null,
	constraint tenant_look_logo check (num_nonnulls(logo, logo_type, logo_hash) in (0, 3))
);
select loyalty.wall('loyalty.tenant_look');
revoke delete on loyalty.tenant_look from loyalty_app;
