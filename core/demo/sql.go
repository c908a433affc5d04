package demo

const stateSQL = `
	select min((new ->> 'until')::timestamptz) filter (where action = @begun) as until,
		count(*) filter (where action = @complete) > 0 as complete
	from loyalty.platform_audit_entry
	where subject_kind = 'tenant'
		and subject_id = @tenant`

const peopleSQL = `
	select id, role, name, email
	from loyalty.staff
	where tenant_id = @tenant_id
		and email_key = any(@emails::text[])
	order by id`

const recordedSQL = `
	select external_reference, id, status
	from loyalty.transaction
	where tenant_id = @tenant_id
		and external_reference is not null`
