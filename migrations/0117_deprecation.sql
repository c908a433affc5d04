-- Requests of the API that are to end, and who was told.
-- +goose Up

create table loyalty.deprecation (
	id bigserial primary key,
	method text not null check (method in ('GET', 'POST', 'PUT', 'PATCH', 'DELETE')),
	path text not null check (path like '/api/v1/%'), -- with its ids as {ulid} and {id}
	sunset date not null, -- it works until this day begins, in UTC
	link text not null, -- what to do instead
	created_at timestamptz(3) not null,
	constraint deprecation_request unique (method, path)
);
grant select, insert on loyalty.deprecation to loyalty_app;
grant usage on sequence loyalty.deprecation_id_seq to loyalty_app;

-- Each tenant is mailed once, however often the job runs.
create table loyalty.deprecation_notice (
	deprecation_id bigint not null references loyalty.deprecation,
	tenant_id bigint not null references loyalty.tenant,
	created_at timestamptz(3) not null,
	primary key (deprecation_id, tenant_id)
);
select loyalty.platform_wall('loyalty.deprecation_notice');
revoke update, delete on loyalty.deprecation_notice from loyalty_app;
