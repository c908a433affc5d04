-- The statements of core/staff, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/staff.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- foreignEmailsSQL (core/staff/renew.go): The key of an address in ASCII has always been the same.
prepare foreignEmailsSQL as
  select id, email, email_key
  from loyalty.staff
  where email ~ '[^[:ascii:]]' or email ~* '@(.*\.)?xn--'
  order by id;

-- renewSQL (core/staff/renew.go): A key that another person has stays theirs.
-- $1=ids $2=keys
prepare renewSQL as
  update loyalty.staff p
  set email_key = given.key
  from unnest($1::bigint[], $2::text[]) given (id, key)
  where p.id = given.id
    and not exists (
      select
      from loyalty.staff o
      where o.email_key = given.key
        and o.tenant_id is not distinct from p.tenant_id
    );

-- insertSQL (core/staff/sql.go), for Add: Add creates a person in the caller's transaction.
-- $1=tenant $2=role $3=name $4=email $5=email_key $6=now
prepare insertSQL as
  insert into loyalty.staff (tenant_id, role, name, email, email_key, created_at)
  values (nullif($1::bigint, 0), $2, $3, $4, $5, $6)
  returning id, role, name, email;

-- lockPersonSQL (core/staff/sql.go), for Rename: Rename changes the name of the actor's own person.
-- $1=id $2=tenant
prepare lockPersonSQL as
  select p.id, p.role, p.name, p.status = 'active' as active, c.password_hash is not null as joined
  from loyalty.staff p
  join loyalty.credential c on c.staff_id = p.id
  where p.id = $1
    and p.tenant_id is not distinct from nullif($2::bigint, 0)
  for no key update of p;

-- lockPeopleSQL (core/staff/sql.go): Always in one order, against deadlocks.
-- $1=tenant_id $2=id
prepare lockPeopleSQL as
  select p.id, p.role, p.name, p.status = 'active' as active, c.password_hash is not null as joined
  from loyalty.staff p
  join loyalty.credential c on c.staff_id = p.id
  where p.tenant_id = $1
    and (p.id = $2 or p.role = 'owner' and p.status = 'active')
  order by p.id
  for no key update of p;

-- listSQL (core/staff/sql.go), for List: List returns all people of the actor's tenant by name, active ones first.
-- $1=tenant_id $2=now
prepare listSQL as
  select p.id, p.role, p.name, p.email, p.status = 'active' as active, c.password_hash is null as invited,
    (
      select max(i.expires_at)
      from loyalty.invitation i
      where i.tenant_id = $1
        and i.staff_id = p.id
        and i.taken_at is null
        and i.expires_at > $2
    ) as invited_until,
    c.totp_secret is not null as two_factor,
    (
      select count(*)
      from loyalty.token t
      where t.tenant_id = $1
        and t.staff_id = p.id
        and t.revoked_at is null
        and (t.expires_at is null or t.expires_at > $2)
    ) as live_tokens,
    p.created_at
  from loyalty.staff p
  join loyalty.credential c on c.staff_id = p.id
  where p.tenant_id = $1
  order by p.status, lower(p.name), p.id;

-- findSQL (core/staff/sql.go), for Find: Find returns a person of the actor's tenant.
-- $1=tenant_id $2=now $3=id
prepare findSQL as
  select p.id, p.role, p.name, p.email, p.status = 'active' as active, c.password_hash is null as invited,
    (
      select max(i.expires_at)
      from loyalty.invitation i
      where i.tenant_id = $1
        and i.staff_id = p.id
        and i.taken_at is null
        and i.expires_at > $2
    ) as invited_until,
    c.totp_secret is not null as two_factor,
    (
      select count(*)
      from loyalty.token t
      where t.tenant_id = $1
        and t.staff_id = p.id
        and t.revoked_at is null
        and (t.expires_at is null or t.expires_at > $2)
    ) as live_tokens,
    p.created_at
  from loyalty.staff p
  join loyalty.credential c on c.staff_id = p.id
  where p.tenant_id = $1
    and p.id = $3;

-- findAdminSQL (core/staff/sql.go), for FindAdmin: FindAdmin returns the super-admin with an e-mail address, or
-- core.ErrNotFound.
-- $1=email_key
prepare findAdminSQL as
  select id, role, name, email
  from loyalty.staff
  where tenant_id is null
    and email_key = $1;

-- setRoleSQL (core/staff/sql.go), for SetRole: SetRole changes a person's role from their next request on, and revokes
-- their API tokens.
-- $1=role $2=tenant_id $3=id
prepare setRoleSQL as
  update loyalty.staff
  set role = $1
  where tenant_id = $2
    and id = $3;

-- setStatusSQL (core/staff/sql.go)
-- $1=status $2=tenant_id $3=id
prepare setStatusSQL as
  update loyalty.staff
  set status = $1
  where tenant_id = $2
    and id = $3;

-- renameSQL (core/staff/sql.go), for rename: rename changes a person's name in the caller's transaction.
-- $1=name $2=id $3=tenant
prepare renameSQL as
  update loyalty.staff
  set name = $1
  where id = $2
    and tenant_id is not distinct from nullif($3::bigint, 0);
