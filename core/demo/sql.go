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

const paidSQL = `
	select id, customer_id, status
	from loyalty.redemption
	where tenant_id = @tenant_id
		and points_spent + stamps_spent > 0
	order by id`

const confirmedSQL = `
	select id, form_key
	from loyalty.coupon_send
	where tenant_id = @tenant_id`

const rewardsSQL = `
	select id, name, active
	from loyalty.reward
	where tenant_id = @tenant_id`

const couponsSQL = `
	select id, name, active
	from loyalty.coupon
	where tenant_id = @tenant_id`

// Where a server runs meanwhile, it may be faster: what it evaluated or expired by
// today's clock is no part of the story.
const vouchersSQL = `
	select v.id, v.customer_id, v.status, v.redemption_id, r.status as redemption_status
	from loyalty.voucher v
	left join loyalty.redemption r on r.tenant_id = v.tenant_id and r.id = v.redemption_id
	where v.tenant_id = @tenant_id
		and v.send_id = @send
		and v.created_at < @until
		and v.status <> 'expired'`
