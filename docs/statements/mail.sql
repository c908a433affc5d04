-- The statements of core/mail, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/mail.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- backlogSQL (core/mail/count.go), for ReadBacklog: ReadBacklog returns a reading of the backlog, for db.Together.
-- $1=after
prepare backlogSQL as
  select (select count(*) from loyalty.mail where status = 'queued') as waiting,
    (select count(*) from loyalty.mail where status = 'failed' and done_at > $1) as failed;

-- senderSQL (core/mail/courier.go), for Courier: Courier returns a courier of mails that aren't stored, which are sent
-- from the platform's address if one is set.
prepare senderSQL as
  select mail_address
  from loyalty.platform_setting;

-- deleteToSQL (core/mail/erase.go), for DeleteTo: DeleteTo queues the deletion of the tenant's mails to these addresses,
-- delivered or not: for a customer who is erased.
-- $1=tenant_id $2=recipients
prepare deleteToSQL as
  delete from loyalty.mail
  where tenant_id = $1
    and recipient = any($2::text[]);

-- insertSQL (core/mail/sql.go), for insert: insert queues the storing of a mail.
-- $1=tenant $2=id $3=recipient $4=subject $5=text $6=html $7=attachment_name $8=attachment $9=unsubscribe $10=status
-- $11=now
prepare insertSQL as
  insert into loyalty.mail (tenant_id, id, recipient, subject, text, html, attachment_name, attachment, unsubscribe, status, created_at, done_at)
  values (nullif($1::bigint, 0), $2, $3, $4, $5, $6, $7, $8, nullif($9, ''),
    $10::text, $11, case when $10 = 'kept' then $11::timestamptz end)
  on conflict (id) do nothing;

-- findQueuedSQL (core/mail/sql.go)
-- $1=id $2=tenant
prepare findQueuedSQL as
  select m.id, m.recipient, m.subject, m.text, m.html, m.attachment_name, m.attachment, coalesce(m.unsubscribe, '') as unsubscribe, m.created_at,
    s.mail_name as sender_name, s.mail_address as sender_address,
    coalesce((select t.status = 'suspended' from loyalty.tenant t where t.id = m.tenant_id), false) as suspended
  from loyalty.mail m
  cross join loyalty.platform_setting s
  where m.id = $1
    and ($2::bigint = 0 or m.tenant_id = $2)
    and status = 'queued';

-- findUnsentSQL (core/mail/sql.go), for Find: Find returns an unsent mail with its text, or core.ErrNotFound.
-- $1=id
prepare findUnsentSQL as
  select m.id, m.recipient, m.subject, m.text, m.html, m.attachment_name, m.attachment, coalesce(m.unsubscribe, '') as unsubscribe, m.created_at,
    s.mail_name as sender_name, s.mail_address as sender_address
  from loyalty.mail m
  cross join loyalty.platform_setting s
  where m.id = $1
    and status in ('queued', 'kept')
    and text <> '';

-- keepSQL (core/mail/sql.go), for storeResult: storeResult stores how the last attempt to deliver a mail ended, and why.
-- $1=now $2=id
prepare keepSQL as
  update loyalty.mail
  set status = 'kept',
    done_at = $1
  where id = $2;

-- endSQL (core/mail/sql.go), for storeResult: storeResult stores how the last attempt to deliver a mail ended, and why.
-- $1=status $2=error $3=now $4=id
prepare endSQL as
  update loyalty.mail
  set status = $1,
    error = $2,
    text = '',
    html = '',
    attachment = null,
    unsubscribe = null,
    done_at = $3
  where id = $4;

-- giveUpAbandonedSQL (core/mail/sql.go)
-- $1=now $2=before $3=up_to
prepare giveUpAbandonedSQL as
  update loyalty.mail
  set status = 'failed',
    error = 'Its delivery was cancelled, or failed too often.',
    text = '',
    html = '',
    attachment = null,
    unsubscribe = null,
    done_at = $1
  where id in (
    select id
    from loyalty.mail
    where status = 'queued'
      and created_at < $2
    limit $3
    for update skip locked
  );

-- blankKeptSQL (core/mail/sql.go): These mails are for reading in development, so they keep their text longer than
-- others.
-- $1=before $2=up_to
prepare blankKeptSQL as
  update loyalty.mail
  set text = '',
    html = '',
    attachment = null,
    unsubscribe = null
  where id in (
    select id
    from loyalty.mail
    where status = 'kept'
      and text <> ''
      and created_at < $1
    limit $2
    for update skip locked
  );

-- deleteEndedSQL (core/mail/sql.go)
-- $1=before $2=up_to
prepare deleteEndedSQL as
  delete from loyalty.mail
  where id in (
    select id
    from loyalty.mail
    where status <> 'queued'
      and created_at < $1
    order by created_at
    limit $2
  );

-- unsentList (core/mail/sql.go): A mail without its text can't be read.
-- $1=limit
prepare unsentList as
  select id, recipient, subject, created_at
  from loyalty.mail
  where status in ('queued', 'kept')
    and text <> ''
  order by created_at desc, id desc
  limit $1;
