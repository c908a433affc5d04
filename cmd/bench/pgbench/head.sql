-- Every request begins by asking who calls.
\set n 1 + random(0, :buyers - 1) * :step
\set number :number + 1
\set id :first + :number
\startpipeline
select loyalty.enter(0);
select t.id, t.hash, t.name, t.abilities, t.last_used_at, t.expires_at, t.revoked_at, t.staff_id, s.role,
	s.status = 'active' as staff_active, coalesce(n.id, 0) as tenant_id, coalesce(n.name, '') as tenant_name,
	coalesce(n.slug, '') as tenant_slug, coalesce(n.timezone, 'UTC') as timezone, coalesce(n.currency, '') as currency,
	coalesce(n.country, '') as country, coalesce(n.confirm_above_cents, 0) as confirm_above_cents,
	coalesce(n.status, 'active') <> 'active' as suspended, coalesce(n.phone_optional, false) as phone_optional, coalesce(n.test, false) as test,
	coalesce(n.programme, '{}') as programme, coalesce(n.earning_version, 0) as earning_version
from loyalty.token t
join loyalty.staff s on s.id = t.staff_id and s.tenant_id is not distinct from t.tenant_id
left join loyalty.tenant n on n.id = t.tenant_id
where t.id = :token;
\endpipeline
