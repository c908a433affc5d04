\startpipeline
begin;
select loyalty.enter(:tenant);
select c.id, c.first_name, c.last_name, c.phone, c.email, c.status, a.points as points_balance, a.stamps as stamps_balance,
	c.created_at, c.updated_at, c.phone_key is null as erased, c.unsubscribed_at, c.link_version, c.unchecked_since
from loyalty.customer c
join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
where c.tenant_id = :tenant
	and c.id = (
		select coalesce(
			(select id from loyalty.customer where tenant_id = :tenant and phone_key = bench.new_phone(:number, :client_id)),
			(select customer_id from loyalty.customer_key where tenant_id = :tenant and kind = 'phone' and key = bench.new_phone(:number, :client_id)),
			(select id from loyalty.customer where tenant_id = :tenant and email_key = null),
			(select customer_id from loyalty.customer_key where tenant_id = :tenant and kind = 'email' and key = null))
	);
\endpipeline
\startpipeline
select pg_advisory_xact_lock_shared(hashtextextended('country ' || :tenant::bigint::text, 9));
insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, email, email_key, folded,
	unchecked_since, created_at, updated_at)
select :tenant, bench.new_id(1, :id, :client_id), 'Bo', 'Ek', bench.new_phone(:number, :client_id), bench.new_phone(:number, :client_id),
	null, null, 'bo ek ' || bench.new_phone(:number, :client_id),
	null::timestamptz, now(), now()
from loyalty.tenant t
where t.id = :tenant
	and coalesce(t.country, '') = 'SE'
	and (null::bigint is null
		or (select coalesce(p.customers_limit > null, true) from loyalty.plan p where p.id = t.plan_id))
	and not exists (
		select
		from loyalty.customer_key
		where tenant_id = :tenant
			and (kind = 'phone' and key = bench.new_phone(:number, :client_id) or kind = 'email' and key = null)
	)
on conflict do nothing
returning id, first_name, last_name, phone, email, status, 0::bigint as points_balance, 0::bigint as stamps_balance,
	created_at, updated_at, false as erased, unsubscribed_at, link_version, unchecked_since;
\endpipeline
\startpipeline
insert into loyalty.account (tenant_id, customer_id)
values (:tenant, bench.new_id(1, :id, :client_id));
insert into loyalty.audit_entry (tenant_id, id, action, subject_kind, subject_id, subject_name, customer_id, customer_name,
	old, new, actor_kind, actor_id, actor_name, address, request_id, created_at)
select :tenant, bench.new_id(2, :id, :client_id), 'customer.create', 'customer', '01M82PP1EZ4TVMCWT1GY5KZX5C', '',
	bench.new_id(1, :id, :client_id)::uuid,
	coalesce((
		select case when phone_key is null then first_name else first_name || ' ' || last_name end
		from loyalty.customer
		where tenant_id = :tenant
			and id = bench.new_id(1, :id, :client_id)
		for key share
	), ''),
	null,
	'{"email": null, "first_name": "Bo", "last_name": "Ek", "phone": "+46739999999", "status": "active"}', 'token', :token, 'all',
	'127.0.0.1', '01M82PP1EZ4TVMCWT1GY5KZX5D', now()
returning 1;
commit;
\endpipeline
