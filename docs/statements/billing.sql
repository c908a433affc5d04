-- The statements of core/billing, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/billing.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- plansSQL (core/billing/sql.go), for Plans: Plans returns all plans by price, retired ones last.
prepare plansSQL as
  select p.id, p.name, p.monthly_cents, p.yearly_cents, p.currency, p.customers_limit, p.staff_limit, p.sends_limit, p.retired,
    (select count(*) from loyalty.tenant t where t.plan_id = p.id) as tenants
  from loyalty.plan p
  order by p.retired, p.currency, p.monthly_cents, lower(p.name), p.id;

-- planSQL (core/billing/sql.go), for Plan: Plan returns a plan, or core.ErrNotFound.
-- $1=id
prepare planSQL as
  select p.id, p.name, p.monthly_cents, p.yearly_cents, p.currency, p.customers_limit, p.staff_limit, p.sends_limit, p.retired,
    (select count(*) from loyalty.tenant t where t.plan_id = p.id) as tenants
  from loyalty.plan p
  where p.id = $1;

-- lockPlanSQL (core/billing/sql.go), for EditPlan: EditPlan changes a plan.
-- $1=id
prepare lockPlanSQL as
  select p.id, p.name, p.monthly_cents, p.yearly_cents, p.currency, p.customers_limit, p.staff_limit, p.sends_limit, p.retired,
    (select count(*) from loyalty.tenant t where t.plan_id = p.id) as tenants
  from loyalty.plan p
  where p.id = $1
  for no key update of p;

-- insertPlanSQL (core/billing/sql.go), for CreatePlan: CreatePlan creates a plan.
-- $1=name $2=monthly $3=yearly $4=currency $5=customers $6=staff $7=sends
prepare insertPlanSQL as
  insert into loyalty.plan (name, monthly_cents, yearly_cents, currency, customers_limit, staff_limit, sends_limit)
  values ($1, $2, $3, $4, $5, $6, $7)
  returning id;

-- updatePlanSQL (core/billing/sql.go), for EditPlan: EditPlan changes a plan.
-- $1=name $2=monthly $3=yearly $4=currency $5=customers $6=staff $7=sends $8=id
prepare updatePlanSQL as
  update loyalty.plan
  set name = $1,
    monthly_cents = $2,
    yearly_cents = $3,
    currency = $4,
    customers_limit = $5,
    staff_limit = $6,
    sends_limit = $7
  where id = $8;

-- retirePlanSQL (core/billing/sql.go)
-- $1=retired $2=id
prepare retirePlanSQL as
  update loyalty.plan
  set retired = $1
  where id = $2;

-- deletePlanSQL (core/billing/sql.go), for DeletePlan: DeletePlan deletes a plan that was never used; others are refused
-- with ErrPlanInUse.
-- $1=id
prepare deletePlanSQL as
  delete from loyalty.plan
  where id = $1;

-- settingsSQL (core/billing/sql.go), for issueDrafts: issueDrafts issues every draft, if the settings say so.
prepare settingsSQL as
  select jsonb_build_object('name', s.issuer_name, 'address', s.issuer_address,
      'tax_number', s.issuer_tax_number, 'email', s.issuer_email) as issuer, s.tax_name, s.tax_rate, s.payment_text, s.payment_days,
    s.issue_automatically, s.mail_name, s.mail_address
  from loyalty.platform_setting s;

-- lockSettingsSQL (core/billing/sql.go), for EditSettings: EditSettings changes the platform's settings, for
-- super-admins.
prepare lockSettingsSQL as
  select jsonb_build_object('name', s.issuer_name, 'address', s.issuer_address,
      'tax_number', s.issuer_tax_number, 'email', s.issuer_email) as issuer, s.tax_name, s.tax_rate, s.payment_text, s.payment_days,
    s.issue_automatically, s.mail_name, s.mail_address
  from loyalty.platform_setting s
  for no key update;

-- updateSettingsSQL (core/billing/sql.go), for EditSettings: EditSettings changes the platform's settings, for
-- super-admins.
-- $1=issuer_name $2=issuer_address $3=issuer_tax_number $4=issuer_email $5=tax_name $6=tax_rate $7=payment_text
-- $8=payment_days $9=issue_automatically $10=mail_name $11=mail_address
prepare updateSettingsSQL as
  update loyalty.platform_setting
  set issuer_name = $1,
    issuer_address = $2,
    issuer_tax_number = $3,
    issuer_email = $4,
    tax_name = $5,
    tax_rate = $6,
    payment_text = $7,
    payment_days = $8,
    issue_automatically = $9,
    mail_name = $10,
    mail_address = $11;

-- dueSQL (core/billing/sql.go): Tenants whose last period is over, in their own zone.
-- $1=after $2=now $3=up_to
prepare dueSQL as
  select t.id
  from loyalty.tenant t
  left join loyalty.billing_account a on a.tenant_id = t.id
  where t.status = 'active'
    and not t.test
    and t.id > $1
    and coalesce(a.billed_through, (t.created_at at time zone t.timezone)::date - 1) < ($2::timestamptz at time zone t.timezone)::date
  order by t.id
  limit $3;

-- openAccountSQL (core/billing/sql.go), for EditDetails: EditDetails changes the recipient on the next invoices of the
-- actor's business, for its owners.
-- $1=tenant_id
prepare openAccountSQL as
  insert into loyalty.billing_account (tenant_id, anchor_day, billed_through)
  select id, extract(day from created_at at time zone timezone), (created_at at time zone timezone)::date - 1
  from loyalty.tenant
  where id = $1
  on conflict (tenant_id) do nothing;

-- lockAccountSQL (core/billing/sql.go), for lockAccount: lockAccount locks a tenant's account, which it creates if
-- necessary.
-- $1=tenant
prepare lockAccountSQL as
  select
  from loyalty.billing_account
  where tenant_id = $1
  for no key update;

-- accountSQL (core/billing/sql.go), for lockAccount: lockAccount locks a tenant's account, which it creates if
-- necessary.
-- $1=tenant
prepare accountSQL as
  select a.tenant_id, t.name as tenant_name, t.status, t.timezone, t.billing_cycle, t.plan_id, p.name as plan_name, case t.billing_cycle when 'yearly' then p.yearly_cents else p.monthly_cents end as price_cents, p.currency,
    a.anchor_day, a.billed_through, s.tax_name, s.tax_rate
  from loyalty.billing_account a
  join loyalty.tenant t on t.id = a.tenant_id
  join loyalty.plan p on p.id = t.plan_id
  cross join loyalty.platform_setting s
  where a.tenant_id = $1;

-- billedThroughSQL (core/billing/sql.go), for bill: bill bills every period that has begun.
-- $1=through $2=tenant
prepare billedThroughSQL as
  update loyalty.billing_account
  set billed_through = $1
  where tenant_id = $2;

-- resumeSQL (core/billing/sql.go), for Resume: Resume restarts the billing of a tenant today if its last period ended
-- while it was suspended: those days are not billed.
-- $1=through $2=anchor $3=tenant
prepare resumeSQL as
  update loyalty.billing_account
  set billed_through = $1,
    anchor_day = $2
  where tenant_id = $3;

-- insertPeriodSQL (core/billing/sql.go), for billPeriod: billPeriod stores that a period was billed, with a draft if
-- there is something to pay.
-- $1=tenant $2=start $3=end $4=cycle $5=plan $6=price $7=currency $8=invoice $9=now
prepare insertPeriodSQL as
  insert into loyalty.billing_period (tenant_id, period_start, period_end, billing_cycle, plan_id, rate_cents, price_cents, currency, invoice_id, created_at)
  values ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9);

-- waitingItemsSQL (core/billing/sql.go), for bill: bill bills every period that has begun.
-- $1=tenant
prepare waitingItemsSQL as
  select id, description, amount_cents, currency
  from loyalty.billing_item
  where tenant_id = $1
    and settled_at is null
  order by created_at, id;

-- insertItemSQL (core/billing/sql.go), for queueItem: queueItem stores an item for the next invoice.
-- $1=tenant $2=id $3=description $4=amount $5=currency $6=carried $7=now
prepare insertItemSQL as
  insert into loyalty.billing_item (tenant_id, id, description, amount_cents, currency, carried, created_at)
  values ($1, $2, $3, $4, $5, $6, $7);

-- settleSQL (core/billing/sql.go)
-- $1=now $2=invoice $3=tenant $4=items
prepare settleSQL as
  update loyalty.billing_item
  set settled_at = $1,
    invoice_id = $2
  where tenant_id = $3
    and id = any($4::uuid[]);

-- draftSQL (core/billing/sql.go), for invoice: invoice creates a draft of the lines and the waiting items in the plan's
-- currency, and returns its id and the items that still wait.
-- $1=tenant $2=currency $3=lines $4=amount $5=tax_name $6=tax_rate $7=tax $8=total $9=start $10=end $11=now
prepare draftSQL as
  insert into loyalty.invoice (tenant_id, currency, lines, amount_cents, tax_name, tax_rate, tax_cents, total_cents, period_start, period_end, created_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
  returning id;

-- runningPeriodSQL (core/billing/sql.go), for ChangePlan: ChangePlan settles the current period of a tenant whose plan
-- or cycle changes.
-- $1=plan $2=tenant $3=today
prepare runningPeriodSQL as
  select b.period_start, b.period_end, b.billing_cycle, old.name as plan_name, b.rate_cents, b.currency,
    new.id as new_plan_id, new.name as new_plan_name, new.currency as new_currency,
    case b.billing_cycle when 'yearly' then new.yearly_cents else new.monthly_cents end as new_rate_cents
  from loyalty.billing_period b
  join loyalty.plan old on old.id = b.plan_id
  join loyalty.plan new on new.id = $1
  where b.tenant_id = $2
    and b.period_start <= $3
    and b.period_end >= $3;

-- changeRateSQL (core/billing/sql.go), for prorate: prorate credits and charges the rest of a period, from today on.
-- $1=plan $2=rate $3=tenant $4=start
prepare changeRateSQL as
  update loyalty.billing_period
  set plan_id = $1,
    rate_cents = $2
  where tenant_id = $3
    and period_start = $4;

-- draftsSQL (core/billing/sql.go), for issueDrafts: issueDrafts issues every draft, if the settings say so.
-- $1=after $2=up_to
prepare draftsSQL as
  select id
  from loyalty.invoice
  where status = 'draft'
    and id > $1
  order by id
  limit $2;

-- markOverdueSQL (core/billing/sql.go), for markOverdue: markOverdue marks unpaid invoices whose due date has passed,
-- and reminds their owners once.
-- $1=now $2=up_to
prepare markOverdueSQL as
  update loyalty.invoice i
  set status = 'overdue'
  from loyalty.tenant t
  where t.id = i.tenant_id
    and i.id in (
      select id
      from loyalty.invoice
      where status = 'issued'
        and due_at < $1
      order by due_at
      limit $2
      for no key update skip locked
    )
  returning i.id, i.number, i.tenant_id, t.name as tenant_name, t.timezone, i.currency, i.total_cents, i.issued_at;

-- findSQL (core/billing/sql.go), for Find: Find returns an invoice, or core.ErrNotFound.
-- $1=now $2=id
prepare findSQL as
  select i.id, i.number, i.tenant_id, t.name as tenant_name, t.slug as tenant_slug, t.email as tenant_email, t.timezone,
    case when i.status = 'issued' and i.due_at < $1 then 'overdue' else i.status end as status,
    i.currency, i.lines, i.amount_cents, tax.name as tax_name, tax.rate as tax_rate, tax.cents as tax_cents, i.amount_cents + tax.cents as total_cents,
    i.period_start, i.period_end,
    coalesce(i.issuer, jsonb_build_object('name', s.issuer_name, 'address', s.issuer_address,
      'tax_number', s.issuer_tax_number, 'email', s.issuer_email)) as issuer,
    coalesce(i.recipient, jsonb_build_object('name', coalesce(nullif(a.name, ''), t.name), 'address', coalesce(a.address, ''),
      'tax_number', coalesce(a.tax_number, ''), 'email', t.email)) as recipient,
    case when i.issuer is null then s.payment_text else i.payment_text end as payment_text,
    i.created_at, i.issued_at, i.due_at, i.paid_at, i.voided_at, i.void_reason, i.sent_at, i.sent_to
  from loyalty.invoice i
  join loyalty.tenant t on t.id = i.tenant_id
  left join loyalty.billing_account a on a.tenant_id = i.tenant_id
  cross join loyalty.platform_setting s
  cross join lateral (
    select i.tax_name, i.tax_rate, i.tax_cents
    where i.status <> 'draft'
    union all
    select s.tax_name, s.tax_rate, (i.amount_cents * s.tax_rate + 5000) / 10000
    where i.status = 'draft'
  ) tax (name, rate, cents)
  where i.id = $2;

-- lockInvoiceSQL (core/billing/sql.go), for changeInvoice: changeInvoice runs fn on a locked invoice: of two people who
-- press at once, the second sees what the first did.
-- $1=now $2=id
prepare lockInvoiceSQL as
  select i.id, i.number, i.tenant_id, t.name as tenant_name, t.slug as tenant_slug, t.email as tenant_email, t.timezone,
    case when i.status = 'issued' and i.due_at < $1 then 'overdue' else i.status end as status,
    i.currency, i.lines, i.amount_cents, tax.name as tax_name, tax.rate as tax_rate, tax.cents as tax_cents, i.amount_cents + tax.cents as total_cents,
    i.period_start, i.period_end,
    coalesce(i.issuer, jsonb_build_object('name', s.issuer_name, 'address', s.issuer_address,
      'tax_number', s.issuer_tax_number, 'email', s.issuer_email)) as issuer,
    coalesce(i.recipient, jsonb_build_object('name', coalesce(nullif(a.name, ''), t.name), 'address', coalesce(a.address, ''),
      'tax_number', coalesce(a.tax_number, ''), 'email', t.email)) as recipient,
    case when i.issuer is null then s.payment_text else i.payment_text end as payment_text,
    i.created_at, i.issued_at, i.due_at, i.paid_at, i.voided_at, i.void_reason, i.sent_at, i.sent_to
  from loyalty.invoice i
  join loyalty.tenant t on t.id = i.tenant_id
  left join loyalty.billing_account a on a.tenant_id = i.tenant_id
  cross join loyalty.platform_setting s
  cross join lateral (
    select i.tax_name, i.tax_rate, i.tax_cents
    where i.status <> 'draft'
    union all
    select s.tax_name, s.tax_rate, (i.amount_cents * s.tax_rate + 5000) / 10000
    where i.status = 'draft'
  ) tax (name, rate, cents)
  where i.id = $2
  for no key update of i;

-- invoiceList (core/billing/sql.go), for List: List returns a page of the invoices that match the filter, newest first.
-- $1=now $2=limit
-- filter: and i.period_start >= @from
-- filter: and (i.number = @typed or strpos(loyalty.fold(t.name), loyalty.fold(@search)) > 0)
-- filter: and case when i.status = 'issued' and i.due_at < @now then 'overdue' else i.status end = @status
-- filter: and i.tenant_id = @tenant
-- filter: and i.period_start <= @to
prepare invoiceList as
  select i.id, i.number, i.tenant_id, t.name as tenant_name, t.slug as tenant_slug, t.email as tenant_email, t.timezone,
    case when i.status = 'issued' and i.due_at < $1 then 'overdue' else i.status end as status,
    i.currency, i.lines, i.amount_cents, tax.name as tax_name, tax.rate as tax_rate, tax.cents as tax_cents, i.amount_cents + tax.cents as total_cents,
    i.period_start, i.period_end,
    coalesce(i.issuer, jsonb_build_object('name', s.issuer_name, 'address', s.issuer_address,
      'tax_number', s.issuer_tax_number, 'email', s.issuer_email)) as issuer,
    coalesce(i.recipient, jsonb_build_object('name', coalesce(nullif(a.name, ''), t.name), 'address', coalesce(a.address, ''),
      'tax_number', coalesce(a.tax_number, ''), 'email', t.email)) as recipient,
    case when i.issuer is null then s.payment_text else i.payment_text end as payment_text,
    i.created_at, i.issued_at, i.due_at, i.paid_at, i.voided_at, i.void_reason, i.sent_at, i.sent_to
  from loyalty.invoice i
  join loyalty.tenant t on t.id = i.tenant_id
  left join loyalty.billing_account a on a.tenant_id = i.tenant_id
  cross join loyalty.platform_setting s
  cross join lateral (
    select i.tax_name, i.tax_rate, i.tax_cents
    where i.status <> 'draft'
    union all
    select s.tax_name, s.tax_rate, (i.amount_cents * s.tax_rate + 5000) / 10000
    where i.status = 'draft'
  ) tax (name, rate, cents)
  where true
  order by i.created_at desc, i.id desc
  limit $2;

-- invoiceCounts (core/billing/sql.go), for Counts: Counts counts the invoices that match the filter, by status and
-- currency.
-- $1=now
-- filter: and i.period_start >= @from
-- filter: and (i.number = @typed or strpos(loyalty.fold(t.name), loyalty.fold(@search)) > 0)
-- filter: and case when i.status = 'issued' and i.due_at < @now then 'overdue' else i.status end = @status
-- filter: and i.tenant_id = @tenant
-- filter: and i.period_start <= @to
prepare invoiceCounts as
  select case when i.status = 'issued' and i.due_at < $1 then 'overdue' else i.status end as status, i.currency, count(*) as invoices, sum(i.total_cents)::bigint as total_cents
  from loyalty.invoice i
  join loyalty.tenant t on t.id = i.tenant_id
  where true
  group by 1, 2
  order by 1, 2;

-- ownList (core/billing/sql.go), for ListOwn: ListOwn returns a page of the invoices issued to the actor's business,
-- newest first, for its owners.
-- $1=now $2=tenant_id $3=limit
prepare ownList as
  select i.id, i.number, i.tenant_id, t.name as tenant_name, t.slug as tenant_slug, t.email as tenant_email, t.timezone,
    case when i.status = 'issued' and i.due_at < $1 then 'overdue' else i.status end as status,
    i.currency, i.lines, i.amount_cents, tax.name as tax_name, tax.rate as tax_rate, tax.cents as tax_cents, i.amount_cents + tax.cents as total_cents,
    i.period_start, i.period_end,
    coalesce(i.issuer, jsonb_build_object('name', s.issuer_name, 'address', s.issuer_address,
      'tax_number', s.issuer_tax_number, 'email', s.issuer_email)) as issuer,
    coalesce(i.recipient, jsonb_build_object('name', coalesce(nullif(a.name, ''), t.name), 'address', coalesce(a.address, ''),
      'tax_number', coalesce(a.tax_number, ''), 'email', t.email)) as recipient,
    case when i.issuer is null then s.payment_text else i.payment_text end as payment_text,
    i.created_at, i.issued_at, i.due_at, i.paid_at, i.voided_at, i.void_reason, i.sent_at, i.sent_to
  from loyalty.invoice i
  join loyalty.tenant t on t.id = i.tenant_id
  left join loyalty.billing_account a on a.tenant_id = i.tenant_id
  cross join loyalty.platform_setting s
  cross join lateral (
    select i.tax_name, i.tax_rate, i.tax_cents
    where i.status <> 'draft'
    union all
    select s.tax_name, s.tax_rate, (i.amount_cents * s.tax_rate + 5000) / 10000
    where i.status = 'draft'
  ) tax (name, rate, cents)
  where i.tenant_id = $2
    and i.number is not null
  order by i.created_at desc, i.id desc
  limit $3;

-- ownFindSQL (core/billing/sql.go), for FindOwn: FindOwn returns an invoice issued to the actor's business, or
-- core.ErrNotFound, for its owners.
-- $1=now $2=tenant_id $3=id
prepare ownFindSQL as
  select i.id, i.number, i.tenant_id, t.name as tenant_name, t.slug as tenant_slug, t.email as tenant_email, t.timezone,
    case when i.status = 'issued' and i.due_at < $1 then 'overdue' else i.status end as status,
    i.currency, i.lines, i.amount_cents, tax.name as tax_name, tax.rate as tax_rate, tax.cents as tax_cents, i.amount_cents + tax.cents as total_cents,
    i.period_start, i.period_end,
    coalesce(i.issuer, jsonb_build_object('name', s.issuer_name, 'address', s.issuer_address,
      'tax_number', s.issuer_tax_number, 'email', s.issuer_email)) as issuer,
    coalesce(i.recipient, jsonb_build_object('name', coalesce(nullif(a.name, ''), t.name), 'address', coalesce(a.address, ''),
      'tax_number', coalesce(a.tax_number, ''), 'email', t.email)) as recipient,
    case when i.issuer is null then s.payment_text else i.payment_text end as payment_text,
    i.created_at, i.issued_at, i.due_at, i.paid_at, i.voided_at, i.void_reason, i.sent_at, i.sent_to
  from loyalty.invoice i
  join loyalty.tenant t on t.id = i.tenant_id
  left join loyalty.billing_account a on a.tenant_id = i.tenant_id
  cross join loyalty.platform_setting s
  cross join lateral (
    select i.tax_name, i.tax_rate, i.tax_cents
    where i.status <> 'draft'
    union all
    select s.tax_name, s.tax_rate, (i.amount_cents * s.tax_rate + 5000) / 10000
    where i.status = 'draft'
  ) tax (name, rate, cents)
  where i.tenant_id = $2
    and i.number is not null
    and i.id = $3;

-- takeNumberSQL (core/billing/sql.go): The next invoice to be issued waits for the commit, so numbers have no gap.
prepare takeNumberSQL as
  update loyalty.invoice_counter c
  set last = c.last + 1
  from loyalty.platform_setting s
  returning c.last as number, s.payment_days;

-- issueSQL (core/billing/sql.go), for Issue: Issue gives a draft its number, its date and the current details of both
-- sides, and mails it to the owner: ErrNotDraft, ErrNoIssuer.
-- $1=number $2=now $3=due $4=tax_name $5=tax_rate $6=tax $7=total $8=issuer $9=recipient $10=payment_text $11=id
prepare issueSQL as
  update loyalty.invoice
  set status = 'issued',
    number = $1,
    issued_at = $2,
    due_at = $3,
    tax_name = $4,
    tax_rate = $5,
    tax_cents = $6,
    total_cents = $7,
    issuer = $8,
    recipient = $9,
    payment_text = $10
  where id = $11;

-- paySQL (core/billing/sql.go), for MarkPaid: MarkPaid stores that an issued or overdue invoice was paid on a day in the
-- tenant's zone, not before its issue and not in the future.
-- $1=paid $2=id
prepare paySQL as
  update loyalty.invoice
  set status = 'paid',
    paid_at = $1
  where id = $2;

-- voidSQL (core/billing/sql.go), for Void: Void voids an unpaid invoice, with a reason.
-- $1=now $2=reason $3=id
prepare voidSQL as
  update loyalty.invoice
  set status = 'void',
    voided_at = $1,
    void_reason = $2
  where id = $3;

-- sentSQL (core/billing/sql.go), for deliver: deliver queues the mail of an invoice and stores that it was sent, once
-- for each request.
-- $1=now $2=to $3=id
prepare sentSQL as
  update loyalty.invoice
  set sent_at = $1,
    sent_to = $2
  where id = $3;

-- remindedSQL (core/billing/sql.go), for deliver: deliver queues the mail of an invoice and stores that it was sent,
-- once for each request.
-- $1=now $2=to $3=id
prepare remindedSQL as
  update loyalty.invoice
  set reminded_at = $1,
    sent_at = $1,
    sent_to = $2
  where id = $3
    and reminded_at is null;

-- ownAccountSQL (core/billing/sql.go), for Account: Account returns how the actor's business is billed, for its owners.
-- $1=tenant_id
prepare ownAccountSQL as
  select p.id, p.name, p.monthly_cents, p.yearly_cents, p.currency, p.customers_limit, p.staff_limit, p.sends_limit, p.retired, 0::bigint as tenants, t.billing_cycle, t.payment_method, jsonb_build_object('name', coalesce(nullif(a.name, ''), t.name), 'address', coalesce(a.address, ''),
      'tax_number', coalesce(a.tax_number, ''), 'email', t.email) as details,
    case when c.price > 0 and not t.test then coalesce(a.billed_through, (t.created_at at time zone t.timezone)::date - 1) + 1 end as next_invoice_on,
    case when c.price > 0 and not t.test then greatest(c.price + c.waiting, 0) else 0 end as next_cents,
    c.waiting as waiting_cents, s.tax_name, s.tax_rate, s.issuer_email as contact
  from loyalty.tenant t
  join loyalty.plan p on p.id = t.plan_id
  left join loyalty.billing_account a on a.tenant_id = t.id
  cross join loyalty.platform_setting s
  cross join lateral (
    select case t.billing_cycle when 'yearly' then p.yearly_cents else p.monthly_cents end as price,
      (
        select coalesce(sum(amount_cents), 0)::bigint
        from loyalty.billing_item
        where tenant_id = $1
          and settled_at is null
          and currency = p.currency
      ) as waiting
  ) c
  where t.id = $1;

-- lockDetailsSQL (core/billing/sql.go), for EditDetails: EditDetails changes the recipient on the next invoices of the
-- actor's business, for its owners.
-- $1=tenant_id
prepare lockDetailsSQL as
  select name, address, tax_number, '' as email
  from loyalty.billing_account
  where tenant_id = $1
  for no key update;

-- updateDetailsSQL (core/billing/sql.go), for EditDetails: EditDetails changes the recipient on the next invoices of the
-- actor's business, for its owners.
-- $1=name $2=address $3=tax_number $4=tenant_id
prepare updateDetailsSQL as
  update loyalty.billing_account
  set name = $1,
    address = $2,
    tax_number = $3
  where tenant_id = $4;
