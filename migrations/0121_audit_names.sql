-- An entry of an audit log keeps what its subject was called when it was written, and a tenant's
-- entry keeps the customer it is about: a page of the log is read from the entries alone.
-- Entries of an earlier build have neither.
-- +goose Up

alter table loyalty.audit_entry
	add column subject_name text not null default '',
	-- The subject, or the customer of the sale, redemption or voucher.
	add column customer_id uuid,
	add column customer_name text not null default '';
alter table loyalty.platform_audit_entry
	add column subject_name text not null default '';
-- forget_customer finds a customer's entries by it.
create index audit_entry_of_customer on loyalty.audit_entry (tenant_id, customer_id) where customer_id is not null;

-- audit_page is audit_log with these names. An earlier build calls audit_log and audit_records.
-- +goose StatementBegin
create function loyalty.audit_page(
	after_id uuid, before_id uuid, of_tenant bigint, of_actions text[], of_actor_kinds text[], of_actor_ids text[], oldest boolean, up_to bigint
)
	returns table (
		tenant_id bigint, id uuid, created_at timestamptz(3), action text, subject_kind text, subject_id text, subject_name text,
		customer_id uuid, customer_name text, old jsonb, new jsonb,
		actor_kind text, actor_id text, actor_name text, address text, request_id text
	)
	language plpgsql stable security definer set search_path = ''
as $$
declare
	ordered constant text := case when oldest then ' order by e.id limit $8' else ' order by e.id desc limit $8' end;
	picked text := ' e.id > $1 and e.id < $2';
	of_tenants text := '';
	of_platform text := '';
	each_of text := '';
begin
	perform loyalty.require_platform();
	if of_tenant is not null then
		of_tenants := ' and e.tenant_id = $3';
		of_platform := ' and e.subject_kind = ''tenant'' and e.subject_id = $3::text';
	end if;
	if of_actions is not null then
		picked := picked || ' and e.action = wanted.action';
		each_of := ' unnest($4) as wanted (action) cross join';
	end if;
	if of_actor_ids is not null then
		picked := picked || ' and e.actor_kind = who.kind and e.actor_id = who.id';
		each_of := each_of || ' unnest($5, $6) as who (kind, id) cross join';
	end if;
	if each_of <> '' then
		each_of := each_of || ' lateral';
	end if;
	return query execute format(
		'with found as (
			(select e.* from %1$s (select e.tenant_id, e.id from loyalty.audit_entry e where %2$s%3$s%5$s) e%5$s)
			union all
			(select e.* from %1$s (select null::bigint, e.id from loyalty.platform_audit_entry e where %2$s%4$s%5$s) e (tenant_id, id)%5$s)
		), page as (
			select e.* from found e%5$s
		)
		select e.tenant_id, l.id, l.created_at, l.action, l.subject_kind, l.subject_id, l.subject_name, l.customer_id, l.customer_name, l.old, l.new,
			l.actor_kind, l.actor_id, l.actor_name, l.address, l.request_id
		from page e
		cross join lateral (
			select t.id, t.created_at, t.action, t.subject_kind, t.subject_id, t.subject_name, t.customer_id, t.customer_name, t.old, t.new,
				t.actor_kind, t.actor_id, t.actor_name, t.address, t.request_id
			from loyalty.audit_entry t
			where t.tenant_id = e.tenant_id and t.id = e.id
			union all
			select p.id, p.created_at, p.action, p.subject_kind, p.subject_id, p.subject_name, null, '''', p.old, p.new,
				p.actor_kind, p.actor_id, p.actor_name, p.address, p.request_id
			from loyalty.platform_audit_entry p
			where e.tenant_id is null and p.id = e.id
		) l%5$s', each_of, picked, of_tenants, of_platform, ordered)
	using after_id, before_id, of_tenant, of_actions, of_actor_kinds, of_actor_ids, oldest, up_to;
end;
$$;

-- forget_customer takes what tells who a customer was out of records that are otherwise
-- never changed: the names, numbers and addresses in the log of that customer, their name in
-- entries about their sales, redemptions and vouchers, and their own name and address wherever
-- they acted themselves. What was done, when and by whom of the staff stays, and so does every
-- amount. It runs as the owner: the serving role may change no log and no ledger.
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
			where fact in ('first_name', 'last_name', 'phone', 'email')
				and old ->> fact is not null
		),
		new = new || (
			select coalesce(jsonb_object_agg(fact, 'Erased'), '{}')
			from jsonb_object_keys(new) fact
			where fact in ('first_name', 'last_name', 'phone', 'email')
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
select loyalty.serves('loyalty.audit_page');
