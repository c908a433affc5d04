package verify

const ownerSQL = `
	with owned as (
		select distinct tenant_id
		from loyalty.staff
		where role = 'owner'
	), judged as (
		select n.id as tenant_id, n.id, o.tenant_id is null as wrong
		from loyalty.tenant n
		left join owned o on o.tenant_id = n.id
	)` + tally

// Its foreign keys have one column each, so no constraint ensures that the tenants agree.
const tokenSQL = `
	with judged as (
		select coalesce(t.tenant_id, 0) as tenant_id, t.id,
			s.id is null or s.tenant_id is distinct from t.tenant_id as wrong
		from loyalty.token t
		left join loyalty.staff s on s.id = t.staff_id
	)` + tally

const invitationSQL = `
	with judged as (
		select i.tenant_id, i.id, s.id is null or s.tenant_id is distinct from i.tenant_id as wrong
		from loyalty.invitation i
		left join loyalty.staff s on s.id = i.staff_id
	)` + tally
