package verify

const itemSQL = `
	with judged as (
		select i.tenant_id, i.checkout_id as id,
			i.redemption_id is not null and r.id is null
				or i.voucher_id is not null and v.id is null
				or coalesce(r.customer_id <> v.customer_id, false)
				or coalesce(coalesce(r.customer_id, v.customer_id) <> t.customer_id, false)
				or i.outcome is null and (coalesce(r.status = 'pending', false) or coalesce(v.status <> 'redeemed', false)
					or r.id is not null and r.transaction_id is distinct from t.id
					or v.id is not null and v.transaction_id is distinct from t.id)
				or i.outcome is not null and coalesce(t.status <> 'voided', false)
				or i.outcome = 'returned' and i.kind <> 'pending' and coalesce(r.status <> 'voided', false) as wrong
		from loyalty.checkout_item i
		left join loyalty.redemption r on r.tenant_id = i.tenant_id and r.id = i.redemption_id
		left join loyalty.voucher v on v.tenant_id = i.tenant_id and v.id = i.voucher_id
		left join loyalty.transaction t on t.tenant_id = i.tenant_id and t.id = i.checkout_id
	)` + tally
