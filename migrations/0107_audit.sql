-- Who did what to what. Rows are written once and never changed.
-- +goose Up

create table loyalty.audit_entry (
	tenant_id bigint not null references loyalty.tenant,
	id uuid not null,
	action text not null,
	subject_kind text not null,
	subject_id text not null,
	old jsonb,
	new jsonb,
	actor_kind text not null,
	actor_id text not null,
	actor_name text not null,
	address text not null,
	request_id text not null,
	created_at timestamptz(3) not null,
	primary key (tenant_id, id)
);
create index audit_entry_of_subject on loyalty.audit_entry (tenant_id, subject_kind, subject_id, id);
-- Who did what: each action by itself, and each by whom. A filter is a handful of these.
create index audit_entry_of_action on loyalty.audit_entry (tenant_id, action, id);
create index audit_entry_of_actor on loyalty.audit_entry (tenant_id, actor_kind, actor_id, action, id);
-- The log across tenants is read along these: all of it, each action, and each action of
-- each actor.
create index audit_entry_age on loyalty.audit_entry (id);
create index audit_entry_action_age on loyalty.audit_entry (action, id);
create index audit_entry_actor_age on loyalty.audit_entry (actor_kind, actor_id, action, id);
select loyalty.wall('loyalty.audit_entry');
revoke update, delete on loyalty.audit_entry from loyalty_app;

-- The platform's own log.
create table loyalty.platform_audit_entry (
	id uuid primary key,
	action text not null,
	subject_kind text not null,
	subject_id text not null,
	old jsonb,
	new jsonb,
	actor_kind text not null,
	actor_id text not null,
	actor_name text not null,
	address text not null,
	request_id text not null,
	created_at timestamptz(3) not null
);
create index platform_audit_entry_of_subject on loyalty.platform_audit_entry (subject_kind, subject_id, id);
create index platform_audit_entry_action_age on loyalty.platform_audit_entry (action, id);
create index platform_audit_entry_actor_age on loyalty.platform_audit_entry (actor_kind, actor_id, action, id);
select loyalty.platform_only('loyalty.platform_audit_entry');
revoke update, delete on loyalty.platform_audit_entry from loyalty_app;

-- audit_log is a page of the entries of all tenants and of the platform, whose tenant is
-- null. Entries lie between the two ids, without them. "oldest" turns the order. Of a tenant
-- are its own entries, and those of the platform about it. Where actions are given, and with
-- them actors, each is looked up at the end of its index, so a page costs the same however
-- long the log is.
-- +goose StatementBegin
create function loyalty.audit_log(
	after_id uuid, before_id uuid, of_tenant bigint, of_actions text[], of_actor_kinds text[], of_actor_ids text[], oldest boolean, up_to bigint
)
	returns table (
		tenant_id bigint, id uuid, created_at timestamptz(3), action text, subject_kind text, subject_id text, old jsonb, new jsonb,
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
		select e.tenant_id, l.id, l.created_at, l.action, l.subject_kind, l.subject_id, l.old, l.new,
			l.actor_kind, l.actor_id, l.actor_name, l.address, l.request_id
		from page e
		cross join lateral (
			select t.id, t.created_at, t.action, t.subject_kind, t.subject_id, t.old, t.new, t.actor_kind, t.actor_id, t.actor_name, t.address, t.request_id
			from loyalty.audit_entry t
			where t.tenant_id = e.tenant_id and t.id = e.id
			union all
			select p.id, p.created_at, p.action, p.subject_kind, p.subject_id, p.old, p.new, p.actor_kind, p.actor_id, p.actor_name, p.address, p.request_id
			from loyalty.platform_audit_entry p
			where e.tenant_id is null and p.id = e.id
		) l%5$s', each_of, picked, of_tenants, of_platform, ordered)
	using after_id, before_id, of_tenant, of_actions, of_actor_kinds, of_actor_ids, oldest, up_to;
end;
$$;

-- audit_records names what entries of that log tell of: a tenant and an id each, the id a
-- ULID or a number.
create function loyalty.audit_records(of_tenants bigint[], of_ids uuid[], of_numbers bigint[])
	returns table (tenant_id bigint, kind text, id uuid, number bigint, name text, customer_id uuid, customer_name text, spend_cents bigint)
	language plpgsql stable security definer set search_path = ''
as $$
begin
	perform loyalty.require_platform();
	return query
	with wanted as materialized (
		select distinct w.tenant, w.ulid, w.serial
		from unnest(of_tenants, of_ids, of_numbers) as w (tenant, ulid, serial)
	)
	select c.tenant_id, 'customer', c.id, null::bigint, case when c.phone_key is null then c.first_name else c.first_name || ' ' || c.last_name end,
		null::uuid, '', null::bigint
	from wanted w
	join loyalty.customer c on c.tenant_id = w.tenant and c.id = w.ulid
	union all
	select i.tenant_id, 'import', i.id, null, i.file_name, null, '', null
	from wanted w
	join loyalty.customer_import i on i.tenant_id = w.tenant and i.id = w.ulid
	union all
	select t.tenant_id, 'transaction', t.id, null, '', c.id,
		case when c.phone_key is null then c.first_name else c.first_name || ' ' || c.last_name end, t.spend_amount_cents
	from wanted w
	join loyalty.transaction t on t.tenant_id = w.tenant and t.id = w.ulid
	join loyalty.customer c on c.tenant_id = t.tenant_id and c.id = t.customer_id
	union all
	select r.tenant_id, 'reward', r.id, null, r.name, null, '', null
	from wanted w
	join loyalty.reward r on r.tenant_id = w.tenant and r.id = w.ulid
	union all
	select r.tenant_id, 'redemption', r.id, null, k.name, c.id,
		case when c.phone_key is null then c.first_name else c.first_name || ' ' || c.last_name end, null
	from wanted w
	join loyalty.redemption r on r.tenant_id = w.tenant and r.id = w.ulid
	join loyalty.reward k on k.tenant_id = r.tenant_id and k.id = r.reward_id
	join loyalty.customer c on c.tenant_id = r.tenant_id and c.id = r.customer_id
	union all
	select k.tenant_id, 'coupon', k.id, null, k.name, null, '', null
	from wanted w
	join loyalty.coupon k on k.tenant_id = w.tenant and k.id = w.ulid
	union all
	select v.tenant_id, 'voucher', v.id, null, k.name, c.id,
		case when c.phone_key is null then c.first_name else c.first_name || ' ' || c.last_name end, null
	from wanted w
	join loyalty.voucher v on v.tenant_id = w.tenant and v.id = w.ulid
	join loyalty.coupon k on k.tenant_id = v.tenant_id and k.id = v.coupon_id
	join loyalty.customer c on c.tenant_id = v.tenant_id and c.id = v.customer_id
	union all
	select y.tenant_id, 'transaction_type', null, y.id, y.name, null, '', null
	from wanted w
	join loyalty.transaction_type y on y.tenant_id = w.tenant and y.id = w.serial
	union all
	select l.tenant_id, 'location', null, l.id, l.name, null, '', null
	from wanted w
	join loyalty.location l on l.tenant_id = w.tenant and l.id = w.serial
	union all
	select coalesce(s.tenant_id, 0), 'staff', null, s.id, s.name, null, '', null
	from wanted w
	join loyalty.staff s on s.id = w.serial and coalesce(s.tenant_id, 0) = w.tenant
	union all
	select coalesce(k.tenant_id, 0), 'token', null, k.id, k.name, null, '', null
	from wanted w
	join loyalty.token k on k.id = w.serial and coalesce(k.tenant_id, 0) = w.tenant
	union all
	select n.id, 'tenant', null, n.id, n.name, null, '', null
	from wanted w
	join loyalty.tenant n on n.id = w.serial and w.tenant in (0, n.id);
end;
$$;
-- +goose StatementEnd
select loyalty.serves('loyalty.audit_log');
select loyalty.serves('loyalty.audit_records');
