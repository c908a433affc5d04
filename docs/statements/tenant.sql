-- The statements of core/tenant, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/tenant.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- consentSQL (core/tenant/consent.go), for Consent: Consent returns what customers of the actor's business agree to.
-- $1=tenant_id
prepare consentSQL as
  select name, consent_text, privacy_url
  from loyalty.tenant
  where id = $1;

-- freeSlugSQL (core/tenant/slug.go), for ProposeSlug: ProposeSlug returns a free slug that resembles a business's name,
-- or "" if there is none, for super-admins.
-- $1=slugs
prepare freeSlugSQL as
  select proposed.slug
  from unnest($1::text[]) with ordinality proposed (slug, place)
  where not exists (
    select
    from loyalty.tenant t
    where t.slug = proposed.slug
  )
  order by proposed.place
  limit 1;

-- insertSQL (core/tenant/sql.go): Returns no row if the plan is retired or the slug is taken.
-- $1=name $2=slug $3=email $4=billing_cycle $5=payment_method $6=timezone $7=currency $8=country $9=confirm_above_cents
-- $10=test $11=now $12=plan
prepare insertSQL as
  insert into loyalty.tenant (name, slug, email, plan_id, billing_cycle, payment_method, timezone, currency, country, confirm_above_cents, test, created_at)
  select $1, $2, $3, p.id, $4, $5, $6, $7, $8, $9, $10, $11
  from loyalty.plan p
  where p.id = $12
    and not p.retired
  on conflict (slug) do nothing
  returning id, name, slug, email, plan_id, billing_cycle, payment_method, status, timezone, currency, country, created_at,
  suspended_at, suspend_reason, test, confirm_above_cents;

-- servedBySlugSQL (core/tenant/sql.go), for BySlug: BySlug finds a tenant with its theme by the label in front of the
-- host.
-- $1=slug
prepare servedBySlugSQL as
  select coalesce(n.id, 0) as tenant_id, coalesce(n.name, '') as tenant_name, coalesce(n.slug, '') as tenant_slug,
    coalesce(n.timezone, 'UTC') as timezone, coalesce(n.currency, '') as currency, coalesce(n.country, '') as country,
    coalesce(n.confirm_above_cents, 0) as confirm_above_cents, coalesce(n.status, 'active') <> 'active' as suspended,
    coalesce(n.phone_optional, false) as phone_optional, coalesce(n.test, false) as test,
    coalesce(n.programme, '{}') as programme, coalesce(n.earning_version, 0) as earning_version, look.colour, look.logo_hash, look.logo_width, look.logo_height
  from loyalty.tenant n
  left join lateral loyalty.theme(n.id) look on true
  where n.slug = $1;

-- byIDSQL (core/tenant/sql.go)
-- $1=id
prepare byIDSQL as
  select id, name, slug, email, plan_id, billing_cycle, payment_method, status, timezone, currency, country, created_at,
  suspended_at, suspend_reason, test, confirm_above_cents
  from loyalty.tenant
  where id = $1;

-- lockSQL (core/tenant/sql.go), for MailSetupLink: MailSetupLink mails a tenant's owner the link to the guide, or their
-- invitation again while they have no password, for super-admins.
-- $1=id
prepare lockSQL as
  select id, name, slug, email, plan_id, billing_cycle, payment_method, status, timezone, currency, country, created_at,
  suspended_at, suspend_reason, test, confirm_above_cents
  from loyalty.tenant
  where id = $1
  for no key update;

-- updateSQL (core/tenant/sql.go): A tenant can keep a retired plan.
-- $1=name $2=email $3=plan $4=billing_cycle $5=payment_method $6=status $7=now $8=reason $9=timezone $10=currency
-- $11=confirm_above_cents $12=country $13=id
prepare updateSQL as
  update loyalty.tenant
  set name = $1,
    email = $2,
    plan_id = $3,
    billing_cycle = $4,
    payment_method = $5,
    status = $6,
    suspended_at = case when $6 = 'suspended' then coalesce(suspended_at, $7) end,
    suspend_reason = case when $6 = 'suspended' then coalesce($8, suspend_reason) end,
    timezone = $9,
    currency = $10,
    confirm_above_cents = $11,
    country = $12
  where id = $13
    and (plan_id = $3 or exists (select from loyalty.plan where id = $3 and not retired))
  returning id, name, slug, email, plan_id, billing_cycle, payment_method, status, timezone, currency, country, created_at,
  suspended_at, suspend_reason, test, confirm_above_cents;

-- conflictsSQL (core/tenant/sql.go), for refusal: refusal returns everything that is wrong: the violations of the check,
-- and the conflicts for which a statement wrote nothing.
-- $1=plan $2=id $3=slug
prepare conflictsSQL as
  select exists (select from loyalty.plan where id = $1 and not retired)
      or exists (select from loyalty.tenant where id = $2 and plan_id = $1) as plan_open,
    exists (select from loyalty.tenant where slug = $3 and id <> $2) as slug_taken;

-- tenantList (core/tenant/sql.go), for List: List returns a page of the tenants that match the filter, newest first, for
-- super-admins.
-- $1=limit
-- filter: and status = @status
prepare tenantList as
  select id, name, slug, email, plan_id, billing_cycle, payment_method, status, timezone, currency, country, created_at,
  suspended_at, suspend_reason, test, confirm_above_cents
  from loyalty.tenant
  where true
  order by created_at desc, id desc
  limit $1;

-- hasSalesSQL (core/tenant/sql.go), for hasSales: hasSales reports whether a tenant has recorded a sale, in a
-- transaction of the platform.
-- $1=tenant_id
prepare hasSalesSQL as
  select (select id from loyalty.transaction where tenant_id = $1 order by id limit 1) is not null as sold;

-- convertAmountsSQL (core/tenant/sql.go): The transaction must have entered the tenant.
-- $1=shift
prepare convertAmountsSQL as
  select kind, name, quantity, old, new
  from loyalty.convert_amounts($1);

-- settingsSQL (core/tenant/sql.go), for Settings: Settings returns the settings of the actor's business, for owners.
-- $1=tenant_id
prepare settingsSQL as
  select t.name, t.slug, t.timezone, t.currency, t.country, t.confirm_above_cents, t.consent_text, t.privacy_url, t.phone_optional, l.colour, encode(l.logo_hash, 'hex') as logo_hash,
    l.logo_width, l.logo_height, (select id from loyalty.transaction where tenant_id = $1 order by id limit 1) is not null as has_sales
  from loyalty.tenant t
  left join loyalty.tenant_look l on l.tenant_id = t.id
  where t.id = $1;

-- lockSettingsSQL (core/tenant/sql.go): Locked on its own: a distributed database locks no row of a join.
-- $1=tenant_id
prepare lockSettingsSQL as
  select
  from loyalty.tenant
  where id = $1
  for no key update;

-- updateSettingsSQL (core/tenant/sql.go), for write: write queues the settings, and the theme if it changed.
-- $1=name $2=timezone $3=currency $4=country $5=confirm_above_cents $6=consent_text $7=privacy_url $8=phone_optional
-- $9=tenant_id
prepare updateSettingsSQL as
  update loyalty.tenant
  set name = $1,
    timezone = $2,
    currency = $3,
    country = $4,
    confirm_above_cents = $5,
    consent_text = $6,
    privacy_url = $7,
    phone_optional = $8
  where id = $9;

-- writeThemeSQL (core/tenant/sql.go), for write: write queues the settings, and the theme if it changed.
-- $1=tenant_id $2=colour $3=logo $4=type $5=hash $6=width $7=height $8=now $9=keep
prepare writeThemeSQL as
  insert into loyalty.tenant_look as l (tenant_id, colour, logo, logo_type, logo_hash, logo_width, logo_height, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8)
  on conflict (tenant_id) do update
  set colour = $2,
    logo = case when $9 then l.logo else $3 end,
    logo_type = case when $9 then l.logo_type else $4 end,
    logo_hash = case when $9 then l.logo_hash else $5 end,
    logo_width = $6,
    logo_height = $7,
    updated_at = $8;

-- themeSQL (core/tenant/sql.go), for ThemeIn: ThemeIn returns the theme of the transaction's tenant.
-- $1=tenant_id
prepare themeSQL as
  select l.colour, encode(l.logo_hash, 'hex') as logo_hash, l.logo_width, l.logo_height
  from loyalty.tenant t
  left join loyalty.tenant_look l on l.tenant_id = t.id
  where t.id = $1;

-- logoSQL (core/tenant/sql.go), for Logo: Logo returns the logo with a hash, or core.ErrNotFound.
-- $1=tenant_id $2=hash
prepare logoSQL as
  select logo_type as type, logo as bytes
  from loyalty.tenant_look
  where tenant_id = $1
    and logo_hash = $2;

-- brandingSQL (core/tenant/sql.go)
-- $1=name $2=tenant_id
prepare brandingSQL as
  select l.colour, encode(l.logo_hash, 'hex') as logo_hash, l.logo_width, l.logo_height, d.logo_hash is not null as drawn, d.png
  from loyalty.tenant t
  left join loyalty.tenant_look l on l.tenant_id = t.id
  left join loyalty.logo_drawing d on d.tenant_id = l.tenant_id and d.name = $1 and d.logo_hash = l.logo_hash
  where t.id = $2;

-- drawingSQL (core/tenant/sql.go), for Icon: Icon returns the icon with a side of IconSides, of the logo with a hash, or
-- core.ErrNotFound.
-- $1=tenant_id $2=name $3=hash
prepare drawingSQL as
  select 'image/png' as type, png as bytes
  from loyalty.logo_drawing
  where tenant_id = $1
    and name = $2
    and logo_hash = $3
    and png is not null;

-- writeDrawingsSQL (core/tenant/sql.go), for write: write queues what is drawn from the logo, in place of what was drawn
-- from the one before; nil: none.
-- $1=tenant_id $2=hash $3=names $4=drawn
prepare writeDrawingsSQL as
  insert into loyalty.logo_drawing as d (tenant_id, name, logo_hash, png)
  select $1, given.name, $2, given.png
  from unnest($3::text[], $4::bytea[]) given (name, png)
  on conflict (tenant_id, name) do update
  set logo_hash = excluded.logo_hash,
    png = excluded.png;

-- deleteDrawingsSQL (core/tenant/sql.go), for write: write queues what is drawn from the logo, in place of what was
-- drawn from the one before; nil: none.
-- $1=tenant_id
prepare deleteDrawingsSQL as
  delete from loyalty.logo_drawing
  where tenant_id = $1;

-- undrawnSQL (core/tenant/sql.go), for RenewLogos: RenewLogos renews the logos of a batch of businesses, each in its own
-- transaction.
prepare undrawnSQL as
  select loyalty.undrawn_logo() as tenant;

-- storedLogoSQL (core/tenant/sql.go), for renewLogo: renewLogo writes the logo of a business anew and draws from it,
-- unless the owner replaces it meanwhile.
-- $1=tenant_id
prepare storedLogoSQL as
  select logo_type as type, logo as bytes
  from loyalty.tenant_look
  where tenant_id = $1
    and logo is not null;

-- replaceLogoSQL (core/tenant/sql.go), for renewLogo: renewLogo writes the logo of a business anew and draws from it,
-- unless the owner replaces it meanwhile.
-- $1=logo $2=type $3=hash $4=width $5=height $6=tenant_id $7=was
prepare replaceLogoSQL as
  update loyalty.tenant_look
  set logo = $1,
    logo_type = $2,
    logo_hash = $3,
    logo_width = coalesce($4, logo_width),
    logo_height = coalesce($5, logo_height)
  where tenant_id = $6
    and logo_hash = $7;

-- setupSQL (core/tenant/sql.go): The first active record of each kind, in the order of a unique index.
-- $1=tenant_id
prepare setupSQL as
  select s.business_at, coalesce(s.skipped, '{}') as skipped, coalesce(s.steps_done, 0) as steps_done, s.finished_at,
    (select id from loyalty.transaction_type where tenant_id = $1 and active order by id limit 1) as rule_id,
    (select id from loyalty.reward where tenant_id = $1 and active order by id limit 1) as reward_id,
    (select id from loyalty.customer where tenant_id = $1 and status = 'active' order by id limit 1) as customer_id,
    (select id from loyalty.transaction where tenant_id = $1 order by id limit 1) as sale_id
  from loyalty.tenant t
  left join loyalty.tenant_setup s on s.tenant_id = t.id
  where t.id = $1;

-- openSetupSQL (core/tenant/sql.go), for moveSetup: moveSetup changes the stored progress, and finishes the guide when
-- every step is done.
-- $1=tenant_id $2=now
prepare openSetupSQL as
  insert into loyalty.tenant_setup (tenant_id, updated_at)
  values ($1, $2)
  on conflict (tenant_id) do update
  set updated_at = excluded.updated_at;

-- updateSetupSQL (core/tenant/sql.go), for store: store writes the progress, and an audit entry if the guide was just
-- finished.
-- $1=business_at $2=skipped $3=steps_done $4=finished_at $5=now $6=tenant_id
prepare updateSetupSQL as
  update loyalty.tenant_setup
  set business_at = $1,
    skipped = $2,
    steps_done = $3,
    finished_at = $4,
    updated_at = $5
  where tenant_id = $6;

-- finishSetupSQL (core/tenant/sql.go), for FinishSetup: FinishSetup queues that a business needs no guide, because its
-- creator also fills it.
-- $1=id $2=now
prepare finishSetupSQL as
  insert into loyalty.tenant_setup as s (tenant_id, business_at, steps_done, finished_at, updated_at)
  values ($1, $2, 5, $2, $2)
  on conflict (tenant_id) do update
  set finished_at = coalesce(s.finished_at, excluded.finished_at);

-- countSQL (core/tenant/sql.go), for Overview: Overview returns a page of the selected tenants, for super-admins.
-- $1=now $2=since
prepare countSQL as
  select loyalty.count_tenants($1, $2);

-- overviewList (core/tenant/sql.go): Pages are numbered, because figures change between pages, and a cursor's position
-- with them.
-- $1=order $2=descending $3=size $4=offset
-- filter: and c.condition = @condition
-- filter: and c.country = @country
-- filter: and c.plan_id = @plan
-- filter: and ( strpos(loyalty.fold(c.name), loyalty.fold(@search)) > 0 or strpos(c.slug, loyalty.fold(@search)) > 0 or
-- strpos(loyalty.fold(c.email), loyalty.fold(@search)) > 0 or exists ( select from loyalty.staff s where s.tenant_id =
-- c.id and s.role = 'owner' and s.status = 'active' and (strpos(loyalty.fold(s.email), loyalty.fold(@search)) > 0 or
-- strpos(s.email_key, loyalty.fold(@search)) > 0) ) )
prepare overviewList as
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
  )
  select c.*
  from summaries c
  cross join lateral (
    select
      case
        when $1::text = 'customers' then c.customers
        when $1 = 'sales' then c.sales_lately
        when $1 = 'activity' then extract(epoch from coalesce(c.last_activity_at, c.created_at))
        when $1 = 'created' then extract(epoch from c.created_at)
      end as figure,
      case
        when $1 = 'name' then c.name
        when $1 = 'plan' then c.plan_name
      end collate loyalty.name as word
  ) k
  where true
  order by case when $2::boolean then k.figure end desc, case when not $2 then k.figure end,
    case when $2 then k.word end desc, case when not $2 then k.word end,
    c.name collate loyalty.name, c.id
  limit $3::bigint
  offset $4::bigint;

-- conditionCounts (core/tenant/sql.go), for Overview: Overview returns a page of the selected tenants, for super-admins.
-- filter: and c.condition = @condition
-- filter: and c.country = @country
-- filter: and c.plan_id = @plan
-- filter: and ( strpos(loyalty.fold(c.name), loyalty.fold(@search)) > 0 or strpos(c.slug, loyalty.fold(@search)) > 0 or
-- strpos(loyalty.fold(c.email), loyalty.fold(@search)) > 0 or exists ( select from loyalty.staff s where s.tenant_id =
-- c.id and s.role = 'owner' and s.status = 'active' and (strpos(loyalty.fold(s.email), loyalty.fold(@search)) > 0 or
-- strpos(s.email_key, loyalty.fold(@search)) > 0) ) )
prepare conditionCounts as
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
  )
  select c.condition, count(*) as n
  from summaries c
  where true
  group by c.condition;

-- countedSQL (core/tenant/sql.go), for Overview: Overview returns a page of the selected tenants, for super-admins.
prepare countedSQL as
  select (select max(counted_at) from loyalty.tenant_usage) as counted_at,
    array(select distinct country from loyalty.tenant where country is not null order by country) as countries;

-- detailSQL (core/tenant/sql.go), for Find: Find returns a tenant and its usage, for super-admins.
-- $1=now $2=id
prepare detailSQL as
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
  )
  select c.*, t.suspended_at, t.suspend_reason, t.confirm_above_cents, u.counted_at,
    (
      select count(*)
      from loyalty.token k
      where k.tenant_id = t.id
        and k.revoked_at is null
        and (k.expires_at is null or k.expires_at > $1)
    ) as live_tokens
  from summaries c
  join loyalty.tenant t on t.id = c.id
  left join loyalty.tenant_usage u on u.tenant_id = c.id
  where c.id = $2;

-- peopleSQL (core/tenant/sql.go), for people: people returns a tenant's people and when they signed in.
-- $1=tenant_id
prepare peopleSQL as
  select p.id, p.name, p.email, p.role, p.status = 'active' as active, c.password_hash is null as invited
  from loyalty.staff p
  join loyalty.credential c on c.staff_id = p.id
  where p.tenant_id = $1
  order by p.status, array_position(array['owner', 'manager', 'cashier'], p.role), lower(p.name), p.id;

-- signInsSQL (core/tenant/sql.go): Accepting an invitation also signs in.
-- $1=people $2=tenant_id
prepare signInsSQL as
  select p.id, max(last.created_at) as at
  from (
    select id, id::text as actor_id
    from unnest($1::bigint[]) id
    offset 0
  ) p
  cross join (values ('staff.sign_in'), ('staff.join')) as how (action)
  cross join lateral (
    select e.created_at
    from loyalty.audit_entry e
    where e.tenant_id = $2
      and e.actor_kind = 'staff'
      and e.actor_id = p.actor_id
      and e.action = how.action
    order by e.id desc
    limit 1
  ) last
  group by p.id;

-- suspensionSQL (core/tenant/sql.go), for FindSuspension: FindSuspension returns what everyone can know about a
-- business's suspension, or core.ErrNotFound if it is active.
-- $1=slug
prepare suspensionSQL as
  select coalesce(t.suspend_reason, '') <> '' as mailed, p.issuer_email as contact
  from loyalty.tenant t
  cross join loyalty.platform_setting p
  where t.slug = $1
    and t.status = 'suspended';

-- setupOwnerSQL (core/tenant/sql.go), for MailSetupLink: MailSetupLink mails a tenant's owner the link to the guide, or
-- their invitation again while they have no password, for super-admins.
-- $1=tenant_id $2=email_key
prepare setupOwnerSQL as
  select s.id, s.role, s.name, s.email, c.password_hash is null as invited
  from loyalty.staff s
  left join loyalty.credential c on c.staff_id = s.id
  where s.tenant_id = $1
    and s.role = 'owner'
    and s.status = 'active'
  order by s.email_key = $2 desc, s.id
  limit 1
  for no key update of s;
