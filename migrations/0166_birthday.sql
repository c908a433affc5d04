-- The birthday is forgotten like other facts when a customer is erased.
-- +goose Up

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
			where fact in ('first_name', 'last_name', 'phone', 'email', 'note', 'tags', 'external_id', 'metadata', 'birthday')
				and old ->> fact is not null
		),
		new = new || (
			select coalesce(jsonb_object_agg(fact, 'Erased'), '{}')
			from jsonb_object_keys(new) fact
			where fact in ('first_name', 'last_name', 'phone', 'email', 'note', 'tags', 'external_id', 'metadata', 'birthday')
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
