-- The statements of core/privacy, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/privacy.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- customerSQL (core/privacy/data.go), for WriteData: WriteData writes everything that is stored about a customer as a
-- JSON document (Articles 15 and 20 of the GDPR), and the download into the audit log.
-- $1=tenant_id $2=customer
prepare customerSQL as
  select c.id as ulid, c.first_name, c.last_name, c.phone, c.email, c.status, a.points as points_balance, a.stamps as stamps_balance,
    c.created_at, c.updated_at, c.unsubscribed_at, c.note, c.external_id, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday, coalesce(c.metadata, '{}') as metadata,
    l.name as level, to_char(a.level_until, 'YYYY-MM-DD') as level_until,
    array(select g.tag from loyalty.customer_tag g where g.tenant_id = $1 and g.customer_id = c.id order by g.key) as tags,
    array(select f.text from loyalty.customer_key f where f.tenant_id = $1 and f.customer_id = c.id order by f.created_at, f.kind desc, f.key) as also_found_by
  from loyalty.customer c
  join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
  left join loyalty.level l on l.tenant_id = $1 and l.id = a.level_id
  where c.tenant_id = $1
    and c.id = $2;

-- ledgerEntriesSQL (core/privacy/data.go)
-- $1=tenant_id $2=customer $3=after $4=limit
prepare ledgerEntriesSQL as
  select id as ulid, seq, created_at, kind, unit, amount, balance_after, cause, reason, to_char(nullif(expires_on, 'infinity'), 'YYYY-MM-DD') as expires_on, actor_kind as by
  from loyalty.ledger_entry
  where tenant_id = $1
    and customer_id = $2
    and seq > $3
  order by seq
  limit $4;

-- mergedSQL (core/privacy/data.go)
-- $1=tenant_id $2=customer $3=after $4=limit
prepare mergedSQL as
  select c.id as ulid, m.first_name, m.last_name, m.points as points_moved, m.stamps as stamps_moved, m.created_at as merged_at,
    m.actor_kind as by
  from loyalty.customer c
  join loyalty.customer_merge m on m.tenant_id = c.tenant_id and m.merged_id = c.id
  where c.tenant_id = $1
    and c.merged_into = $2
    and c.id > $3
  order by c.id
  limit $4;

-- mergedEntriesSQL (core/privacy/data.go): From before a merge, while the duplicate had a ledger of its own.
-- $1=tenant_id $2=customer $3=after $4=limit
prepare mergedEntriesSQL as
  select e.id as ulid, e.customer_id as customer_ulid, e.seq, e.created_at, e.kind, e.unit, e.amount, e.balance_after, e.cause, e.reason,
    to_char(nullif(expires_on, 'infinity'), 'YYYY-MM-DD') as expires_on, e.actor_kind as by
  from loyalty.ledger_entry e
  where e.tenant_id = $1
    and e.customer_id in (
      select id
      from loyalty.customer
      where tenant_id = $1
        and merged_into = $2
    )
    and e.id > $3
  order by e.id
  limit $4;

-- transactionsSQL (core/privacy/data.go)
-- $1=tenant_id $2=customer $3=after $4=limit
prepare transactionsSQL as
  select t.id as ulid, t.created_at, coalesce(t.occurred_at, t.created_at) as occurred_at, t.status, t.voided_at, k.name as transaction_type, l.name as location, t.spend_amount_cents,
    t.discount_cents, t.points_awarded, t.stamps_awarded, to_char(nullif(expires_on, 'infinity'), 'YYYY-MM-DD') as expires_on,
    t.refunded_cents, t.source, t.external_reference, t.metadata, coalesce(t.items, '[]') as items, t.actor_kind as by
  from loyalty.transaction t
  join loyalty.transaction_type k on k.tenant_id = t.tenant_id and k.id = t.transaction_type_id
  left join loyalty.location l on l.tenant_id = t.tenant_id and l.id = t.location_id
  where t.tenant_id = $1
    and t.customer_id = $2
    and t.id > $3
  order by t.id
  limit $4;

-- refundsSQL (core/privacy/data.go)
-- $1=tenant_id $2=customer $3=after $4=limit
prepare refundsSQL as
  select r.id as ulid, r.transaction_id as transaction_ulid, r.created_at, r.amount_cents, r.points as points_refunded, r.stamps as stamps_refunded,
    r.external_reference, r.reason, r.actor_kind as by
  from loyalty.transaction t
  join loyalty.refund r on r.tenant_id = t.tenant_id and r.transaction_id = t.id
  where t.tenant_id = $1
    and t.customer_id = $2
    and r.id > $3
  order by r.id
  limit $4;

-- redemptionsSQL (core/privacy/data.go)
-- $1=tenant_id $2=customer $3=after $4=limit
prepare redemptionsSQL as
  select r.id as ulid, r.created_at, r.status, r.fulfilled_at, r.voided_at, w.name as reward, r.points_spent, r.stamps_spent,
    r.transaction_id as transaction_ulid, l.name as location, r.actor_kind as by
  from loyalty.redemption r
  join loyalty.reward w on w.tenant_id = r.tenant_id and w.id = r.reward_id
  left join loyalty.location l on l.tenant_id = r.tenant_id and l.id = r.location_id
  where r.tenant_id = $1
    and r.customer_id = $2
    and r.id > $3
  order by r.id
  limit $4;

-- levelChangesSQL (core/privacy/data.go): A level that isn't named is the first one.
-- $1=tenant_id $2=customer $3=after $4=limit
prepare levelChangesSQL as
  select c.id as ulid, c.seq as number, c.created_at, f.name as from_level, t.name as to_level, c.reason, to_char(c.until, 'YYYY-MM-DD') as until, c.note,
    c.actor_kind as by
  from loyalty.level_change c
  left join loyalty.level f on f.tenant_id = $1 and f.id = c.from_level
  left join loyalty.level t on t.tenant_id = $1 and t.id = c.to_level
  where c.tenant_id = $1
    and c.customer_id = $2
    and c.seq > $3
  order by c.seq
  limit $4;

-- vouchersSQL (core/privacy/data.go)
-- $1=now $2=tenant_id $3=customer $4=after $5=limit
prepare vouchersSQL as
  select v.id as ulid, v.created_at, p.name as coupon, p.description,
    case when v.status = 'pending' and v.expires_at <= $1 then 'expired' else v.status end as status,
    v.expires_at, v.redeemed_at, v.restored_at, v.transaction_id as transaction_ulid, m.status as mail_status, m.done_at as mailed_at
  from loyalty.voucher v
  join loyalty.coupon p on p.tenant_id = v.tenant_id and p.id = v.coupon_id
  left join loyalty.voucher_mail m on m.tenant_id = v.tenant_id and m.voucher_id = v.id
  where v.tenant_id = $2
    and v.customer_id = $3
    and v.id > $4
  order by v.id
  limit $5;

-- mailsSQL (core/privacy/data.go)
-- $1=tenant_id $2=addresses $3=after $4=limit
prepare mailsSQL as
  select id as ulid, created_at, recipient, subject
  from loyalty.mail
  where tenant_id = $1
    and recipient = any($2::text[])
    and id > $3
  order by id
  limit $4;

-- consentsSQL (core/privacy/data.go)
-- $1=tenant_id $2=customer $3=after $4=limit
prepare consentsSQL as
  select kind, text, source, given_at
  from loyalty.consent
  where tenant_id = $1
    and customer_id = $2
    and kind > $3
  order by kind
  limit $4;

-- logSQL (core/privacy/data.go)
-- $1=tenant_id $2=ulids $3=after $4=limit
prepare logSQL as
  select id as ulid, created_at, action, old, new, actor_kind as by
  from loyalty.audit_entry
  where tenant_id = $1
    and subject_kind = 'customer'
    and subject_id = any ($2::text[])
    and id > $3
  order by id
  limit $4;

-- eraseSQL (core/privacy/erase.go): The customers' rows take the calls to their node, in a distributed database.
-- $1=ids $2=ulids $3=tenant_id
prepare eraseSQL as
  select loyalty.forget_customer(c.id, given.ulid), loyalty.forget_voucher_mails(c.id)
  from unnest($1::uuid[], $2::text[]) given (id, ulid)
  join loyalty.customer c on c.tenant_id = $3 and c.id = given.id;

-- addressesSQL (core/privacy/erase.go): The e-mail addresses that a customer has or had.
-- $1=tenant_id $2=id $3=ulids
prepare addressesSQL as
  select address
  from (
    select email
    from loyalty.customer
    where tenant_id = $1
      and id = $2
    union
    select text
    from loyalty.customer_key
    where tenant_id = $1
      and customer_id = $2
      and kind = 'email'
    union
    select fact ->> 'email'
    from loyalty.audit_entry e, lateral (values (e.old), (e.new)) given (fact)
    where e.tenant_id = $1
      and e.subject_kind = 'customer'
      and e.subject_id = any ($3::text[])
  ) had (address)
  where address is not null
  order by address;

-- foreignKeysSQL (core/privacy/erase.go): Of their keys, those that another customer has now.
-- $1=tenant_id $2=keys $3=id
prepare foreignKeysSQL as
  select email_key as key
  from loyalty.customer
  where tenant_id = $1
    and email_key = any ($2::text[])
    and id <> $3;
