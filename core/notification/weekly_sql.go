package notification

import "example.com/loyalty/core/db"

const activeTenantSQL = `
	select ` + db.TenantColumns + `
	from loyalty.tenant n
	where n.id = @id
		and n.status = 'active'`

// Due from Monday, 08:00 local time, for a day.
const queueWeeklySQL = `
	insert into loyalty.weekly_mail (tenant_id, week, queued_at)
	select n.id, local.monday, @now
	from loyalty.tenant n
	cross join lateral (
		select @now::timestamptz at time zone n.timezone as at, date_trunc('week', @now::timestamptz at time zone n.timezone)::date as monday
		offset 0
	) local
	where n.status = 'active'
		and local.at >= local.monday + interval '8 hours'
		and local.at < local.monday + interval '32 hours'
		and not exists (select from loyalty.weekly_mail w where w.tenant_id = n.id and w.week = local.monday)
	order by n.id
	on conflict do nothing
	returning tenant_id as tenant, week`

const markWeeklySQL = `
	update loyalty.weekly_mail
	set mailed_at = @now
	where tenant_id = @tenant_id
		and week = @week
		and mailed_at is null
	returning true`

const preferencesSQL = `
	insert into loyalty.weekly_preference (tenant_id, staff_id, id, subscribed, updated_at)
	select @tenant_id, p.id, loyalty.new_ulid(@now), true, @now
	from loyalty.staff p
	where p.tenant_id = @tenant_id
		and p.role in ('owner', 'manager')
	on conflict do nothing`

const readersSQL = `
	select p.id as staff_id, p.name, p.email, w.id, coalesce(u.dismissed, '{}') as dismissed
	from loyalty.staff p
	join loyalty.credential c on c.staff_id = p.id
	join loyalty.weekly_preference w on w.tenant_id = @tenant_id and w.staff_id = p.id
	left join (
		select staff_id, array_agg(notification_id) as dismissed
		from loyalty.notification_read
		where tenant_id = @tenant_id
			and dismissed_at is not null
		group by staff_id
	) u on u.staff_id = p.id
	where p.tenant_id = @tenant_id
		and p.status = 'active'
		and p.role in ('owner', 'manager')
		and c.password_hash is not null
		and w.subscribed
	order by p.id`

const subscribedSQL = `
	select coalesce(w.subscribed, true) as subscribed
	from loyalty.staff p
	left join loyalty.weekly_preference w on w.tenant_id = @tenant_id and w.staff_id = p.id
	where p.tenant_id = @tenant_id
		and p.id = @staff`

const subscriberSQL = `
	select p.id as staff_id, p.name, p.role, w.subscribed
	from loyalty.weekly_preference w
	join loyalty.staff p on p.tenant_id = @tenant_id and p.id = w.staff_id
	where w.tenant_id = @tenant_id
		and w.id = @id`

// A person without a row gets the e-mail.
const subscribeSQL = `
	insert into loyalty.weekly_preference as w (tenant_id, staff_id, id, subscribed, updated_at)
	select @tenant_id, @staff, @id, @subscribed, @now
	where not @subscribed
		or exists (select from loyalty.weekly_preference o where o.tenant_id = @tenant_id and o.staff_id = @staff)
	on conflict (tenant_id, staff_id) do update
	set subscribed = excluded.subscribed,
		updated_at = excluded.updated_at
	where w.subscribed <> excluded.subscribed`
