package verify

const costSQL = `
	with due as (
		select tenant_id, id, customer_id,
			case when stamps_spent > 0 then 'stamps' else 'points' end as unit,
			-(points_spent + stamps_spent) as amount, 1 as turn
		from loyalty.redemption` + postedAs + `'redemption'` + compared

const refundSQL = `
	with due as (
		select tenant_id, id, customer_id,
			case when stamps_spent > 0 then 'stamps' else 'points' end as unit,
			case status when 'voided' then points_spent + stamps_spent else 0 end as amount, 1 as turn
		from loyalty.redemption` + postedAs + `'redemption_refund'` + compared

// Every reward has a cost, so a redemption without one is from a voucher. An undo or a restore that makes the voucher valid
// again voids it.
const freeSQL = `
	with promised as (
		select v.tenant_id, v.id, v.customer_id, v.redemption_id, c.benefit_reward_id, v.status <> 'redeemed' as wrong, false as returned
		from loyalty.voucher v
		left join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
		where v.redemption_id is not null
			or (v.status = 'redeemed' and c.benefit_type = 'reward')
		union all
		select i.tenant_id, i.voucher_id, v.customer_id, i.redemption_id, c.benefit_reward_id, v.id is null, true
		from loyalty.checkout_item i
		left join loyalty.voucher v on v.tenant_id = i.tenant_id and v.id = i.voucher_id
		left join loyalty.coupon c on c.tenant_id = i.tenant_id and c.id = v.coupon_id
		where i.kind = 'voucher'
			and i.outcome = 'returned'
			and i.redemption_id is not null
		union all
		select v.tenant_id, v.id, v.customer_id, v.restored_redemption_id, c.benefit_reward_id, v.restored_at is null, true
		from loyalty.voucher v
		left join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
		where v.restored_redemption_id is not null
	), free as (
		select tenant_id, id, customer_id, reward_id, status
		from loyalty.redemption
		where points_spent + stamps_spent = 0
	), judged as (
		select coalesce(p.tenant_id, f.tenant_id) as tenant_id,
			coalesce(p.id, f.id) as id,
			p.id is null or f.id is null or p.wrong or p.returned and f.status <> 'voided'
				or f.customer_id <> p.customer_id
				or f.reward_id is distinct from p.benefit_reward_id
				or count(*) over (partition by p.redemption_id, p.tenant_id) > 1 as wrong
		from promised p
		full join free f on f.id = p.redemption_id and f.tenant_id = p.tenant_id
	)` + tally
