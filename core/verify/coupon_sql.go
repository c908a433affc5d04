package verify

const (
	benefitSQL = `
	with due as (
		select v.tenant_id, v.id, v.customer_id,
			case c.benefit_type when 'stamps' then 'stamps' else 'points' end as unit,
			case when v.status = 'redeemed' and c.benefit_type in ('points', 'stamps') then c.benefit_value else 0 end as amount, v.turn
		from loyalty.voucher v
		left join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
		union all
		select *
		from (` + earlierTurns + `
		) earlier` + postedAs + `'voucher'` + compared

	// The benefits of a voucher's earlier turns: an undo has made it valid again after each of them.
	earlierTurns = `
			select v.tenant_id, v.id, v.customer_id, c.benefit_type as unit, c.benefit_value as amount, n.turn::smallint
			from loyalty.voucher v
			join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
			cross join lateral generate_series(1, v.turn - 1) n (turn)
			where v.turn > 1
				and c.benefit_type in ('points', 'stamps')`
)

const redeemedSQL = `
	with judged as (
		select tenant_id, id,
			(status = 'redeemed') <> (redeemed_at is not null)
				or coalesce(redeemed_at < created_at - ` + clockError + ` or redeemed_at >= expires_at, false) as wrong
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

const voucherSQL = `
	with judged as (
		select v.tenant_id, v.id,
			p.id is null or c.id is null or s.id is null as wrong
		from loyalty.voucher v
		left join loyalty.customer p on p.tenant_id = v.tenant_id and p.id = v.customer_id
		left join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
		left join loyalty.coupon_send s on s.tenant_id = v.tenant_id and s.id = v.send_id and s.coupon_id = v.coupon_id
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
