package verify

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
