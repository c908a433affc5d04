package notification

import "example.com/loyalty/core/db"

const activeTenantsSQL = `
	select ` + db.TenantColumns + `
	from loyalty.tenant n
	where n.status = 'active'
	order by n.id`

// thresholds are a business's settings, or the defaults.
const thresholds = `
		select coalesce(s.stock_low, 5) as stock_low, coalesce(s.coupon_percent, 90) as coupon_percent,
			coalesce(s.pending_days, 7) as pending_days, coalesce(s.staff_daily, 5) as staff_daily, coalesce(s.staff_factor, 3) as staff_factor
		from (select) one
		left join loyalty.notification_setting s on s.tenant_id = @tenant_id`

const settingsSQL = thresholds

const openSettingsSQL = `
	insert into loyalty.notification_setting (tenant_id, stock_low, coupon_percent, pending_days, staff_daily, staff_factor, updated_at)
	select @tenant_id, t.*, @now
	from (` + thresholds + `
	) t
	on conflict (tenant_id) do nothing`

const lockSettingsSQL = `
	select stock_low, coupon_percent, pending_days, staff_daily, staff_factor
	from loyalty.notification_setting
	where tenant_id = @tenant_id
	for update`

const updateSettingsSQL = `
	update loyalty.notification_setting
	set stock_low = @stock_low,
		coupon_percent = @coupon_percent,
		pending_days = @pending_days,
		staff_daily = @staff_daily,
		staff_factor = @staff_factor,
		updated_at = @now
	where tenant_id = @tenant_id`

// pendingTooLong is whether a redemption has waited too long: the oldest one, because a policy lets none be looked up by what is computed here.
const pendingTooLong = `(
				select id
				from loyalty.redemption
				where tenant_id = @tenant_id
					and status = 'pending'
				order by id
				limit 1
			) < ` + pendingBefore

// pendingBefore is the first id of redemptions that don't wait too long yet.
const pendingBefore = `(lpad(to_hex(floor(extract(epoch from @now::timestamptz - t.pending_days * interval '1 day') * 1000)::bigint), 12, '0')
				|| repeat('0', 20))::uuid`

// open are the notifications with a cause at present. There are few: one for each reward, coupon and failed
// send at most, and their records are found by primary key.
const open = `
	from loyalty.notification n
	cross join (` + thresholds + `
	) t
	left join loyalty.reward r on r.tenant_id = @tenant_id and r.id = n.reward_id
	left join loyalty.coupon k on k.tenant_id = @tenant_id and k.id = n.coupon_id
	left join loyalty.coupon_send m on m.tenant_id = @tenant_id and m.id = n.send_id
	where n.tenant_id = @tenant_id
		and n.resolved_at is null
		and case
			when n.kind = 'stock_low' then r.active and r.stock between 1 and t.stock_low
			when n.kind = 'stock_empty' then r.active and r.stock = 0
			when n.kind = 'coupon_limit' then ` + nearLimit + `
			when n.kind = 'redemptions_pending' then ` + pendingTooLong + `
			when n.kind = 'send_failed' then (m.status = 'failed' or m.failed > 0) and n.created_at > @lasting_since
			when n.kind = 'send_held' then ` + heldSend + `
			when n.kind in ('staff_activity', 'joins_fast') then n.created_at > @lasting_since
			when n.kind = 'plan_limit' then n.figure * 5 >= (select l.customers_limit * 4` + ownPlan + `)
		end`

const ownPlan = `
				from loyalty.tenant w
				join loyalty.plan l on l.id = w.plan_id
				where w.id = @tenant_id`

const heldSend = `m.held_at is not null
				and m.status in ('waiting', 'mailing')`

// As numeric: a limit can be as large as a bigint.
const nearLimit = `k.active
				and (k.expires_at is null or k.expires_at > @now)
				and k.redemptions_count::numeric * 100 >= k.max_redemptions::numeric * t.coupon_percent`

const countsSQL = `
	select (
			select count(*)
			from (
				select
				from loyalty.redemption
				where tenant_id = @tenant_id
					and status = 'pending'
				limit @up_to
			) waiting
		) as pending,
		case when @manages then (
			select count(*)
			from (
				select` + open + `
					and not exists (select from loyalty.notification_read u where u.tenant_id = @tenant_id and u.staff_id = @staff and u.notification_id = n.id)
				limit @up_to
			) unread
		) else 0 end as unread`

const listSQL = `
	with open as (
		select n.*, t.pending_days, r.stock, k.redemptions_count, k.max_redemptions, m.failed, m.mails` + open + `
	)
	select n.id, n.kind, n.reward_id, n.coupon_id, n.send_id, n.staff_id, n.day, n.name, n.created_at, u.read_at is null as unread,
		case
			when n.kind in ('stock_low', 'stock_empty') then n.stock
			when n.kind = 'coupon_limit' then n.redemptions_count
			when n.kind = 'redemptions_pending' then late.redemptions
			when n.kind = 'send_failed' then n.failed
			when n.kind = 'send_held' then n.mails
			else n.figure
		end as figure,
		case
			when n.kind = 'coupon_limit' then n.max_redemptions
			when n.kind = 'send_failed' then n.mails
			when n.kind = 'plan_limit' then (select l.customers_limit` + ownPlan + `)
			when n.kind = 'redemptions_pending' then n.pending_days
			else 0
		end as total,
		case when n.kind = 'redemptions_pending' then late.oldest end as since
	from open n
	left join loyalty.notification_read u on u.tenant_id = @tenant_id and u.staff_id = @staff and u.notification_id = n.id
	cross join lateral (
		select count(*) as redemptions, min(created_at) as oldest
		from (
			select d.created_at
			from (
				select ` + pendingBefore + ` as first_id
				from (select n.pending_days) t
				where n.kind = 'redemptions_pending'
				offset 0
			) t
			join loyalty.redemption d on d.tenant_id = @tenant_id
				and d.status = 'pending'
				and d.id < t.first_id
			order by d.id
			limit 1001
		) waiting
	) late
	where u.dismissed_at is null
	order by n.created_at desc, n.id desc
	limit @listed`

const readSQL = `
	insert into loyalty.notification_read (tenant_id, staff_id, notification_id, read_at)
	select @tenant_id, @staff, n.id, @now
	from loyalty.notification n
	where n.tenant_id = @tenant_id
		and n.resolved_at is null
		and n.created_at <= @now
	on conflict do nothing`

const dismissSQL = `
	insert into loyalty.notification_read as u (tenant_id, staff_id, notification_id, read_at, dismissed_at)
	select @tenant_id, @staff, n.id, @now, @now
	from loyalty.notification n
	where n.tenant_id = @tenant_id
		and n.id = @id
	on conflict (tenant_id, staff_id, notification_id) do update
	set dismissed_at = coalesce(u.dismissed_at, excluded.dismissed_at)
	returning u.notification_id`

const staffDaySQL = `
	select staff_id, name, day
	from loyalty.notification
	where tenant_id = @tenant_id
		and id = @id
		and kind = 'staff_activity'`

const activityOfDay = `
	from loyalty.audit_entry e
	where e.tenant_id = @tenant_id
		and e.actor_kind = 'staff'
		and e.actor_id = @staff::bigint::text
		and e.action = any(@actions)`

const activitySQL = `
	select e.action, e.created_at, e.subject_id, e.subject_name as name, e.customer_id, e.customer_name,
		(e.new ->> 'spend_amount_cents')::bigint as spend_cents, (e.new ->> 'amount_cents')::bigint as refund_cents, e.new ->> 'unit' as unit, (e.new ->> 'amount')::bigint as amount,
		e.new ->> 'reason' as reason` + activityOfDay + `
		and e.id >= @first_id
		and e.id < @next_id
	order by e.id desc
	limit 200`

const activityBeforeSQL = `
	select count(*) as entries` + activityOfDay + `
		and e.id >= @month_id
		and e.id < @first_id`

// A notification about pending redemptions ends after a week, so that a new one is written while they wait.
const resolveSQL = `
	update loyalty.notification o
	set resolved_at = @now
	where o.tenant_id = @tenant_id
		and o.resolved_at is null
		and (o.id not in (select n.id` + open + `)
			or o.kind = 'redemptions_pending' and o.cause <> @week)`

const once = `
	on conflict (tenant_id, kind, cause) where resolved_at is null do nothing`

const raiseStockSQL = `
	insert into loyalty.notification (tenant_id, id, kind, cause, reward_id, name, created_at)
	select @tenant_id, loyalty.new_ulid(@now), case when r.stock = 0 then 'stock_empty' else 'stock_low' end, r.id::text, r.id, r.name, @now
	from loyalty.reward r
	cross join (` + thresholds + `
	) t
	where r.tenant_id = @tenant_id
		and r.active
		and r.stock <= t.stock_low` + once

const raiseCouponSQL = `
	insert into loyalty.notification (tenant_id, id, kind, cause, coupon_id, name, created_at)
	select @tenant_id, loyalty.new_ulid(@now), 'coupon_limit', k.id::text, k.id, k.name, @now
	from loyalty.coupon k
	cross join (` + thresholds + `
	) t
	where k.tenant_id = @tenant_id
		and ` + nearLimit + once

const raisePendingSQL = `
	insert into loyalty.notification (tenant_id, id, kind, cause, created_at)
	select @tenant_id, loyalty.new_ulid(@now), 'redemptions_pending', @week, @now
	from (` + thresholds + `
	) t
	where ` + pendingTooLong + once

const raiseSendSQL = `
	insert into loyalty.notification (tenant_id, id, kind, cause, coupon_id, send_id, name, created_at)
	select @tenant_id, loyalty.new_ulid(@now), 'send_failed', m.id::text, m.coupon_id, m.id, k.name, @now
	from loyalty.coupon_send m
	join loyalty.coupon k on k.tenant_id = @tenant_id and k.id = m.coupon_id
	where m.tenant_id = @tenant_id
		and (m.status = 'failed' or m.failed > 0)
		and coalesce(m.ended_at, m.evaluated_at, m.send_at) > @lasting_since` + once

const raiseHeldSQL = `
	insert into loyalty.notification (tenant_id, id, kind, cause, coupon_id, send_id, name, created_at)
	select @tenant_id, loyalty.new_ulid(@now), 'send_held', m.id::text, m.coupon_id, m.id, k.name, @now
	from loyalty.coupon_send m
	join loyalty.coupon k on k.tenant_id = @tenant_id and k.id = m.coupon_id
	where m.tenant_id = @tenant_id
		and ` + heldSend + once

// The voids, refunds and adjustments of two days are few: the log finds them by action, and those of the 30 days before
// by person.
const raiseStaffSQL = `
	insert into loyalty.notification as n (tenant_id, id, kind, cause, staff_id, day, name, figure, created_at)
	select @tenant_id, loyalty.new_ulid(@now), 'staff_activity', lately.actor_id || ' ' || lately.day, lately.actor_id::bigint, lately.day,
		lately.name, lately.entries, @now
	from (
		select d.day, d.first_id, d.month_id, e.actor_id, max(e.actor_name) as name, count(*) as entries
		from unnest(@days::date[], @first_ids::uuid[], @next_ids::uuid[], @month_ids::uuid[]) as d (day, first_id, next_id, month_id)
		join loyalty.audit_entry e on e.tenant_id = @tenant_id
			and e.action = any(@actions)
			and e.actor_kind = 'staff'
			and e.id >= d.first_id
			and e.id < d.next_id
		group by d.day, d.first_id, d.month_id, e.actor_id
	) lately
	cross join (` + thresholds + `
	) t
	cross join lateral (
		select count(*) as entries
		from loyalty.audit_entry e
		where e.tenant_id = @tenant_id
			and e.actor_kind = 'staff'
			and e.actor_id = lately.actor_id
			and e.action = any(@actions)
			and e.id >= lately.month_id
			and e.id < lately.first_id
	) before
	where lately.entries > t.staff_daily
		or lately.entries >= @least
			and before.entries > 0
			and lately.entries * @average_days > t.staff_factor * before.entries
	on conflict (tenant_id, kind, cause) where resolved_at is null do update
	set figure = excluded.figure
	where n.figure <> excluded.figure`

// The active customers of the plan, counted up to a little beyond the limit.
const planUse = `
	select count(*) as used, max(customers_limit) as "limit"
	from (
		select l.customers_limit` + ownPlan + `
			and l.customers_limit is not null
	) own
	cross join lateral (
		select
		from loyalty.customer
		where tenant_id = @tenant_id
			and status = 'active'
		limit own.customers_limit + 1
	) c`

const countCustomersSQL = `
	update loyalty.notification n
	set figure = u.used
	from (` + planUse + `
	) u
	where n.tenant_id = @tenant_id
		and n.kind = 'plan_limit'
		and n.resolved_at is null
		and n.figure <> u.used`

const raisePlanSQL = `
	insert into loyalty.notification (tenant_id, id, kind, cause, figure, created_at)
	select @tenant_id, loyalty.new_ulid(@now), 'plan_limit', 'customers', u.used, @now
	from (` + planUse + `
	) u
	where u.used * 5 >= u."limit" * 4` + once

// What customers agreed to when they joined is in the log, found by its action.
const raiseJoinsSQL = `
	insert into loyalty.notification as n (tenant_id, id, kind, cause, day, figure, created_at)
	select @tenant_id, loyalty.new_ulid(@now), 'joins_fast', @day::date::text, @day::date, hour.joins, @now
	from (
		select count(*) as joins
		from loyalty.audit_entry e
		where e.tenant_id = @tenant_id
			and e.action = 'customer.consent'
			and e.id >= @hour_id
			and e.new ->> 'source' = 'join'
	) hour
	cross join lateral (
		select count(*) as joins
		from loyalty.audit_entry e
		where hour.joins > @usual
			and e.tenant_id = @tenant_id
			and e.action = 'customer.consent'
			and e.id >= @week_id
			and e.id < @hour_id
			and e.new ->> 'source' = 'join'
	) week
	where hour.joins > @usual
		and hour.joins * @hours > @factor * week.joins
	on conflict (tenant_id, kind, cause) where resolved_at is null do update
	set figure = excluded.figure
	where n.figure < excluded.figure`

const deleteOldSQL = `
	delete from loyalty.notification
	where tenant_id = @tenant_id
		and resolved_at < @kept_since`
