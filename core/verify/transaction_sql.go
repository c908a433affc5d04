package verify

const awardSQL = `
	with due as (
		select tenant_id, id, customer_id, rule_type as unit,
			coalesce(points_awarded, 0) + coalesce(stamps_awarded, 0) as amount, 1 as turn
		from loyalty.transaction` + postedAs + `'earn'` + compared

const reversalSQL = `
	with due as (
		select tenant_id, id, customer_id, rule_type as unit,
			case status when 'voided' then refunded_award - (coalesce(points_awarded, 0) + coalesce(stamps_awarded, 0)) else 0 end as amount, 1::smallint as turn
		from loyalty.transaction
		union all
		select tenant_id, id, customer_id, unit, -amount, turn
		from (` + earlierTurns + `
		) earlier` + postedAs + `'reversal'` + compared

// Processes' clocks differ a little, so a void by another process may be noted before its sale.
const clockError = "interval '1 second'"

const orderSQL = `
	with judged as (
		select e.tenant_id, e.id, e.created_at < t.created_at - ` + clockError + ` or e.kind = 'earn' and e.expires_on is distinct from t.expires_on as wrong
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
			(status = 'voided') <> (voided_at is not null) or coalesce(voided_at < created_at - ` + clockError + `, false) as wrong
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

const referenceSQL = `
	with judged as (
		select tenant_id, id,
			count(*) over (partition by hashtext(external_reference), external_reference, tenant_id) > 1 as wrong
		from loyalty.transaction
		where external_reference is not null
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
