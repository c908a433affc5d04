package verify

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
		select tenant_id, customer_id, count(*) as visits, sum(spend_amount_cents - refunded_cents) as spent_cents
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
			and kind not in ('reversal', 'refund', 'merge')
	)` + tally

const signSQL = `
	with judged as (
		select tenant_id, id,
			case
				when kind in ('earn', 'redemption_refund', 'voucher', 'opening', 'expiry_return') then amount <= 0
				when kind in ('reversal', 'redemption', 'expiry', 'refund') then amount >= 0
				else amount = 0
			end as wrong
		from loyalty.ledger_entry
	)` + tally

const onceSQL = `
	with judged as (
		select tenant_id, id,
			count(*) over (partition by cause, tenant_id, kind, turn) > 1 as wrong
		from loyalty.ledger_entry
		where cause is not null
	)` + tally
