\startpipeline
select loyalty.enter(:tenant);
select c.id, c.first_name, c.last_name, c.phone, c.email, c.status, a.points as points_balance, a.stamps as stamps_balance,
	c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
	c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = :tenant and g.customer_id = c.id order by g.key) as tags,
	a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
	moved.created_at as balance_changed_at,
	coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
	coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
	a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
	a.level_id, a.level_until, a.level_by
from loyalty.customer c
join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
where c.tenant_id = :tenant
	and c.id = bench.customer(:n)
	and c.merged_into is null;
\endpipeline
