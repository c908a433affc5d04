package tenant

import "example.com/loyalty/core/db"

const columns = `id, name, slug, email, plan_id, billing_cycle, payment_method, status, timezone, currency, country, created_at,
	suspended_at, suspend_reason, test, confirm_above_cents`

// Returns no row if the plan is retired or the slug is taken.
const insertSQL = `
	insert into loyalty.tenant (name, slug, email, plan_id, billing_cycle, payment_method, timezone, currency, country, confirm_above_cents, test, created_at)
	select @name, @slug, @email, p.id, @billing_cycle, @payment_method, @timezone, @currency, @country, @confirm_above_cents, @test, @now
	from loyalty.plan p
	where p.id = @plan
		and not p.retired
	on conflict (slug) do nothing
	returning ` + columns

const selectTenant = `
	select ` + columns + `
	from loyalty.tenant`

const servedBySlugSQL = `
	select ` + db.TenantColumns + `, ` + db.ThemeColumns + `
	from loyalty.tenant n
	` + db.ThemeOf + `
	where n.slug = @slug`

const byIDSQL = selectTenant + `
	where id = @id`

const lockSQL = byIDSQL + `
	for no key update`

// A tenant can keep a retired plan.
const updateSQL = `
	update loyalty.tenant
	set name = @name,
		email = @email,
		plan_id = @plan,
		billing_cycle = @billing_cycle,
		payment_method = @payment_method,
		status = @status,
		suspended_at = case when @status = 'suspended' then coalesce(suspended_at, @now) end,
		suspend_reason = case when @status = 'suspended' then coalesce(@reason, suspend_reason) end,
		timezone = @timezone,
		currency = @currency,
		confirm_above_cents = @confirm_above_cents,
		country = @country
	where id = @id
		and (plan_id = @plan or exists (select from loyalty.plan where id = @plan and not retired))
	returning ` + columns

type conflicts struct {
	PlanOpen  bool // to this tenant
	SlugTaken bool // by another tenant
}

const conflictsSQL = `
	select exists (select from loyalty.plan where id = @plan and not retired)
			or exists (select from loyalty.tenant where id = @id and plan_id = @plan) as plan_open,
		exists (select from loyalty.tenant where slug = @slug and id <> @id) as slug_taken`

var tenantList = db.NewList(selectTenant+`
	where true {filters} {position}
	{page}`, db.Descending("created_at, id", "@at, @number"), db.Filters{"status": "status = @status"})

// With a plain "exists", PostgreSQL may read the sales of all tenants to find that a new one has none.
const anySale = `(select id from loyalty.transaction where tenant_id = @tenant_id order by id limit 1) is not null`

const hasSalesSQL = `
	select ` + anySale + ` as sold`

// The transaction must have entered the tenant.
const convertAmountsSQL = `
	select kind, name, quantity, old, new
	from loyalty.convert_amounts(@shift)`

const settingsSQL = `
	select t.name, t.slug, t.timezone, t.currency, t.country, t.confirm_above_cents, t.consent_text, t.privacy_url, t.phone_optional, l.colour, encode(l.logo_hash, 'hex') as logo_hash,
		l.logo_width, l.logo_height, ` + anySale + ` as has_sales
	from loyalty.tenant t
	left join loyalty.tenant_look l on l.tenant_id = t.id
	where t.id = @tenant_id`

// Locked on its own: a distributed database locks no row of a join.
const lockSettingsSQL = `
	select
	from loyalty.tenant
	where id = @tenant_id
	for no key update`

const updateSettingsSQL = `
	update loyalty.tenant
	set name = @name,
		timezone = @timezone,
		currency = @currency,
		country = @country,
		confirm_above_cents = @confirm_above_cents,
		consent_text = @consent_text,
		privacy_url = @privacy_url,
		phone_optional = @phone_optional
	where id = @tenant_id`

const writeThemeSQL = `
	insert into loyalty.tenant_look as l (tenant_id, colour, logo, logo_type, logo_hash, logo_width, logo_height, updated_at)
	values (@tenant_id, @colour, @logo, @type, @hash, @width, @height, @now)
	on conflict (tenant_id) do update
	set colour = @colour,
		logo = case when @keep then l.logo else @logo end,
		logo_type = case when @keep then l.logo_type else @type end,
		logo_hash = case when @keep then l.logo_hash else @hash end,
		logo_width = @width,
		logo_height = @height,
		updated_at = @now`

const themeSQL = `
	select l.colour, encode(l.logo_hash, 'hex') as logo_hash, l.logo_width, l.logo_height
	from loyalty.tenant t
	left join loyalty.tenant_look l on l.tenant_id = t.id
	where t.id = @tenant_id`

const logoSQL = `
	select logo_type as type, logo as bytes
	from loyalty.tenant_look
	where tenant_id = @tenant_id
		and logo_hash = @hash`

const brandingSQL = `
	select l.colour, encode(l.logo_hash, 'hex') as logo_hash, l.logo_width, l.logo_height, d.logo_hash is not null as drawn, d.png
	from loyalty.tenant t
	left join loyalty.tenant_look l on l.tenant_id = t.id
	left join loyalty.logo_drawing d on d.tenant_id = l.tenant_id and d.name = @name and d.logo_hash = l.logo_hash
	where t.id = @tenant_id`

const drawingSQL = `
	select 'image/png' as type, png as bytes
	from loyalty.logo_drawing
	where tenant_id = @tenant_id
		and name = @name
		and logo_hash = @hash
		and png is not null`

const writeDrawingsSQL = `
	insert into loyalty.logo_drawing as d (tenant_id, name, logo_hash, png)
	select @tenant_id, given.name, @hash, given.png
	from unnest(@names::text[], @drawn::bytea[]) given (name, png)
	on conflict (tenant_id, name) do update
	set logo_hash = excluded.logo_hash,
		png = excluded.png`

const deleteDrawingsSQL = `
	delete from loyalty.logo_drawing
	where tenant_id = @tenant_id`

const undrawnSQL = `
	select loyalty.undrawn_logo() as tenant`

const storedLogoSQL = `
	select logo_type as type, logo as bytes
	from loyalty.tenant_look
	where tenant_id = @tenant_id
		and logo is not null`

const replaceLogoSQL = `
	update loyalty.tenant_look
	set logo = @logo,
		logo_type = @type,
		logo_hash = @hash,
		logo_width = coalesce(@width, logo_width),
		logo_height = coalesce(@height, logo_height)
	where tenant_id = @tenant_id
		and logo_hash = @was`

// The first active record of each kind, in the order of a unique index.
const setupSQL = `
	select s.business_at, coalesce(s.skipped, '{}') as skipped, coalesce(s.steps_done, 0) as steps_done, s.finished_at,
		(select id from loyalty.transaction_type where tenant_id = @tenant_id and active order by id limit 1) as rule_id,
		(select id from loyalty.reward where tenant_id = @tenant_id and active order by id limit 1) as reward_id,
		(select id from loyalty.customer where tenant_id = @tenant_id and status = 'active' order by id limit 1) as customer_id,
		(select id from loyalty.transaction where tenant_id = @tenant_id order by id limit 1) as sale_id
	from loyalty.tenant t
	left join loyalty.tenant_setup s on s.tenant_id = t.id
	where t.id = @tenant_id`

const openSetupSQL = `
	insert into loyalty.tenant_setup (tenant_id, updated_at)
	values (@tenant_id, @now)
	on conflict (tenant_id) do update
	set updated_at = excluded.updated_at`

const updateSetupSQL = `
	update loyalty.tenant_setup
	set business_at = @business_at,
		skipped = @skipped,
		steps_done = @steps_done,
		finished_at = @finished_at,
		updated_at = @now
	where tenant_id = @tenant_id`

const finishSetupSQL = `
	insert into loyalty.tenant_setup as s (tenant_id, business_at, steps_done, finished_at, updated_at)
	values (@id, @now, 5, @now, @now)
	on conflict (tenant_id) do update
	set finished_at = coalesce(s.finished_at, excluded.finished_at)`

const countSQL = `
	select loyalty.count_tenants(@now, @since)`

const summaries = `
	with summaries as (
		select t.id, t.name, t.slug, t.email, t.plan_id, p.name as plan_name, t.billing_cycle, t.payment_method, t.currency, t.country, t.timezone, t.created_at,
			coalesce(u.customers, 0) as customers, coalesce(u.sales_lately, 0) as sales_lately, coalesce(u.staff, 0) as staff,
			coalesce(u.sends_this_month, 0) as sends_this_month, u.last_activity_at,
			t.test,
			case
				when t.status = 'suspended' then 'suspended'
				when t.test then 'test'
				when exists (select from loyalty.invoice i where i.tenant_id = t.id and i.status = 'overdue') then 'late'
				when not coalesce(u.sold, false) and g.finished_at is null then 'setting_up'
				else 'active'
			end as condition,
			coalesce(g.steps_done, 0) as setup_steps
		from loyalty.tenant t
		join loyalty.plan p on p.id = t.plan_id
		left join loyalty.tenant_usage u on u.tenant_id = t.id
		left join loyalty.tenant_setup g on g.tenant_id = t.id
	)`

var overviewFilters = db.Filters{
	"condition": "c.condition = @condition",
	"plan":      "c.plan_id = @plan",
	"country":   "c.country = @country",
	// Without an index: there are thousands of tenants, not millions.
	"search": `(
			strpos(loyalty.fold(c.name), loyalty.fold(@search)) > 0
			or strpos(c.slug, loyalty.fold(@search)) > 0
			or strpos(loyalty.fold(c.email), loyalty.fold(@search)) > 0
			or exists (
				select
				from loyalty.staff s
				where s.tenant_id = c.id
					and s.role = 'owner'
					and s.status = 'active'
					and (strpos(loyalty.fold(s.email), loyalty.fold(@search)) > 0 or strpos(s.email_key, loyalty.fold(@search)) > 0)
			)
		)`,
}

// Pages are numbered, because figures change between pages, and a cursor's position with them. The
// activity of an unused tenant is its creation.
var overviewList = db.NewList(summaries+`
	select c.*
	from summaries c
	cross join lateral (
		select
			case
				when @order::text = 'customers' then c.customers
				when @order = 'sales' then c.sales_lately
				when @order = 'activity' then extract(epoch from coalesce(c.last_activity_at, c.created_at))
				when @order = 'created' then extract(epoch from c.created_at)
			end as figure,
			case
				when @order = 'name' then c.name
				when @order = 'plan' then c.plan_name
			end collate loyalty.name as word
	) k
	where true {filters}
	order by case when @descending::boolean then k.figure end desc, case when not @descending then k.figure end,
		case when @descending then k.word end desc, case when not @descending then k.word end,
		c.name collate loyalty.name, c.id
	limit @size::bigint
	offset @offset::bigint`, db.Order{}, overviewFilters)

var conditionCounts = db.NewList(summaries+`
	select c.condition, count(*) as n
	from summaries c
	where true {filters}
	group by c.condition`, db.Order{}, overviewFilters)

const countedSQL = `
	select (select max(counted_at) from loyalty.tenant_usage) as counted_at,
		array(select distinct country from loyalty.tenant where country is not null order by country) as countries`

const detailSQL = summaries + `
	select c.*, t.suspended_at, t.suspend_reason, t.confirm_above_cents, u.counted_at,
		(
			select count(*)
			from loyalty.token k
			where k.tenant_id = t.id
				and k.revoked_at is null
				and (k.expires_at is null or k.expires_at > @now)
		) as live_tokens
	from summaries c
	join loyalty.tenant t on t.id = c.id
	left join loyalty.tenant_usage u on u.tenant_id = c.id
	where c.id = @id`

const peopleSQL = `
	select p.id, p.name, p.email, p.role, p.status = 'active' as active, c.password_hash is null as invited
	from loyalty.staff p
	join loyalty.credential c on c.staff_id = p.id
	where p.tenant_id = @tenant_id
	order by p.status, array_position(array['owner', 'manager', 'cashier'], p.role), lower(p.name), p.id`

// Accepting an invitation also signs in.
const signInsSQL = `
	select p.id, max(last.created_at) as at
	from (
		select id, id::text as actor_id
		from unnest(@people::bigint[]) id
		offset 0
	) p
	cross join (values ('staff.sign_in'), ('staff.join')) as how (action)
	cross join lateral (
		select e.created_at
		from loyalty.audit_entry e
		where e.tenant_id = @tenant_id
			and e.actor_kind = 'staff'
			and e.actor_id = p.actor_id
			and e.action = how.action
		order by e.id desc
		limit 1
	) last
	group by p.id`

const suspensionSQL = `
	select coalesce(t.suspend_reason, '') <> '' as mailed, p.issuer_email as contact
	from loyalty.tenant t
	cross join loyalty.platform_setting p
	where t.slug = @slug
		and t.status = 'suspended'`

const setupOwnerSQL = `
	select s.id, s.role, s.name, s.email, c.password_hash is null as invited
	from loyalty.staff s
	left join loyalty.credential c on c.staff_id = s.id
	where s.tenant_id = @tenant_id
		and s.role = 'owner'
		and s.status = 'active'
	order by s.email_key = @email_key desc, s.id
	limit 1
	for no key update of s`
