-- The statements of core/promotion, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/promotion.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- categoriesSQL (core/promotion/category.go), for Categories: Categories returns all categories, by name.
-- $1=tenant_id
prepare categoriesSQL as
  select id, name, active,
    array(select code from loyalty.category_code where tenant_id = $1 and category_id = c.id order by code) as codes,
    array(select name from loyalty.transaction_type where tenant_id = $1 and c.id = any (excluded_categories) order by name) as earns_nothing
  from loyalty.category c
  where tenant_id = $1
  order by name_key;

-- unmappedSQL (core/promotion/category.go), for Catalogue: Catalogue returns all categories, by name, and codes that
-- sales sent and no category has, the newest first.
-- $1=tenant_id $2=most
prepare unmappedSQL as
  select code, first_seen_at, last_seen_at, sales
  from loyalty.unmapped_code
  where tenant_id = $1
  order by last_seen_at desc, code
  limit $2;

-- findCategorySQL (core/promotion/category.go), for FindCategory: FindCategory returns a category, or core.ErrNotFound.
-- $1=tenant_id $2=id
prepare findCategorySQL as
  select id, name, active,
    array(select code from loyalty.category_code where tenant_id = $1 and category_id = c.id order by code) as codes,
    array(select name from loyalty.transaction_type where tenant_id = $1 and c.id = any (excluded_categories) order by name) as earns_nothing
  from loyalty.category c
  where tenant_id = $1
    and id = $2;

-- takenSQL (core/promotion/category.go): @id is null for a new category.
-- $1=tenant_id $2=id
prepare takenSQL as
  select (
      select count(*)
      from loyalty.category
      where tenant_id = $1
    ) as categories,
    coalesce((
      select json_object_agg(m.code, c.name)
      from loyalty.category_code m
      join loyalty.category c on c.tenant_id = $1 and c.id = m.category_id
      where m.tenant_id = $1
        and m.category_id is distinct from $2::bigint
    ), '{}') as others;

-- insertCategorySQL (core/promotion/category.go), for AddCategory: AddCategory adds a category.
-- $1=tenant_id $2=name $3=now
prepare insertCategorySQL as
  insert into loyalty.category (tenant_id, name, created_at)
  values ($1, $2, $3)
  returning id;

-- updateCategorySQL (core/promotion/category.go), for changeCategory: changeCategory stores what change makes of a
-- category.
-- $1=name $2=active $3=tenant_id $4=id
prepare updateCategorySQL as
  update loyalty.category
  set name = $1,
    active = $2
  where tenant_id = $3
    and id = $4;

-- dropCodesSQL (core/promotion/category.go), for writeCodes: writeCodes queues that a category has its codes, and no
-- others.
-- $1=tenant_id $2=id $3=codes
prepare dropCodesSQL as
  delete from loyalty.category_code
  where tenant_id = $1
    and category_id = $2
    and code <> all ($3::text[]);

-- addCodesSQL (core/promotion/category.go), for writeCodes: writeCodes queues that a category has its codes, and no
-- others.
-- $1=id $2=codes $3=tenant_id
prepare addCodesSQL as
  insert into loyalty.category_code (tenant_id, code, category_id)
  select n.id, c.code, $1
  from unnest($2::text[]) c (code)
  join loyalty.tenant n on n.id = $3
  where not exists (select from loyalty.category_code where tenant_id = $3 and code = c.code)
  returning 1;

-- mappedSQL (core/promotion/category.go), for writeCodes: writeCodes queues that a category has its codes, and no
-- others.
-- $1=tenant_id $2=codes
prepare mappedSQL as
  delete from loyalty.unmapped_code
  where tenant_id = $1
    and code = any ($2::text[]);

-- noteCodesSQL (core/promotion/codes.go): The rows are in order, so that processes that write the same ones wait for
-- each other, and never both.
-- $1=sightings $2=tenant_id $3=most
prepare noteCodesSQL as
  insert into loyalty.unmapped_code as u (tenant_id, code, first_seen_at, last_seen_at, sales)
  select n.id, s.code, s.first_seen, s.last_seen, s.sales
  from jsonb_to_recordset($1::jsonb) s (code text, first_seen timestamptz, last_seen timestamptz, sales bigint)
  join loyalty.tenant n on n.id = $2
  where not exists (select from loyalty.category_code where tenant_id = $2 and code = s.code)
    and (exists (select from loyalty.unmapped_code where tenant_id = $2 and code = s.code)
      or (select count(*) from loyalty.unmapped_code where tenant_id = $2) < $3)
  order by s.code
  limit $3
  on conflict (tenant_id, code) do update
  set first_seen_at = least(u.first_seen_at, excluded.first_seen_at),
    last_seen_at = greatest(u.last_seen_at, excluded.last_seen_at),
    sales = u.sales + excluded.sales;

-- limitsSQL (core/promotion/limits.go), for Limits: Limits returns the caps of the actor's business.
-- $1=tenant_id
prepare limitsSQL as
  select points_day_cap, stamps_day_cap, till_categories
  from loyalty.tenant
  where id = $1;

-- lockLimitsSQL (core/promotion/limits.go), for EditLimits: EditLimits changes the fields that are set.
-- $1=tenant_id
prepare lockLimitsSQL as
  select points_day_cap, stamps_day_cap, till_categories
  from loyalty.tenant
  where id = $1
  for no key update;

-- setLimitsSQL (core/promotion/limits.go), for EditLimits: EditLimits changes the fields that are set.
-- $1=tenant_id $2=points $3=stamps $4=till
prepare setLimitsSQL as
  select loyalty.set_earning_limits($1, $2, $3, $4);

-- chipsSQL (core/promotion/limits.go), for Chips: Chips returns the categories that cashiers choose, by name: none
-- unless the business wants tills to ask.
-- $1=tenant_id $2=most
prepare chipsSQL as
  select c.name, m.code
  from loyalty.tenant n
  join loyalty.category c on c.tenant_id = $1 and c.active
  join lateral (
    select code
    from loyalty.category_code
    where tenant_id = $1
      and category_id = c.id
    order by code
    limit 1
  ) m on true
  where n.id = $1
    and n.till_categories
  order by c.name_key
  limit $2;

-- lockSQL (core/promotion/promotion.go): Edits of one business wait for each other here, so that limits and codes hold.
-- $1=tenant_id
prepare lockSQL as
  select
  from loyalty.tenant
  where id = $1
  for no key update;

-- partsSQL (core/promotion/promotion.go), for Add: Add adds a promotion, which is active.
-- $1=tenant_id
prepare partsSQL as
  select coalesce((
      select json_agg(json_build_object('id', id, 'name', name, 'unit', rule_type, 'active', active) order by id)
      from loyalty.transaction_type
      where tenant_id = $1
    ), '[]') as types,
    coalesce((
      select json_agg(json_build_object('id', id, 'name', name, 'active', active) order by name_key)
      from loyalty.location
      where tenant_id = $1
    ), '[]') as locations,
    coalesce((
      select json_agg(json_build_object('id', id, 'name', name, 'active', active) order by name_key)
      from loyalty.category
      where tenant_id = $1
    ), '[]') as categories,
    coalesce((
      select json_agg(json_build_object('id', id, 'name', name, 'active', retired_at is null and rank > 0) order by rank, id)
      from loyalty.level
      where tenant_id = $1
    ), '[]') as levels,
    (
      select count(*)
      from loyalty.promotion
      where tenant_id = $1
        and active
    ) as active_promotions;

-- insertSQL (core/promotion/promotion.go), for Add: Add adds a promotion, which is active.
-- $1=tenant_id $2=name $3=unit $4=percent $5=extra $6=type_ids $7=location_ids $8=category_ids $9=min_spend_cents
-- $10=starts_on $11=ends_on $12=windows $13=audience $14=level_id $15=birthday_days $16=limit_times $17=limit_per
-- $18=now
prepare insertSQL as
  insert into loyalty.promotion (tenant_id, name, unit, percent, extra, type_ids, location_ids, category_ids, min_spend_cents,
    starts_on, ends_on, windows, audience, level_id, birthday_days, limit_times, limit_per, created_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9,
    $10::date, $11::date, $12::jsonb, $13, $14, $15, $16, $17, $18)
  returning id, name, unit, percent, extra, type_ids, location_ids, category_ids, min_spend_cents,
        starts_on::timestamp at time zone 'UTC' as starts_on, ends_on::timestamp at time zone 'UTC' as ends_on, windows,
        audience, level_id, birthday_days, limit_times, limit_per, active, created_at;

-- updateSQL (core/promotion/promotion.go), for Edit: Edit changes the fields that are set.
-- $1=name $2=percent $3=extra $4=type_ids $5=location_ids $6=category_ids $7=min_spend_cents $8=starts_on $9=ends_on
-- $10=windows $11=audience $12=level_id $13=birthday_days $14=limit_times $15=limit_per $16=active $17=tenant_id $18=id
prepare updateSQL as
  update loyalty.promotion
  set name = $1,
    percent = $2,
    extra = $3,
    type_ids = $4,
    location_ids = $5,
    category_ids = $6,
    min_spend_cents = $7,
    starts_on = $8::date,
    ends_on = $9::date,
    windows = $10::jsonb,
    audience = $11,
    level_id = $12,
    birthday_days = $13,
    limit_times = $14,
    limit_per = $15,
    active = $16
  where tenant_id = $17
    and id = $18
  returning id, name, unit, percent, extra, type_ids, location_ids, category_ids, min_spend_cents,
        starts_on::timestamp at time zone 'UTC' as starts_on, ends_on::timestamp at time zone 'UTC' as ends_on, windows,
        audience, level_id, birthday_days, limit_times, limit_per, active, created_at;

-- findSQL (core/promotion/promotion.go), for Edit: Edit changes the fields that are set.
-- $1=tenant_id $2=id
prepare findSQL as
  select id, name, unit, percent, extra, type_ids, location_ids, category_ids, min_spend_cents,
        starts_on::timestamp at time zone 'UTC' as starts_on, ends_on::timestamp at time zone 'UTC' as ends_on, windows,
        audience, level_id, birthday_days, limit_times, limit_per, active, created_at
  from loyalty.promotion
  where tenant_id = $1
    and id = $2;

-- pages (core/promotion/promotion.go), for List: List returns a page of the promotions in a state, or of all of them,
-- the newest first.
-- $1=tenant_id $2=limit
-- filter: and case when not active then 'off' when ends_on < @today::date then 'ended' when starts_on > @today::date
-- then 'upcoming' else 'now' end = @state
prepare pages as
  select id, name, unit, percent, extra, type_ids, location_ids, category_ids, min_spend_cents,
        starts_on::timestamp at time zone 'UTC' as starts_on, ends_on::timestamp at time zone 'UTC' as ends_on, windows,
        audience, level_id, birthday_days, limit_times, limit_per, active, created_at
  from loyalty.promotion
  where tenant_id = $1
  order by id desc
  limit $2;

-- betweenSQL (core/promotion/promotion.go), for Between: Between returns the active promotions that are on between two
-- local days, the oldest first.
-- $1=tenant_id $2=last $3=first $4=most
prepare betweenSQL as
  select id, name, unit, percent, extra, type_ids, location_ids, category_ids, min_spend_cents,
        starts_on::timestamp at time zone 'UTC' as starts_on, ends_on::timestamp at time zone 'UTC' as ends_on, windows,
        audience, level_id, birthday_days, limit_times, limit_per, active, created_at
  from loyalty.promotion
  where tenant_id = $1
    and active
    and starts_on <= $2::date
    and (ends_on is null or ends_on >= $3::date)
  order by id
  limit $4;

-- raiseVersionSQL (core/promotion/version.go), for RulesChanged: RulesChanged queues what each change of the rules by
-- which sales earn does: it raises their version, so no process computes a further award by the rules that it remembers.
-- $1=tenant
prepare raiseVersionSQL as
  select loyalty.raise_earning_version($1);
