package programme

const ruleColumns = `coalesce(p.expiry, 'never') as rule, coalesce(p.months, 0) as months, coalesce(p.round_to, '') as round_to,
		coalesce(p.yearly_month, 0) as month, coalesce(p.yearly_day, 0) as day, coalesce(p.grace_days, 30) as grace_days,
		coalesce(nullif(p.hold_until, 'infinity'), '0001-01-01') as hold, coalesce(p.hold_until = 'infinity', false) as holds_all,
		p.opening_expires_on, p.opening_idle_on, coalesce(p.version, 0) as version`

const rulesSQL = `
	select u.unit, ` + ruleColumns + `
	from unnest(array['points', 'stamps']) u (unit)
	left join loyalty.programme p on p.tenant_id = @tenant_id and p.unit = u.unit`

// What customers have of a unit, and the first days on which some of it ends.
const holdingsSQL = `
	select count(*) as customers, coalesce(sum(h.amount), 0)::bigint as amount, count(c.email) as mails,
		min(h.expire_on) as first_on, min(h.idle_on) as first_idle
	from (
		select a.customer_id,
			case when @unit::text = 'stamps' then a.stamps else a.points end as amount,
			case when @unit = 'stamps' then a.stamps_expire_on else a.points_expire_on end as expire_on,
			case when @unit = 'stamps' then a.stamps_idle_on else a.points_idle_on end as idle_on
		from loyalty.account a
		where a.tenant_id = @tenant_id
	) h
	join loyalty.customer c on c.tenant_id = @tenant_id and c.id = h.customer_id
	where h.amount > 0`

// The days of what was there before are those of the first rule.
const writeSQL = `
	insert into loyalty.programme as p (tenant_id, unit, expiry, months, round_to, yearly_month, yearly_day, grace_days,
		opening_expires_on, opening_idle_on, opened_to, told_to, hold_until, begun_at, updated_at)
	values (@tenant_id, @unit, @expiry, @months, @round_to, @yearly_month, @yearly_day, @grace_days,
		@opening_expires_on, @opening_idle_on, @first, @first, @hold_until::text::date, @now, @now)
	on conflict (tenant_id, unit) do update
	set expiry = excluded.expiry,
		months = excluded.months,
		round_to = excluded.round_to,
		yearly_month = excluded.yearly_month,
		yearly_day = excluded.yearly_day,
		grace_days = excluded.grace_days,
		hold_until = excluded.hold_until,
		version = p.version + 1,
		updated_at = excluded.updated_at
	where p.version = @version
	returning version`

// What requests read, with the tenant.
const shareSQL = `select loyalty.share_programme(@tenant)`

const resumeSQL = `
	update loyalty.programme
	set hold_until = greatest(hold_until, @until)
	where tenant_id = @tenant
		and expiry <> 'never'`

// One job at a time goes on from where it is.
const lockStateSQL = `
	select p.unit, ` + ruleColumns + `, p.opened_to, p.told_to, p.run_customers, p.run_points, p.run_stamps
	from loyalty.programme p
	where p.tenant_id = @tenant_id
		and p.unit = @unit
	for no key update`

const stateSQL = `
	select opening_expires_on, opening_idle_on, opened_to
	from loyalty.programme
	where tenant_id = @tenant_id
		and unit = @unit
		and opened_to is not null`

// Another job may have come further meanwhile.
const openedSQL = `
	update loyalty.programme
	set opened_to = @to
	where tenant_id = @tenant_id
		and unit = @unit
		and opened_to = @from`

const toldSQL = `
	update loyalty.programme
	set told_to = @to
	where tenant_id = @tenant_id
		and unit = @unit`

// Customers after one who have something of a unit, and an e-mail address. The name of one who joined online may be a
// stranger's until their phone number is checked.
const toldNextSQL = `
	select c.id, case when c.unchecked_since is null then c.first_name else '' end as first_name, c.email, c.link_version,
		case when @unit::text = 'stamps' then a.stamps else a.points end as balance
	from loyalty.customer c
	join loyalty.account a on a.tenant_id = @tenant_id and a.customer_id = c.id
	where c.tenant_id = @tenant_id
		and c.id > @after
		and c.email is not null
		and case when @unit = 'stamps' then a.stamps else a.points end > 0
	order by c.id
	limit @limit`

const colourSQL = `
	select max(colour) as colour
	from loyalty.tenant_look
	where tenant_id = @tenant_id`

// Counts what was expired, unless a hold has begun meanwhile.
const countRunSQL = `
	update loyalty.programme
	set run_customers = run_customers + @customers,
		run_points = run_points + @points,
		run_stamps = run_stamps + @stamps
	where tenant_id = @tenant_id
		and unit = @unit
		and coalesce(hold_until, '-infinity') < @today::date`

const endRunSQL = `
	update loyalty.programme
	set expired_through = greatest(expired_through, @through::date),
		run_customers = 0,
		run_points = 0,
		run_stamps = 0
	where tenant_id = @tenant_id
		and unit = @unit`

// What is to be done for businesses: a day that has ended, or a first rule.
const findWorkSQL = `
	select p.tenant_id as tenant, p.unit, w.expiring, w.opening, w.telling
	from loyalty.programme p
	join loyalty.tenant n on n.id = p.tenant_id
	cross join lateral (select (@now::timestamptz at time zone n.timezone)::date as today) local
	cross join lateral (
		select coalesce(p.hold_until, '-infinity') < local.today and coalesce(p.expired_through, '-infinity') < local.today - 1 as expiring,
			p.opened_to is not null as opening,
			p.told_to is not null and p.expiry <> 'never' as telling
	) w
	where n.status = 'active'
		and (w.expiring or w.opening or w.telling)
	order by p.tenant_id, p.unit`
