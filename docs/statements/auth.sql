-- The statements of core/auth, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/auth.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- secretCheckSQL (core/auth/secret.go), for CheckSecret: CheckSecret returns ErrWrongSecret unless one of the secrets is
-- the database's.
prepare secretCheckSQL as
  select sealed
  from loyalty.secret_check;

-- adoptSecretSQL (core/auth/secret.go), for adoptSecret: adoptSecret makes the first secret the database's.
-- $1=sealed
prepare adoptSecretSQL as
  insert into loyalty.secret_check (sealed)
  values ($1)
  on conflict do nothing;

-- replaceSecretCheckSQL (core/auth/secret.go), for Reseal: Reseal seals everything that is stored sealed (secrets of
-- two-step verification, in use and pending, and the check of CheckSecret) with the first secret.
-- $1=sealed
prepare replaceSecretCheckSQL as
  update loyalty.secret_check
  set sealed = $1;

-- lockSealedSQL (core/auth/secret.go), for Reseal: Reseal seals everything that is stored sealed (secrets of two-step
-- verification, in use and pending, and the check of CheckSecret) with the first secret.
-- $1=after $2=most
prepare lockSealedSQL as
  select c.staff_id, p.email, coalesce(n.slug, '') as slug, c.totp_secret, c.totp_pending
  from loyalty.credential c
  join loyalty.staff p on p.id = c.staff_id
  left join loyalty.tenant n on n.id = c.tenant_id
  where c.staff_id > $1
    and (c.totp_secret is not null or c.totp_pending is not null)
  order by c.staff_id
  limit $2
  for no key update of c;

-- sealedOfTenantSQL (core/auth/secret.go), for AdoptSealed: AdoptSealed seals the secrets of people who came to the
-- transaction's tenant from another installation for their numbers here; before has the numbers there.
-- $1=tenant_id
prepare sealedOfTenantSQL as
  select c.staff_id, p.email, n.slug, c.totp_secret, c.totp_pending
  from loyalty.credential c
  join loyalty.staff p on p.id = c.staff_id
  join loyalty.tenant n on n.id = c.tenant_id
  where c.tenant_id = $1
    and (c.totp_secret is not null or c.totp_pending is not null)
  order by c.staff_id;

-- resealSQL (core/auth/secret.go), for reseal: reseal seals the secrets of people again, in one statement.
-- $1=ids $2=secrets $3=pendings
prepare resealSQL as
  update loyalty.credential c
  set totp_secret = coalesce(n.secret, c.totp_secret),
    totp_pending = coalesce(n.pending, c.totp_pending)
  from unnest($1::bigint[], $2::bytea[], $3::bytea[]) n (id, secret, pending)
  where c.staff_id = n.id;

-- findSessionSQL (core/auth/session_sql.go): At a suspended business no one is signed in.
-- $1=hash $2=now $3=seen $4=slug
prepare findSessionSQL as
  select coalesce(n.id, 0) as tenant_id, coalesce(n.name, '') as tenant_name, coalesce(n.slug, '') as tenant_slug,
    coalesce(n.timezone, 'UTC') as timezone, coalesce(n.currency, '') as currency, coalesce(n.country, '') as country,
    coalesce(n.confirm_above_cents, 0) as confirm_above_cents, coalesce(n.status, 'active') <> 'active' as suspended,
    coalesce(n.phone_optional, false) as phone_optional, coalesce(n.test, false) as test,
    coalesce(n.programme, '{}') as programme, coalesce(n.earning_version, 0) as earning_version, look.colour, look.logo_hash, look.logo_width, look.logo_height, s.data, s.last_seen_at, s.staff_id,
    p.id as person_id, coalesce(p.name, '') as person_name, coalesce(p.email, '') as email,
    coalesce(p.role, '') as role, c.totp_secret is not null as two_factor
  from loyalty.tenant n
  left join lateral loyalty.theme(n.id) look on true
  left join loyalty.session s on s.hash = $1
    and s.tenant_id = n.id
    and s.ended_at is null
    and s.expires_at > $2
    and s.last_seen_at > $3
  left join loyalty.staff p on p.id = s.staff_id
    and p.tenant_id = n.id
    and p.status = 'active'
    and n.status = 'active'
  left join loyalty.credential c on c.staff_id = p.id
  where n.slug = $4;

-- findAdminSessionSQL (core/auth/session_sql.go), for findSession: findSession finds a session, with the tenant of the
-- host and the person.
-- $1=hash $2=now $3=seen
prepare findAdminSessionSQL as
  select coalesce(n.id, 0) as tenant_id, coalesce(n.name, '') as tenant_name, coalesce(n.slug, '') as tenant_slug,
    coalesce(n.timezone, 'UTC') as timezone, coalesce(n.currency, '') as currency, coalesce(n.country, '') as country,
    coalesce(n.confirm_above_cents, 0) as confirm_above_cents, coalesce(n.status, 'active') <> 'active' as suspended,
    coalesce(n.phone_optional, false) as phone_optional, coalesce(n.test, false) as test,
    coalesce(n.programme, '{}') as programme, coalesce(n.earning_version, 0) as earning_version, look.colour, look.logo_hash, look.logo_width, look.logo_height, s.data, s.last_seen_at, s.staff_id,
    p.id as person_id, coalesce(p.name, '') as person_name, coalesce(p.email, '') as email,
    coalesce(p.role, '') as role, c.totp_secret is not null as two_factor
  from loyalty.session s
  left join loyalty.tenant n on false
  left join lateral loyalty.theme(n.id) look on true
  left join loyalty.staff p on p.id = s.staff_id
    and p.tenant_id is null
    and p.role = 'super_admin'
    and p.status = 'active'
  left join loyalty.credential c on c.staff_id = p.id
  where s.hash = $1
    and s.tenant_id is null
    and s.ended_at is null
    and s.expires_at > $2
    and s.last_seen_at > $3;

-- sessionSeenSQL (core/auth/session_sql.go), for touchSession: touchSession stores that a session was used, and from
-- where.
-- $1=now $2=address $3=user_agent $4=hash
prepare sessionSeenSQL as
  update loyalty.session
  set last_seen_at = $1,
    address = $2,
    user_agent = $3
  where hash = (
    select hash
    from loyalty.session
    where hash = $4
      and last_seen_at <= $1::timestamptz - interval '1 minute'
    for no key update skip locked
  );

-- saveSessionSQL (core/auth/session_sql.go): The expiry of a session is set when it is created.
-- $1=hash $2=data $3=now $4=expires_at $5=address $6=user_agent $7=slug
prepare saveSessionSQL as
  insert into loyalty.session as s (hash, tenant_id, data, created_at, last_seen_at, expires_at, address, user_agent)
  select $1, n.id, $2, $3, $3, $4, $5, $6
  from (select $7::text as slug) host
  left join loyalty.tenant n on n.slug = host.slug
  where n.id is not null
    or host.slug = ''
  on conflict (hash) do update
  set data = excluded.data
  where s.ended_at is null;

-- signInSQL (core/auth/session_sql.go): Waits for a password that is being set: its transaction ends the sessions it can
-- see, and can't see this one yet.
-- $1=hash $2=data $3=now $4=expires_at $5=address $6=user_agent $7=staff $8=slug $9=proved_at $10=code
prepare signInSQL as
  insert into loyalty.session (hash, tenant_id, staff_id, data, created_at, last_seen_at, expires_at, address, user_agent)
  select $1, n.id, p.id, $2, $3, $3, $4, $5, $6
  from loyalty.staff p
  join loyalty.credential c on c.staff_id = p.id
  left join loyalty.tenant n on n.id = p.tenant_id
  where p.id = $7
    and (p.tenant_id is null or n.id is not null)
    and coalesce(n.slug, '') = $8
    and p.status = 'active'
    and (c.password_set_at is null or c.password_set_at <= $9)
    and (c.totp_secret is null or $10)
  for share of p, c;

-- deleteSessionSQL (core/auth/session_sql.go), for DeleteCtx: DeleteCtx ends a session.
-- $1=now $2=hash
prepare deleteSessionSQL as
  update loyalty.session
  set ended_at = $1
  where hash = $2
    and ended_at is null;

-- listSessionsSQL (core/auth/session_sql.go), for Sessions: Sessions returns the live sessions of the actor's person,
-- the one seen last first.
-- $1=current $2=staff $3=now $4=seen
prepare listSessionsSQL as
  select encode(substr(hash, 1, 8), 'hex') as id, user_agent, address, created_at, last_seen_at, encode(substr(hash, 1, 8), 'hex') = $1 as current
  from loyalty.session
  where staff_id = $2
    and ended_at is null
    and expires_at > $3
    and last_seen_at > $4
  order by last_seen_at desc, created_at desc, hash;

-- endSessionSQL (core/auth/session_sql.go), for endSession: endSession ends a session of the actor's person and writes
-- the audit entry.
-- $1=now $2=staff $3=seen $4=id
prepare endSessionSQL as
  update loyalty.session
  set ended_at = $1
  where staff_id = $2
    and ended_at is null
    and expires_at > $1
    and last_seen_at > $3
    and encode(substr(hash, 1, 8), 'hex') = $4
  returning encode(substr(hash, 1, 8), 'hex') as id, user_agent, address, created_at, last_seen_at, false as current;

-- endOtherSessionsSQL (core/auth/session_sql.go), for EndOtherSessions: EndOtherSessions signs the actor's person out
-- everywhere but in the current session, and returns the number of sessions it ended.
-- $1=now $2=staff $3=seen $4=current
prepare endOtherSessionsSQL as
  update loyalty.session
  set ended_at = $1
  where staff_id = $2
    and ended_at is null
    and expires_at > $1
    and last_seen_at > $3
    and encode(substr(hash, 1, 8), 'hex') <> $4;

-- endSessionsSQL (core/auth/session_sql.go), for EndSessions: EndSessions queues that a person is signed out everywhere,
-- when their password changes or they are deactivated.
-- $1=now $2=staff
prepare endSessionsSQL as
  update loyalty.session
  set ended_at = $1
  where staff_id = $2
    and ended_at is null;

-- deleteOldSessionsSQL (core/auth/session_sql.go)
-- $1=before $2=seen $3=up_to
prepare deleteOldSessionsSQL as
  delete from loyalty.session
  where hash in (
    select hash
    from loyalty.session
    where expires_at < $1
      or last_seen_at < $2
      or ended_at < $1
    limit $3
    for update skip locked
  );

-- accountByEmailSQL (core/auth/sql.go): In a transaction of the platform, before it is known who asks.
-- $1=tenant $2=email_key
prepare accountByEmailSQL as
  select p.id, p.role, p.name, p.email, p.status = 'active' and coalesce(n.status, 'active') = 'active' as active,
    c.password_hash, c.password_set_at, c.totp_secret
  from loyalty.staff p
  join loyalty.credential c on c.staff_id = p.id
  left join loyalty.tenant n on n.id = p.tenant_id
  where p.tenant_id = $1
    and p.email_key = $2;

-- adminByEmailSQL (core/auth/sql.go), for SetAdminPassword: SetAdminPassword sets a super-admin's password for the
-- operator, signs them out everywhere, forgives failed attempts and mails them.
-- $1=email_key
prepare adminByEmailSQL as
  select p.id, p.role, p.name, p.email, p.status = 'active' and coalesce(n.status, 'active') = 'active' as active,
    c.password_hash, c.password_set_at, c.totp_secret
  from loyalty.staff p
  join loyalty.credential c on c.staff_id = p.id
  left join loyalty.tenant n on n.id = p.tenant_id
  where p.tenant_id is null
    and p.email_key = $1;

-- accountSQL (core/auth/sql.go), for accountOf: accountOf returns the actor's account.
-- $1=id $2=tenant
prepare accountSQL as
  select p.id, p.role, p.name, p.email, p.status = 'active' and coalesce(n.status, 'active') = 'active' as active,
    c.password_hash, c.password_set_at, c.totp_secret
  from loyalty.staff p
  join loyalty.credential c on c.staff_id = p.id
  left join loyalty.tenant n on n.id = p.tenant_id
  where p.id = $1
    and p.tenant_id is not distinct from nullif($2::bigint, 0);

-- lockAccountSQL (core/auth/sql.go), for InviteAgain: InviteAgain mails another invitation to a person of the actor's
-- tenant who has not accepted theirs.
-- $1=id $2=tenant
prepare lockAccountSQL as
  select p.id, p.role, p.name, p.email, p.status = 'active' and coalesce(n.status, 'active') = 'active' as active,
    c.password_hash, c.password_set_at, c.totp_secret
  from loyalty.staff p
  join loyalty.credential c on c.staff_id = p.id
  left join loyalty.tenant n on n.id = p.tenant_id
  where p.id = $1
    and p.tenant_id is not distinct from nullif($2::bigint, 0)
  for no key update of p, c;

-- addCredentialSQL (core/auth/sql.go), for AddCredential: AddCredential queues the credential of a new person.
-- $1=id $2=tenant $3=hash
prepare addCredentialSQL as
  insert into loyalty.credential (staff_id, tenant_id, password_hash)
  values ($1, nullif($2::bigint, 0), $3);

-- setPasswordSQL (core/auth/sql.go), for setPassword: setPassword sets a person's password unless the old one has
-- changed meanwhile, ends their sessions, withdraws open links and writes the audit entry.
-- $1=hash $2=now $3=id $4=tenant $5=old
prepare setPasswordSQL as
  update loyalty.credential c
  set password_hash = $1,
    password_set_at = $2
  from loyalty.staff p
  where p.id = c.staff_id
    and c.staff_id = $3
    and c.tenant_id is not distinct from nullif($4::bigint, 0)
    and p.status = 'active'
    and ($5::text is null or c.password_hash = $5);

-- enrolTwoFactorSQL (core/auth/sql.go): No code of a new secret has been used.
-- $1=secret $2=id $3=tenant
prepare enrolTwoFactorSQL as
  update loyalty.credential
  set totp_secret = $1,
    totp_step = 0
  where staff_id = $2
    and tenant_id is not distinct from nullif($3::bigint, 0);

-- twoFactorSQL (core/auth/sql.go), for TwoFactor: TwoFactor returns the state of the actor's two-step verification.
-- $1=id $2=tenant
prepare twoFactorSQL as
  select c.totp_secret is not null as "on", c.totp_pending is not null as pending,
    (select count(*) from loyalty.recovery_code r where r.staff_id = c.staff_id) as recovery_codes
  from loyalty.credential c
  where c.staff_id = $1
    and c.tenant_id is not distinct from nullif($2::bigint, 0);

-- beginTwoFactorSQL (core/auth/sql.go), for beginSetup: beginSetup stores a new secret.
-- $1=secret $2=now $3=id $4=tenant $5=renew
prepare beginTwoFactorSQL as
  update loyalty.credential c
  set totp_pending = $1,
    totp_pending_at = $2
  from loyalty.staff p
  where p.id = c.staff_id
    and c.staff_id = $3
    and c.tenant_id is not distinct from nullif($4::bigint, 0)
    and (c.totp_secret is null or $5::bool)
  returning p.email;

-- pendingTwoFactorSQL (core/auth/sql.go)
-- $1=id $2=tenant $3=since
prepare pendingTwoFactorSQL as
  select p.id, p.role, p.name, p.email, c.totp_secret is not null as "on", c.totp_pending
  from loyalty.credential c
  join loyalty.staff p on p.id = c.staff_id
  where p.tenant_id is not distinct from c.tenant_id
    and c.staff_id = $1
    and c.tenant_id is not distinct from nullif($2::bigint, 0)
    and c.totp_pending is not null
    and c.totp_pending_at > $3;

-- confirmTwoFactorSQL (core/auth/sql.go): This uses up the code.
-- $1=step $2=pending $3=id $4=tenant $5=since
prepare confirmTwoFactorSQL as
  update loyalty.credential c
  set totp_secret = c.totp_pending,
    totp_pending = null,
    totp_pending_at = null,
    totp_step = $1
  where c.totp_pending = $2
    and c.staff_id = $3
    and c.tenant_id is not distinct from nullif($4::bigint, 0)
    and c.totp_pending is not null
    and c.totp_pending_at > $5;

-- removeTwoFactorSQL (core/auth/sql.go), for removeTwoFactor: removeTwoFactor returns core.ErrNotFound if two-step
-- verification is off.
-- $1=id $2=tenant
prepare removeTwoFactorSQL as
  update loyalty.credential c
  set totp_secret = null,
    totp_step = 0
  from loyalty.staff p
  where p.id = c.staff_id
    and c.staff_id = $1
    and c.tenant_id is not distinct from nullif($2::bigint, 0)
    and c.totp_secret is not null
  returning p.id, p.role, p.name, p.email;

-- useStepSQL (core/auth/sql.go): Steps only increase: neither this code nor an earlier one works again.
-- $1=step $2=id $3=secret
prepare useStepSQL as
  update loyalty.credential
  set totp_step = $1
  where staff_id = $2
    and totp_secret = $3
    and totp_step < $1;

-- useRecoveryCodeSQL (core/auth/sql.go), for useCode: useCode uses up a person's code in a transaction of the platform
-- and returns its kind, or "" if it is wrong.
-- $1=id $2=hash
prepare useRecoveryCodeSQL as
  delete from loyalty.recovery_code
  where staff_id = $1
    and hash = $2;

-- dropRecoveryCodesSQL (core/auth/sql.go), for replaceRecoveryCodes: replaceRecoveryCodes replaces a person's recovery
-- codes.
-- $1=id
prepare dropRecoveryCodesSQL as
  delete from loyalty.recovery_code
  where staff_id = $1;

-- addRecoveryCodesSQL (core/auth/sql.go), for replaceRecoveryCodes: replaceRecoveryCodes replaces a person's recovery
-- codes.
-- $1=tenant $2=id $3=hashes
prepare addRecoveryCodesSQL as
  insert into loyalty.recovery_code (tenant_id, staff_id, hash)
  select nullif($1::bigint, 0), $2, hash
  from unnest($3::bytea[]) as hash;

-- inviteSQL (core/auth/sql.go), for Invite: Invite mails an invitation to a person of the transaction's tenant and
-- writes it into the audit log.
-- $1=tenant_id $2=id $3=staff $4=hash $5=expires_at $6=now
prepare inviteSQL as
  insert into loyalty.invitation (tenant_id, id, staff_id, hash, expires_at, created_at)
  values ($1, $2, $3, $4, $5, $6);

-- findInvitationSQL (core/auth/sql.go), for FindInvitation: FindInvitation returns the invited person of a link, or
-- ErrLink.
-- $1=tenant_id $2=hash $3=now
prepare findInvitationSQL as
  select p.id, p.role, p.name, p.email, i.expires_at
  from loyalty.invitation i
  join loyalty.staff p on p.id = i.staff_id
  join loyalty.credential c on c.staff_id = p.id
  where i.tenant_id = $1
    and i.hash = $2
    and i.taken_at is null
    and i.expires_at > $3
    and p.status = 'active'
    and c.password_hash is null;

-- useInvitationSQL (core/auth/sql.go), for AcceptInvitation: AcceptInvitation uses up an invitation and sets the actor's
-- first password, in the caller's transaction.
-- $1=now $2=tenant_id $3=hash
prepare useInvitationSQL as
  update loyalty.invitation
  set taken_at = $1
  where tenant_id = $2
    and hash = $3
    and taken_at is null
    and expires_at > $1;

-- withdrawInvitationsSQL (core/auth/sql.go), for Invite: Invite mails an invitation to a person of the transaction's
-- tenant and writes it into the audit log.
-- $1=now $2=tenant_id $3=id
prepare withdrawInvitationsSQL as
  update loyalty.invitation
  set taken_at = $1
  where tenant_id = $2
    and staff_id = $3
    and taken_at is null;

-- resetRecipientSQL (core/auth/sql.go), for SendReset: SendReset runs the job of RequestReset.
-- $1=tenant_id $2=email_key
prepare resetRecipientSQL as
  select p.id, p.role, p.name, p.email, c.password_hash is null as invited,
    n.name as tenant_name, n.slug as tenant_slug
  from loyalty.staff p
  join loyalty.credential c on c.staff_id = p.id
  join loyalty.tenant n on n.id = p.tenant_id
  where p.tenant_id = $1
    and p.email_key = $2
    and p.status = 'active'
    and n.status = 'active';

-- addResetSQL (core/auth/sql.go), for SendReset: SendReset runs the job of RequestReset.
-- $1=tenant_id $2=id $3=staff $4=hash $5=expires_at $6=now
prepare addResetSQL as
  insert into loyalty.password_reset (tenant_id, id, staff_id, hash, expires_at, created_at)
  values ($1, $2, $3, $4, $5, $6);

-- findResetSQL (core/auth/sql.go), for FindReset: FindReset returns the person of a reset's link, or ErrLink.
-- $1=tenant_id $2=now $3=hash
prepare findResetSQL as
  select p.id, p.role, p.name, p.email, r.expires_at,
    (
      select count(*)
      from loyalty.token t
      where t.tenant_id = $1
        and t.staff_id = p.id
        and t.revoked_at is null
        and (t.expires_at is null or t.expires_at > $2)
    ) as live_tokens
  from loyalty.password_reset r
  join loyalty.staff p on p.id = r.staff_id
  where r.tenant_id = $1
    and r.hash = $3
    and r.taken_at is null
    and r.expires_at > $2
    and p.status = 'active';

-- useResetSQL (core/auth/sql.go), for Reset: Reset sets the password of the person a link was mailed to, signs them out
-- everywhere and mails them.
-- $1=now $2=tenant_id $3=hash
prepare useResetSQL as
  update loyalty.password_reset
  set taken_at = $1
  where tenant_id = $2
    and hash = $3
    and taken_at is null
    and expires_at > $1;

-- withdrawResetsSQL (core/auth/sql.go), for setPassword: setPassword sets a person's password unless the old one has
-- changed meanwhile, ends their sessions, withdraws open links and writes the audit entry.
-- $1=now $2=tenant_id $3=id
prepare withdrawResetsSQL as
  update loyalty.password_reset
  set taken_at = $1
  where tenant_id = $2
    and staff_id = $3
    and taken_at is null;

-- lockAttemptsSQL (core/auth/sql.go): Locks each count, creates it if necessary and resets it when its period is over.
-- $1=keys $2=ends $3=now
prepare lockAttemptsSQL as
  insert into loyalty.attempt as a (key, used, ends_at)
  select t.key, 0, t.ends_at
  from unnest($1::bytea[], $2::timestamptz[]) as t (key, ends_at)
  order by t.key
  on conflict (key) do update
  set used = case when a.ends_at <= $3 then 0 else a.used end,
    ends_at = case when a.ends_at <= $3 then excluded.ends_at else a.ends_at end
  returning key, used, ends_at;

-- countAttemptsSQL (core/auth/sql.go), for countAttempts: countAttempts counts all the attempts in a transaction of the
-- platform that commits before anything is checked, so a thousand at once get no further than one after another.
-- $1=keys
prepare countAttemptsSQL as
  update loyalty.attempt
  set used = used + 1
  where key = any($1);

-- forgiveAttemptsSQL (core/auth/sql.go): Locks in the same order as lockAttemptsSQL.
-- $1=all $2=own
prepare forgiveAttemptsSQL as
  with locked as (
    select key
    from loyalty.attempt
    where key = any($1)
    order by key
    for update
  )
  update loyalty.attempt a
  set used = case when a.key = any($2) then 0 else greatest(a.used - 1, 0) end
  from locked l
  where a.key = l.key;

-- deleteOldAttemptsSQL (core/auth/sql.go)
-- $1=now $2=up_to
prepare deleteOldAttemptsSQL as
  delete from loyalty.attempt
  where key in (
    select key
    from loyalty.attempt
    where ends_at <= $1
    limit $2
    for update skip locked
  );

-- deleteOldLinksSQL (core/auth/sql.go)
-- $1=before $2=up_to
prepare deleteOldLinksSQL as
  select loyalty.forget_links($1, $2);
