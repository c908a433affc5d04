package verify

// What an earlier build recorded has no parts: all of its award is its base.
const partsSQL = `
	with told as (
		select t.tenant_id, t.id, coalesce(t.points_awarded, t.stamps_awarded) as award, t.rule_type, t.spend_amount_cents, t.discount_cents, t.eligible_cents,
			coalesce(t.base_award, t.points_awarded, t.stamps_awarded) + coalesce(t.promotion_award, 0) + coalesce(t.level_award, 0) as parts,
			coalesce(t.capped, false) as capped, t.promotion_id, t.promotion_award, t.level_id, t.level_award,
			(select sum((i ->> 'amount_cents')::bigint) from jsonb_array_elements(t.items) i) as items
		from loyalty.transaction t
	), judged as (
		select t.tenant_id, t.id,
			t.award > t.parts
				or t.award < t.parts and not t.capped
				or (t.promotion_id is null) <> (coalesce(t.promotion_award, 0) = 0)
				or (t.level_id is null) <> (coalesce(t.level_award, 0) = 0)
				or t.promotion_id is not null and p.unit is distinct from t.rule_type
				or t.level_id is not null and l.id is null
				or coalesce(t.eligible_cents not between 0 and t.spend_amount_cents, false)
				or coalesce(t.items > t.spend_amount_cents + coalesce(t.discount_cents, 0), false) as wrong
		from told t
		left join loyalty.promotion p on p.tenant_id = t.tenant_id and p.id = t.promotion_id
		left join loyalty.level l on l.tenant_id = t.tenant_id and l.id = t.level_id
	)` + tally

// The businesses whose customers have levels. While sums are being counted anew, they aren't judged.
const withLevels = `
	with programme as not materialized (
		select p.tenant_id, p.basis, p.period, p.year_month, p.year_day, p.starts_on, n.timezone, (now() at time zone n.timezone)::date as today
		from loyalty.level_programme p
		join loyalty.tenant n on n.id = p.tenant_id
		where p.active
			and not p.counting
	)`

// yearOf is the programme's year of a day of d: that in which it begins (award.Levels.YearOf).
const yearOf = `case d.period
			when 'ever' then 0
			else date_part('year', d.day)::int - (d.day < least(
				make_date(date_part('year', d.day)::int, d.year_month, 1) + d.year_day - 1,
				(make_date(date_part('year', d.day)::int, d.year_month, 1) + interval '1 month')::date - 1
			))::int
		end`

// The share of the amount of a sale d that wasn't refunded counts, rounded down (award.Levels.Of).
const levelSumsSQL = withLevels + `, dated as (
		select t.tenant_id, t.customer_id, p.period, p.year_month, p.year_day,
			(coalesce(t.occurred_at, t.created_at) at time zone p.timezone)::date as day, p.starts_on,
			t.spend_amount_cents as spend, t.spend_amount_cents - t.refunded_cents as paid,
			case p.basis
				when 'points' then case when t.rule_type = 'points' then coalesce(t.base_award, t.points_awarded) else 0 end
				when 'spend' then coalesce(t.eligible_cents, t.spend_amount_cents)
			end as amount
		from loyalty.transaction t
		join programme p on p.tenant_id = t.tenant_id
		where t.status = 'completed'
	), counted as (
		select d.tenant_id, d.customer_id, ` + yearOf + ` as year,
			case
				when d.amount is null then 1
				when d.spend = d.paid then d.amount
				else div(d.amount::numeric * d.paid, d.spend)
			end as amount
		from dated d
		where d.day >= d.starts_on
	), summed as (
		select tenant_id, customer_id, year, sum(amount) as amount
		from counted
		group by tenant_id, customer_id, year
	), judged as (
		select a.tenant_id, a.customer_id as id,
			case
				when a.level_year is null then coalesce(sum(s.amount) filter (where s.year >= d.year - 1), 0) > 0
				else coalesce(sum(s.amount) filter (where s.year = a.level_year), 0) <> a.level_sum
					or coalesce(sum(s.amount) filter (where s.year = a.level_year - 1), 0) <> a.level_sum_before
					or coalesce(sum(s.amount) filter (where s.year > a.level_year), 0) > 0
			end as wrong
		from loyalty.account a
		join (
			select d.tenant_id, ` + yearOf + ` as year
			from (select p.*, p.today as day from programme p) d
		) d on d.tenant_id = a.tenant_id
		left join summed s on s.tenant_id = a.tenant_id and s.customer_id = a.customer_id
		group by a.tenant_id, a.customer_id, a.level_year, a.level_sum, a.level_sum_before, d.year
	)` + tally

// A level that was set by hand may be lower, until it ends.
const levelEarnedSQL = withLevels + `, judged as (
		select a.tenant_id, a.customer_id as id,
			coalesce(l.rank, 0) < (
				select max(r.rank)
				from loyalty.level r
				where r.tenant_id = a.tenant_id
					and (r.retired_at is null or r.rank = 0)
					and r.threshold <= greatest(0,
						case a.level_year when d.year then a.level_sum when d.year - 1 then a.level_sum end,
						case a.level_year when d.year then a.level_sum_before end)
			) as wrong
		from loyalty.account a
		join (
			select d.tenant_id, ` + yearOf + ` as year
			from (select p.*, p.today as day from programme p) d
		) d on d.tenant_id = a.tenant_id
		left join loyalty.level l on l.tenant_id = a.tenant_id and l.id = a.level_id
		where a.level_by is distinct from 'hand'
	)` + tally

const levelChainSQL = `
	with told as (
		select tenant_id, customer_id, from_level, to_level, until,
			lag(to_level) over account as before, lead(id) over account is null as last, seq, row_number() over account as place
		from loyalty.level_change
		window account as (partition by customer_id, tenant_id order by seq)
	), judged as (
		select coalesce(a.tenant_id, c.tenant_id) as tenant_id, coalesce(a.customer_id, c.customer_id) as id,
			c.from_level is distinct from c.before
				or c.seq <> c.place
				or coalesce(c.last, true) and (a.level_id is distinct from c.to_level or a.level_until is distinct from c.until) as wrong
		from loyalty.account a
		full join told c on c.tenant_id = a.tenant_id and c.customer_id = a.customer_id
	)` + tally
