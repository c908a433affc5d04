package verify

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
	with judged as (
		select c.tenant_id, c.id,
			c.phone_key is not null or c.email_key is not null or c.external_id is not null or c.status <> 'inactive'
				or m.id is null or o.id is null or o.merged_into is not null
				or t.customer_id is not null or r.customer_id is not null or v.customer_id is not null
				or coalesce(a.points <> 0 or a.stamps <> 0, false) as wrong
		from loyalty.customer c
		left join loyalty.customer_merge m on m.merged_id = c.id and m.tenant_id = c.tenant_id
		left join loyalty.customer o on o.id = c.merged_into and o.tenant_id = c.tenant_id
		left join (select distinct tenant_id, customer_id from loyalty.transaction) t on t.customer_id = c.id and t.tenant_id = c.tenant_id
		left join (select distinct tenant_id, customer_id from loyalty.redemption) r on r.customer_id = c.id and r.tenant_id = c.tenant_id
		left join (select distinct tenant_id, customer_id from loyalty.voucher) v on v.customer_id = c.id and v.tenant_id = c.tenant_id
		left join loyalty.account a on a.customer_id = c.id and a.tenant_id = c.tenant_id
		where c.merged_into is not null
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

const externalSQL = `
	with judged as (
		select tenant_id, id,
			count(*) over (partition by hashtext(external_id), external_id, tenant_id) > 1 as wrong
		from loyalty.customer
		where external_id is not null
	)` + tally

const furtherKeySQL = `
	with judged as (
		select f.tenant_id, f.customer_id as id,
			c.id is null or c.merged_into is not null or coalesce(c.phone_key, c.email_key) is null or o.id is not null as wrong
		from loyalty.customer_key f
		left join loyalty.customer c on c.id = f.customer_id and c.tenant_id = f.tenant_id
		left join loyalty.customer o on o.tenant_id = f.tenant_id
			and case f.kind when 'phone' then o.phone_key when 'email' then o.email_key else o.external_id end = f.key
	)` + tally
