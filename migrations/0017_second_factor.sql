-- A person's second factor: codes by time (RFC 6238).
-- +goose Up

alter table loyalty.staff
	add column totp_secret bytea, -- sealed with the installation's secret; null: none
	add column totp_step bigint not null default 0; -- the last 30 seconds whose code was taken: none is taken twice
