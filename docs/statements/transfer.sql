-- The statements of core/transfer, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/transfer.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- columnsSQL (core/transfer/catalog.go): Generated columns are computed again.
prepare columnsSQL as
  select c.relname as table_name, a.attname as name, (
      select s.oid::regclass::text
      from pg_attrdef f
      join pg_depend p on p.classid = 'pg_attrdef'::regclass and p.objid = f.oid and p.refclassid = 'pg_class'::regclass
      join pg_class s on s.oid = p.refobjid and s.relkind = 'S'
      where f.adrelid = a.attrelid
        and f.adnum = a.attnum
    ) as sequence
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  where c.relnamespace = 'loyalty'::regnamespace
    and c.relkind in ('r', 'p')
  order by c.relname, a.attnum;

-- keysSQL (core/transfer/catalog.go), for readCatalog: readCatalog returns the tables that move, each after those that
-- it refers to.
prepare keysSQL as
  select c.relname as table_name, a.attname as name
  from pg_index i
  join pg_class c on c.oid = i.indrelid
  cross join unnest(i.indkey) with ordinality k (attnum, place)
  join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
  where c.relnamespace = 'loyalty'::regnamespace
    and i.indisprimary
  order by c.relname, k.place;

-- referencesSQL (core/transfer/catalog.go): The last column of a foreign key is the one that differs between its rows.
prepare referencesSQL as
  select c.relname as table_name, p.relname as parent, a.attname as name
  from pg_constraint f
  join pg_class c on c.oid = f.conrelid
  join pg_class p on p.oid = f.confrelid
  join pg_attribute a on a.attrelid = c.oid and a.attnum = f.conkey[cardinality(f.conkey)]
  where f.contype = 'f'
    and f.connamespace = 'loyalty'::regnamespace
  order by 1, 2, 3;

-- sourceSQL (core/transfer/export.go), for Export: Export writes everything of a business, at one instant, while it is
-- served.
-- $1=slug
prepare sourceSQL as
  select t.id, t.slug, t.name, p.name as plan, t.created_at, t.suspended_at
  from loyalty.tenant t
  join loyalty.plan p on p.id = t.plan_id
  where t.slug = $1;

-- slugsSQL (core/transfer/export.go), for Slugs: Slugs returns the slugs of all businesses, the oldest first.
prepare slugsSQL as
  select slug
  from loyalty.tenant
  order by id;

-- enterSQL (core/transfer/export.go), for run: run writes the file from a snapshot.
-- $1=tenant_id
prepare enterSQL as
  select loyalty.enter($1);

-- schemaSQL (core/transfer/export.go), for readHeader: readHeader reads what the header says about the business, and
-- returns the number of rows.
prepare schemaSQL as
  select max(version_id)
  from public.goose_db_version
  where is_applied;

-- planSQL (core/transfer/import.go)
-- $1=name
prepare planSQL as
  select id, name
  from loyalty.plan
  where name = $1;

-- openPlansSQL (core/transfer/import.go)
prepare openPlansSQL as
  select coalesce(string_agg(name, ', ' order by name), '') as names
  from loyalty.plan
  where not retired;

-- withSlugSQL (core/transfer/import.go)
-- $1=slug
prepare withSlugSQL as
  select name, created_at
  from loyalty.tenant
  where slug = $1;

-- countedSQL (core/transfer/import.go), for rows: rows writes the rows of the file.
prepare countedSQL as
  select set_config('app.visits_counted', 'yes', true);

-- takenSQL (core/transfer/numbers.go), for find: find decides the business's slug, plan and numbers.
-- $1=numbers $2=kind
prepare takenSQL as
  select n.number
  from unnest($1::bigint[]) n (number)
  where case $2
      when 'staff' then exists (select from loyalty.staff where id = n.number)
      when 'token' then exists (select from loyalty.token where id = n.number)
      else exists (select from loyalty.tenant where id = n.number)
    end
  order by n.number;

-- drawSQL (core/transfer/numbers.go), for find: find decides the business's slug, plan and numbers.
-- $1=sequence $2=count
prepare drawSQL as
  select nextval($1::text::regclass)
  from generate_series(1, $2::bigint);

-- lastDrawnSQL (core/transfer/numbers.go), for moveOn: moveOn draws from a sequence until its numbers are above a given
-- one.
-- $1=sequence
prepare lastDrawnSQL as
  select coalesce(pg_sequence_last_value($1::text::regclass), 0);

-- numbersOfSQL (core/transfer/numbers.go), for readNumbers: readNumbers fills the numbers of a header.
-- $1=tenant_id
prepare numbersOfSQL as
  select 'staff' as kind, id as number, false as live
  from loyalty.staff
  where tenant_id = $1
  union all
  select 'token', id, revoked_at is null and coalesce(expires_at > now(), true)
  from loyalty.token
  where tenant_id = $1
  order by 1, 2;

-- factsSQL (core/transfer/transfer.go)
-- $1=tenant_id
prepare factsSQL as
  select
    (select count(*) from loyalty.customer where tenant_id = $1) as customers,
    (select count(*) from loyalty.staff where tenant_id = $1) as people,
    coalesce(sum(amount) filter (where unit = 'points'), 0)::text as points,
    coalesce(sum(amount) filter (where unit = 'stamps'), 0)::text as stamps
  from loyalty.ledger_entry
  where tenant_id = $1;
