package usage

// The count ends at twice the limit. A business has more customers only if it moved to a smaller plan.
const customers = `
	select 'customers' as kind, p.customers_limit as "limit",
		(
			select count(*)
			from (
				select
				from loyalty.customer
				where tenant_id = @tenant_id
					and status = 'active'
				limit coalesce(p.customers_limit * 2, 100000)
			) c
		) as used
	from own p`

const staff = `
	select 'staff', p.staff_limit,
		(
			select count(*)
			from loyalty.staff
			where tenant_id = @tenant_id
				and status = 'active'
		)
	from own p`

// Months are calendar months of the tenant's zone.
const sends = `
	select 'sends', p.sends_limit,
		(
			select count(*)
			from loyalty.coupon_send
			where tenant_id = @tenant_id
				and created_at >= date_trunc('month', @now::timestamptz at time zone p.timezone) at time zone p.timezone
				and status not in ('cancelled', 'failed')
		)
	from own p`

const own = `
	with own as (
		select p.*, t.timezone
		from loyalty.tenant t
		join loyalty.plan p on p.id = t.plan_id
		where t.id = @tenant_id
	)`

const allSQL = own + customers + `
	union all` + staff + `
	union all` + sends

const limitedSQL = own + customers + `
	where p.customers_limit is not null
	union all` + staff + `
	where p.staff_limit is not null
	union all` + sends + `
	where p.sends_limit is not null`

// Only the branch of the kind counts.
const countSQL = own + `
	select kind, "limit", used
	from (` + customers + `
		where p.customers_limit is not null and @kind = 'customers'
		union all` + staff + `
		where p.staff_limit is not null and @kind = 'staff'
		union all` + sends + `
		where p.sends_limit is not null and @kind = 'sends'
		union all
		select @kind, null, 0
	) u
	order by "limit" nulls last
	limit 1`
