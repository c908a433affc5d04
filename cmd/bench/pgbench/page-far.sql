\if :number = 1
begin;
select loyalty.enter(:tenant);
select created_at as far_at, id as far_id
from loyalty.customer
where tenant_id = :tenant
order by created_at desc, id desc
offset least((5000 - 1) * 15, :buyers::bigint * :step::bigint / 2) - 1
limit 1
\gset
commit;
\endif
\startpipeline
select loyalty.enter(:tenant);
select c.id, c.first_name, c.last_name, c.phone, c.email, c.status, a.points as points_balance, a.stamps as stamps_balance,
	c.created_at, c.updated_at, c.phone_key is null as erased, c.unsubscribed_at, c.link_version, c.unchecked_since
from loyalty.customer c
join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
where c.tenant_id = :tenant
	and c.merged_into is null
	and (c.created_at, c.id) < (:far_at, :far_id)
order by c.created_at desc, c.id desc
limit 16;
\endpipeline
