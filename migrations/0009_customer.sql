-- Customers. Keys to find them by are stored columns: ilike and lower() are not
-- leakproof, so under a policy the planner would ignore an index on them.
-- +goose Up

create table loyalty.customer (
	tenant_id bigint not null references loyalty.tenant,
	id uuid not null,
	first_name text not null,
	last_name text not null,
	phone text not null, -- as written
	phone_key text, -- E.164 as of the tenant's country, else the digits; null once erased
	email text,
	email_key text, -- lower case
	status text not null default 'active' check (status in ('active', 'inactive')),
	created_at timestamptz(3) not null, -- the first check-in; an import may date it back
	updated_at timestamptz(3) not null,
	search_key text not null generated always as (
		lower(first_name || ' ' || last_name || ' ' || phone || ' ' || coalesce(phone_key, '') || ' ' || coalesce(email, ''))
	) stored,
	primary key (tenant_id, id),
	constraint customer_phone unique (tenant_id, phone_key),
	constraint customer_email unique (tenant_id, email_key)
);
create index customer_age on loyalty.customer (tenant_id, created_at, id);
create index customer_search on loyalty.customer using gin (tenant_id, search_key gin_trgm_ops);
select loyalty.wall('loyalty.customer');

-- One page of the customers whose name, phone or e-mail contains the needle, and
-- that pass the other filters (null: any): their ids, newest first, or oldest
-- first when going back. It runs as the owner, past the policy, because like
-- under a policy cannot use the index; so it asks for the tenant by itself.
-- Dynamic, so that each needle is planned by its own frequency.
-- +goose StatementBegin
create function loyalty.search_customer(
	needle text, only_phone_key text, only_email_key text, only_status text,
	created_from timestamptz, created_before timestamptz,
	cursor_at timestamptz, cursor_id uuid, back boolean, page_limit integer
) returns table (id uuid)
	language plpgsql stable security definer
	set search_path = pg_catalog, public
	as $$
declare
	pattern text := '%' || replace(replace(replace(lower(needle), '\', '\\'), '%', '\%'), '_', '\_') || '%';
	direction text := case when back then 'asc' else 'desc' end;
	comparison text := case when back then '>' else '<' end;
begin
	return query execute format($q$
		select c.id
		from loyalty.customer c
		where c.tenant_id = nullif(current_setting('app.tenant_id', true), '')::bigint
			and c.search_key like $1
			and ($2 is null or c.phone_key = $2)
			and ($3 is null or c.email_key = $3)
			and ($4 is null or c.status = $4)
			and ($5 is null or c.created_at >= $5)
			and ($6 is null or c.created_at < $6)
			and ($7 is null or (c.created_at, c.id) %s ($7, $8))
		order by c.created_at %s, c.id %s
		limit $9
	$q$, comparison, direction, direction)
	using pattern, only_phone_key, only_email_key, only_status, created_from, created_before, cursor_at, cursor_id, page_limit;
end
$$;
-- +goose StatementEnd
revoke execute on function loyalty.search_customer from public;
grant execute on function loyalty.search_customer to loyalty_app;
