-- The statements of core/coupon, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/coupon.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- staffSQL (core/coupon/mailing_sql.go), for SendTest: SendTest mails the actor what customers would get, and returns
-- the actor's address.
-- $1=tenant_id $2=id
prepare staffSQL as
  select name, email
  from loyalty.staff
  where tenant_id = $1
    and id = $2
    and status = 'active';

-- mailingSQL (core/coupon/mailing_sql.go), for loadMailing: loadMailing reads what the mails of a send have in common.
-- $1=tenant_id $2=send
prepare mailingSQL as
  select s.subject, s.message, c.benefit_type, c.benefit_value, c.benefit_reward_id, r.name as reward_name, l.name as level_name
  from loyalty.coupon_send s
  join loyalty.coupon c on c.tenant_id = s.tenant_id and c.id = s.coupon_id
  left join loyalty.level_programme p on p.tenant_id = c.tenant_id and p.active
  left join loyalty.level l on l.tenant_id = p.tenant_id and l.id = c.min_level_id
  left join loyalty.reward r on r.tenant_id = c.tenant_id and r.id = c.benefit_reward_id
  where s.tenant_id = $1
    and s.id = $2;

-- claimMailsSQL (core/coupon/mailing_sql.go): Claimed mails are due again after a while, so that another process sends
-- those of a killed one.
-- $1=tenant_id $2=send $3=now $4=limit $5=again
prepare claimMailsSQL as
  with due as (
    select m.voucher_id
    from loyalty.voucher_mail m
    where m.tenant_id = $1
      and m.send_id = $2
      and m.status = 'queued'
      and m.due_at <= $3
      and exists (
        select
        from loyalty.coupon_send s
        where s.tenant_id = $1
          and s.id = $2
          and s.status = 'mailing'
          and s.held_at is null
      )
    order by m.due_at, m.voucher_id
    limit $4
    for no key update of m skip locked
  ), claimed as (
    update loyalty.voucher_mail m
    set due_at = $5
    from due
    where m.tenant_id = $1
      and m.voucher_id = due.voucher_id
    returning m.voucher_id, m.attempts
  )
  select m.voucher_id, k.id as customer_id,
    case when k.unchecked_since is null then k.first_name else '' end as first_name, k.email, k.link_version + v.link_shift as link_version, k.unsubscribed_at is not null as unsubscribed,
    v.status = 'pending' and coalesce(v.expires_at > $3, true) as pending, v.expires_at, m.attempts
  from claimed m
  join loyalty.voucher v on v.tenant_id = $1 and v.id = m.voucher_id
  join loyalty.customer k on k.tenant_id = $1 and k.id = v.customer_id
  order by m.voucher_id;

-- releaseMailsSQL (core/coupon/mailing_sql.go), for releaseMails: releaseMails makes claimed mails due again that were
-- not sent, and logs why the mail server could not be reached, if that is the cause.
-- $1=now $2=tenant_id $3=ids
prepare releaseMailsSQL as
  update loyalty.voucher_mail
  set due_at = $1
  where tenant_id = $2
    and voucher_id = any ($3::uuid[])
    and status = 'queued';

-- storeAttemptSQL (core/coupon/mailing_sql.go): Stores the result of an attempt: the mail was delivered, has failed, or
-- is still queued for another one.
-- $1=status $2=error $3=again $4=recipient $5=permanent $6=now $7=tenant_id $8=voucher $9=send
prepare storeAttemptSQL as
  with tried as (
    update loyalty.voucher_mail
    set status = $1::text,
      attempts = attempts + case when $2::text is null then 0 else 1 end,
      due_at = coalesce($3::timestamptz, due_at),
      error = $2,
      recipient = $4,
      permanent = $5,
      done_at = case when $1 = 'queued' then null else $6::timestamptz end
    where tenant_id = $7
      and voucher_id = $8
      and status = 'queued'
    returning status
  )
  update loyalty.coupon_send s
  set delivered = s.delivered + case when t.status = 'delivered' then 1 else 0 end,
    failed = s.failed + case when t.status = 'failed' then 1 else 0 end
  from tried t
  where s.tenant_id = $7
    and s.id = $9
    and t.status <> 'queued';

-- dropMailSQL (core/coupon/mailing_sql.go): The voucher of a dropped mail counts among those without an e-mail.
-- $1=tenant_id $2=voucher $3=unsubscribed $4=send
prepare dropMailSQL as
  with dropped as (
    delete from loyalty.voucher_mail
    where tenant_id = $1
      and voucher_id = $2
      and status = 'queued'
    returning voucher_id
  )
  update loyalty.coupon_send s
  set mails = s.mails - 1,
    unsubscribed = s.unsubscribed + case when $3::boolean then 1 else 0 end,
    no_email = s.no_email + case when $3::boolean then 0 else 1 end
  from dropped
  where s.tenant_id = $1
    and s.id = $4;

-- lockSendSQL (core/coupon/mailing_sql.go), for finishOrReschedule: finishOrReschedule ends a send without queued mails,
-- or runs the job again when the next one is due.
-- $1=tenant_id $2=send
prepare lockSendSQL as
  select s.id, s.coupon_id, (select c.name from loyalty.coupon c where c.tenant_id = $1 and c.id = s.coupon_id) as coupon_name,
    s.segment, s.audience, s.status, s.subject, s.message, s.matched, s.sent, s.skipped_inactive, s.skipped_limit,
    s.no_email, s.unsubscribed, s.mails, s.delivered, s.failed, s.send_at, s.held_at, s.created_at, s.begun_at, s.evaluated_at, s.ended_at, s.failure
  from loyalty.coupon_send s
  where s.tenant_id = $1
    and s.id = $2
  for no key update;

-- nextMailSQL (core/coupon/mailing_sql.go), for finishOrReschedule: finishOrReschedule ends a send without queued mails,
-- or runs the job again when the next one is due.
-- $1=tenant_id $2=send
prepare nextMailSQL as
  select min(due_at)
  from loyalty.voucher_mail
  where tenant_id = $1
    and send_id = $2
    and status = 'queued';

-- finishSendSQL (core/coupon/mailing_sql.go), for finishOrReschedule: finishOrReschedule ends a send without queued
-- mails, or runs the job again when the next one is due.
-- $1=now $2=tenant_id $3=send
prepare finishSendSQL as
  update loyalty.coupon_send s
  set status = 'done',
    ended_at = $1
  where s.tenant_id = $2
    and s.id = $3
  returning s.id, s.coupon_id, (select c.name from loyalty.coupon c where c.tenant_id = $2 and c.id = s.coupon_id) as coupon_name,
    s.segment, s.audience, s.status, s.subject, s.message, s.matched, s.sent, s.skipped_inactive, s.skipped_limit,
    s.no_email, s.unsubscribed, s.mails, s.delivered, s.failed, s.send_at, s.held_at, s.created_at, s.begun_at, s.evaluated_at, s.ended_at, s.failure, s.redeemed, s.expires_at, s.actor_kind, s.actor_id, s.actor_name;

-- switchMailsSQL (core/coupon/mailing_sql.go), for switchMails: switchMails changes the status of a send that has status
-- from; others stay as they are.
-- $1=to $2=tenant_id $3=send $4=from
prepare switchMailsSQL as
  update loyalty.coupon_send s
  set status = $1,
    held_at = null
  where s.tenant_id = $2
    and s.id = $3
    and s.status = $4
  returning s.id, s.coupon_id, (select c.name from loyalty.coupon c where c.tenant_id = $2 and c.id = s.coupon_id) as coupon_name,
    s.segment, s.audience, s.status, s.subject, s.message, s.matched, s.sent, s.skipped_inactive, s.skipped_limit,
    s.no_email, s.unsubscribed, s.mails, s.delivered, s.failed, s.send_at, s.held_at, s.created_at, s.begun_at, s.evaluated_at, s.ended_at, s.failure;

-- retryMailsSQL (core/coupon/mailing_sql.go)
-- $1=now $2=tenant_id $3=send $4=voucher
prepare retryMailsSQL as
  update loyalty.voucher_mail m
  set status = 'queued',
    attempts = 0,
    due_at = $1,
    permanent = false,
    done_at = null
  from loyalty.voucher v, loyalty.customer k
  where m.tenant_id = $2
    and m.send_id = $3
    and m.status = 'failed'
    and v.tenant_id = $2
    and v.id = m.voucher_id
    and k.tenant_id = $2
    and k.id = v.customer_id
    and k.email is not null
    and ($4::uuid is null and not m.permanent
      or m.voucher_id = $4 and (not m.permanent or k.email is distinct from m.recipient));

-- retriedSQL (core/coupon/mailing_sql.go)
-- $1=count $2=tenant_id $3=send
prepare retriedSQL as
  update loyalty.coupon_send
  set failed = failed - $1,
    status = 'mailing',
    ended_at = null
  where tenant_id = $2
    and id = $3;

-- countRetryableSQL (core/coupon/mailing_sql.go), for CountRetryable: CountRetryable returns the number of e-mails that
-- RetryMails would queue.
-- $1=tenant_id $2=send
prepare countRetryableSQL as
  select count(*)
  from loyalty.voucher_mail m
  join loyalty.voucher v on v.tenant_id = $1 and v.id = m.voucher_id
  join loyalty.customer k on k.tenant_id = $1 and k.id = v.customer_id
  where m.tenant_id = $1
    and m.send_id = $2
    and m.error is not null
    and m.status = 'failed'
    and not m.permanent
    and k.email is not null;

-- markDeliveredSQL (core/coupon/mailing_sql.go), for MarkDelivered: MarkDelivered marks the queued e-mails of a send as
-- delivered without sending them, for the history that the demo and the sandbox create.
-- $1=now $2=tenant_id $3=send
prepare markDeliveredSQL as
  with noted as (
    update loyalty.voucher_mail
    set status = 'delivered',
      done_at = $1
    where tenant_id = $2
      and send_id = $3
      and status = 'queued'
    returning voucher_id
  )
  update loyalty.coupon_send
  set delivered = delivered + (select count(*) from noted),
    status = 'done',
    ended_at = coalesce(ended_at, $1)
  where tenant_id = $2
    and id = $3
    and status in ('mailing', 'done');

-- problemList (core/coupon/mailing_sql.go), for ListMailProblems: ListMailProblems returns a page of the e-mails of a
-- send that failed or will be tried again.
-- $1=tenant_id $2=send $3=limit
prepare problemList as
  select m.voucher_id, k.id as customer_id, k.first_name || ' ' || k.last_name as customer_name, k.email, m.recipient, m.error as reply,
    m.status = 'failed' as failed, m.permanent, m.due_at, m.attempts, v.created_at
  from loyalty.voucher_mail m
  join loyalty.voucher v on v.tenant_id = $1 and v.id = m.voucher_id
  join loyalty.customer k on k.tenant_id = $1 and k.id = v.customer_id
  where m.tenant_id = $1
    and m.send_id = $2
    and m.error is not null
  order by m.voucher_id desc
  limit $3;

-- moveVouchersSQL (core/coupon/merge.go): A link that was mailed stays valid: what its version and the kept customer's
-- differ by is added.
-- $1=tenant_id $2=merged $3=kept
prepare moveVouchersSQL as
  update loyalty.voucher v
  set customer_id = k.id,
    link_shift = v.link_shift + m.link_version - k.link_version
  from loyalty.customer m, loyalty.customer k
  where v.tenant_id = $1
    and v.customer_id = $2
    and m.tenant_id = $1
    and m.id = $2
    and k.tenant_id = $1
    and k.id = $3;

-- keepMergesFromSendSQL (core/coupon/merge.go): Keeps customers from being merged between the choice of a send's members
-- and the creation of their vouchers.
-- $1=tenant_id
prepare keepMergesFromSendSQL as
  select pg_advisory_xact_lock_shared(hashtextextended('merge beside a send ' || $1::bigint::text, 10));

-- keepSendsFromMergeSQL (core/coupon/merge.go), for KeepSendsOut: KeepSendsOut keeps sends from creating vouchers until
-- the transaction ends, or fails with ErrSending while one does: it may take minutes, and tills must not wait for it.
-- $1=tenant_id
prepare keepSendsFromMergeSQL as
  select pg_try_advisory_xact_lock(hashtextextended('merge beside a send ' || $1::bigint::text, 10));

-- previewTimeSQL (core/coupon/preview.go): A preview may fail, but must not keep the database busy.
prepare previewTimeSQL as
  select set_config('statement_timeout', '5s', true);

-- restorableSQL (core/coupon/restore.go): An item of a checkout has the checkout's ID, which is as old as its vouchers'
-- redemptions.
-- $1=now $2=tenant_id $3=since_id $4=id
prepare restorableSQL as
  select v.id, v.coupon_id, v.customer_id,
    case when v.status = 'pending' and v.expires_at <= $1 then 'expired' else v.status end as status,
    c.benefit_type, c.benefit_value, c.benefit_reward_id, v.redemption_id, v.transaction_id, v.expires_at, v.redeemed_at, v.restored_at, v.created_at,
    exists (
      select
      from loyalty.checkout_item i
      where i.tenant_id = $2
        and i.checkout_id >= $3
        and i.voucher_id = v.id
        and i.outcome is null
    ) as at_till
  from loyalty.voucher v
  join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
  join loyalty.customer k on k.tenant_id = v.tenant_id and k.id = v.customer_id
  where v.tenant_id = $2
    and v.id = $4
    and k.merged_into is null
  for key share of k;

-- insertSendSQL (core/coupon/send_sql.go): An audience has those who are in it when the send is stored, however many:
-- they are named by the database.
-- $1=tenant_id $2=id $3=segment $4=form_key $5=send_at $6=subject $7=message $8=actor_kind $9=actor_id $10=actor_name
-- $11=now $12=customers $13=coupon
prepare insertSendSQL as
  with s as (
    insert into loyalty.coupon_send (tenant_id, id, coupon_id, segment, form_key, send_at, subject, message,
      actor_kind, actor_id, actor_name, created_at, customer_ids, audience)
    select $1, $2, k.id, $3, $4, $5, $6, $7,
      $8, $9, $10, $11, $12, null
    from loyalty.coupon k
    where k.tenant_id = $1
      and k.id = $13
    on conflict (tenant_id, form_key) do nothing
    returning *
  )
  select s.id, s.coupon_id, (select c.name from loyalty.coupon c where c.tenant_id = $1 and c.id = s.coupon_id) as coupon_name,
    s.segment, s.audience, s.status, s.subject, s.message, s.matched, s.sent, s.skipped_inactive, s.skipped_limit,
    s.no_email, s.unsubscribed, s.mails, s.delivered, s.failed, s.send_at, s.held_at, s.created_at, s.begun_at, s.evaluated_at, s.ended_at, s.failure
  from s;

-- insertLapsedSendSQL (core/coupon/send_sql.go): An audience has those who are in it when the send is stored, however
-- many: they are named by the database.
-- $1=tenant_id $2=id $3=segment $4=form_key $5=send_at $6=subject $7=message $8=actor_kind $9=actor_id $10=actor_name
-- $11=now $12=lapsed_id $13=audience $14=coupon
prepare insertLapsedSendSQL as
  with s as (
    insert into loyalty.coupon_send (tenant_id, id, coupon_id, segment, form_key, send_at, subject, message,
      actor_kind, actor_id, actor_name, created_at, customer_ids, audience)
    select $1, $2, k.id, $3, $4, $5, $6, $7,
      $8, $9, $10, $11, array(
      select c.id
      from loyalty.customer c
      where c.tenant_id = $1
        and c.merged_into is null
        and (
        select t.id
        from loyalty.transaction t
        where t.tenant_id = $1
          and t.customer_id = c.id
          and t.status = 'completed'
        order by t.id desc
        limit 1
      ) < $12), $13
    from loyalty.coupon k
    where k.tenant_id = $1
      and k.id = $14
    on conflict (tenant_id, form_key) do nothing
    returning *
  )
  select s.id, s.coupon_id, (select c.name from loyalty.coupon c where c.tenant_id = $1 and c.id = s.coupon_id) as coupon_name,
    s.segment, s.audience, s.status, s.subject, s.message, s.matched, s.sent, s.skipped_inactive, s.skipped_limit,
    s.no_email, s.unsubscribed, s.mails, s.delivered, s.failed, s.send_at, s.held_at, s.created_at, s.begun_at, s.evaluated_at, s.ended_at, s.failure
  from s;

-- insertGroupSendSQL (core/coupon/send_sql.go): An audience has those who are in it when the send is stored, however
-- many: they are named by the database.
-- $1=tenant_id $2=id $3=segment $4=form_key $5=send_at $6=subject $7=message $8=actor_kind $9=actor_id $10=actor_name
-- $11=now $12=group $13=audience $14=coupon
prepare insertGroupSendSQL as
  with s as (
    insert into loyalty.coupon_send (tenant_id, id, coupon_id, segment, form_key, send_at, subject, message,
      actor_kind, actor_id, actor_name, created_at, customer_ids, audience)
    select $1, $2, k.id, $3, $4, $5, $6, $7,
      $8, $9, $10, $11, array(
      select c.id
      from loyalty.customer c
      where c.tenant_id = $1
        and c.merged_into is null
        and c.id in (
        select y.customer_id
        from loyalty.year_counted k
        join loyalty.customer_year y on y.tenant_id = $1
        where k.tenant_id = $1
          and case
        when y.last_day > k.as_of - 60 then case
        when y.visits >= 6 and y.spend >= k.high then 'best'
        when y.visits >= 6 then 'regulars'
        when y.visits >= 2 then 'promising'
        else 'new'
        end
        when y.visits >= 6 or y.spend >= k.high then 'at_risk'
        else 'quiet'
        end = $12::text
      )), $13
    from loyalty.coupon k
    where k.tenant_id = $1
      and k.id = $14
    on conflict (tenant_id, form_key) do nothing
    returning *
  )
  select s.id, s.coupon_id, (select c.name from loyalty.coupon c where c.tenant_id = $1 and c.id = s.coupon_id) as coupon_name,
    s.segment, s.audience, s.status, s.subject, s.message, s.matched, s.sent, s.skipped_inactive, s.skipped_limit,
    s.no_email, s.unsubscribed, s.mails, s.delivered, s.failed, s.send_at, s.held_at, s.created_at, s.begun_at, s.evaluated_at, s.ended_at, s.failure
  from s;

-- findSendSQL (core/coupon/send_sql.go), for switchMails: switchMails changes the status of a send that has status from;
-- others stay as they are.
-- $1=tenant_id $2=send
prepare findSendSQL as
  select s.id, s.coupon_id, (select c.name from loyalty.coupon c where c.tenant_id = $1 and c.id = s.coupon_id) as coupon_name,
    s.segment, s.audience, s.status, s.subject, s.message, s.matched, s.sent, s.skipped_inactive, s.skipped_limit,
    s.no_email, s.unsubscribed, s.mails, s.delivered, s.failed, s.send_at, s.held_at, s.created_at, s.begun_at, s.evaluated_at, s.ended_at, s.failure
  from loyalty.coupon_send s
  where s.tenant_id = $1
    and s.id = $2;

-- findSendByFormSQL (core/coupon/send_sql.go), for Send: Send stores a send and queues its job, which evaluates the
-- segment once, at the send's time.
-- $1=tenant_id $2=form_key
prepare findSendByFormSQL as
  select s.id, s.coupon_id, (select c.name from loyalty.coupon c where c.tenant_id = $1 and c.id = s.coupon_id) as coupon_name,
    s.segment, s.audience, s.status, s.subject, s.message, s.matched, s.sent, s.skipped_inactive, s.skipped_limit,
    s.no_email, s.unsubscribed, s.mails, s.delivered, s.failed, s.send_at, s.held_at, s.created_at, s.begun_at, s.evaluated_at, s.ended_at, s.failure
  from loyalty.coupon_send s
  where s.tenant_id = $1
    and s.form_key = $2;

-- cancelSendSQL (core/coupon/send_sql.go), for CancelSend: CancelSend cancels a send that has not started: ErrSendBegun.
-- $1=now $2=tenant_id $3=send
prepare cancelSendSQL as
  update loyalty.coupon_send s
  set status = 'cancelled',
    held_at = null,
    ended_at = $1
  where s.tenant_id = $2
    and s.id = $3
    and s.status = 'waiting'
    and s.begun_at is null
  returning s.id, s.coupon_id, (select c.name from loyalty.coupon c where c.tenant_id = $2 and c.id = s.coupon_id) as coupon_name,
    s.segment, s.audience, s.status, s.subject, s.message, s.matched, s.sent, s.skipped_inactive, s.skipped_limit,
    s.no_email, s.unsubscribed, s.mails, s.delivered, s.failed, s.send_at, s.held_at, s.created_at, s.begun_at, s.evaluated_at, s.ended_at, s.failure;

-- beginSendSQL (core/coupon/send_sql.go)
-- $1=now $2=tenant_id $3=send
prepare beginSendSQL as
  update loyalty.coupon_send
  set begun_at = coalesce(begun_at, $1)
  where tenant_id = $2
    and id = $3
    and status = 'waiting'
    and held_at is null;

-- holdSendSQL (core/coupon/send_sql.go): One that had begun can be cancelled again: its job has ended without vouchers.
-- $1=now $2=tenant_id $3=send
prepare holdSendSQL as
  update loyalty.coupon_send s
  set held_at = $1,
    begun_at = case when s.status = 'mailing' then s.begun_at end
  where s.tenant_id = $2
    and s.id = $3
    and s.status in ('waiting', 'mailing')
    and s.held_at is null
  returning s.id, s.coupon_id, (select c.name from loyalty.coupon c where c.tenant_id = $2 and c.id = s.coupon_id) as coupon_name,
    s.segment, s.audience, s.status, s.subject, s.message, s.matched, s.sent, s.skipped_inactive, s.skipped_limit,
    s.no_email, s.unsubscribed, s.mails, s.delivered, s.failed, s.send_at, s.held_at, s.created_at, s.begun_at, s.evaluated_at, s.ended_at, s.failure;

-- continueSendSQL (core/coupon/send_sql.go): The segment and the vouchers' expiry are those of the time at which it goes
-- on.
-- $1=now $2=tenant_id $3=send
prepare continueSendSQL as
  update loyalty.coupon_send s
  set held_at = null,
    send_at = case when s.status = 'waiting' then greatest(s.send_at, $1) else s.send_at end
  where s.tenant_id = $2
    and s.id = $3
    and s.status in ('waiting', 'mailing')
    and s.held_at is not null
  returning s.id, s.coupon_id, (select c.name from loyalty.coupon c where c.tenant_id = $2 and c.id = s.coupon_id) as coupon_name,
    s.segment, s.audience, s.status, s.subject, s.message, s.matched, s.sent, s.skipped_inactive, s.skipped_limit,
    s.no_email, s.unsubscribed, s.mails, s.delivered, s.failed, s.send_at, s.held_at, s.created_at, s.begun_at, s.evaluated_at, s.ended_at, s.failure;

-- failSendSQL (core/coupon/send_sql.go), for failSend: failSend ends a send whose coupon can't be sent, and mails the
-- person who confirmed it.
-- $1=failure $2=now $3=tenant_id $4=send
prepare failSendSQL as
  update loyalty.coupon_send s
  set status = 'failed',
    failure = $1,
    ended_at = $2
  where s.tenant_id = $3
    and s.id = $4
  returning s.id, s.coupon_id, (select c.name from loyalty.coupon c where c.tenant_id = $3 and c.id = s.coupon_id) as coupon_name,
    s.segment, s.audience, s.status, s.subject, s.message, s.matched, s.sent, s.skipped_inactive, s.skipped_limit,
    s.no_email, s.unsubscribed, s.mails, s.delivered, s.failed, s.send_at, s.held_at, s.created_at, s.begun_at, s.evaluated_at, s.ended_at, s.failure, s.redeemed, s.expires_at, s.actor_kind, s.actor_id, s.actor_name;

-- findDetailSQL (core/coupon/send_sql.go), for FindSend: FindSend returns a send, or core.ErrNotFound.
-- $1=tenant_id $2=send
prepare findDetailSQL as
  select s.id, s.coupon_id, (select c.name from loyalty.coupon c where c.tenant_id = $1 and c.id = s.coupon_id) as coupon_name,
    s.segment, s.audience, s.status, s.subject, s.message, s.matched, s.sent, s.skipped_inactive, s.skipped_limit,
    s.no_email, s.unsubscribed, s.mails, s.delivered, s.failed, s.send_at, s.held_at, s.created_at, s.begun_at, s.evaluated_at, s.ended_at, s.failure, s.redeemed, s.expires_at, s.actor_kind, s.actor_id, s.actor_name
  from loyalty.coupon_send s
  where s.tenant_id = $1
    and s.id = $2;

-- sendList (core/coupon/send_sql.go), for ListSends: ListSends returns a page of a coupon's sends, newest first, or
-- core.ErrNotFound.
-- $1=tenant_id $2=coupon $3=limit
prepare sendList as
  select s.id, s.coupon_id, (select c.name from loyalty.coupon c where c.tenant_id = $1 and c.id = s.coupon_id) as coupon_name,
    s.segment, s.audience, s.status, s.subject, s.message, s.matched, s.sent, s.skipped_inactive, s.skipped_limit,
    s.no_email, s.unsubscribed, s.mails, s.delivered, s.failed, s.send_at, s.held_at, s.created_at, s.begun_at, s.evaluated_at, s.ended_at, s.failure, s.redeemed, s.expires_at, s.actor_kind, s.actor_id, s.actor_name
  from loyalty.coupon_send s
  where s.tenant_id = $1
    and s.coupon_id = $2
  order by s.id desc
  limit $3;

-- unknownCustomersSQL (core/coupon/send_sql.go), for members: members returns the customers of a manual segment, each
-- once; nil for other segments.
-- $1=ids $2=tenant_id
prepare unknownCustomersSQL as
  select given.id
  from unnest($1::uuid[]) given (id)
  left join loyalty.customer c on c.tenant_id = $2 and c.id = given.id and c.merged_into is null
  where c.id is null
  order by given.id;

-- lockSendsSQL (core/coupon/send_sql.go): An advisory lock, and not one of the coupon's row, which tills need to redeem.
-- $1=tenant_id $2=send
prepare lockSendsSQL as
  select pg_advisory_xact_lock(hashtextextended('send ' || coupon_id::text, 8))
  from loyalty.coupon_send
  where tenant_id = $1
    and id = $2;

-- evaluationSQL (core/coupon/send_sql.go): A separate statement after the lock: it sees what the previous holder
-- committed.
-- $1=tenant_id $2=send
prepare evaluationSQL as
  select c.id, c.name, c.description, c.benefit_type, c.benefit_value, c.benefit_reward_id, c.max_per_customer,
    c.max_redemptions, c.redemptions_count, c.starts_at, c.expires_at, c.voucher_valid_days, c.active, c.created_at,
    c.min_level_id, (select l.name from loyalty.level l where l.tenant_id = $1 and l.id = c.min_level_id) as level_name, s.segment, s.customer_ids, s.status, s.send_at, s.held_at
  from loyalty.coupon_send s
  join loyalty.coupon c on c.tenant_id = s.tenant_id and c.id = s.coupon_id
  where s.tenant_id = $1
    and s.id = $2;

-- previewAllSQL (core/coupon/send_sql.go): Counting a segment and creating its vouchers share the text that decides
-- which members get one.
-- $1=tenant_id $2=at $3=coupon $4=max_per_customer
prepare previewAllSQL as
  with member as (
    select c.id, c.status = 'active' as active, c.email is not null as has_email, c.unsubscribed_at is not null as unsubscribed
    from loyalty.customer c
    where c.tenant_id = $1
      and c.merged_into is null
      and c.status = 'active' and c.created_at <= $2
  ), holding as (
    select customer_id, count(*) as vouchers
    from loyalty.voucher
    where tenant_id = $1
      and coupon_id = $3
    group by customer_id
  ), judged as (
    select m.id, m.active, m.has_email, m.unsubscribed, coalesce(h.vouchers, 0) >= $4 as limit_reached
    from member m
    left join holding h on h.customer_id = m.id
  )
  select count(*) as matched,
    count(*) filter (where active and not limit_reached) as sent,
    count(*) filter (where not active) as skipped_inactive,
    count(*) filter (where active and limit_reached) as skipped_limit,
    count(*) filter (where active and not limit_reached and not has_email) as no_email,
    count(*) filter (where active and not limit_reached and has_email and unsubscribed) as unsubscribed
  from judged;

-- previewLongStandingSQL (core/coupon/send_sql.go): Counting a segment and creating its vouchers share the text that
-- decides which members get one.
-- $1=tenant_id $2=before $3=coupon $4=max_per_customer
prepare previewLongStandingSQL as
  with member as (
    select c.id, c.status = 'active' as active, c.email is not null as has_email, c.unsubscribed_at is not null as unsubscribed
    from loyalty.customer c
    where c.tenant_id = $1
      and c.merged_into is null
      and c.created_at < $2
  ), holding as (
    select customer_id, count(*) as vouchers
    from loyalty.voucher
    where tenant_id = $1
      and coupon_id = $3
    group by customer_id
  ), judged as (
    select m.id, m.active, m.has_email, m.unsubscribed, coalesce(h.vouchers, 0) >= $4 as limit_reached
    from member m
    left join holding h on h.customer_id = m.id
  )
  select count(*) as matched,
    count(*) filter (where active and not limit_reached) as sent,
    count(*) filter (where not active) as skipped_inactive,
    count(*) filter (where active and limit_reached) as skipped_limit,
    count(*) filter (where active and not limit_reached and not has_email) as no_email,
    count(*) filter (where active and not limit_reached and has_email and unsubscribed) as unsubscribed
  from judged;

-- previewRecentPurchaseSQL (core/coupon/send_sql.go): Counting a segment and creating its vouchers share the text that
-- decides which members get one.
-- $1=tenant_id $2=since_id $3=since $4=at $5=coupon $6=max_per_customer
prepare previewRecentPurchaseSQL as
  with member as (
    select c.id, c.status = 'active' as active, c.email is not null as has_email, c.unsubscribed_at is not null as unsubscribed
    from loyalty.customer c
    where c.tenant_id = $1
      and c.merged_into is null
      and c.id in (
        select t.customer_id
        from loyalty.transaction t
        where t.tenant_id = $1
          and t.id >= $2
          and t.created_at between $3 and $4
          and t.status = 'completed'
      )
  ), holding as (
    select customer_id, count(*) as vouchers
    from loyalty.voucher
    where tenant_id = $1
      and coupon_id = $5
    group by customer_id
  ), judged as (
    select m.id, m.active, m.has_email, m.unsubscribed, coalesce(h.vouchers, 0) >= $6 as limit_reached
    from member m
    left join holding h on h.customer_id = m.id
  )
  select count(*) as matched,
    count(*) filter (where active and not limit_reached) as sent,
    count(*) filter (where not active) as skipped_inactive,
    count(*) filter (where active and limit_reached) as skipped_limit,
    count(*) filter (where active and not limit_reached and not has_email) as no_email,
    count(*) filter (where active and not limit_reached and has_email and unsubscribed) as unsubscribed
  from judged;

-- previewManualSQL (core/coupon/send_sql.go): Counting a segment and creating its vouchers share the text that decides
-- which members get one.
-- $1=tenant_id $2=customers $3=coupon $4=max_per_customer
prepare previewManualSQL as
  with member as (
    select c.id, c.status = 'active' as active, c.email is not null as has_email, c.unsubscribed_at is not null as unsubscribed
    from loyalty.customer c
    where c.tenant_id = $1
      and c.merged_into is null
      and c.id = any (array(
        select coalesce(g.merged_into, g.id)
        from loyalty.customer g
        where g.tenant_id = $1
          and g.id = any ($2::uuid[])
      ))
  ), holding as (
    select customer_id, count(*) as vouchers
    from loyalty.voucher
    where tenant_id = $1
      and coupon_id = $3
    group by customer_id
  ), judged as (
    select m.id, m.active, m.has_email, m.unsubscribed, coalesce(h.vouchers, 0) >= $4 as limit_reached
    from member m
    left join holding h on h.customer_id = m.id
  )
  select count(*) as matched,
    count(*) filter (where active and not limit_reached) as sent,
    count(*) filter (where not active) as skipped_inactive,
    count(*) filter (where active and limit_reached) as skipped_limit,
    count(*) filter (where active and not limit_reached and not has_email) as no_email,
    count(*) filter (where active and not limit_reached and has_email and unsubscribed) as unsubscribed
  from judged;

-- previewLapsedSQL (core/coupon/send_sql.go): Counting a segment and creating its vouchers share the text that decides
-- which members get one.
-- $1=tenant_id $2=lapsed_id $3=coupon $4=max_per_customer
prepare previewLapsedSQL as
  with member as (
    select c.id, c.status = 'active' as active, c.email is not null as has_email, c.unsubscribed_at is not null as unsubscribed
    from loyalty.customer c
    where c.tenant_id = $1
      and c.merged_into is null
      and (
        select t.id
        from loyalty.transaction t
        where t.tenant_id = $1
          and t.customer_id = c.id
          and t.status = 'completed'
        order by t.id desc
        limit 1
      ) < $2
  ), holding as (
    select customer_id, count(*) as vouchers
    from loyalty.voucher
    where tenant_id = $1
      and coupon_id = $3
    group by customer_id
  ), judged as (
    select m.id, m.active, m.has_email, m.unsubscribed, coalesce(h.vouchers, 0) >= $4 as limit_reached
    from member m
    left join holding h on h.customer_id = m.id
  )
  select count(*) as matched,
    count(*) filter (where active and not limit_reached) as sent,
    count(*) filter (where not active) as skipped_inactive,
    count(*) filter (where active and limit_reached) as skipped_limit,
    count(*) filter (where active and not limit_reached and not has_email) as no_email,
    count(*) filter (where active and not limit_reached and has_email and unsubscribed) as unsubscribed
  from judged;

-- previewGroupSQL (core/coupon/send_sql.go): Counting a segment and creating its vouchers share the text that decides
-- which members get one.
-- $1=tenant_id $2=group $3=coupon $4=max_per_customer
prepare previewGroupSQL as
  with member as (
    select c.id, c.status = 'active' as active, c.email is not null as has_email, c.unsubscribed_at is not null as unsubscribed
    from loyalty.customer c
    where c.tenant_id = $1
      and c.merged_into is null
      and c.id in (
        select y.customer_id
        from loyalty.year_counted k
        join loyalty.customer_year y on y.tenant_id = $1
        where k.tenant_id = $1
          and case
      when y.last_day > k.as_of - 60 then case
        when y.visits >= 6 and y.spend >= k.high then 'best'
        when y.visits >= 6 then 'regulars'
        when y.visits >= 2 then 'promising'
        else 'new'
      end
      when y.visits >= 6 or y.spend >= k.high then 'at_risk'
      else 'quiet'
      end = $2::text
      )
  ), holding as (
    select customer_id, count(*) as vouchers
    from loyalty.voucher
    where tenant_id = $1
      and coupon_id = $3
    group by customer_id
  ), judged as (
    select m.id, m.active, m.has_email, m.unsubscribed, coalesce(h.vouchers, 0) >= $4 as limit_reached
    from member m
    left join holding h on h.customer_id = m.id
  )
  select count(*) as matched,
    count(*) filter (where active and not limit_reached) as sent,
    count(*) filter (where not active) as skipped_inactive,
    count(*) filter (where active and limit_reached) as skipped_limit,
    count(*) filter (where active and not limit_reached and not has_email) as no_email,
    count(*) filter (where active and not limit_reached and has_email and unsubscribed) as unsubscribed
  from judged;

-- levelOfAllSQL (core/coupon/send_sql.go): Counting a segment and creating its vouchers share the text that decides
-- which members get one.
-- $1=tenant_id $2=at $3=coupon $4=max_per_customer $5=today $6=level
prepare levelOfAllSQL as
  with member as (
    select c.id, c.status = 'active' as active, c.email is not null as has_email, c.unsubscribed_at is not null as unsubscribed
    from loyalty.customer c
    where c.tenant_id = $1
      and c.merged_into is null
      and c.status = 'active' and c.created_at <= $2
  ), holding as (
    select customer_id, count(*) as vouchers
    from loyalty.voucher
    where tenant_id = $1
      and coupon_id = $3
    group by customer_id
  ), judged as (
    select m.id, m.active, m.has_email, m.unsubscribed, coalesce(h.vouchers, 0) >= $4 as limit_reached
    from member m
    left join holding h on h.customer_id = m.id
  )
  select case when exists (
      select
      from loyalty.level_programme
      where tenant_id = $1
        and active
    ) then count(*) end as customers
  from judged j
  join loyalty.account a on a.tenant_id = $1 and a.customer_id = j.id
  where j.active
    and not j.limit_reached
    and coalesce(a.level_until >= $5, true)
    and a.level_id in (
      select higher.id
      from loyalty.level least
      join loyalty.level higher on higher.tenant_id = $1 and higher.rank >= least.rank
      where least.tenant_id = $1
        and least.id = $6
    );

-- levelOfLongStandingSQL (core/coupon/send_sql.go): Counting a segment and creating its vouchers share the text that
-- decides which members get one.
-- $1=tenant_id $2=before $3=coupon $4=max_per_customer $5=today $6=level
prepare levelOfLongStandingSQL as
  with member as (
    select c.id, c.status = 'active' as active, c.email is not null as has_email, c.unsubscribed_at is not null as unsubscribed
    from loyalty.customer c
    where c.tenant_id = $1
      and c.merged_into is null
      and c.created_at < $2
  ), holding as (
    select customer_id, count(*) as vouchers
    from loyalty.voucher
    where tenant_id = $1
      and coupon_id = $3
    group by customer_id
  ), judged as (
    select m.id, m.active, m.has_email, m.unsubscribed, coalesce(h.vouchers, 0) >= $4 as limit_reached
    from member m
    left join holding h on h.customer_id = m.id
  )
  select case when exists (
      select
      from loyalty.level_programme
      where tenant_id = $1
        and active
    ) then count(*) end as customers
  from judged j
  join loyalty.account a on a.tenant_id = $1 and a.customer_id = j.id
  where j.active
    and not j.limit_reached
    and coalesce(a.level_until >= $5, true)
    and a.level_id in (
      select higher.id
      from loyalty.level least
      join loyalty.level higher on higher.tenant_id = $1 and higher.rank >= least.rank
      where least.tenant_id = $1
        and least.id = $6
    );

-- levelOfRecentPurchaseSQL (core/coupon/send_sql.go): Counting a segment and creating its vouchers share the text that
-- decides which members get one.
-- $1=tenant_id $2=since_id $3=since $4=at $5=coupon $6=max_per_customer $7=today $8=level
prepare levelOfRecentPurchaseSQL as
  with member as (
    select c.id, c.status = 'active' as active, c.email is not null as has_email, c.unsubscribed_at is not null as unsubscribed
    from loyalty.customer c
    where c.tenant_id = $1
      and c.merged_into is null
      and c.id in (
        select t.customer_id
        from loyalty.transaction t
        where t.tenant_id = $1
          and t.id >= $2
          and t.created_at between $3 and $4
          and t.status = 'completed'
      )
  ), holding as (
    select customer_id, count(*) as vouchers
    from loyalty.voucher
    where tenant_id = $1
      and coupon_id = $5
    group by customer_id
  ), judged as (
    select m.id, m.active, m.has_email, m.unsubscribed, coalesce(h.vouchers, 0) >= $6 as limit_reached
    from member m
    left join holding h on h.customer_id = m.id
  )
  select case when exists (
      select
      from loyalty.level_programme
      where tenant_id = $1
        and active
    ) then count(*) end as customers
  from judged j
  join loyalty.account a on a.tenant_id = $1 and a.customer_id = j.id
  where j.active
    and not j.limit_reached
    and coalesce(a.level_until >= $7, true)
    and a.level_id in (
      select higher.id
      from loyalty.level least
      join loyalty.level higher on higher.tenant_id = $1 and higher.rank >= least.rank
      where least.tenant_id = $1
        and least.id = $8
    );

-- levelOfManualSQL (core/coupon/send_sql.go): Counting a segment and creating its vouchers share the text that decides
-- which members get one.
-- $1=tenant_id $2=customers $3=coupon $4=max_per_customer $5=today $6=level
prepare levelOfManualSQL as
  with member as (
    select c.id, c.status = 'active' as active, c.email is not null as has_email, c.unsubscribed_at is not null as unsubscribed
    from loyalty.customer c
    where c.tenant_id = $1
      and c.merged_into is null
      and c.id = any (array(
        select coalesce(g.merged_into, g.id)
        from loyalty.customer g
        where g.tenant_id = $1
          and g.id = any ($2::uuid[])
      ))
  ), holding as (
    select customer_id, count(*) as vouchers
    from loyalty.voucher
    where tenant_id = $1
      and coupon_id = $3
    group by customer_id
  ), judged as (
    select m.id, m.active, m.has_email, m.unsubscribed, coalesce(h.vouchers, 0) >= $4 as limit_reached
    from member m
    left join holding h on h.customer_id = m.id
  )
  select case when exists (
      select
      from loyalty.level_programme
      where tenant_id = $1
        and active
    ) then count(*) end as customers
  from judged j
  join loyalty.account a on a.tenant_id = $1 and a.customer_id = j.id
  where j.active
    and not j.limit_reached
    and coalesce(a.level_until >= $5, true)
    and a.level_id in (
      select higher.id
      from loyalty.level least
      join loyalty.level higher on higher.tenant_id = $1 and higher.rank >= least.rank
      where least.tenant_id = $1
        and least.id = $6
    );

-- levelOfLapsedSQL (core/coupon/send_sql.go): Counting a segment and creating its vouchers share the text that decides
-- which members get one.
-- $1=tenant_id $2=lapsed_id $3=coupon $4=max_per_customer $5=today $6=level
prepare levelOfLapsedSQL as
  with member as (
    select c.id, c.status = 'active' as active, c.email is not null as has_email, c.unsubscribed_at is not null as unsubscribed
    from loyalty.customer c
    where c.tenant_id = $1
      and c.merged_into is null
      and (
        select t.id
        from loyalty.transaction t
        where t.tenant_id = $1
          and t.customer_id = c.id
          and t.status = 'completed'
        order by t.id desc
        limit 1
      ) < $2
  ), holding as (
    select customer_id, count(*) as vouchers
    from loyalty.voucher
    where tenant_id = $1
      and coupon_id = $3
    group by customer_id
  ), judged as (
    select m.id, m.active, m.has_email, m.unsubscribed, coalesce(h.vouchers, 0) >= $4 as limit_reached
    from member m
    left join holding h on h.customer_id = m.id
  )
  select case when exists (
      select
      from loyalty.level_programme
      where tenant_id = $1
        and active
    ) then count(*) end as customers
  from judged j
  join loyalty.account a on a.tenant_id = $1 and a.customer_id = j.id
  where j.active
    and not j.limit_reached
    and coalesce(a.level_until >= $5, true)
    and a.level_id in (
      select higher.id
      from loyalty.level least
      join loyalty.level higher on higher.tenant_id = $1 and higher.rank >= least.rank
      where least.tenant_id = $1
        and least.id = $6
    );

-- levelOfGroupSQL (core/coupon/send_sql.go): Counting a segment and creating its vouchers share the text that decides
-- which members get one.
-- $1=tenant_id $2=group $3=coupon $4=max_per_customer $5=today $6=level
prepare levelOfGroupSQL as
  with member as (
    select c.id, c.status = 'active' as active, c.email is not null as has_email, c.unsubscribed_at is not null as unsubscribed
    from loyalty.customer c
    where c.tenant_id = $1
      and c.merged_into is null
      and c.id in (
        select y.customer_id
        from loyalty.year_counted k
        join loyalty.customer_year y on y.tenant_id = $1
        where k.tenant_id = $1
          and case
      when y.last_day > k.as_of - 60 then case
        when y.visits >= 6 and y.spend >= k.high then 'best'
        when y.visits >= 6 then 'regulars'
        when y.visits >= 2 then 'promising'
        else 'new'
      end
      when y.visits >= 6 or y.spend >= k.high then 'at_risk'
      else 'quiet'
      end = $2::text
      )
  ), holding as (
    select customer_id, count(*) as vouchers
    from loyalty.voucher
    where tenant_id = $1
      and coupon_id = $3
    group by customer_id
  ), judged as (
    select m.id, m.active, m.has_email, m.unsubscribed, coalesce(h.vouchers, 0) >= $4 as limit_reached
    from member m
    left join holding h on h.customer_id = m.id
  )
  select case when exists (
      select
      from loyalty.level_programme
      where tenant_id = $1
        and active
    ) then count(*) end as customers
  from judged j
  join loyalty.account a on a.tenant_id = $1 and a.customer_id = j.id
  where j.active
    and not j.limit_reached
    and coalesce(a.level_until >= $5, true)
    and a.level_id in (
      select higher.id
      from loyalty.level least
      join loyalty.level higher on higher.tenant_id = $1 and higher.rank >= least.rank
      where least.tenant_id = $1
        and least.id = $6
    );

-- sendToAllSQL (core/coupon/send_sql.go): Counting a segment and creating its vouchers share the text that decides which
-- members get one.
-- $1=tenant_id $2=at $3=coupon $4=max_per_customer $5=now $6=send $7=expires_at
prepare sendToAllSQL as
  with member as (
    select c.id, c.status = 'active' as active, c.email is not null as has_email, c.unsubscribed_at is not null as unsubscribed
    from loyalty.customer c
    where c.tenant_id = $1
      and c.merged_into is null
      and c.status = 'active' and c.created_at <= $2
  ), holding as (
    select customer_id, count(*) as vouchers
    from loyalty.voucher
    where tenant_id = $1
      and coupon_id = $3
    group by customer_id
  ), judged as (
    select m.id, m.active, m.has_email, m.unsubscribed, coalesce(h.vouchers, 0) >= $4 as limit_reached
    from member m
    left join holding h on h.customer_id = m.id
  ), recipient as materialized (
    select loyalty.new_ulid($5) as voucher_id, id as customer_id, has_email and not unsubscribed as mailed
    from judged
    where active and not limit_reached
  ), created as (
    insert into loyalty.voucher (tenant_id, id, coupon_id, send_id, customer_id, expires_at, created_at)
    select c.tenant_id, voucher_id, c.id, $6, customer_id, $7, $5
    from recipient
    join loyalty.coupon c on c.tenant_id = $1 and c.id = $3
    returning 1
  ), queued as (
    insert into loyalty.voucher_mail (tenant_id, voucher_id, send_id, due_at)
    select c.tenant_id, voucher_id, $6, $5
    from recipient
    join loyalty.coupon c on c.tenant_id = $1 and c.id = $3
    where mailed
    returning 1
  )
  select count(*) as matched,
    count(*) filter (where active and not limit_reached) as sent,
    count(*) filter (where not active) as skipped_inactive,
    count(*) filter (where active and limit_reached) as skipped_limit,
    count(*) filter (where active and not limit_reached and not has_email) as no_email,
    count(*) filter (where active and not limit_reached and has_email and unsubscribed) as unsubscribed
  from judged;

-- sendToLongStandingSQL (core/coupon/send_sql.go): Counting a segment and creating its vouchers share the text that
-- decides which members get one.
-- $1=tenant_id $2=before $3=coupon $4=max_per_customer $5=now $6=send $7=expires_at
prepare sendToLongStandingSQL as
  with member as (
    select c.id, c.status = 'active' as active, c.email is not null as has_email, c.unsubscribed_at is not null as unsubscribed
    from loyalty.customer c
    where c.tenant_id = $1
      and c.merged_into is null
      and c.created_at < $2
  ), holding as (
    select customer_id, count(*) as vouchers
    from loyalty.voucher
    where tenant_id = $1
      and coupon_id = $3
    group by customer_id
  ), judged as (
    select m.id, m.active, m.has_email, m.unsubscribed, coalesce(h.vouchers, 0) >= $4 as limit_reached
    from member m
    left join holding h on h.customer_id = m.id
  ), recipient as materialized (
    select loyalty.new_ulid($5) as voucher_id, id as customer_id, has_email and not unsubscribed as mailed
    from judged
    where active and not limit_reached
  ), created as (
    insert into loyalty.voucher (tenant_id, id, coupon_id, send_id, customer_id, expires_at, created_at)
    select c.tenant_id, voucher_id, c.id, $6, customer_id, $7, $5
    from recipient
    join loyalty.coupon c on c.tenant_id = $1 and c.id = $3
    returning 1
  ), queued as (
    insert into loyalty.voucher_mail (tenant_id, voucher_id, send_id, due_at)
    select c.tenant_id, voucher_id, $6, $5
    from recipient
    join loyalty.coupon c on c.tenant_id = $1 and c.id = $3
    where mailed
    returning 1
  )
  select count(*) as matched,
    count(*) filter (where active and not limit_reached) as sent,
    count(*) filter (where not active) as skipped_inactive,
    count(*) filter (where active and limit_reached) as skipped_limit,
    count(*) filter (where active and not limit_reached and not has_email) as no_email,
    count(*) filter (where active and not limit_reached and has_email and unsubscribed) as unsubscribed
  from judged;

-- sendToRecentPurchaseSQL (core/coupon/send_sql.go): Counting a segment and creating its vouchers share the text that
-- decides which members get one.
-- $1=tenant_id $2=since_id $3=since $4=at $5=coupon $6=max_per_customer $7=now $8=send $9=expires_at
prepare sendToRecentPurchaseSQL as
  with member as (
    select c.id, c.status = 'active' as active, c.email is not null as has_email, c.unsubscribed_at is not null as unsubscribed
    from loyalty.customer c
    where c.tenant_id = $1
      and c.merged_into is null
      and c.id in (
        select t.customer_id
        from loyalty.transaction t
        where t.tenant_id = $1
          and t.id >= $2
          and t.created_at between $3 and $4
          and t.status = 'completed'
      )
  ), holding as (
    select customer_id, count(*) as vouchers
    from loyalty.voucher
    where tenant_id = $1
      and coupon_id = $5
    group by customer_id
  ), judged as (
    select m.id, m.active, m.has_email, m.unsubscribed, coalesce(h.vouchers, 0) >= $6 as limit_reached
    from member m
    left join holding h on h.customer_id = m.id
  ), recipient as materialized (
    select loyalty.new_ulid($7) as voucher_id, id as customer_id, has_email and not unsubscribed as mailed
    from judged
    where active and not limit_reached
  ), created as (
    insert into loyalty.voucher (tenant_id, id, coupon_id, send_id, customer_id, expires_at, created_at)
    select c.tenant_id, voucher_id, c.id, $8, customer_id, $9, $7
    from recipient
    join loyalty.coupon c on c.tenant_id = $1 and c.id = $5
    returning 1
  ), queued as (
    insert into loyalty.voucher_mail (tenant_id, voucher_id, send_id, due_at)
    select c.tenant_id, voucher_id, $8, $7
    from recipient
    join loyalty.coupon c on c.tenant_id = $1 and c.id = $5
    where mailed
    returning 1
  )
  select count(*) as matched,
    count(*) filter (where active and not limit_reached) as sent,
    count(*) filter (where not active) as skipped_inactive,
    count(*) filter (where active and limit_reached) as skipped_limit,
    count(*) filter (where active and not limit_reached and not has_email) as no_email,
    count(*) filter (where active and not limit_reached and has_email and unsubscribed) as unsubscribed
  from judged;

-- sendToManualSQL (core/coupon/send_sql.go): Counting a segment and creating its vouchers share the text that decides
-- which members get one.
-- $1=tenant_id $2=customers $3=coupon $4=max_per_customer $5=now $6=send $7=expires_at
prepare sendToManualSQL as
  with member as (
    select c.id, c.status = 'active' as active, c.email is not null as has_email, c.unsubscribed_at is not null as unsubscribed
    from loyalty.customer c
    where c.tenant_id = $1
      and c.merged_into is null
      and c.id = any (array(
        select coalesce(g.merged_into, g.id)
        from loyalty.customer g
        where g.tenant_id = $1
          and g.id = any ($2::uuid[])
      ))
  ), holding as (
    select customer_id, count(*) as vouchers
    from loyalty.voucher
    where tenant_id = $1
      and coupon_id = $3
    group by customer_id
  ), judged as (
    select m.id, m.active, m.has_email, m.unsubscribed, coalesce(h.vouchers, 0) >= $4 as limit_reached
    from member m
    left join holding h on h.customer_id = m.id
  ), recipient as materialized (
    select loyalty.new_ulid($5) as voucher_id, id as customer_id, has_email and not unsubscribed as mailed
    from judged
    where active and not limit_reached
  ), created as (
    insert into loyalty.voucher (tenant_id, id, coupon_id, send_id, customer_id, expires_at, created_at)
    select c.tenant_id, voucher_id, c.id, $6, customer_id, $7, $5
    from recipient
    join loyalty.coupon c on c.tenant_id = $1 and c.id = $3
    returning 1
  ), queued as (
    insert into loyalty.voucher_mail (tenant_id, voucher_id, send_id, due_at)
    select c.tenant_id, voucher_id, $6, $5
    from recipient
    join loyalty.coupon c on c.tenant_id = $1 and c.id = $3
    where mailed
    returning 1
  )
  select count(*) as matched,
    count(*) filter (where active and not limit_reached) as sent,
    count(*) filter (where not active) as skipped_inactive,
    count(*) filter (where active and limit_reached) as skipped_limit,
    count(*) filter (where active and not limit_reached and not has_email) as no_email,
    count(*) filter (where active and not limit_reached and has_email and unsubscribed) as unsubscribed
  from judged;

-- audiencesSQL (core/coupon/send_sql.go): Counting a segment and creating its vouchers share the text that decides which
-- members get one.
-- $1=at $2=before $3=tenant_id $4=since_id $5=since
prepare audiencesSQL as
  select count(*) filter (where c.status = 'active' and c.created_at <= $1) as "all",
    count(*) filter (where c.created_at < $2) as long_standing,
    count(*) filter (where recent.customer_id is not null) as recent_purchase
  from loyalty.customer c
  left join (
    select distinct t.customer_id
    from loyalty.transaction t
    where t.tenant_id = $3
      and t.id >= $4
      and t.created_at between $5 and $1
      and t.status = 'completed'
  ) recent on recent.customer_id = c.id
  where c.tenant_id = $3
    and c.merged_into is null;

-- evaluatedSQL (core/coupon/send_sql.go), for Evaluate: Evaluate evaluates a send's segment once and creates its
-- vouchers and their e-mails, in one transaction.
-- $1=mails $2=matched $3=sent $4=inactive $5=limit $6=no_email $7=unsubscribed $8=expires_at $9=now $10=tenant_id
-- $11=send
prepare evaluatedSQL as
  update loyalty.coupon_send s
  set status = case when $1::bigint > 0 then 'mailing' else 'done' end,
    matched = $2,
    sent = $3,
    skipped_inactive = $4,
    skipped_limit = $5,
    no_email = $6,
    unsubscribed = $7,
    mails = $1,
    expires_at = $8,
    begun_at = coalesce(begun_at, $9),
    evaluated_at = $9,
    ended_at = case when $1::bigint > 0 then null else $9::timestamptz end
  where s.tenant_id = $10
    and s.id = $11
    and s.status = 'waiting'
  returning s.id, s.coupon_id, (select c.name from loyalty.coupon c where c.tenant_id = $10 and c.id = s.coupon_id) as coupon_name,
    s.segment, s.audience, s.status, s.subject, s.message, s.matched, s.sent, s.skipped_inactive, s.skipped_limit,
    s.no_email, s.unsubscribed, s.mails, s.delivered, s.failed, s.send_at, s.held_at, s.created_at, s.begun_at, s.evaluated_at, s.ended_at, s.failure;

-- insertSQL (core/coupon/sql.go), for Add: Add creates a coupon.
-- $1=tenant_id $2=id $3=name $4=description $5=benefit_type $6=benefit_value $7=benefit_reward $8=max_per_customer
-- $9=max_redemptions $10=starts_at $11=expires_at $12=voucher_valid_days $13=min_level $14=now
prepare insertSQL as
  with c as (
    insert into loyalty.coupon (tenant_id, id, name, description, benefit_type, benefit_value, benefit_reward_id,
      max_per_customer, max_redemptions, starts_at, expires_at, voucher_valid_days, min_level_id, created_at)
    values ($1, $2, $3, $4, $5, $6, $7,
      $8, $9, $10, $11, $12, $13, $14)
    returning *
  )
  select c.id, c.name, c.description, c.benefit_type, c.benefit_value, c.benefit_reward_id, c.max_per_customer,
    c.max_redemptions, c.redemptions_count, c.starts_at, c.expires_at, c.voucher_valid_days, c.active, c.created_at,
    c.min_level_id, (select l.name from loyalty.level l where l.tenant_id = $1 and l.id = c.min_level_id) as level_name
  from c;

-- rewardSQL (core/coupon/sql.go), for checkReward: checkReward checks that the reward of a benefit exists.
-- $1=tenant_id $2=reward
prepare rewardSQL as
  select true
  from loyalty.reward
  where tenant_id = $1
    and id = $2;

-- setActiveSQL (core/coupon/sql.go), for SetActive: SetActive activates or deactivates a coupon.
-- $1=active $2=tenant_id $3=id
prepare setActiveSQL as
  update loyalty.coupon c
  set active = $1
  where c.tenant_id = $2
    and c.id = $3
    and c.active <> $1
  returning c.id, c.name, c.description, c.benefit_type, c.benefit_value, c.benefit_reward_id, c.max_per_customer,
    c.max_redemptions, c.redemptions_count, c.starts_at, c.expires_at, c.voucher_valid_days, c.active, c.created_at,
    c.min_level_id, (select l.name from loyalty.level l where l.tenant_id = $2 and l.id = c.min_level_id) as level_name;

-- lockSQL (core/coupon/sql.go): Tills wait for an edit, so that it sees all redemptions; a send that is being stored
-- does not.
-- $1=tenant_id $2=id
prepare lockSQL as
  select c.id, c.name, c.description, c.benefit_type, c.benefit_value, c.benefit_reward_id, c.max_per_customer,
    c.max_redemptions, c.redemptions_count, c.starts_at, c.expires_at, c.voucher_valid_days, c.active, c.created_at,
    c.min_level_id, (select l.name from loyalty.level l where l.tenant_id = $1 and l.id = c.min_level_id) as level_name, exists (
      select
      from loyalty.coupon_send
      where tenant_id = $1
        and coupon_id = $2
    ) as sent
  from loyalty.coupon c
  where c.tenant_id = $1
    and c.id = $2
  for no key update;

-- keepSendsOutSQL (core/coupon/sql.go): A send's row refers to the coupon: this waits for sends that are being stored,
-- and makes later ones wait.
-- $1=tenant_id $2=id
prepare keepSendsOutSQL as
  select
  from loyalty.coupon
  where tenant_id = $1
    and id = $2
  for update;

-- updateSQL (core/coupon/sql.go), for update: update writes an edited coupon.
-- $1=name $2=description $3=benefit_type $4=benefit_value $5=benefit_reward $6=max_per_customer $7=max_redemptions
-- $8=starts_at $9=expires_at $10=voucher_valid_days $11=min_level $12=active $13=tenant_id $14=id
prepare updateSQL as
  update loyalty.coupon c
  set name = $1,
    description = $2,
    benefit_type = $3,
    benefit_value = $4,
    benefit_reward_id = $5,
    max_per_customer = $6,
    max_redemptions = $7,
    starts_at = $8,
    expires_at = $9,
    voucher_valid_days = $10,
    min_level_id = $11,
    active = $12
  where c.tenant_id = $13
    and c.id = $14
  returning c.id, c.name, c.description, c.benefit_type, c.benefit_value, c.benefit_reward_id, c.max_per_customer,
    c.max_redemptions, c.redemptions_count, c.starts_at, c.expires_at, c.voucher_valid_days, c.active, c.created_at,
    c.min_level_id, (select l.name from loyalty.level l where l.tenant_id = $13 and l.id = c.min_level_id) as level_name;

-- updateUnsentSQL (core/coupon/sql.go), for update: update writes an edited coupon.
-- $1=name $2=description $3=benefit_type $4=benefit_value $5=benefit_reward $6=max_per_customer $7=max_redemptions
-- $8=starts_at $9=expires_at $10=voucher_valid_days $11=min_level $12=active $13=tenant_id $14=id
prepare updateUnsentSQL as
  update loyalty.coupon c
  set name = $1,
    description = $2,
    benefit_type = $3,
    benefit_value = $4,
    benefit_reward_id = $5,
    max_per_customer = $6,
    max_redemptions = $7,
    starts_at = $8,
    expires_at = $9,
    voucher_valid_days = $10,
    min_level_id = $11,
    active = $12
  where c.tenant_id = $13
    and c.id = $14
    and not exists (
      select
      from loyalty.coupon_send
      where tenant_id = $13
        and coupon_id = $14
    )
  returning c.id, c.name, c.description, c.benefit_type, c.benefit_value, c.benefit_reward_id, c.max_per_customer,
    c.max_redemptions, c.redemptions_count, c.starts_at, c.expires_at, c.voucher_valid_days, c.active, c.created_at,
    c.min_level_id, (select l.name from loyalty.level l where l.tenant_id = $13 and l.id = c.min_level_id) as level_name;

-- findSQL (core/coupon/sql.go), for SetActive: SetActive activates or deactivates a coupon.
-- $1=tenant_id $2=id
prepare findSQL as
  select c.id, c.name, c.description, c.benefit_type, c.benefit_value, c.benefit_reward_id, c.max_per_customer,
    c.max_redemptions, c.redemptions_count, c.starts_at, c.expires_at, c.voucher_valid_days, c.active, c.created_at,
    c.min_level_id, (select l.name from loyalty.level l where l.tenant_id = $1 and l.id = c.min_level_id) as level_name
  from loyalty.coupon c
  where c.tenant_id = $1
    and c.id = $2;

-- couponList (core/coupon/sql.go), for List: List returns a page of the coupons, newest first.
-- $1=tenant_id $2=limit
prepare couponList as
  select c.id, c.name, c.description, c.benefit_type, c.benefit_value, c.benefit_reward_id, c.max_per_customer,
    c.max_redemptions, c.redemptions_count, c.starts_at, c.expires_at, c.voucher_valid_days, c.active, c.created_at,
    c.min_level_id, (select l.name from loyalty.level l where l.tenant_id = $1 and l.id = c.min_level_id) as level_name
  from loyalty.coupon c
  where tenant_id = $1
  order by created_at desc, id desc
  limit $2;

-- findCountedSQL (core/coupon/sql.go): Vouchers are counted from the sends, which are few, and not one by one: they may
-- be millions.
-- $1=tenant_id $2=now $3=id
prepare findCountedSQL as
  select c.id, c.name, c.description, c.benefit_type, c.benefit_value, c.benefit_reward_id, c.max_per_customer,
    c.max_redemptions, c.redemptions_count, c.starts_at, c.expires_at, c.voucher_valid_days, c.active, c.created_at,
    c.min_level_id, (select l.name from loyalty.level l where l.tenant_id = $1 and l.id = c.min_level_id) as level_name, c.state, r.name as reward_name, s.sends, s.sent, s.pending, s.redeemed, s.expired, s.pending_until, s.pending_onward
  from (
    select *
    from (
      select *,
        case
          when expires_at <= $2 then 'expired'
          when not active then 'inactive'
          when starts_at > $2 then 'upcoming'
          else 'active'
        end as state
      from loyalty.coupon
      where tenant_id = $1
    ) c
    where id = $3
  ) c
  left join loyalty.reward r on r.tenant_id = $1 and r.id = c.benefit_reward_id
  cross join lateral (
    select count(*) as sends,
      least(coalesce(sum(sent), 0), 9223372036854775807)::bigint as sent,
      least(coalesce(sum(sent - redeemed) filter (where expires_at is null or expires_at > $2), 0), 9223372036854775807)::bigint as pending,
      least(coalesce(sum(redeemed), 0), 9223372036854775807)::bigint as redeemed,
      least(coalesce(sum(sent - redeemed) filter (where expires_at <= $2), 0), 9223372036854775807)::bigint as expired,
      max(expires_at) filter (where expires_at > $2 and sent > redeemed) as pending_until,
      coalesce(bool_or(expires_at is null and sent > redeemed), false) as pending_onward
    from loyalty.coupon_send
    where tenant_id = $1
      and coupon_id = c.id
  ) s;

-- countedList (core/coupon/sql.go), for ListWithCounts: ListWithCounts returns a page of the coupons that match the
-- filter, newest first.
-- $1=tenant_id $2=now $3=limit
-- filter: and (state in ('active', 'upcoming')) = @sendable
-- filter: and state = @state
prepare countedList as
  select c.id, c.name, c.description, c.benefit_type, c.benefit_value, c.benefit_reward_id, c.max_per_customer,
    c.max_redemptions, c.redemptions_count, c.starts_at, c.expires_at, c.voucher_valid_days, c.active, c.created_at,
    c.min_level_id, (select l.name from loyalty.level l where l.tenant_id = $1 and l.id = c.min_level_id) as level_name, c.state, r.name as reward_name, s.sends, s.sent, s.pending, s.redeemed, s.expired, s.pending_until, s.pending_onward
  from (
    select *
    from (
      select *,
        case
          when expires_at <= $2 then 'expired'
          when not active then 'inactive'
          when starts_at > $2 then 'upcoming'
          else 'active'
        end as state
      from loyalty.coupon
      where tenant_id = $1
    ) c
    where true
    order by created_at desc, id desc
    limit $3
  ) c
  left join loyalty.reward r on r.tenant_id = $1 and r.id = c.benefit_reward_id
  cross join lateral (
    select count(*) as sends,
      least(coalesce(sum(sent), 0), 9223372036854775807)::bigint as sent,
      least(coalesce(sum(sent - redeemed) filter (where expires_at is null or expires_at > $2), 0), 9223372036854775807)::bigint as pending,
      least(coalesce(sum(redeemed), 0), 9223372036854775807)::bigint as redeemed,
      least(coalesce(sum(sent - redeemed) filter (where expires_at <= $2), 0), 9223372036854775807)::bigint as expired,
      max(expires_at) filter (where expires_at > $2 and sent > redeemed) as pending_until,
      coalesce(bool_or(expires_at is null and sent > redeemed), false) as pending_onward
    from loyalty.coupon_send
    where tenant_id = $1
      and coupon_id = c.id
  ) s
  order by created_at desc, id desc
  limit $3;

-- redeemableSQL (core/coupon/sql.go): The customer is locked as a redemption's foreign key locks them: a merge at the
-- same time waits, or the voucher is found with the customer who is kept, at a second look.
-- $1=now $2=tenant_id $3=sale $4=id
prepare redeemableSQL as
  select v.id, v.coupon_id, v.customer_id,
    case when v.status = 'pending' and v.expires_at <= $1 then 'expired' else v.status end as status,
    c.benefit_type, c.benefit_value, c.benefit_reward_id, v.redemption_id, v.transaction_id, v.expires_at, v.redeemed_at, v.restored_at, v.created_at,
    c.name as coupon_name, c.active as coupon_active, coalesce(c.redemptions_count >= c.max_redemptions, false) as cap_reached, c.min_level_id,
    exists (
      select
      from loyalty.transaction t
      where t.tenant_id = $2
        and t.id = $3::uuid
        and t.customer_id = v.customer_id
        and t.status = 'completed'
    ) as sale_found
  from loyalty.voucher v
  join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
  join loyalty.customer k on k.tenant_id = v.tenant_id and k.id = v.customer_id
  where v.tenant_id = $2
    and v.id = $4
    and k.merged_into is null
  for key share of k;

-- redeemSQL (core/coupon/sql.go): The coupon is updated first: a redemption that waits for it sees afterwards whether
-- limit and voucher are still available.
-- $1=tenant_id $2=coupon $3=id $4=now $5=redemption $6=transaction
prepare redeemSQL as
  with c as (
    update loyalty.coupon
    set redemptions_count = redemptions_count + 1
    where tenant_id = $1
      and id = $2
      and active
      and (max_redemptions is null or redemptions_count < max_redemptions)
      and exists (
        select
        from loyalty.voucher
        where tenant_id = $1
          and id = $3
          and status = 'pending'
      )
    returning benefit_type, benefit_value, benefit_reward_id
  ), redeemed as (
    update loyalty.voucher v
    set status = 'redeemed',
      redeemed_at = $4,
      redemption_id = $5,
      transaction_id = $6::uuid
    from c
    where v.tenant_id = $1
      and v.id = $3
      and v.status = 'pending'
      and (v.expires_at is null or v.expires_at > $4)
    returning v.send_id, v.id, v.coupon_id, v.customer_id,
    case when v.status = 'pending' and v.expires_at <= $4 then 'expired' else v.status end as status,
    c.benefit_type, c.benefit_value, c.benefit_reward_id, v.redemption_id, v.transaction_id, v.expires_at, v.redeemed_at, v.restored_at, v.created_at, v.turn
  ), counted as (
    update loyalty.coupon_send s
    set redeemed = s.redeemed + 1
    from redeemed
    where s.tenant_id = $1
      and s.id = redeemed.send_id
  )
  select id, coupon_id, customer_id, status, benefit_type, benefit_value, benefit_reward_id,
    redemption_id, transaction_id, expires_at, redeemed_at, restored_at, created_at, turn
  from redeemed;

-- redeemedList (core/coupon/sql.go), for ListRedeemed: ListRedeemed returns a page of a coupon's redeemed vouchers, the
-- last redeemed first, or core.ErrNotFound.
-- $1=tenant_id $2=coupon $3=limit
prepare redeemedList as
  select v.id, v.coupon_id, v.customer_id, v.status, c.benefit_type, c.benefit_value, c.benefit_reward_id,
    v.redemption_id, v.transaction_id, v.expires_at, v.redeemed_at, v.restored_at, v.created_at, k.first_name || ' ' || k.last_name as customer_name
  from loyalty.voucher v
  join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
  join loyalty.customer k on k.tenant_id = v.tenant_id and k.id = v.customer_id
  where v.tenant_id = $1
    and v.coupon_id = $2
    and v.status = 'redeemed'
  order by v.redeemed_at desc, v.id desc
  limit $3;

-- customerSQL (core/coupon/sql.go), for ListByCustomer: ListByCustomer returns a page of a customer's vouchers, newest
-- first, or core.ErrNotFound.
-- $1=tenant_id $2=customer
prepare customerSQL as
  select
  from loyalty.customer
  where tenant_id = $1
    and id = $2
    and merged_into is null;

-- customerList (core/coupon/sql.go), for ListByCustomer: ListByCustomer returns a page of a customer's vouchers, newest
-- first, or core.ErrNotFound.
-- $1=now $2=tenant_id $3=customer $4=limit
prepare customerList as
  select v.id, v.coupon_id, v.customer_id,
    case when v.status = 'pending' and v.expires_at <= $1 then 'expired' else v.status end as status,
    c.benefit_type, c.benefit_value, c.benefit_reward_id, v.redemption_id, v.transaction_id, v.expires_at, v.redeemed_at, v.restored_at, v.created_at, c.name as coupon_name, r.name as reward_name,
    v.status = 'pending' and coalesce(v.expires_at > $1, true) and c.active
      and coalesce(c.redemptions_count < c.max_redemptions, true) as redeemable, c.min_level_id
  from loyalty.voucher v
  join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
  left join loyalty.reward r on r.tenant_id = c.tenant_id and r.id = c.benefit_reward_id
  where v.tenant_id = $2
    and v.customer_id = $3
  order by v.id desc
  limit $4;

-- sentList (core/coupon/sql.go), for ListSent: ListSent returns a page of a send's vouchers, by id, highest first.
-- $1=now $2=tenant_id $3=send $4=limit
prepare sentList as
  select v.id, v.coupon_id, v.customer_id,
    case when v.status = 'pending' and v.expires_at <= $1 then 'expired' else v.status end as status,
    c.benefit_type, c.benefit_value, c.benefit_reward_id, v.redemption_id, v.transaction_id, v.expires_at, v.redeemed_at, v.restored_at, v.created_at, k.first_name || ' ' || k.last_name as customer_name, m.status as mail_status
  from loyalty.voucher v
  join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
  join loyalty.customer k on k.tenant_id = v.tenant_id and k.id = v.customer_id
  left join loyalty.voucher_mail m on m.tenant_id = v.tenant_id and m.voucher_id = v.id
  where v.tenant_id = $2
    and v.send_id = $3
  order by v.id desc
  limit $4;

-- shownVoucherSQL (core/coupon/sql.go)
-- $1=now $2=tenant_id $3=id
prepare shownVoucherSQL as
  select v.id, v.coupon_id, v.customer_id,
    case when v.status = 'pending' and v.expires_at <= $1 then 'expired' else v.status end as status,
    c.benefit_type, c.benefit_value, c.benefit_reward_id, v.redemption_id, v.transaction_id, v.expires_at, v.redeemed_at, v.restored_at, v.created_at, c.name as coupon_name, c.description, r.name as reward_name,
    k.first_name || ' ' || k.last_name as customer_name, k.link_version + v.link_shift as link_version,
    k.status = 'active' as customer_active, coalesce(k.phone_key, k.email_key) is null as erased,
    c.active as coupon_active, coalesce(c.redemptions_count >= c.max_redemptions, false) as cap_reached,
    coalesce(r.stock = 0, false) as out_of_stock, c.min_level_id,
    coalesce(case c.benefit_type when 'points' then a.points when 'stamps' then a.stamps end::numeric + c.benefit_value > 9223372036854775807, false) as too_large
  from loyalty.voucher v
  join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
  join loyalty.customer k on k.tenant_id = v.tenant_id and k.id = v.customer_id
  left join loyalty.account a on a.tenant_id = v.tenant_id and a.customer_id = v.customer_id
  left join loyalty.reward r on r.tenant_id = c.tenant_id and r.id = c.benefit_reward_id
  where v.tenant_id = $2
    and v.id = $3;

-- expireSQL (core/coupon/sql.go), for expire: expire marks expired vouchers in batches, so that no till waits long for a
-- voucher.
-- $1=now $2=up_to
prepare expireSQL as
  select loyalty.expire_vouchers($1, $2);

-- countHoldersSQL (core/coupon/sql.go): Read from the index of a coupon's vouchers alone.
-- $1=tenant_id $2=id $3=now $4=limit
prepare countHoldersSQL as
  select count(distinct customer_id) as customers, count(*) as vouchers
  from (
    select customer_id
    from loyalty.voucher
    where tenant_id = $1
      and coupon_id = $2
      and status = 'pending'
      and expires_at > $3
    limit $4
  ) held;

-- lockCouponsSQL (core/coupon/undo.go): The coupons are locked first, as in redeemSQL, and in a statement of its own:
-- the next one sees what another undo or restore has done with the vouchers, so it can count them before it updates
-- them.
-- $1=tenant_id $2=ids
prepare lockCouponsSQL as
  select
  from loyalty.coupon
  where tenant_id = $1
    and id in (
      select coupon_id
      from loyalty.voucher
      where tenant_id = $1
        and id = any ($2::uuid[])
    )
  order by id
  for no key update;

-- undoSQL (core/coupon/undo.go): A voucher is restored (@restored_at) once; an undo of its checkout doesn't count.
-- $1=tenant_id $2=ids $3=restored_at $4=now
prepare undoSQL as
  with c as (
    update loyalty.coupon c
    set redemptions_count = c.redemptions_count - n.vouchers
    from (
      select coupon_id, count(*) as vouchers
      from loyalty.voucher
      where tenant_id = $1
        and id = any ($2::uuid[])
        and status = 'redeemed'
        and (restored_at is null or $3::timestamptz is null)
      group by coupon_id
    ) n
    where c.tenant_id = $1
      and c.id = n.coupon_id
    returning c.id, c.name, c.benefit_type, c.benefit_value, c.benefit_reward_id
  ), undone as (
    update loyalty.voucher v
    set status = 'pending',
      redeemed_at = null,
      redemption_id = null,
      transaction_id = null,
      restored_at = coalesce($3::timestamptz, v.restored_at),
      restored_redemption_id = case when $3::timestamptz is null then v.restored_redemption_id else v.redemption_id end,
      turn = v.turn + 1
    from c
    where v.tenant_id = $1
      and v.id = any ($2::uuid[])
      and v.coupon_id = c.id
      and v.status = 'redeemed'
      and (v.restored_at is null or $3::timestamptz is null)
    returning v.send_id, v.id, v.coupon_id, v.customer_id,
    case when v.status = 'pending' and v.expires_at <= $4 then 'expired' else v.status end as status,
    c.benefit_type, c.benefit_value, c.benefit_reward_id, v.redemption_id, v.transaction_id, v.expires_at, v.redeemed_at, v.restored_at, v.created_at, v.turn, c.name as coupon_name
  ), counted as (
    update loyalty.coupon_send s
    set redeemed = s.redeemed - n.vouchers
    from (
      select send_id, count(*) as vouchers
      from undone
      group by send_id
    ) n
    where s.tenant_id = $1
      and s.id = n.send_id
  )
  select id, coupon_id, customer_id, status, benefit_type, benefit_value, benefit_reward_id,
    redemption_id, transaction_id, expires_at, redeemed_at, restored_at, created_at, (turn - 1)::smallint as turn, coupon_name
  from undone
  order by id;

-- unfinishedSendsSQL (core/coupon/upkeep.go)
-- $1=before
prepare unfinishedSendsSQL as
  select tenant_id, id, status
  from loyalty.unfinished_sends($1);

-- haltSendSQL (core/coupon/upkeep.go), for followJobState: followJobState cancels a send, or stops its e-mails, after an
-- operator cancelled its job.
-- $1=now $2=tenant_id $3=send
prepare haltSendSQL as
  update loyalty.coupon_send s
  set status = 'cancelled',
    held_at = null,
    ended_at = $1
  where s.tenant_id = $2
    and s.id = $3
    and s.status = 'waiting'
  returning s.id, s.coupon_id, (select c.name from loyalty.coupon c where c.tenant_id = $2 and c.id = s.coupon_id) as coupon_name,
    s.segment, s.audience, s.status, s.subject, s.message, s.matched, s.sent, s.skipped_inactive, s.skipped_limit,
    s.no_email, s.unsubscribed, s.mails, s.delivered, s.failed, s.send_at, s.held_at, s.created_at, s.begun_at, s.evaluated_at, s.ended_at, s.failure;
