-- What customers are found by: further phone numbers and e-mail addresses, which duplicates had who were
-- merged, and a text in which capitals, widths and compositions of letters make no difference.
-- +goose Up

-- A key belongs to one customer: what is here is no customer's own phone_key or email_key. Whatever writes one of
-- them shares a lock that a merge takes alone (core/customer, LockKeys).
create table loyalty.customer_key (
	tenant_id bigint not null,
	kind text not null check (kind in ('phone', 'email')),
	key text not null, -- as customer.phone_key and customer.email_key
	customer_id uuid not null,
	text text not null, -- as written
	created_at timestamptz(3) not null,
	primary key (tenant_id, kind, key),
	constraint customer_key_customer foreign key (tenant_id, customer_id) references loyalty.customer
);
create index customer_key_of on loyalty.customer_key (tenant_id, customer_id);
select loyalty.wall('loyalty.customer_key');

-- Null: still to be written by the job renew_keys, which also renews the keys of the row; until then
-- searches look at search_key.
alter table loyalty.customer add column folded text;

-- An earlier build, which serves during the upgrade, doesn't know the column. A database that is distributed
-- by tenant has no triggers, and is upgraded while nothing else serves.
-- +goose StatementBegin
create function loyalty.unfold_customer() returns trigger
	language plpgsql
as $$
begin
	new.folded := null;
	return new;
end;
$$;

do $$
begin
	if not exists (select from pg_extension where extname = 'citus') then
		create trigger unfold_customer before update of first_name, last_name, phone, phone_key, email on loyalty.customer
			for each row when (
				new.folded is not distinct from old.folded
				and (new.first_name, new.last_name, new.phone, new.phone_key, new.email)
					is distinct from (old.first_name, old.last_name, old.phone, old.phone_key, old.email)
			) execute function loyalty.unfold_customer();
	end if;
end
$$;

-- unfolded_tenant returns a tenant with customers whose keys are to be renewed; null: there is none.
create function loyalty.unfolded_tenant() returns bigint
	language plpgsql stable security definer set search_path = ''
as $$
declare
	found bigint;
begin
	perform loyalty.require_platform();
	select c.tenant_id
	into found
	from loyalty.customer c
	where c.folded is null
		and c.phone_key is not null
	limit 1;
	return found;
end;
$$;
-- +goose StatementEnd
select loyalty.serves('loyalty.unfolded_tenant');

-- fold is core.Fold for the platform's short lists, which need no stored text. Both sides of a comparison
-- are folded here.
create function loyalty.fold(searched text) returns text
	language sql immutable strict parallel safe
	return replace(replace(translate(lower(normalize(searched, nfkc)), 'ςı', 'σi'), 'i̇', 'i'), 'ß', 'ss');
select loyalty.serves('loyalty.fold');
