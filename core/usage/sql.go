package usage

const limitsSQL = `
	select l.kind, l."limit", 0::bigint as used
	from loyalty.tenant t
	join loyalty.plan p on p.id = t.plan_id
	cross join lateral (values ('customers', p.customers_limit), ('staff', p.staff_limit), ('sends', p.sends_limit)) l (kind, "limit")
	where t.id = @tenant_id
		and l."limit" is not null`

// The uses of a kind (null: of each kind), with or without those that have no limit. A business has
// more than twice its plan's customers only after a move to a smaller plan, so counting ends there.
// Months are calendar months of the tenant's zone.
const usesSQL = `
	with own as (
		select p.*, t.timezone
		from loyalty.tenant t
		join loyalty.plan p on p.id = t.plan_id
		where t.id = @tenant_id
	)
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
	from own p
	where coalesce(@kind::text = 'customers', true)
		and (@unlimited::boolean or p.customers_limit is not null)
	union all
	select 'staff', p.staff_limit,
		(
			select count(*)
			from loyalty.staff
			where tenant_id = @tenant_id
				and status = 'active'
		)
	from own p
	where coalesce(@kind = 'staff', true)
		and (@unlimited or p.staff_limit is not null)
	union all
	select 'sends', p.sends_limit,
		(
			select count(*)
			from loyalty.coupon_send
			where tenant_id = @tenant_id
				and created_at >= date_trunc('month', @now::timestamptz at time zone p.timezone) at time zone p.timezone
				and status not in ('cancelled', 'failed')
		)
	from own p
	where coalesce(@kind = 'sends', true)
		and (@unlimited or p.sends_limit is not null)`
