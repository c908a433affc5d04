-- Certificates of LOYALTY_TLS=acme, their private keys and the account with the certificate authority, which all
-- processes share. The contents are sealed with the installation's secret.
-- +goose Up

create table loyalty.tls_file (
	key text primary key,
	sealed bytea not null,
	modified_at timestamptz(3) not null
);
select loyalty.platform_only('loyalty.tls_file');

-- A process that requests a certificate holds a lock, which it renews: the lock of a killed process expires.
create table loyalty.tls_lock (
	name text primary key,
	holder text not null,
	expires_at timestamptz(3) not null
);
select loyalty.platform_only('loyalty.tls_lock');
