-- What the staff write about a customer: a note, and tags by which customers are listed.
-- +goose Up

alter table loyalty.customer add column note text;

create table loyalty.customer_tag (
	tenant_id bigint not null,
	customer_id uuid not null,
	key text not null, -- lower case: what tags are compared by
	tag text not null, -- as written
	created_at timestamptz(3) not null, -- the customer's: a list of a tag's customers is in this order
	primary key (tenant_id, customer_id, key),
	constraint customer_tag_customer foreign key (tenant_id, customer_id) references loyalty.customer
);
create index customer_tag_key on loyalty.customer_tag (tenant_id, key, created_at, customer_id);
select loyalty.wall('loyalty.customer_tag');

-- forget_customer also takes notes and tags out of the log.
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
			where fact in ('first_name', 'last_name', 'phone', 'email', 'note', 'tags')
				and old ->> fact is not null
		),
		new = new || (
			select coalesce(jsonb_object_agg(fact, 'Erased'), '{}')
			from jsonb_object_keys(new) fact
			where fact in ('first_name', 'last_name', 'phone', 'email', 'note', 'tags')
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
