-- The statements of core/certificate, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/certificate.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- lockSealedSQL (core/certificate/reseal.go), for Reseal: Reseal seals all files with the first secret, in batches,
-- while processes serve.
-- $1=after $2=most
prepare lockSealedSQL as
  select key, sealed
  from loyalty.tls_file
  where key > $1
  order by key
  limit $2
  for update;

-- resealSQL (core/certificate/reseal.go), for Reseal: Reseal seals all files with the first secret, in batches, while
-- processes serve.
-- $1=files $2=sealed
prepare resealSQL as
  update loyalty.tls_file f
  set sealed = n.sealed
  from unnest($1::text[], $2::bytea[]) n (key, sealed)
  where f.key = n.key;

-- deleteLostSQL (core/certificate/reseal.go), for Reseal: Reseal seals all files with the first secret, in batches,
-- while processes serve.
-- $1=lost
prepare deleteLostSQL as
  delete from loyalty.tls_file
  where key = any($1);

-- storeSQL (core/certificate/store.go), for Store: Store writes a file.
-- $1=key $2=sealed $3=now
prepare storeSQL as
  insert into loyalty.tls_file (key, sealed, modified_at)
  values ($1, $2, $3)
  on conflict (key) do update
  set sealed = excluded.sealed, modified_at = excluded.modified_at;

-- loadSQL (core/certificate/store.go), for Load: Load reads a file, or fails with fs.ErrNotExist.
-- $1=key
prepare loadSQL as
  select sealed
  from loyalty.tls_file
  where key = $1;

-- deleteSQL (core/certificate/store.go), for Delete: Delete deletes a file, or everything in a directory.
-- $1=key
prepare deleteSQL as
  delete from loyalty.tls_file
  where key = $1 or starts_with(key, $1 || '/');

-- statSQL (core/certificate/store.go), for Stat: Stat describes a file or a directory, or fails with fs.ErrNotExist.
-- $1=key
prepare statSQL as
  select bool_or(key = $1) as is_file, max(modified_at) as modified_at
  from loyalty.tls_file
  where key = $1 or starts_with(key, $1 || '/')
  having count(*) > 0;

-- listSQL (core/certificate/store.go), for List: List returns the files and directories in a directory or, if recursive,
-- all files below it.
-- $1=path
prepare listSQL as
  select key
  from loyalty.tls_file
  where $1 = '' or starts_with(key, $1 || '/');

-- lockSQL (core/certificate/store.go): An expired lock is taken over.
-- $1=name $2=holder $3=expires_at $4=now
prepare lockSQL as
  insert into loyalty.tls_lock as l (name, holder, expires_at)
  values ($1, $2, $3)
  on conflict (name) do update
  set holder = excluded.holder, expires_at = excluded.expires_at
  where l.expires_at <= $4;

-- renewSQL (core/certificate/store.go)
-- $1=expires_at $2=name $3=holder
prepare renewSQL as
  update loyalty.tls_lock
  set expires_at = $1
  where name = $2 and holder = $3;

-- unlockSQL (core/certificate/store.go), for Unlock: Unlock releases a lock of this process.
-- $1=name $2=holder
prepare unlockSQL as
  delete from loyalty.tls_lock
  where name = $1 and holder = $2;
