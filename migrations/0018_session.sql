-- Sessions of people in the panel. The cookie's token is not stored, only its SHA-256.
-- +goose Up

create table loyalty.session (
	hash bytea primary key,
	tenant_id bigint references loyalty.tenant, -- null: the platform
	staff_id bigint references loyalty.staff, -- null: nobody has signed in
	data bytea not null,
	created_at timestamptz(3) not null,
	last_seen_at timestamptz(3) not null,
	expires_at timestamptz(3) not null,
	ended_at timestamptz(3), -- kept for a while: a slow request must not bring it back
	address text not null,
	user_agent text not null
);
create index session_of_person on loyalty.session (staff_id) where ended_at is null;
select loyalty.platform_wall('loyalty.session');

-- Whoever proved who they are by an earlier password is not signed in any more.
alter table loyalty.staff add column password_set_at timestamptz(3);
