-- Customers of web shops: a program's own id and fields, and customers without a phone number. Built while requests go
-- on; a try that was stopped is repeated from its beginning.
-- +goose NO TRANSACTION
-- +goose Up

alter table loyalty.tenant add column if not exists phone_optional boolean not null default false;
alter table loyalty.customer add column if not exists external_id text; -- a program's; compared as it is
alter table loyalty.customer add column if not exists metadata jsonb; -- a program's own texts by key; null: none

-- Further keys are external ids, too.
alter table loyalty.customer_key drop constraint if exists customer_key_kind_check;
alter table loyalty.customer_key add constraint customer_key_kind_check check (kind in ('phone', 'email', 'external_id')) not valid;
alter table loyalty.customer_key validate constraint customer_key_kind_check;

drop index concurrently if exists loyalty.customer_external_id;
create unique index concurrently customer_external_id on loyalty.customer (tenant_id, external_id) where external_id is not null;

-- A customer who was erased or merged has neither key; one without a phone number has an e-mail address.
drop index concurrently if exists loyalty.customer_not_folded;
create index concurrently customer_not_folded on loyalty.customer (tenant_id, id)
	where folded is null and (phone_key is not null or email_key is not null);
drop index concurrently if exists loyalty.customer_unfolded;

-- Reports look for those who were erased.
drop index concurrently if exists loyalty.customer_without_keys;
create index concurrently customer_without_keys on loyalty.customer (tenant_id, id) where phone_key is null and email_key is null;

-- +goose StatementBegin
create or replace function loyalty.unfolded_tenant() returns bigint
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
		and (c.phone_key is not null or c.email_key is not null)
	limit 1;
	return found;
end;
$$;
-- +goose StatementEnd

-- An earlier build, which serves during the upgrade, erases and merges customers without these columns: both empty the
-- search text. A database that is distributed by tenant has no triggers, and is upgraded while nothing else serves.
-- +goose StatementBegin
create or replace function loyalty.forget_external_id() returns trigger
	language plpgsql
as $$
begin
	new.external_id := null;
	new.metadata := null;
	return new;
end;
$$;

do $$
begin
	if not exists (select from pg_extension where extname = 'citus') then
		create or replace trigger forget_external_id before update of folded on loyalty.customer
			for each row when (new.folded = '' and (new.external_id is not null or new.metadata is not null))
			execute function loyalty.forget_external_id();
	end if;
end
$$;
-- +goose StatementEnd

-- forget_customer also takes external ids and metadata out of the log.
-- +goose StatementBegin
create or replace function loyalty.forget_customer(customer uuid, customer_ulid text) returns void
	language plpgsql volatile security definer set search_path = ''
as $$
declare
	tenant constant bigint := current_setting('app.tenant_id', true)::bigint;
begin
	update loyalty.audit_entry
	set old = old || (
			select coalesce(jsonb_object_agg(fact, 'Erased'), '{}')
			from jsonb_object_keys(old) fact
			where fact in ('first_name', 'last_name', 'phone', 'email', 'note', 'tags', 'external_id', 'metadata')
				and old ->> fact is not null
		),
		new = new || (
			select coalesce(jsonb_object_agg(fact, 'Erased'), '{}')
			from jsonb_object_keys(new) fact
			where fact in ('first_name', 'last_name', 'phone', 'email', 'note', 'tags', 'external_id', 'metadata')
				and new ->> fact is not null
		)
	where tenant_id = tenant
		and subject_kind = 'customer'
		and subject_id = customer_ulid;
	update loyalty.audit_entry
	set customer_name = 'Erased'
	where tenant_id = tenant
		and customer_id = customer;
	update loyalty.audit_entry
	set actor_name = 'Erased',
		address = ''
	where tenant_id = tenant
		and actor_kind = 'customer'
		and actor_id = customer_ulid;
	update loyalty.ledger_entry
	set actor_name = 'Erased'
	where tenant_id = tenant
		and customer_id = customer
		and actor_kind = 'customer'
		and actor_id = customer_ulid;
	update loyalty.transaction
	set actor_name = 'Erased'
	where tenant_id = tenant
		and customer_id = customer
		and actor_kind = 'customer'
		and actor_id = customer_ulid;
	update loyalty.redemption
	set actor_name = 'Erased'
	where tenant_id = tenant
		and customer_id = customer
		and actor_kind = 'customer'
		and actor_id = customer_ulid;
end;
$$;
-- +goose StatementEnd
