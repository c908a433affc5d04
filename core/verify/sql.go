package verify

// Without indexes, statements read the tables with hash joins and sorts, which need memory. With
// row_security off, a login that a policy restricts gets an error instead of a clean result.
const readEverythingSQL = `
	select set_config('row_security', 'off', true),
		set_config('enable_indexscan', 'off', true),
		set_config('enable_indexonlyscan', 'off', true),
		set_config('enable_bitmapscan', 'off', true),
		set_config('enable_nestloop', 'off', true),
		set_config('enable_mergejoin', 'off', true),
		set_config('work_mem', '128MB', true)`

// Every check judges each record with its tenant and ID, and ends with this. Windows partition by the most
// distinct column first and the tenant last, and by hashes of texts, which halves the time of sorting a
// million rows.
const tally = `
	select count(*) as counted,
		count(*) filter (where wrong) as wrong,
		coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
		coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
	from judged`

const accountSQL = `
	with judged as (
		select coalesce(c.tenant_id, a.tenant_id) as tenant_id,
			coalesce(c.id, a.customer_id) as id,
			c.id is null or a.customer_id is null as wrong
		from loyalty.customer c
		full join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
	)` + tally

const balanceSQL = `
	with told as (
		select tenant_id, customer_id,
			sum(case unit when 'points' then amount else 0 end) as points,
			sum(case unit when 'stamps' then amount else 0 end) as stamps
		from loyalty.ledger_entry
		group by tenant_id, customer_id
	), judged as (
		select coalesce(a.tenant_id, t.tenant_id) as tenant_id,
			coalesce(a.customer_id, t.customer_id) as id,
			a.points is distinct from coalesce(t.points, 0) or a.stamps is distinct from coalesce(t.stamps, 0) as wrong
		from loyalty.account a
		full join told t on t.tenant_id = a.tenant_id and t.customer_id = a.customer_id
	)` + tally

const entriesSQL = `
	with told as (
		select tenant_id, customer_id, count(*) as entries
		from loyalty.ledger_entry
		group by tenant_id, customer_id
	), judged as (
		select coalesce(a.tenant_id, t.tenant_id) as tenant_id,
			coalesce(a.customer_id, t.customer_id) as id,
			a.entries is distinct from coalesce(t.entries, 0) as wrong
		from loyalty.account a
		full join told t on t.tenant_id = a.tenant_id and t.customer_id = a.customer_id
	)` + tally

const figuresSQL = `
	with told as (
		select tenant_id, customer_id, count(*) as visits, sum(spend_amount_cents) as spent_cents
		from loyalty.transaction
		where status = 'completed'
		group by tenant_id, customer_id
	), judged as (
		select coalesce(a.tenant_id, t.tenant_id) as tenant_id,
			coalesce(a.customer_id, t.customer_id) as id,
			a.visits is distinct from coalesce(t.visits, 0) or a.spent_cents is distinct from coalesce(t.spent_cents, 0) as wrong
		from loyalty.account a
		full join told t on t.tenant_id = a.tenant_id and t.customer_id = a.customer_id
	)` + tally

const numberSQL = `
	with judged as (
		select tenant_id, id,
			seq <> row_number() over (partition by customer_id, tenant_id order by seq) as wrong
		from loyalty.ledger_entry
	)` + tally

// Compares with the previous entry, not with the sum of all, so that a wrong entry counts once.
const chainSQL = `
	with judged as (
		select tenant_id, id,
			balance_after::numeric - amount
				<> lag(balance_after, 1, 0::bigint) over (partition by customer_id, tenant_id, unit order by seq) as wrong
		from loyalty.ledger_entry
	)` + tally

const belowZeroSQL = `
	with judged as (
		select tenant_id, id, balance_after < 0 as wrong
		from loyalty.ledger_entry
		where amount < 0
			and kind not in ('reversal', 'merge')
	)` + tally

const signSQL = `
	with judged as (
		select tenant_id, id,
			case
				when kind in ('earn', 'redemption_refund', 'voucher') then amount <= 0
				when kind in ('reversal', 'redemption') then amount >= 0
				else amount = 0
			end as wrong
		from loyalty.ledger_entry
	)` + tally

const onceSQL = `
	with judged as (
		select tenant_id, id,
			count(*) over (partition by cause, tenant_id, kind) > 1 as wrong
		from loyalty.ledger_entry
		where cause is not null
	)` + tally

// Compares what is due with the entries of one kind. A merged customer's entries stay in their ledger, and
// what they are for moved to the customer who was kept. An amount of zero has no entry. A row on one side
// only is wrong, so this also finds entries without a cause and those of another tenant, customer or
// unit.
const (
	postedAs = `
	), gone as (
		select tenant_id, id, merged_into
		from loyalty.customer
		where merged_into is not null
	), posted as (
		select e.tenant_id, e.cause, coalesce(g.merged_into, e.customer_id) as customer_id, e.unit, e.amount
		from loyalty.ledger_entry e
		left join gone g on g.id = e.customer_id and g.tenant_id = e.tenant_id
		where e.kind = `
	compared = `
	), judged as (
		select coalesce(d.tenant_id, e.tenant_id) as tenant_id,
			coalesce(d.id, e.cause) as id,
			d.amount is distinct from coalesce(e.amount, 0) as wrong
		from due d
		full join posted e on e.cause = d.id
			and e.tenant_id = d.tenant_id
			and e.customer_id = d.customer_id
			and e.unit = d.unit
	)` + tally
)

const awardSQL = `
	with due as (
		select tenant_id, id, customer_id, rule_type as unit,
			coalesce(points_awarded, 0) + coalesce(stamps_awarded, 0) as amount
		from loyalty.transaction` + postedAs + `'earn'` + compared

const reversalSQL = `
	with due as (
		select tenant_id, id, customer_id, rule_type as unit,
			case status when 'voided' then -(coalesce(points_awarded, 0) + coalesce(stamps_awarded, 0)) else 0 end as amount
		from loyalty.transaction` + postedAs + `'reversal'` + compared

const costSQL = `
	with due as (
		select tenant_id, id, customer_id,
			case when stamps_spent > 0 then 'stamps' else 'points' end as unit,
			-(points_spent + stamps_spent) as amount
		from loyalty.redemption` + postedAs + `'redemption'` + compared

const refundSQL = `
	with due as (
		select tenant_id, id, customer_id,
			case when stamps_spent > 0 then 'stamps' else 'points' end as unit,
			case status when 'voided' then points_spent + stamps_spent else 0 end as amount
		from loyalty.redemption` + postedAs + `'redemption_refund'` + compared

const benefitSQL = `
	with due as (
		select v.tenant_id, v.id, v.customer_id,
			case c.benefit_type when 'stamps' then 'stamps' else 'points' end as unit,
			case when v.status = 'redeemed' and c.benefit_type in ('points', 'stamps') then c.benefit_value else 0 end as amount
		from loyalty.voucher v
		left join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id` + postedAs + `'voucher'` + compared

// Every reward has a cost, so a redemption without one is from a voucher.
const freeSQL = `
	with promised as (
		select v.tenant_id, v.id, v.customer_id, v.status, v.redemption_id, c.benefit_reward_id
		from loyalty.voucher v
		left join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
		where v.redemption_id is not null
			or (v.status = 'redeemed' and c.benefit_type = 'reward')
	), free as (
		select tenant_id, id, customer_id, reward_id
		from loyalty.redemption
		where points_spent + stamps_spent = 0
	), judged as (
		select coalesce(p.tenant_id, f.tenant_id) as tenant_id,
			coalesce(p.id, f.id) as id,
			p.id is null or f.id is null or p.status <> 'redeemed'
				or f.customer_id <> p.customer_id
				or f.reward_id is distinct from p.benefit_reward_id
				or count(*) over (partition by p.redemption_id, p.tenant_id) > 1 as wrong
		from promised p
		full join free f on f.id = p.redemption_id and f.tenant_id = p.tenant_id
	)` + tally

// Each merge takes a balance from one customer and gives it to another. A row on one side only is wrong.
const mergeSQL = `
	with due as (
		select m.tenant_id, m.id, v.customer_id, v.unit, v.amount
		from loyalty.customer_merge m
		cross join lateral (values
			(m.merged_id, 'points', -m.points::numeric),
			(m.merged_id, 'stamps', -m.stamps::numeric),
			(m.kept_id, 'points', m.points::numeric),
			(m.kept_id, 'stamps', m.stamps::numeric)
		) v (customer_id, unit, amount)
	), posted as (
		select tenant_id, merge_id, customer_id, unit, sum(amount) as amount, count(*) as entries
		from loyalty.ledger_entry
		where kind = 'merge'
		group by tenant_id, merge_id, customer_id, unit
	), judged as (
		select coalesce(d.tenant_id, e.tenant_id) as tenant_id,
			coalesce(d.id, e.merge_id) as id,
			d.amount is distinct from coalesce(e.amount, 0) or e.entries > 1 as wrong
		from due d
		full join posted e on e.merge_id = d.id
			and e.tenant_id = d.tenant_id
			and e.customer_id = d.customer_id
			and e.unit = d.unit
	)` + tally

const mergedSQL = `
	with kept as (
		select tenant_id, customer_id
		from loyalty.transaction
		union
		select tenant_id, customer_id
		from loyalty.redemption
		union
		select tenant_id, customer_id
		from loyalty.voucher
		union
		select tenant_id, customer_id
		from loyalty.account
		where points <> 0
			or stamps <> 0
	), judged as (
		select c.tenant_id, c.id,
			c.phone_key is not null or c.email_key is not null or c.status <> 'inactive'
				or m.id is null or o.id is null or o.merged_into is not null or k.customer_id is not null as wrong
		from loyalty.customer c
		left join loyalty.customer_merge m on m.merged_id = c.id and m.tenant_id = c.tenant_id
		left join loyalty.customer o on o.id = c.merged_into and o.tenant_id = c.tenant_id
		left join kept k on k.customer_id = c.id and k.tenant_id = c.tenant_id
		where c.merged_into is not null
	)` + tally

const redeemedSQL = `
	with judged as (
		select tenant_id, id,
			(status = 'redeemed') <> (redeemed_at is not null)
				or coalesce(redeemed_at < created_at or redeemed_at >= expires_at, false) as wrong
		from loyalty.voucher
	)` + tally

const capSQL = `
	with told as (
		select tenant_id, coupon_id, count(*) filter (where status = 'redeemed') as redeemed
		from loyalty.voucher
		group by tenant_id, coupon_id
	), judged as (
		select c.tenant_id, c.id,
			c.redemptions_count <> coalesce(t.redeemed, 0) or coalesce(t.redeemed > c.max_redemptions, false) as wrong
		from loyalty.coupon c
		left join told t on t.coupon_id = c.id and t.tenant_id = c.tenant_id
	)` + tally

const holdingSQL = `
	with held as (
		select tenant_id, coupon_id, customer_id, count(*) as vouchers
		from loyalty.voucher
		group by tenant_id, coupon_id, customer_id
	), judged as (
		select h.tenant_id, h.customer_id as id, h.vouchers > c.max_per_customer and k.id is null as wrong
		from held h
		join loyalty.coupon c on c.tenant_id = h.tenant_id and c.id = h.coupon_id
		left join (
			select distinct tenant_id, merged_into as id
			from loyalty.customer
			where merged_into is not null
		) k on k.id = h.customer_id and k.tenant_id = h.tenant_id
	)` + tally

const sendSQL = `
	with told as (
		select tenant_id, send_id, count(*) as vouchers
		from loyalty.voucher
		group by tenant_id, send_id
	), judged as (
		select s.tenant_id, s.id,
			s.sent <> coalesce(t.vouchers, 0) or s.matched <> s.sent + s.skipped_inactive + s.skipped_limit as wrong
		from loyalty.coupon_send s
		left join told t on t.send_id = s.id and t.tenant_id = s.tenant_id
	)` + tally

const sendVouchersSQL = `
	with judged as (
		select s.tenant_id, s.id,
			s.redeemed <> count(v.id) filter (where v.status = 'redeemed')
				or coalesce(bool_or(v.expires_at is distinct from s.expires_at) filter (where v.id is not null), false) as wrong
		from loyalty.coupon_send s
		left join loyalty.voucher v on v.send_id = s.id and v.tenant_id = s.tenant_id
		group by s.tenant_id, s.id, s.redeemed
	)` + tally

const sendMailsSQL = `
	with mailed as (
		select tenant_id, send_id, count(*) as mails,
			count(*) filter (where status = 'queued') as queued,
			count(*) filter (where status = 'delivered') as delivered,
			count(*) filter (where status = 'failed') as failed
		from loyalty.voucher_mail
		group by tenant_id, send_id
	), judged as (
		select s.tenant_id, s.id,
			s.sent <> s.no_email + s.unsubscribed + s.mails
				or s.mails <> coalesce(m.mails, 0)
				or s.delivered <> coalesce(m.delivered, 0)
				or s.failed <> coalesce(m.failed, 0)
				or s.status = 'done' and coalesce(m.queued, 0) > 0 as wrong
		from loyalty.coupon_send s
		left join mailed m on m.send_id = s.id and m.tenant_id = s.tenant_id
	)` + tally

// A card's PIN can be completed without a sale, by redeeming; a till's PIN is for a sale.
const pinSQL = `
	with judged as (
		select p.tenant_id, p.id,
			p.transaction_id is null and p.direction = 'till'
				or p.transaction_id is not null and (t.id is null or t.customer_id is distinct from p.customer_id)
				or p.transaction_id is not null and count(*) over (partition by p.transaction_id, p.tenant_id) > 1 as wrong
		from loyalty.pin p
		left join loyalty.transaction t on t.tenant_id = p.tenant_id and t.id = p.transaction_id
		where p.status = 'used'
	)` + tally

const voucherSQL = `
	with judged as (
		select v.tenant_id, v.id,
			p.id is null or c.id is null or s.id is null as wrong
		from loyalty.voucher v
		left join loyalty.customer p on p.tenant_id = v.tenant_id and p.id = v.customer_id
		left join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
		left join loyalty.coupon_send s on s.tenant_id = v.tenant_id and s.id = v.send_id and s.coupon_id = v.coupon_id
	)` + tally

const orderSQL = `
	with judged as (
		select e.tenant_id, e.id, e.created_at < t.created_at as wrong
		from loyalty.ledger_entry e
		join loyalty.transaction t on t.id = e.cause and t.tenant_id = e.tenant_id
		where e.kind in ('earn', 'reversal')
	)` + tally

const unitSQL = `
	with judged as (
		select tenant_id, id,
			case rule_type
				when 'points' then points_awarded is null or points_awarded < 0 or stamps_awarded is not null
				when 'stamps' then stamps_awarded is null or stamps_awarded < 0 or points_awarded is not null
				else true
			end as wrong
		from loyalty.transaction
	)` + tally

const voidedSQL = `
	with judged as (
		select tenant_id, id,
			(status = 'voided') <> (voided_at is not null) or coalesce(voided_at < created_at, false) as wrong
		from loyalty.transaction
	)` + tally

const saleSQL = `
	with judged as (
		select t.tenant_id, t.id,
			c.id is null or k.id is null or (t.location_id is not null and l.id is null) as wrong
		from loyalty.transaction t
		left join loyalty.customer c on c.tenant_id = t.tenant_id and c.id = t.customer_id
		left join loyalty.transaction_type k on k.tenant_id = t.tenant_id and k.id = t.transaction_type_id
		left join loyalty.location l on l.tenant_id = t.tenant_id and l.id = t.location_id
	)` + tally

// Lists and reports rely on the IDs: their first 48 bits are milliseconds.
const idSQL = `
	with judged as (
		select tenant_id, id,
			substr(uuid_send(id)::text, 2, 13)::bit(48)::bigint
				<> (date_part('epoch', created_at) * 1000)::bigint as wrong
		from (
			select tenant_id, id, created_at
			from loyalty.transaction
			union all
			select tenant_id, id, created_at
			from loyalty.redemption
		) made
	)` + tally

const referenceSQL = `
	with judged as (
		select tenant_id, id,
			count(*) over (partition by hashtext(external_reference), external_reference, tenant_id) > 1 as wrong
		from loyalty.transaction
		where external_reference is not null
	)` + tally

const phoneSQL = `
	with judged as (
		select tenant_id, id,
			count(*) over (partition by hashtext(phone_key), phone_key, tenant_id) > 1 as wrong
		from loyalty.customer
		where phone_key is not null
	)` + tally

const emailSQL = `
	with judged as (
		select tenant_id, id,
			count(*) over (partition by hashtext(email_key), email_key, tenant_id) > 1 as wrong
		from loyalty.customer
		where email_key is not null
	)` + tally

// Its foreign keys have one column each, so no constraint ensures that the tenants agree.
const tokenSQL = `
	with judged as (
		select coalesce(t.tenant_id, 0) as tenant_id, t.id,
			s.id is null or s.tenant_id is distinct from t.tenant_id as wrong
		from loyalty.token t
		left join loyalty.staff s on s.id = t.staff_id
	)` + tally

const invitationSQL = `
	with judged as (
		select i.tenant_id, i.id, s.id is null or s.tenant_id is distinct from i.tenant_id as wrong
		from loyalty.invitation i
		left join loyalty.staff s on s.id = i.staff_id
	)` + tally

const ownerSQL = `
	with owned as (
		select distinct tenant_id
		from loyalty.staff
		where role = 'owner'
	), judged as (
		select n.id as tenant_id, n.id, o.tenant_id is null as wrong
		from loyalty.tenant n
		left join owned o on o.tenant_id = n.id
	)` + tally

// A line without an amount makes the sum null, which differs from every amount.
const invoiceSQL = `
	with summed as (
		select i.tenant_id, i.id, i.amount_cents, i.tax_cents, i.total_cents,
			case when bool_and(l.line ? 'amount_cents') then sum((l.line ->> 'amount_cents')::numeric) end as lines
		from loyalty.invoice i
		left join lateral jsonb_array_elements(i.lines) l (line) on true
		group by i.tenant_id, i.id
	), judged as (
		select tenant_id, id,
			amount_cents is distinct from lines or total_cents is distinct from lines + tax_cents as wrong
		from summed
	)` + tally

const invoiceNumberSQL = `
	with judged as (
		select tenant_id, id, number <> row_number() over (order by number) or number > (select last from loyalty.invoice_counter) as wrong
		from loyalty.invoice
		where number is not null
	)` + tally

const periodSQL = `
	with judged as (
		select tenant_id, period_start as id,
			period_end < period_start or coalesce(period_start <= max(period_end) over (
				partition by tenant_id
				order by period_start
				rows between unbounded preceding and 1 preceding
			), false) as wrong
		from loyalty.billing_period
	)` + tally

// An invoice contains its period's price and waiting items. The rest of a credit becomes a new item, which
// is not billed again.
const billedSQL = `
	with moved as (
		select tenant_id, currency, price_cents as billed, 0 as invoiced
		from loyalty.billing_period
		union all
		select tenant_id, currency, case when carried then 0 else amount_cents end, case when settled_at is null then amount_cents else 0 end
		from loyalty.billing_item
		union all
		select tenant_id, currency, 0, amount_cents
		from loyalty.invoice i
		where exists (select from loyalty.billing_period where invoice_id = i.id)
			or exists (select from loyalty.billing_item where invoice_id = i.id)
	), judged as (
		select tenant_id, currency as id, sum(billed) is distinct from sum(invoiced) as wrong
		from moved
		group by tenant_id, currency
	)` + tally
