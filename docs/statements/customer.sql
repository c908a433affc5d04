-- The statements of core/customer, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/customer.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- eraseMergedSQL (core/customer/anonymise.go): The names of the customers who were merged into one.
-- $1=tenant_id $2=id
prepare eraseMergedSQL as
  update loyalty.customer_merge m
  set first_name = 'Erased',
    last_name = 'Erased'
  from loyalty.customer c
  where m.tenant_id = $1
    and c.tenant_id = $1
    and c.id = m.merged_id
    and c.merged_into = $2;

-- insertAllSQL (core/customer/batch.go): In the given order: of two customers with the same key, the first is created.
-- $1=tenant_id $2=now $3=imported_at $4=ids $5=first_names $6=last_names $7=phones $8=phone_keys $9=emails
-- $10=email_keys $11=folded $12=external_ids $13=metadata $14=birth_years $15=birth_months $16=birth_days $17=created_at
prepare insertAllSQL as
  insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, email, email_key, folded,
    external_id, metadata, birth_year, birth_month, birth_day, created_at, updated_at, imported_at)
  select $1, id, first_name, last_name, phone, nullif(phone_key, ''), email, email_key, folded,
    external_id, metadata, birth_year, birth_month, birth_day, coalesce(created_at, $2), $2, $3
  from unnest($4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[],
    $9::text[], $10::text[], $11::text[], $12::text[], $13::jsonb[],
    $14::int[], $15::int[], $16::int[], $17::timestamptz[]) with ordinality
    given (id, first_name, last_name, phone, phone_key, email, email_key, folded, external_id, metadata,
      birth_year, birth_month, birth_day, created_at, place)
  where not exists (
    select
    from loyalty.customer_key f
    where f.tenant_id = $1
      and (f.kind = 'phone' and f.key = given.phone_key or f.kind = 'email' and f.key = given.email_key
        or f.kind = 'external_id' and f.key = given.external_id)
  )
  order by place
  on conflict do nothing
  returning id;

-- takenKeysSQL (core/customer/batch.go)
-- $1=tenant_id $2=phone_keys $3=email_keys $4=external_ids
prepare takenKeysSQL as
  select 'phone' as kind, phone_key as key, id
  from loyalty.customer
  where tenant_id = $1
    and phone_key = any($2::text[])
  union all
  select 'email', email_key, id
  from loyalty.customer
  where tenant_id = $1
    and email_key = any($3::text[])
  union all
  select 'external_id', external_id, id
  from loyalty.customer
  where tenant_id = $1
    and external_id = any($4::text[])
  union all
  select kind, key, customer_id
  from loyalty.customer_key
  where tenant_id = $1
    and (kind = 'phone' and key = any($2::text[]) or kind = 'email' and key = any($3::text[])
      or kind = 'external_id' and key = any($4::text[]));

-- agreeSQL (core/customer/consent.go), for RecordConsent: RecordConsent stores what a new customer agreed to, in the
-- transaction that created them.
-- $1=tenant_id $2=customer $3=kind $4=text $5=source $6=now
prepare agreeSQL as
  insert into loyalty.consent (tenant_id, customer_id, kind, text, source, given_at)
  values ($1, $2, $3, $4, $5, $6);

-- deleteConsentSQL (core/customer/consent.go), for Anonymise: Anonymise deletes a customer's name, contact details,
-- further keys, external ID, metadata, consents, note and tags, and makes them inactive.
-- $1=tenant_id $2=id
prepare deleteConsentSQL as
  delete from loyalty.consent
  where tenant_id = $1
    and customer_id = $2;

-- ownsEmailSQL (core/customer/customer.go), for HasEmail: HasEmail reports whether an e-mail address is a customer's
-- own, or one by which they are also found.
-- $1=tenant_id $2=email_key $3=id
prepare ownsEmailSQL as
  select exists (
    select
    from loyalty.customer_key
    where tenant_id = $1
      and kind = 'email'
      and key = $2
      and customer_id = $3
  );

-- lockBatchSQL (core/customer/each.go): Batches of a business go one after the other: so none locks what another waits
-- for, and each counts the customers of those before.
-- $1=tenant_id
prepare lockBatchSQL as
  select pg_advisory_xact_lock(hashtextextended('customers together ' || $1::bigint::text, 9));

-- settingsSQL (core/customer/each.go), for upsertEach: upsertEach returns what came of each request.
-- $1=tenant_id
prepare settingsSQL as
  select coalesce(country, '') as country, phone_optional
  from loyalty.tenant
  where id = $1;

-- noteExternalIDsSQL (core/customer/each.go), for noteExternalIDs: noteExternalIDs gives customers who were found the
-- IDs by which a program knows them, as noteExternalID does for one.
-- $1=now $2=ids $3=external_ids $4=tenant_id
prepare noteExternalIDsSQL as
  update loyalty.customer c
  set external_id = given.external_id,
    updated_at = $1
  from unnest($2::uuid[], $3::text[]) given (id, external_id)
  where c.tenant_id = $4
    and c.id = given.id
    and c.external_id is null
    and coalesce(c.phone_key, c.email_key) is not null
    and not exists (
      select
      from loyalty.customer_key
      where tenant_id = $4
        and kind = 'external_id'
        and key = given.external_id
    )
  returning c.id, c.external_id;

-- ownKeysSQL (core/customer/key.go): A key that the customer takes as their own again is no further one.
-- $1=tenant_id $2=id $3=phone_key $4=email_key $5=external_id
prepare ownKeysSQL as
  delete from loyalty.customer_key
  where tenant_id = $1
    and customer_id = $2
    and (kind = 'phone' and key = $3 or kind = 'email' and key = $4 or kind = 'external_id' and key = $5);

-- holderSQL (core/customer/key.go), for refuseFurther: refuseFurther refuses keys that lead to another customer, who is
-- named.
-- $1=tenant_id $2=id $3=phone_key $4=email_key $5=external_id
prepare holderSQL as
  select f.kind, c.id, c.first_name, c.last_name
  from loyalty.customer_key f
  join loyalty.customer c on c.tenant_id = f.tenant_id and c.id = f.customer_id
  where f.tenant_id = $1
    and f.customer_id <> $2
    and (f.kind = 'phone' and f.key = $3 or f.kind = 'email' and f.key = $4 or f.kind = 'external_id' and f.key = $5);

-- removeKeySQL (core/customer/key.go), for RemoveKey: RemoveKey removes a further key: the customer is no longer found
-- by it, and another may have it.
-- $1=tenant_id $2=id $3=kind $4=key
prepare removeKeySQL as
  delete from loyalty.customer_key
  where tenant_id = $1
    and customer_id = $2
    and kind = $3
    and key = $4;

-- setFoldedSQL (core/customer/key.go), for RemoveKey: RemoveKey removes a further key: the customer is no longer found
-- by it, and another may have it.
-- $1=folded $2=now $3=tenant_id $4=id
prepare setFoldedSQL as
  update loyalty.customer
  set folded = $1,
    updated_at = $2
  where tenant_id = $3
    and id = $4;

-- deleteKeysSQL (core/customer/key.go), for Anonymise: Anonymise deletes a customer's name, contact details, further
-- keys, external ID, metadata, consents, note and tags, and makes them inactive.
-- $1=tenant_id $2=id
prepare deleteKeysSQL as
  delete from loyalty.customer_key
  where tenant_id = $1
    and customer_id = $2;

-- ledgerList (core/customer/ledger.go), for LedgerEntries: LedgerEntries returns a page of the changes of a customer's
-- balances, newest first, or core.ErrNotFound.
-- $1=tenant_id $2=customer $3=limit
prepare ledgerList as
  select e.id, e.seq, e.kind, e.unit, e.amount, e.balance_after, coalesce(t.id, f.transaction_id) as transaction_id,
    nullif(e.expires_on, 'infinity') as expires_on, e.created_at
  from loyalty.customer c
  join loyalty.ledger_entry e on e.tenant_id = c.tenant_id and e.customer_id = c.id
  left join loyalty.transaction t on e.kind in ('earn', 'reversal', 'expiry_return') and t.tenant_id = e.tenant_id and t.id = e.cause
  left join loyalty.refund f on e.kind in ('refund', 'expiry_return') and f.tenant_id = e.tenant_id and f.id = e.cause
  where c.tenant_id = $1
    and c.id = $2
    and c.merged_into is null
  order by e.seq desc
  limit $3;

-- revokeLinksSQL (core/customer/link.go), for ReplaceLinks: ReplaceLinks revokes the links to a customer's card and
-- vouchers, and those of the customers who were merged into them.
-- $1=now $2=tenant_id $3=id
prepare revokeLinksSQL as
  update loyalty.customer c
  set link_version = c.link_version + 1,
    updated_at = $1
  from loyalty.account a
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  where c.tenant_id = $2
    and c.id = $3
    and coalesce(c.phone_key, c.email_key) is not null
    and c.merged_into is null
    and a.tenant_id = c.tenant_id
    and a.customer_id = c.id
  returning c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $2 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by;

-- revokeMergedSQL (core/customer/link.go): The links of the customers who were merged into one lead to the same card.
-- $1=tenant_id $2=id
prepare revokeMergedSQL as
  update loyalty.customer
  set link_version = link_version + 1
  where tenant_id = $1
    and merged_into = $2;

-- revokeAllSQL (core/customer/link.go), for RemoveKey: RemoveKey removes a further key: the customer is no longer found
-- by it, and another may have it.
-- $1=tenant_id $2=id
prepare revokeAllSQL as
  update loyalty.customer
  set link_version = link_version + 1
  where tenant_id = $1
    and (id = $2 or merged_into = $2);

-- checkedSQL (core/customer/link.go), for Checked: Checked queues that a cashier has checked the phone number of a card
-- that was opened online.
-- $1=tenant_id $2=id
prepare checkedSQL as
  update loyalty.customer
  set unchecked_since = null
  where tenant_id = $1
    and id = $2
    and unchecked_since is not null;

-- findMergedSQL (core/customer/merge.go), for FindMerged: FindMerged returns a customer who was merged into another, or
-- core.ErrNotFound.
-- $1=tenant_id $2=id
prepare findMergedSQL as
  select c.id, c.merged_into, m.first_name, m.last_name, m.points, m.stamps, m.created_at as merged_at, m.actor_kind, m.actor_name, c.link_version
  from loyalty.customer c
  join loyalty.customer_merge m on m.tenant_id = c.tenant_id and m.merged_id = c.id
  where c.tenant_id = $1
    and c.id = $2
    and c.merged_into is not null;

-- mergedOfSQL (core/customer/merge.go), for Merged: Merged returns the customers who were merged into a customer, the
-- last one first.
-- $1=tenant_id $2=kept
prepare mergedOfSQL as
  select c.id, c.merged_into, m.first_name, m.last_name, m.points, m.stamps, m.created_at as merged_at, m.actor_kind, m.actor_name, c.link_version
  from loyalty.customer c
  join loyalty.customer_merge m on m.tenant_id = c.tenant_id and m.merged_id = c.id
  where c.tenant_id = $1
    and c.merged_into = $2
  order by m.created_at desc, c.id desc;

-- duplicatesSQL (core/customer/merge.go): Likely duplicates have the same name or the same last digits of their phone
-- number: what indexes find.
-- $1=tenant_id $2=id $3=limit
prepare duplicatesSQL as
  with this as (
    select id, last_name, first_name, phone_end
    from loyalty.customer
    where tenant_id = $1
      and id = $2
  ), alike as (
    (
      select c.id, 1 as rank
      from this
      join loyalty.customer c on c.tenant_id = $1
        and c.last_name collate loyalty.name = this.last_name
        and c.first_name collate loyalty.name = this.first_name
      where c.id <> this.id
      limit $3
    )
    union all
    (
      select c.id, 2
      from this
      join loyalty.customer c on c.tenant_id = $1
        and c.phone_end = this.phone_end
      where c.id <> this.id
      limit $3
    )
  ), ranked as (
    select id, min(rank) as rank
    from alike
    group by id
  )
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $1 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by
  from ranked r
  join loyalty.customer c on c.tenant_id = $1 and c.id = r.id
  join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  where c.merged_into is null
    and coalesce(c.phone_key, c.email_key) is not null
  order by r.rank, c.created_at desc, c.id desc
  limit $3;

-- lockPairSQL (core/customer/merge.go): For update, which waits for everything that refers to one of them, and makes it
-- wait.
-- $1=tenant_id $2=ids
prepare lockPairSQL as
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $1 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by
  from loyalty.customer c
  join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  where c.tenant_id = $1
    and c.id = any ($2::uuid[])
    and c.merged_into is null
  order by c.id
  for update of c;

-- moveConsentSQL (core/customer/merge.go): The kept customer gets the consents that they haven't given themselves.
-- $1=kept $2=tenant_id $3=merged
prepare moveConsentSQL as
  update loyalty.consent
  set customer_id = $1
  where tenant_id = $2
    and customer_id = $3
    and kind not in (
      select kind
      from loyalty.consent
      where tenant_id = $2
        and customer_id = $1
    );

-- moveTagsSQL (core/customer/merge.go), for Close: Close closes a duplicate, whose row and the kept customer's are
-- locked, like all keys (LockKeys): it loses its name, its keys, note and tags, and the kept customer takes over what
-- they don't have.
-- $1=tenant_id $2=kept $3=merged $4=most
prepare moveTagsSQL as
  insert into loyalty.customer_tag (tenant_id, customer_id, key, tag, created_at)
  select g.tenant_id, k.id, g.key, g.tag, k.created_at
  from loyalty.customer_tag g
  join loyalty.customer k on k.tenant_id = $1 and k.id = $2
  where g.tenant_id = $1
    and g.customer_id = $3
    and not exists (
      select
      from loyalty.customer_tag h
      where h.tenant_id = $1
        and h.customer_id = $2
        and h.key = g.key
    )
  order by g.key
  limit (select greatest($4 - count(*), 0) from loyalty.customer_tag where tenant_id = $1 and customer_id = $2)
  returning 1;

-- repointSQL (core/customer/merge.go): Earlier duplicates of the duplicate lead to the kept customer.
-- $1=kept $2=tenant_id $3=merged
prepare repointSQL as
  update loyalty.customer
  set merged_into = $1
  where tenant_id = $2
    and merged_into = $3;

-- closeSQL (core/customer/merge.go), for Close: Close closes a duplicate, whose row and the kept customer's are locked,
-- like all keys (LockKeys): it loses its name, its keys, note and tags, and the kept customer takes over what they don't
-- have.
-- $1=kept $2=now $3=tenant_id $4=merged
prepare closeSQL as
  update loyalty.customer
  set first_name = '',
    last_name = '',
    phone = '',
    phone_key = null,
    email = null,
    email_key = null,
    external_id = null,
    metadata = null,
    birth_year = null,
    birth_month = null,
    birth_day = null,
    folded = '',
    note = null,
    status = 'inactive',
    merged_into = $1,
    updated_at = $2
  where tenant_id = $3
    and id = $4;

-- takeOverSQL (core/customer/merge.go), for Close: Close closes a duplicate, whose row and the kept customer's are
-- locked, like all keys (LockKeys): it loses its name, its keys, note and tags, and the kept customer takes over what
-- they don't have.
-- $1=phone $2=phone_key $3=unchecked_since $4=email $5=email_key $6=external_id $7=metadata $8=birth_year $9=birth_month
-- $10=birth_day $11=folded $12=note $13=unsubscribed_at $14=now $15=tenant_id $16=kept
prepare takeOverSQL as
  update loyalty.customer
  set phone = $1,
    phone_key = nullif($2, ''),
    unchecked_since = case when phone_key is null then $3::timestamptz else unchecked_since end,
    email = $4,
    email_key = $5,
    external_id = $6,
    metadata = $7::jsonb,
    birth_year = $8::int,
    birth_month = $9::int,
    birth_day = $10::int,
    folded = $11,
    note = coalesce(note, $12),
    unsubscribed_at = coalesce(unsubscribed_at, $13),
    updated_at = $14
  where tenant_id = $15
    and id = $16;

-- insertMergeSQL (core/customer/merge.go), for Close: Close closes a duplicate, whose row and the kept customer's are
-- locked, like all keys (LockKeys): it loses its name, its keys, note and tags, and the kept customer takes over what
-- they don't have.
-- $1=tenant_id $2=id $3=merged $4=kept $5=first_name $6=last_name $7=points $8=stamps $9=sales $10=redemptions
-- $11=vouchers $12=actor_kind $13=actor_id $14=actor_name $15=now
prepare insertMergeSQL as
  insert into loyalty.customer_merge (tenant_id, id, merged_id, kept_id, first_name, last_name, points, stamps,
    sales, redemptions, vouchers, actor_kind, actor_id, actor_name, created_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8,
    $9, $10, $11, $12, $13, $14, $15);

-- pairSQL (core/customer/merge.go), for Close: Close closes a duplicate, whose row and the kept customer's are locked,
-- like all keys (LockKeys): it loses its name, its keys, note and tags, and the kept customer takes over what they don't
-- have.
-- $1=tenant_id $2=merged $3=kept
prepare pairSQL as
  select m.note, coalesce(m.phone_key, '') as phone_key, m.email_key, coalesce(c.phone_key, '') as kept_phone_key, c.email_key as kept_email_key,
    (
      select coalesce(jsonb_agg(jsonb_build_object('Kind', f.kind, 'Key', f.key, 'Text', f.text)), '[]')
      from loyalty.customer_key f
      where f.tenant_id = $1
        and f.customer_id in ($2, $3)
    ) as further
  from loyalty.customer m
  join loyalty.customer c on c.tenant_id = m.tenant_id and c.id = $3
  where m.tenant_id = $1
    and m.id = $2;

-- moveKeysSQL (core/customer/merge.go), for Close: Close closes a duplicate, whose row and the kept customer's are
-- locked, like all keys (LockKeys): it loses its name, its keys, note and tags, and the kept customer takes over what
-- they don't have.
-- $1=kept $2=tenant_id $3=merged
prepare moveKeysSQL as
  update loyalty.customer_key
  set customer_id = $1
  where tenant_id = $2
    and customer_id = $3;

-- addKeySQL (core/customer/merge.go): An earlier build that serves beside this one may have given a key to two
-- customers: then the last merge decides.
-- $1=tenant_id $2=kind $3=key $4=kept $5=text $6=now
prepare addKeySQL as
  insert into loyalty.customer_key (tenant_id, kind, key, customer_id, text, created_at)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (tenant_id, kind, key) do update
  set customer_id = excluded.customer_id,
    text = excluded.text;

-- lockNoteSQL (core/customer/note.go), for Edit: Edit changes the fields that are set.
-- $1=tenant_id $2=id
prepare lockNoteSQL as
  select c.note, coalesce(c.phone_key, c.email_key) is null as erased
  from loyalty.customer c
  where c.tenant_id = $1
    and c.id = $2
    and c.merged_into is null
  for no key update of c;

-- setNoteSQL (core/customer/note.go), for SetNote: SetNote replaces what the staff noted about a customer; an empty note
-- removes it.
-- $1=note $2=tenant_id $3=id
prepare setNoteSQL as
  update loyalty.customer
  set note = $1
  where tenant_id = $2
    and id = $3;

-- tagsOfSQL (core/customer/note.go)
-- $1=tenant_id $2=id
prepare tagsOfSQL as
  select tag
  from loyalty.customer_tag
  where tenant_id = $1
    and customer_id = $2
  order by key;

-- dropTagsSQL (core/customer/note.go), for setTags: setTags queues that a customer has these tags and no others.
-- $1=tenant_id $2=id $3=keys
prepare dropTagsSQL as
  delete from loyalty.customer_tag
  where tenant_id = $1
    and customer_id = $2
    and key <> all ($3::text[]);

-- addTagsSQL (core/customer/note.go): A tag that another customer has is spelled as theirs, whatever capitals were
-- typed.
-- $1=tenant_id $2=keys $3=tags $4=id
prepare addTagsSQL as
  insert into loyalty.customer_tag (tenant_id, customer_id, key, tag, created_at)
  select c.tenant_id, c.id, given.key,
    coalesce((select g.tag from loyalty.customer_tag g where g.tenant_id = $1 and g.key = given.key limit 1), given.tag), c.created_at
  from loyalty.customer c
  cross join unnest($2::text[], $3::text[]) given (key, tag)
  where c.tenant_id = $1
    and c.id = $4
  on conflict do nothing;

-- touchSQL (core/customer/note.go), for changeTags: changeTags changes the tags of a customer, whose row it locks: two
-- changes at once keep the limit.
-- $1=now $2=tenant_id $3=id
prepare touchSQL as
  update loyalty.customer
  set updated_at = $1
  where tenant_id = $2
    and id = $3;

-- deleteTagsSQL (core/customer/note.go), for Anonymise: Anonymise deletes a customer's name, contact details, further
-- keys, external ID, metadata, consents, note and tags, and makes them inactive.
-- $1=tenant_id $2=id
prepare deleteTagsSQL as
  delete from loyalty.customer_tag
  where tenant_id = $1
    and customer_id = $2;

-- tagsSQL (core/customer/note.go): Each step of the recursion jumps to the next tag in the index, however many customers
-- have it.
-- $1=tenant_id $2=limit
prepare tagsSQL as
  with recursive used as (
    (
      select key, tag
      from loyalty.customer_tag
      where tenant_id = $1
      order by key
      limit 1
    )
    union all
    select n.key, n.tag
    from used u
    cross join lateral (
      select key, tag
      from loyalty.customer_tag
      where tenant_id = $1
        and key > u.key
      order by key
      limit 1
    ) n
  )
  select tag
  from used
  limit $2;

-- profileSQL (core/customer/profile.go): The account has the figures, so that no page adds up sales.
-- $1=tenant_id $2=limit $3=id
prepare profileSQL as
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $1 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by, visit.created_at as last_visit, least(a.spent_cents, 9223372036854775807)::bigint as spent_cents, c.note,
    coalesce((
      select jsonb_agg(jsonb_build_object('Kind', f.kind, 'Key', f.key, 'Text', f.text) order by f.created_at desc, f.kind desc, f.key)
      from loyalty.customer_key f
      where f.tenant_id = $1
        and f.customer_id = c.id
    ), '[]') as further,
    (select given_at from loyalty.consent where tenant_id = $1 and customer_id = c.id and kind = 'terms') as terms_at,
    (select given_at from loyalty.consent where tenant_id = $1 and customer_id = c.id and kind = 'offers') as offers_at,
    (select count(*) from loyalty.customer d where d.tenant_id = $1 and d.merged_into = c.id) as merged,
    (select count(*) from (select from loyalty.transaction where tenant_id = $1 and customer_id = c.id limit $2) t) as sales,
    (select count(*) from (select from loyalty.redemption where tenant_id = $1 and customer_id = c.id limit $2) d) as redemptions,
    (select count(*) from (select from loyalty.voucher where tenant_id = $1 and customer_id = c.id limit $2) v) as vouchers
  from loyalty.customer c
  join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  left join lateral (
    select t.created_at
    from loyalty.transaction t
    where t.tenant_id = $1
      and t.customer_id = c.id
      and t.status = 'completed'
    order by t.id desc
    limit 1
  ) visit on true
  where c.tenant_id = $1
    and c.id = $3
    and c.merged_into is null;

-- recentSQL (core/customer/recent.go), for Recent: Recent returns the active customers who were here last, the latest
-- first, from the newest 200 sales.
-- $1=tenant_id $2=sales $3=can_redeem $4=limit
prepare recentSQL as
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $1 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by, visit.created_at as last_visit
  from (
    select customer_id, max(created_at) as created_at
    from (
      select customer_id, created_at
      from loyalty.transaction
      where tenant_id = $1
        and status = 'completed'
      order by id desc
      limit $2
    ) newest
    group by customer_id
  ) visit
  join loyalty.customer c on c.tenant_id = $1 and c.id = visit.customer_id
  join loyalty.account a on a.tenant_id = $1 and a.customer_id = c.id
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  where c.status = 'active'
    and (
      not $3
      or exists (
        select
        from loyalty.reward r
        where r.tenant_id = $1
          and r.active
          and (r.stock is null or r.stock > 0)
          and (r.points_cost <= a.points or r.stamps_cost <= a.stamps)
      )
    )
  order by visit.created_at desc, c.id desc
  limit $4;

-- unfoldedTenantSQL (core/customer/renew.go), for RenewKeys: RenewKeys computes the search texts and keys again of a
-- batch of customers whose rows an earlier build wrote, or a change of the country: they are made here and not in the
-- database.
prepare unfoldedTenantSQL as
  select loyalty.unfolded_tenant();

-- unfoldedSQL (core/customer/renew.go), for RenewKeys: RenewKeys computes the search texts and keys again of a batch of
-- customers whose rows an earlier build wrote, or a change of the country: they are made here and not in the database.
-- $1=tenant_id $2=limit
prepare unfoldedSQL as
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $1 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by, coalesce(c.phone_key, '') as phone_key, c.email_key,
    coalesce((
      select jsonb_agg(jsonb_build_object('Kind', f.kind, 'Key', f.key, 'Text', f.text) order by f.created_at desc, f.kind desc, f.key)
      from loyalty.customer_key f
      where f.tenant_id = $1
        and f.customer_id = c.id
    ), '[]') as further,
    (select coalesce(country, '') from loyalty.tenant where id = $1) as country,
    (select phone_optional from loyalty.tenant where id = $1) as phone_optional
  from loyalty.customer c
  join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  where c.tenant_id = $1
    and c.folded is null
    and (c.phone_key is not null or c.email_key is not null)
  order by c.id
  limit $2
  for no key update of c;

-- renewSQL (core/customer/renew.go), for renew: renew computes the keys of locked customers, and returns those whose new
-- key is another's.
-- $1=ids $2=phone_keys $3=email_keys $4=folded $5=tenant_id
prepare renewSQL as
  update loyalty.customer c
  set phone_key = nullif(given.phone_key, ''),
    email_key = given.email_key,
    folded = given.folded
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) given (id, phone_key, email_key, folded)
  where c.tenant_id = $5
    and c.id = given.id;

-- tagKeysSQL (core/customer/renew.go)
-- $1=tenant_id $2=ids
prepare tagKeysSQL as
  select customer_id, key, tag
  from loyalty.customer_tag
  where tenant_id = $1
    and customer_id = any ($2::uuid[])
  order by customer_id, key;

-- renewTagsSQL (core/customer/renew.go)
-- $1=ids $2=old $3=new $4=tenant_id
prepare renewTagsSQL as
  update loyalty.customer_tag g
  set key = given.new
  from unnest($1::uuid[], $2::text[], $3::text[]) given (id, old, new)
  where g.tenant_id = $4
    and g.customer_id = given.id
    and g.key = given.old;

-- findSQL (core/customer/sql.go), for FindIn: FindIn is Find in the caller's transaction.
-- $1=tenant_id $2=id
prepare findSQL as
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $1 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by
  from loyalty.customer c
  join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  where c.tenant_id = $1
    and c.id = $2
    and c.merged_into is null;

-- holdSQL (core/customer/sql.go): As the foreign key of an entry would lock it, so that a merge at the same time waits.
-- $1=tenant_id $2=id
prepare holdSQL as
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $1 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by
  from loyalty.customer c
  join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  where c.tenant_id = $1
    and c.id = $2
    and c.merged_into is null
  for key share of c;

-- findAllSQL (core/customer/sql.go), for FindAll: FindAll returns the customers with the ids, by id.
-- $1=tenant_id $2=ids
prepare findAllSQL as
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $1 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by
  from loyalty.customer c
  join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  where c.tenant_id = $1
    and c.id = any (array(select unnest($2::uuid[])))
    and c.merged_into is null
  order by c.id;

-- lockCountrySQL (core/customer/sql.go): A transaction that writes a phone number's or an e-mail address's key shares a
-- lock.
-- $1=tenant_id
prepare lockCountrySQL as
  select pg_advisory_xact_lock_shared(hashtextextended('country ' || $1::bigint::text, 9));

-- lockKeysSQL (core/customer/sql.go), for LockKeys: LockKeys keeps other transactions from writing keys of the
-- transaction's tenant until this one ends.
-- $1=tenant_id
prepare lockKeysSQL as
  select pg_advisory_xact_lock(hashtextextended('country ' || $1::bigint::text, 9));

-- lockSQL (core/customer/sql.go), for Edit: Edit changes the fields that are set.
-- $1=tenant_id $2=id
prepare lockSQL as
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $1 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by, coalesce(c.phone_key, '') as phone_key, c.email_key,
    coalesce((
      select jsonb_agg(jsonb_build_object('Kind', f.kind, 'Key', f.key, 'Text', f.text) order by f.created_at desc, f.kind desc, f.key)
      from loyalty.customer_key f
      where f.tenant_id = $1
        and f.customer_id = c.id
    ), '[]') as further,
    (select coalesce(country, '') from loyalty.tenant where id = $1) as country,
    (select phone_optional from loyalty.tenant where id = $1) as phone_optional
  from loyalty.customer c
  join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  where c.tenant_id = $1
    and c.id = $2
    and c.merged_into is null
  for no key update of c;

-- lockAloneSQL (core/customer/sql.go): Removing the keys needs this lock.
-- $1=tenant_id $2=id
prepare lockAloneSQL as
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $1 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by, coalesce(c.phone_key, '') as phone_key, c.email_key,
    coalesce((
      select jsonb_agg(jsonb_build_object('Kind', f.kind, 'Key', f.key, 'Text', f.text) order by f.created_at desc, f.kind desc, f.key)
      from loyalty.customer_key f
      where f.tenant_id = $1
        and f.customer_id = c.id
    ), '[]') as further,
    (select coalesce(country, '') from loyalty.tenant where id = $1) as country,
    (select phone_optional from loyalty.tenant where id = $1) as phone_optional
  from loyalty.customer c
  join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  where c.tenant_id = $1
    and c.id = $2
    and c.merged_into is null
  for update of c;

-- findByKeysSQL (core/customer/sql.go): A program's own id first, then phone, then e-mail.
-- $1=tenant_id $2=external_id $3=phone_key $4=email_key
prepare findByKeysSQL as
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $1 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by
  from loyalty.customer c
  join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  where c.tenant_id = $1
    and c.id = (
      select coalesce(
        (select id from loyalty.customer where tenant_id = $1 and external_id = $2),
        (select customer_id from loyalty.customer_key where tenant_id = $1 and kind = 'external_id' and key = $2),
        (select id from loyalty.customer where tenant_id = $1 and phone_key = $3),
        (select customer_id from loyalty.customer_key where tenant_id = $1 and kind = 'phone' and key = $3),
        (select id from loyalty.customer where tenant_id = $1 and email_key = $4),
        (select customer_id from loyalty.customer_key where tenant_id = $1 and kind = 'email' and key = $4))
    );

-- findByPhoneSQL (core/customer/sql.go): A match of the whole number comes first.
-- $1=tenant_id $2=phone_key $3=ending $4=limit
prepare findByPhoneSQL as
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $1 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by
  from loyalty.customer c
  join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  left join lateral (
    select t.id
    from loyalty.transaction t
    where t.tenant_id = $1
      and t.customer_id = c.id
      and t.status = 'completed'
    order by t.id desc
    limit 1
  ) visit on true
  where c.tenant_id = $1
    and (
      c.phone_key = $2
      or c.phone_key ~>=~ ($2::text || ';') and c.phone_key ~<~ ($2::text || '<')
      or c.phone_end = right($3::text, 4) and right(c.phone_key, length($3::text)) = $3::text
      or c.id = any (array(
        select customer_id
        from loyalty.customer_key
        where tenant_id = $1
          and kind = 'phone'
          and (key = $2 or right(key, length($3::text)) = $3::text)
      ))
    )
  order by c.phone_key = $2 desc nulls last, c.status = 'active' desc, visit.id desc nulls last, c.id desc
  limit $4;

-- findByNameSQL (core/customer/sql.go): Erased customers have no key.
-- $1=tenant_id $2=needles $3=every $4=found $5=limit
prepare findByNameSQL as
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $1 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by
  from loyalty.customer c
  join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  left join lateral (
    select t.id
    from loyalty.transaction t
    where t.tenant_id = $1
      and t.customer_id = c.id
      and t.status = 'completed'
    order by t.id desc
    limit 1
  ) visit on true
  where c.tenant_id = $1
    and coalesce(c.phone_key, c.email_key) is not null
    and c.id in (
    select s.id
    from loyalty.find_customers($2, $3, null, null, null, null, null, null, null, null, false, $4) s
    )
  order by c.status = 'active' desc, visit.id desc nulls last, c.id desc
  limit $5;

-- insertSQL (core/customer/sql.go): Returns no row if one of the keys exists, also as a further one, if the country is
-- not the one by which the phone number was read, if they have no phone number and the tenant requires one, or if the
-- customers counted leave no space in the plan, whose limit is read here to apply at once.
-- $1=tenant_id $2=id $3=first_name $4=last_name $5=phone $6=phone_key $7=email $8=email_key $9=folded $10=external_id
-- $11=metadata $12=birth_year $13=birth_month $14=birth_day $15=unchecked_since $16=now $17=country $18=used
prepare insertSQL as
  insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, email, email_key, folded,
    external_id, metadata, birth_year, birth_month, birth_day, unchecked_since, created_at, updated_at)
  select $1, $2, $3, $4, $5, nullif($6, ''), $7, $8, $9,
    $10, $11::jsonb, $12::int, $13::int, $14::int, $15::timestamptz, $16, $16
  from loyalty.tenant t
  where t.id = $1
    and coalesce(t.country, '') = $17
    and ($6 <> '' or t.phone_optional)
    and ($18::bigint is null
      or (select coalesce(p.customers_limit > $18, true) from loyalty.plan p where p.id = t.plan_id))
    and not exists (
      select
      from loyalty.customer_key
      where tenant_id = $1
        and (kind = 'phone' and key = $6 or kind = 'email' and key = $8 or kind = 'external_id' and key = $10)
    )
  on conflict do nothing
  returning id, first_name, last_name, phone, email, status,
    0::bigint as points_balance, 0::bigint as stamps_balance, created_at, updated_at, false as erased,
    external_id, metadata, '{}'::text[] as tags,
    null::date as points_expire_on, null::date as stamps_expire_on, null::date as points_idle_on, null::date as stamps_idle_on,
    unsubscribed_at, link_version, unchecked_since, null::timestamptz as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    0::bigint as visits, null::date as earned_on, 0::bigint as earned_points, 0::bigint as earned_stamps,
    null::int as level_year, 0::bigint as level_sum, 0::bigint as level_sum_before,
    null::bigint as level_id, null::date as level_until, null::text as level_by;

-- updateSQL (core/customer/sql.go): Changes nothing if one of the keys leads to another customer.
-- $1=first_name $2=last_name $3=phone $4=phone_key $5=email $6=email_key $7=external_id $8=metadata $9=birth_year
-- $10=birth_month $11=birth_day $12=folded $13=status $14=replaces $15=now $16=tenant_id $17=id
prepare updateSQL as
  update loyalty.customer c
  set first_name = $1,
    last_name = $2,
    phone = $3,
    phone_key = nullif($4, ''),
    email = $5,
    email_key = $6,
    external_id = $7,
    metadata = $8::jsonb,
    birth_year = $9::int,
    birth_month = $10::int,
    birth_day = $11::int,
    folded = $12,
    status = $13,
    link_version = c.link_version + $14::bigint,
    unchecked_since = case when c.phone_key = $4 then c.unchecked_since end,
    updated_at = $15
  from loyalty.account a
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  where c.tenant_id = $16
    and c.id = $17
    and not exists (
      select
      from loyalty.customer_key
      where tenant_id = $16
        and customer_id <> $17
        and (kind = 'phone' and key = $4 and c.phone_key is distinct from $4
          or kind = 'email' and key = $6 and c.email_key is distinct from $6
          or kind = 'external_id' and key = $7 and c.external_id is distinct from $7)
    )
    and a.tenant_id = c.tenant_id
    and a.customer_id = c.id
  returning c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $16 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by;

-- customerList (core/customer/sql.go), for List: List returns a page of the customers that match the filter, newest
-- first.
-- $1=tenant_id $2=limit
-- filter: and coalesce(c.folded, c.search_key) like all (@all_patterns::text[])
-- filter: and c.created_at < @before
-- filter: and c.id = any (array( select id from loyalty.customer where tenant_id = @tenant_id and email_key = @email_key
-- union all select customer_id from loyalty.customer_key where tenant_id = @tenant_id and kind = 'email' and key =
-- @email_key ))
-- filter: and c.id = any (array( select id from loyalty.customer where tenant_id = @tenant_id and external_id =
-- @external_id union all select customer_id from loyalty.customer_key where tenant_id = @tenant_id and kind =
-- 'external_id' and key = @external_id ))
-- filter: and c.created_at >= @from
-- filter: and coalesce(c.folded, c.search_key) like any (@patterns::text[])
-- filter: and c.id = any (array( select id from loyalty.customer where tenant_id = @tenant_id and phone_key = @phone_key
-- union all select customer_id from loyalty.customer_key where tenant_id = @tenant_id and kind = 'phone' and key =
-- @phone_key ))
-- filter: and c.status = @status
prepare customerList as
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $1 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by
  from loyalty.customer c
  join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  where c.tenant_id = $1
    and c.merged_into is null
  order by c.created_at desc, c.id desc
  limit $2;

-- rowList (core/customer/sql.go), for Browse: Browse is List for the panel, with the last visit, the tags and a choice
-- of orders.
-- $1=tenant_id $2=limit
-- filter: and coalesce(c.folded, c.search_key) like all (@all_patterns::text[])
-- filter: and c.created_at < @before
-- filter: and c.id = any (array( select id from loyalty.customer where tenant_id = @tenant_id and email_key = @email_key
-- union all select customer_id from loyalty.customer_key where tenant_id = @tenant_id and kind = 'email' and key =
-- @email_key ))
-- filter: and c.id = any (array( select id from loyalty.customer where tenant_id = @tenant_id and external_id =
-- @external_id union all select customer_id from loyalty.customer_key where tenant_id = @tenant_id and kind =
-- 'external_id' and key = @external_id ))
-- filter: and c.created_at >= @from
-- filter: and coalesce(c.folded, c.search_key) like any (@patterns::text[])
-- filter: and c.id = any (array( select id from loyalty.customer where tenant_id = @tenant_id and phone_key = @phone_key
-- union all select customer_id from loyalty.customer_key where tenant_id = @tenant_id and kind = 'phone' and key =
-- @phone_key ))
-- filter: and c.status = @status
prepare rowList as
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $1 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by, visit.created_at as last_visit
  from loyalty.customer c
  join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  left join lateral (
    select t.created_at
    from loyalty.transaction t
    where t.tenant_id = $1
      and t.customer_id = c.id
      and t.status = 'completed'
    order by t.id desc
    limit 1
  ) visit on true
  where c.tenant_id = $1
    and c.merged_into is null
  order by c.created_at desc, c.id desc
  limit $2;

-- rowsByName (core/customer/sql.go), for Browse: Browse is List for the panel, with the last visit, the tags and a
-- choice of orders.
-- $1=tenant_id $2=limit
-- filter: and coalesce(c.folded, c.search_key) like all (@all_patterns::text[])
-- filter: and c.created_at < @before
-- filter: and c.id = any (array( select id from loyalty.customer where tenant_id = @tenant_id and email_key = @email_key
-- union all select customer_id from loyalty.customer_key where tenant_id = @tenant_id and kind = 'email' and key =
-- @email_key ))
-- filter: and c.id = any (array( select id from loyalty.customer where tenant_id = @tenant_id and external_id =
-- @external_id union all select customer_id from loyalty.customer_key where tenant_id = @tenant_id and kind =
-- 'external_id' and key = @external_id ))
-- filter: and c.created_at >= @from
-- filter: and coalesce(c.folded, c.search_key) like any (@patterns::text[])
-- filter: and c.id = any (array( select id from loyalty.customer where tenant_id = @tenant_id and phone_key = @phone_key
-- union all select customer_id from loyalty.customer_key where tenant_id = @tenant_id and kind = 'phone' and key =
-- @phone_key ))
-- filter: and c.status = @status
prepare rowsByName as
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $1 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by, visit.created_at as last_visit
  from loyalty.customer c
  join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  left join lateral (
    select t.created_at
    from loyalty.transaction t
    where t.tenant_id = $1
      and t.customer_id = c.id
      and t.status = 'completed'
    order by t.id desc
    limit 1
  ) visit on true
  where c.tenant_id = $1
    and c.merged_into is null
  order by c.last_name collate loyalty.name, c.first_name collate loyalty.name, c.id
  limit $2;

-- amongList (core/customer/sql.go): Of given customers, those that match a filter.
-- $1=tenant_id $2=ids
-- filter: and coalesce(c.folded, c.search_key) like all (@all_patterns::text[])
-- filter: and c.created_at < @before
-- filter: and c.id = any (array( select id from loyalty.customer where tenant_id = @tenant_id and email_key = @email_key
-- union all select customer_id from loyalty.customer_key where tenant_id = @tenant_id and kind = 'email' and key =
-- @email_key ))
-- filter: and c.id = any (array( select id from loyalty.customer where tenant_id = @tenant_id and external_id =
-- @external_id union all select customer_id from loyalty.customer_key where tenant_id = @tenant_id and kind =
-- 'external_id' and key = @external_id ))
-- filter: and c.created_at >= @from
-- filter: and coalesce(c.folded, c.search_key) like any (@patterns::text[])
-- filter: and c.id = any (array( select id from loyalty.customer where tenant_id = @tenant_id and phone_key = @phone_key
-- union all select customer_id from loyalty.customer_key where tenant_id = @tenant_id and kind = 'phone' and key =
-- @phone_key ))
-- filter: and c.status = @status
prepare amongList as
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $1 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by
  from loyalty.customer c
  join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  where c.tenant_id = $1
    and c.merged_into is null
    and c.id = any (array(select unnest($2::uuid[])));

-- taggedRowList (core/customer/sql.go): The customers of a tag are read from the tag's index, newest first; a search
-- looks at these alone.
-- $1=tenant_id $2=tag $3=limit
-- filter: and coalesce(c.folded, c.search_key) like all (@all_patterns::text[])
-- filter: and g.created_at < @before
-- filter: and c.id = any (array( select id from loyalty.customer where tenant_id = @tenant_id and email_key = @email_key
-- union all select customer_id from loyalty.customer_key where tenant_id = @tenant_id and kind = 'email' and key =
-- @email_key ))
-- filter: and c.id = any (array( select id from loyalty.customer where tenant_id = @tenant_id and external_id =
-- @external_id union all select customer_id from loyalty.customer_key where tenant_id = @tenant_id and kind =
-- 'external_id' and key = @external_id ))
-- filter: and g.created_at >= @from
-- filter: and coalesce(c.folded, c.search_key) like any (@patterns::text[])
-- filter: and c.id = any (array( select id from loyalty.customer where tenant_id = @tenant_id and phone_key = @phone_key
-- union all select customer_id from loyalty.customer_key where tenant_id = @tenant_id and kind = 'phone' and key =
-- @phone_key ))
-- filter: and c.status = @status
prepare taggedRowList as
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $1 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by, visit.created_at as last_visit
  from loyalty.customer_tag g
  join loyalty.customer c on c.tenant_id = g.tenant_id and c.id = g.customer_id
  join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  left join lateral (
    select t.created_at
    from loyalty.transaction t
    where t.tenant_id = $1
      and t.customer_id = c.id
      and t.status = 'completed'
    order by t.id desc
    limit 1
  ) visit on true
  where g.tenant_id = $1
    and g.key = $2
  order by g.created_at desc, g.customer_id desc
  limit $3;

-- foundList (core/customer/sql.go): A search uses the one function that may use its index, with the filters as
-- arguments.
-- $1=tenant_id $2=needles $3=every $4=phone_key $5=email_key $6=status $7=from $8=before $9=limit
prepare foundList as
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $1 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by
  from loyalty.customer c
  join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  where c.tenant_id = $1
    and c.merged_into is null
    and c.id in (
      select s.id
      from loyalty.find_customers($2, $3, null, $4, $5, $6, $7, $8, null, null, false, $9) s
    )
  order by c.created_at desc, c.id desc
  limit $9;

-- foundRowList (core/customer/sql.go): A search uses the one function that may use its index, with the filters as
-- arguments.
-- $1=tenant_id $2=needles $3=every $4=phone_key $5=email_key $6=status $7=from $8=before $9=limit
prepare foundRowList as
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $1 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by, visit.created_at as last_visit
  from loyalty.customer c
  join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  left join lateral (
    select t.created_at
    from loyalty.transaction t
    where t.tenant_id = $1
      and t.customer_id = c.id
      and t.status = 'completed'
    order by t.id desc
    limit 1
  ) visit on true
  where c.tenant_id = $1
    and c.merged_into is null
    and c.id in (
      select s.id
      from loyalty.find_customers($2, $3, null, $4, $5, $6, $7, $8, null, null, false, $9) s
    )
  order by c.created_at desc, c.id desc
  limit $9;

-- browseFoundSQL (core/customer/sql.go): The first page of a search and the number of matches, which are found in the
-- order of the page.
-- $1=needles $2=every $3=phone_key $4=email_key $5=status $6=from $7=before $8=limit $9=tenant_id $10=size
prepare browseFoundSQL as
  with found as materialized (
    select s.id, s.place
    from loyalty.find_customers($1, $2, null, $3, $4, $5, $6, $7, null, null, false, $8)
      with ordinality s (id, place)
  )
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $9 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by, visit.created_at as last_visit,
    (select count(*) from found) as found
  from loyalty.customer c
  join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  left join lateral (
    select t.created_at
    from loyalty.transaction t
    where t.tenant_id = $9
      and t.customer_id = c.id
      and t.status = 'completed'
    order by t.id desc
    limit 1
  ) visit on true
  where c.tenant_id = $9
    and c.merged_into is null
    and c.id in (select id from found where place <= $10)
  order by c.created_at desc, c.id desc;

-- eraseSQL (core/customer/sql.go), for Anonymise: Anonymise deletes a customer's name, contact details, further keys,
-- external ID, metadata, consents, note and tags, and makes them inactive.
-- $1=now $2=tenant_id $3=id
prepare eraseSQL as
  update loyalty.customer c
  set first_name = 'Erased',
    last_name = 'Erased',
    phone = '',
    phone_key = null,
    email = null,
    email_key = null,
    external_id = null,
    metadata = null,
    birth_year = null,
    birth_month = null,
    birth_day = null,
    folded = '',
    note = null,
    status = 'inactive',
    link_version = c.link_version + 1,
    updated_at = $1
  from loyalty.account a
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  where c.tenant_id = $2
    and c.id = $3
    and a.tenant_id = c.tenant_id
    and a.customer_id = c.id
  returning c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $2 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by;

-- phonesSQL (core/customer/sql.go): The customers' own numbers first.
-- $1=tenant_id
prepare phonesSQL as
  select id, phone, phone_key, false as further
  from loyalty.customer
  where tenant_id = $1
    and phone_key is not null
  union all
  select customer_id, text, key, true
  from loyalty.customer_key
  where tenant_id = $1
    and kind = 'phone'
  order by further, id, phone_key;

-- dropFurtherSQL (core/customer/sql.go)
-- $1=tenant_id $2=keys
prepare dropFurtherSQL as
  delete from loyalty.customer_key
  where tenant_id = $1
    and kind = 'phone'
    and key = any($2::text[]);

-- vacateFurtherSQL (core/customer/sql.go): First gives them keys that no number has, so that none gets a key while
-- another still has it.
-- $1=tenant_id $2=old
prepare vacateFurtherSQL as
  update loyalty.customer_key
  set key = 'moving ' || key
  where tenant_id = $1
    and kind = 'phone'
    and key = any($2::text[]);

-- setFurtherSQL (core/customer/sql.go)
-- $1=old $2=new $3=tenant_id
prepare setFurtherSQL as
  update loyalty.customer_key f
  set key = given.new
  from (
    select 'moving ' || old as key, new
    from unnest($1::text[], $2::text[]) given (old, new)
    offset 0
  ) given
  where f.tenant_id = $3
    and f.kind = 'phone'
    and f.key = given.key;

-- unfoldSQL (core/customer/sql.go)
-- $1=tenant_id $2=ids
prepare unfoldSQL as
  update loyalty.customer
  set folded = null
  where tenant_id = $1
    and id = any($2::uuid[]);

-- vacateKeysSQL (core/customer/sql.go), for Rekey: Rekey computes the keys of all phone numbers of the transaction's
-- tenant for another country.
-- $1=tenant_id $2=ids
prepare vacateKeysSQL as
  update loyalty.customer
  set phone_key = null
  where tenant_id = $1
    and id = any($2::uuid[]);

-- setKeysSQL (core/customer/sql.go), for Rekey: Rekey computes the keys of all phone numbers of the transaction's tenant
-- for another country.
-- $1=ids $2=keys $3=tenant_id
prepare setKeysSQL as
  update loyalty.customer c
  set phone_key = given.phone_key,
    folded = null
  from unnest($1::uuid[], $2::text[]) given (id, phone_key)
  where c.tenant_id = $3
    and c.id = given.id;

-- subscribeSQL (core/customer/sql.go): Finds no customer who had chosen that before, or who is erased.
-- $1=unsubscribed_at $2=now $3=tenant_id $4=id
prepare subscribeSQL as
  update loyalty.customer c
  set unsubscribed_at = $1,
    updated_at = $2
  from loyalty.account a
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  where c.tenant_id = $3
    and c.id = $4
    and coalesce(c.phone_key, c.email_key) is not null
    and (c.unsubscribed_at is null) = ($1::timestamptz is not null)
    and a.tenant_id = c.tenant_id
    and a.customer_id = c.id
  returning c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $3 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by;

-- timelineList (core/customer/timeline.go), for MergedTimeline: MergedTimeline returns a page of the timeline of a
-- customer before they were merged into kept, or core.ErrNotFound.
-- $1=voids_any $2=tenant_id $3=customer $4=limit
-- filter: and e.kind in ('adjustment', 'merge', 'opening')
-- filter: and e.kind = 'expiry'
-- filter: and e.kind in ('redemption', 'redemption_refund')
-- filter: and e.kind in ('earn', 'reversal', 'refund') and v.id is null
-- filter: and e.created_at >= @since
-- filter: and e.kind in ('voucher', 'reversal') and v.id is not null
prepare timelineList as
  select e.id, e.seq, e.kind, e.unit, e.amount, e.balance_after, e.cause, e.reason,
    e.kind in ('earn', 'redemption') and coalesce(t.status, r.status) = 'voided' or e.kind = 'voucher' and coalesce(v.turn > e.turn, false) as voided, n.balance_after as balance_voided,
    e.kind = 'earn' and t.status = 'completed' and $1::boolean as voidable,
    f.transaction_id as sale_id, k.name as type_name, t.spend_amount_cents, f.amount_cents as refunded_cents, x.amount as returned,
    nullif(e.expires_on, 'infinity') as expires_on, l.name as location_name, w.name as reward_name, p.name as coupon_name,
    m.merged_id, m.first_name || ' ' || m.last_name as merged_name,
    e.actor_kind, e.actor_name, e.created_at
  from loyalty.ledger_entry e
  cross join lateral (
    select e.seq - 1 as before, e.seq + 1 as after
    offset 0
  ) beside
  left join loyalty.ledger_entry n on n.tenant_id = e.tenant_id and n.customer_id = e.customer_id and n.seq = beside.after and n.cause = e.cause and n.turn = e.turn and n.kind <> 'expiry_return'
  left join loyalty.ledger_entry x on x.tenant_id = e.tenant_id and x.customer_id = e.customer_id and x.seq = beside.before and x.cause = e.cause and x.turn = e.turn and x.kind = 'expiry_return'
  left join loyalty.refund f on e.kind = 'refund' and f.tenant_id = e.tenant_id and f.id = e.cause
  cross join lateral (
    select coalesce(f.transaction_id, e.cause) as id
    offset 0
  ) s
  left join loyalty.transaction t on e.kind in ('earn', 'reversal', 'refund') and t.tenant_id = e.tenant_id and t.id = s.id
  left join loyalty.transaction_type k on k.tenant_id = t.tenant_id and k.id = t.transaction_type_id
  left join loyalty.redemption r on e.kind in ('redemption', 'redemption_refund') and r.tenant_id = e.tenant_id and r.id = e.cause
  cross join lateral (
    select coalesce(t.location_id, r.location_id) as id
    offset 0
  ) o
  left join loyalty.location l on l.tenant_id = e.tenant_id and l.id = o.id
  left join loyalty.reward w on w.tenant_id = r.tenant_id and w.id = r.reward_id
  left join loyalty.voucher v on e.kind in ('voucher', 'reversal') and v.tenant_id = e.tenant_id and v.id = e.cause
  left join loyalty.coupon p on p.tenant_id = v.tenant_id and p.id = v.coupon_id
  left join loyalty.customer_merge m on m.tenant_id = e.tenant_id and m.id = e.merge_id and m.kept_id = e.customer_id
  where e.tenant_id = $2
    and e.customer_id = $3
    and e.kind <> 'expiry_return'
    and not exists (
      select
      from loyalty.ledger_entry b
      where b.tenant_id = $2
        and b.customer_id = $3
        and b.seq = beside.before
        and b.cause = e.cause
        and b.turn = e.turn
        and b.kind <> 'expiry_return'
    )
  order by e.seq desc
  limit $4;

-- spendByDaySQL (core/customer/timeline.go): An ID contains its created_at, so the index in the order of IDs finds the
-- days.
-- $1=zone $2=tenant_id $3=customer $4=first $5=after
prepare spendByDaySQL as
  select to_char(created_at at time zone $1::text, 'YYYY-MM-DD') as day,
    least(sum(spend_amount_cents), 9223372036854775807)::bigint as cents
  from loyalty.transaction
  where tenant_id = $2
    and customer_id = $3
    and id >= $4
    and id < $5
    and status = 'completed'
  group by day;

-- noteExternalIDSQL (core/customer/upsert.go), for noteExternalID: noteExternalID gives a customer who was found the ID
-- by which a program knows them.
-- $1=now $2=external_id $3=tenant_id $4=id
prepare noteExternalIDSQL as
  update loyalty.customer c
  set external_id = given.external_id,
    updated_at = $1
  from (values ($2::text)) given (external_id)
  cross join loyalty.account a
  left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries
  where c.tenant_id = $3
    and c.id = $4
    and c.external_id is null
    and coalesce(c.phone_key, c.email_key) is not null
    and not exists (
      select
      from loyalty.customer_key
      where tenant_id = $3
        and kind = 'external_id'
        and key = given.external_id
    )
    and a.tenant_id = c.tenant_id
    and a.customer_id = c.id
  returning c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
    c.external_id, c.metadata, array(select g.tag from loyalty.customer_tag g where g.tenant_id = $3 and g.customer_id = c.id order by g.key) as tags,
    a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
    moved.created_at as balance_changed_at, coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday,
    coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by;

-- hasExternalIDSQL (core/customer/upsert.go), for noteExternalID: noteExternalID gives a customer who was found the ID
-- by which a program knows them.
-- $1=tenant_id $2=external_id $3=id
prepare hasExternalIDSQL as
  select exists (
    select
    from loyalty.customer_key
    where tenant_id = $1
      and kind = 'external_id'
      and key = $2
      and customer_id = $3
  );
