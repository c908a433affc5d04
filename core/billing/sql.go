package billing

import "example.com/loyalty/core/db"

const planColumns = `p.id, p.name, p.monthly_cents, p.yearly_cents, p.currency, p.customers_limit, p.staff_limit, p.sends_limit, p.retired`

const selectPlan = `
	select ` + planColumns + `,
		(select count(*) from loyalty.tenant t where t.plan_id = p.id) as tenants
	from loyalty.plan p`

const plansSQL = selectPlan + `
	order by p.retired, p.currency, p.monthly_cents, lower(p.name), p.id`

const planSQL = selectPlan + `
	where p.id = @id`

const lockPlanSQL = planSQL + `
	for no key update of p`

const insertPlanSQL = `
	insert into loyalty.plan (name, monthly_cents, yearly_cents, currency, customers_limit, staff_limit, sends_limit)
	values (@name, @monthly, @yearly, @currency, @customers, @staff, @sends)
	returning id`

const updatePlanSQL = `
	update loyalty.plan
	set name = @name,
		monthly_cents = @monthly,
		yearly_cents = @yearly,
		currency = @currency,
		customers_limit = @customers,
		staff_limit = @staff,
		sends_limit = @sends
	where id = @id`

const retirePlanSQL = `
	update loyalty.plan
	set retired = @retired
	where id = @id`

const deletePlanSQL = `
	delete from loyalty.plan
	where id = @id`

// The parties of an invoice that is not issued yet, from the platform's settings s and the
// tenant t with its billing account a.
const (
	currentIssuer = `jsonb_build_object('name', s.issuer_name, 'address', s.issuer_address,
			'tax_number', s.issuer_tax_number, 'email', s.issuer_email)`

	currentRecipient = `jsonb_build_object('name', coalesce(nullif(a.name, ''), t.name), 'address', coalesce(a.address, ''),
			'tax_number', coalesce(a.tax_number, ''), 'email', t.email)`
)

// The price of a whole period.
const price = `case t.billing_cycle when 'yearly' then p.yearly_cents else p.monthly_cents end`

const settingsSQL = `
	select ` + currentIssuer + ` as issuer, s.tax_name, s.tax_rate, s.payment_text, s.payment_days,
		s.issue_automatically, s.mail_name, s.mail_address
	from loyalty.platform_setting s`

const lockSettingsSQL = settingsSQL + `
	for no key update`

const updateSettingsSQL = `
	update loyalty.platform_setting
	set issuer_name = @issuer_name,
		issuer_address = @issuer_address,
		issuer_tax_number = @issuer_tax_number,
		issuer_email = @issuer_email,
		tax_name = @tax_name,
		tax_rate = @tax_rate,
		payment_text = @payment_text,
		payment_days = @payment_days,
		issue_automatically = @issue_automatically,
		mail_name = @mail_name,
		mail_address = @mail_address`

// Tenants whose last period is over, in their own zone. A tenant that was never billed is billed
// from the day it was created. One for tests isn't billed.
const dueSQL = `
	select t.id
	from loyalty.tenant t
	left join loyalty.billing_account a on a.tenant_id = t.id
	where t.status = 'active'
		and not t.test
		and t.id > @after
		and coalesce(a.billed_through, (t.created_at at time zone t.timezone)::date - 1) < (@now::timestamptz at time zone t.timezone)::date
	order by t.id
	limit @up_to`

const openAccountSQL = `
	insert into loyalty.billing_account (tenant_id, anchor_day, billed_through)
	select id, extract(day from created_at at time zone timezone), (created_at at time zone timezone)::date - 1
	from loyalty.tenant
	where id = @tenant_id
	on conflict (tenant_id) do nothing`

const lockAccountSQL = `
	select
	from loyalty.billing_account
	where tenant_id = @tenant
	for no key update`

const accountSQL = `
	select a.tenant_id, t.name as tenant_name, t.status, t.timezone, t.billing_cycle, t.plan_id, p.name as plan_name, ` + price + ` as price_cents, p.currency,
		a.anchor_day, a.billed_through, s.tax_name, s.tax_rate
	from loyalty.billing_account a
	join loyalty.tenant t on t.id = a.tenant_id
	join loyalty.plan p on p.id = t.plan_id
	cross join loyalty.platform_setting s
	where a.tenant_id = @tenant`

const billedThroughSQL = `
	update loyalty.billing_account
	set billed_through = @through
	where tenant_id = @tenant`

const resumeSQL = `
	update loyalty.billing_account
	set billed_through = @through,
		anchor_day = @anchor
	where tenant_id = @tenant`

const insertPeriodSQL = `
	insert into loyalty.billing_period (tenant_id, period_start, period_end, billing_cycle, plan_id, rate_cents, price_cents, currency, invoice_id, created_at)
	values (@tenant, @start, @end, @cycle, @plan, @price, @price, @currency, @invoice, @now)`

const waitingItemsSQL = `
	select id, description, amount_cents, currency
	from loyalty.billing_item
	where tenant_id = @tenant
		and settled_at is null
	order by created_at, id`

const insertItemSQL = `
	insert into loyalty.billing_item (tenant_id, id, description, amount_cents, currency, carried, created_at)
	values (@tenant, @id, @description, @amount, @currency, @carried, @now)`

const settleSQL = `
	update loyalty.billing_item
	set settled_at = @now,
		invoice_id = @invoice
	where tenant_id = @tenant
		and id = any(@items::uuid[])`

const draftSQL = `
	insert into loyalty.invoice (tenant_id, currency, lines, amount_cents, tax_name, tax_rate, tax_cents, total_cents, period_start, period_end, created_at)
	values (@tenant, @currency, @lines, @amount, @tax_name, @tax_rate, @tax, @total, @start, @end, @now)
	returning id`

const runningPeriodSQL = `
	select b.period_start, b.period_end, b.billing_cycle, old.name as plan_name, b.rate_cents, b.currency,
		new.id as new_plan_id, new.name as new_plan_name, new.currency as new_currency,
		case b.billing_cycle when 'yearly' then new.yearly_cents else new.monthly_cents end as new_rate_cents
	from loyalty.billing_period b
	join loyalty.plan old on old.id = b.plan_id
	join loyalty.plan new on new.id = @plan
	where b.tenant_id = @tenant
		and b.period_start <= @today
		and b.period_end >= @today`

const changeRateSQL = `
	update loyalty.billing_period
	set plan_id = @plan,
		rate_cents = @rate
	where tenant_id = @tenant
		and period_start = @start`

const draftsSQL = `
	select id
	from loyalty.invoice
	where status = 'draft'
		and id > @after
	order by id
	limit @up_to`

const markOverdueSQL = `
	update loyalty.invoice i
	set status = 'overdue'
	from loyalty.tenant t
	where t.id = i.tenant_id
		and i.id in (
			select id
			from loyalty.invoice
			where status = 'issued'
				and due_at < @now
			order by due_at
			limit @up_to
			for no key update skip locked
		)
	returning i.id, i.number, i.tenant_id, t.name as tenant_name, t.timezone, i.currency, i.total_cents, i.issued_at`

// An invoice is overdue as soon as its due date has passed; the job stores it later.
const statusNow = `case when i.status = 'issued' and i.due_at < @now then 'overdue' else i.status end`

// A draft has the tax of the current settings, rounded half up as by percentage.
const selectInvoice = `
	select i.id, i.number, i.tenant_id, t.name as tenant_name, t.slug as tenant_slug, t.email as tenant_email, t.timezone,
		` + statusNow + ` as status,
		i.currency, i.lines, i.amount_cents, tax.name as tax_name, tax.rate as tax_rate, tax.cents as tax_cents, i.amount_cents + tax.cents as total_cents,
		i.period_start, i.period_end,
		coalesce(i.issuer, ` + currentIssuer + `) as issuer,
		coalesce(i.recipient, ` + currentRecipient + `) as recipient,
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
	) tax (name, rate, cents)`

const findSQL = selectInvoice + `
	where i.id = @id`

const lockInvoiceSQL = findSQL + `
	for no key update of i`

var newestFirst = db.Descending("i.created_at, i.id", "@at, @number")

var invoiceFilters = db.Filters{
	"tenant": "i.tenant_id = @tenant",
	"status": statusNow + " = @status",
	"from":   "i.period_start >= @from",
	"to":     "i.period_start <= @to",
	"search": "(i.number = @typed or strpos(loyalty.fold(t.name), loyalty.fold(@search)) > 0)",
}

var (
	invoiceList = db.NewList(selectInvoice+`
	where true {filters} {position}
	{page}`, newestFirst, invoiceFilters)

	invoiceCounts = db.NewList(`
	select `+statusNow+` as status, i.currency, count(*) as invoices, sum(i.total_cents)::bigint as total_cents
	from loyalty.invoice i
	join loyalty.tenant t on t.id = i.tenant_id
	where true {filters}
	group by 1, 2
	order by 1, 2`, db.Order{}, invoiceFilters)

	ownList = db.NewList(ownInvoices+` {position}
	{page}`, newestFirst, nil)
)

const ownInvoices = selectInvoice + `
	where i.tenant_id = @tenant_id
		and i.number is not null`

const ownFindSQL = ownInvoices + `
		and i.id = @id`

// The next invoice to be issued waits for the commit, so numbers have no gap.
const takeNumberSQL = `
	update loyalty.invoice_counter c
	set last = c.last + 1
	from loyalty.platform_setting s
	returning c.last as number, s.payment_days`

const issueSQL = `
	update loyalty.invoice
	set status = 'issued',
		number = @number,
		issued_at = @now,
		due_at = @due,
		tax_name = @tax_name,
		tax_rate = @tax_rate,
		tax_cents = @tax,
		total_cents = @total,
		issuer = @issuer,
		recipient = @recipient,
		payment_text = @payment_text
	where id = @id`

const paySQL = `
	update loyalty.invoice
	set status = 'paid',
		paid_at = @paid
	where id = @id`

const voidSQL = `
	update loyalty.invoice
	set status = 'void',
		voided_at = @now,
		void_reason = @reason
	where id = @id`

const sentSQL = `
	update loyalty.invoice
	set sent_at = @now,
		sent_to = @to
	where id = @id`

const remindedSQL = `
	update loyalty.invoice
	set reminded_at = @now,
		sent_at = @now,
		sent_to = @to
	where id = @id
		and reminded_at is null`

const ownAccountSQL = `
	select ` + planColumns + `, 0::bigint as tenants, t.billing_cycle, t.payment_method, ` + currentRecipient + ` as details,
		case when c.price > 0 and not t.test then coalesce(a.billed_through, (t.created_at at time zone t.timezone)::date - 1) + 1 end as next_invoice_on,
		case when c.price > 0 and not t.test then greatest(c.price + c.waiting, 0) else 0 end as next_cents,
		c.waiting as waiting_cents, s.tax_name, s.tax_rate, s.issuer_email as contact
	from loyalty.tenant t
	join loyalty.plan p on p.id = t.plan_id
	left join loyalty.billing_account a on a.tenant_id = t.id
	cross join loyalty.platform_setting s
	cross join lateral (
		select ` + price + ` as price,
			(
				select coalesce(sum(amount_cents), 0)::bigint
				from loyalty.billing_item
				where tenant_id = @tenant_id
					and settled_at is null
					and currency = p.currency
			) as waiting
	) c
	where t.id = @tenant_id`

const lockDetailsSQL = `
	select name, address, tax_number, '' as email
	from loyalty.billing_account
	where tenant_id = @tenant_id
	for no key update`

const updateDetailsSQL = `
	update loyalty.billing_account
	set name = @name,
		address = @address,
		tax_number = @tax_number
	where tenant_id = @tenant_id`
