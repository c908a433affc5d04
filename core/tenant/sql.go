package tenant

const columns = `id, name, slug, email, plan_id, billing_cycle, payment_method, status, timezone, currency, country, created_at,
	confirm_above_cents`

// A plan that nobody new may be on, or a slug that is taken: then no row comes back.
const insertSQL = `
	insert into loyalty.tenant (name, slug, email, plan_id, billing_cycle, payment_method, timezone, currency, country, created_at)
	select @name, @slug, @email, p.id, @billing_cycle, @payment_method, @timezone, @currency, @country, @now
	from loyalty.plan p
	where p.id = @plan
		and not p.retired
	on conflict (slug) do nothing
	returning ` + columns

const selectTenant = `
	select ` + columns + `
	from loyalty.tenant`

const bySlugSQL = selectTenant + `
	where slug = @slug`

const byIDSQL = selectTenant + `
	where id = @id`

const lockSQL = byIDSQL + `
	for no key update`

// A tenant may stay on a plan that was retired.
const updateSQL = `
	update loyalty.tenant
	set name = @name,
		email = @email,
		plan_id = @plan,
		billing_cycle = @billing_cycle,
		payment_method = @payment_method,
		status = @status,
		timezone = @timezone,
		currency = @currency,
		country = @country
	where id = @id
		and (plan_id = @plan or exists (select from loyalty.plan where id = @plan and not retired))
	returning ` + columns

type standing struct {
	PlanOpen  bool // for this tenant
	SlugTaken bool // by another one
}

const standingSQL = `
	select exists (select from loyalty.plan where id = @plan and not retired)
			or exists (select from loyalty.tenant where id = @id and plan_id = @plan) as plan_open,
		exists (select from loyalty.tenant where slug = @slug and id <> @id) as slug_taken`

const whereStatus = `
	where (@status::text is null or status = @status)`

const listSQL = selectTenant + whereStatus + `
	order by created_at desc, id desc
	limit @limit`

const listAfterSQL = selectTenant + whereStatus + `
		and (created_at, id) < (@at, @id)
	order by created_at desc, id desc
	limit @limit`

const listBeforeSQL = selectTenant + whereStatus + `
		and (created_at, id) > (@at, @id)
	order by created_at, id
	limit @limit`

// A first sale is looked for in order: by a plain "exists" PostgreSQL may read the sales
// of all others to find that a new tenant has none.
const settingsSQL = `
	select t.name, t.slug, t.timezone, t.currency, t.country, t.confirm_above_cents, t.consent_text, t.privacy_url, l.colour, encode(l.logo_hash, 'hex') as logo_hash,
		(select id from loyalty.transaction where tenant_id = @tenant_id order by id limit 1) is not null as has_sales
	from loyalty.tenant t
	left join loyalty.tenant_look l on l.tenant_id = t.id
	where t.id = @tenant_id`

const lockSettingsSQL = settingsSQL + `
	for no key update of t`

const updateSettingsSQL = `
	update loyalty.tenant
	set name = @name,
		timezone = @timezone,
		currency = @currency,
		country = @country,
		confirm_above_cents = @confirm_above_cents,
		consent_text = @consent_text,
		privacy_url = @privacy_url
	where id = @tenant_id`

const writeLookSQL = `
	insert into loyalty.tenant_look as l (tenant_id, colour, logo, logo_type, logo_hash, updated_at)
	values (@tenant_id, @colour, @logo, @type, @hash, @now)
	on conflict (tenant_id) do update
	set colour = @colour,
		logo = case when @keep then l.logo else @logo end,
		logo_type = case when @keep then l.logo_type else @type end,
		logo_hash = case when @keep then l.logo_hash else @hash end,
		updated_at = @now`

const lookSQL = `
	select colour, encode(logo_hash, 'hex') as logo_hash
	from loyalty.tenant_look
	where tenant_id = @tenant_id`

const logoSQL = `
	select logo_type as type, logo as bytes
	from loyalty.tenant_look
	where tenant_id = @tenant_id
		and logo_hash = @hash`

const brandingSQL = `
	select colour, logo_type as type, logo as bytes
	from loyalty.tenant_look
	where tenant_id = @tenant_id`

// The first of each kind, in the order of a unique index. What is inactive is passed over.
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
