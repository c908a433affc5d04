package daily

import (
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Marks are only ever added, so that the job deletes exactly those whose changes it sees. Migration 0168 marks for earlier builds.

const markSQL = `
	insert into loyalty.day_mark (tenant_id, at, id, visits)
	values (@tenant_id, @at, @id, false)`

// Mark queues that the day of a record is counted anew, because the record was changed. Who came on it did not change: for that there are
// MarkVoid and MarkMove.
func Mark(tx *db.Tx, at time.Time) error {
	return db.Queue(tx, markSQL, db.Args{"at": at, "id": core.NewID(tx.Now)})
}

// Who came on a day follows from the sales before it, so the customer's next sale is marked, too, and the next one at the same location.
// If it was the first sale, then the month that the customer is counted from changes, in all later months, and which visit is their second.
// A voucher counts on its own day what it was redeemed with.
const (
	markVoidSQL = `
	with voided as (
		select id, customer_id, location_id, created_at
		from loyalty.transaction
		where tenant_id = @tenant_id
			and id = @id
	)
	insert into loyalty.day_mark (tenant_id, at, id, visits)
	select @tenant_id, x.at, @mark, true
	from (
		select created_at as at
		from voided` + nextOf + `voided s` + nextEnd + `
	) x
	where x.at is not null
	returning 1`

	// nextOf selects the times of the next sales of each sale s, at the customer's of s.
	nextOf = `
		union
		select n.created_at
		from `
	nextEnd = `
		cross join lateral (
			(
				select created_at
				from loyalty.transaction
				where tenant_id = @tenant_id
					and customer_id = s.customer_id
					and id > s.id
					and status = 'completed'
				order by id
				limit 1
			) union all (
				select created_at
				from loyalty.transaction
				where tenant_id = @tenant_id
					and customer_id = s.customer_id
					and id > s.id
					and status = 'completed'
					and location_id = s.location_id
				order by id
				limit 1
			) union all (
				select t.created_at
				from loyalty.transaction t
				where t.tenant_id = @tenant_id
					and t.customer_id = s.customer_id
					and t.id > s.id
					and t.status = 'completed'
					and not exists (
						select
						from loyalty.transaction
						where tenant_id = @tenant_id
							and customer_id = s.customer_id
							and id < s.id
							and status = 'completed'
					)
			) union all (
				select t.created_at
				from loyalty.transaction t
				where t.tenant_id = @tenant_id
					and t.customer_id = s.customer_id
					and t.id > s.id
					and t.status = 'completed'
					and t.location_id = s.location_id
					and not exists (
						select
						from loyalty.transaction
						where tenant_id = @tenant_id
							and customer_id = s.customer_id
							and id < s.id
							and status = 'completed'
							and location_id = s.location_id
					)
			)
		) n`

	markMoveSQL = `
	with moved as (
		select id, @kept::uuid as customer_id, location_id, created_at
		from loyalty.transaction
		where tenant_id = @tenant_id
			and customer_id = @merged
			and status = 'completed'
	)
	insert into loyalty.day_mark (tenant_id, at, id, visits)
	select @tenant_id, x.at, @mark, true
	from (
		select created_at as at
		from moved
		union
		select created_at
		from loyalty.customer
		where tenant_id = @tenant_id
			and id = @merged` + nextOf + `moved s` + nextEnd + `
	) x
	returning 1`
)

// MarkVoid queues that the days that a voided sale changes are counted anew.
func MarkVoid(tx *db.Tx, sale core.ID) error {
	return db.Queue(tx, markVoidSQL, db.Args{"id": sale, "mark": core.NewID(tx.Now)})
}

// MarkMove queues that the days of a customer who is merged into another are counted anew. It comes before their sales are moved.
func MarkMove(tx *db.Tx, merged, kept core.ID) error {
	return db.Queue(tx, markMoveSQL, db.Args{"merged": merged, "kept": kept, "mark": core.NewID(tx.Now)})
}

const anewSQL = `
	insert into loyalty.days_counted (tenant_id, zone, first_day, last_day, first_id, next_id, ends_at)
	values (@tenant_id, '', ` + noDays + `)
	on conflict (tenant_id) do update
	set zone = ''`

// CountAnew queues that all days of a business are counted anew: for what writes records of the past.
func CountAnew(tx *db.Tx) error { return db.Queue(tx, anewSQL, nil) }

// A voucher counts on its own day, and on its sale's what it was used with.
const (
	markVouchersSQL = `
	insert into loyalty.day_mark (tenant_id, at, id, visits)
	select @tenant_id, x.at, @mark, false
	from (
		select redeemed_at as at
		from loyalty.voucher
		where tenant_id = @tenant_id
			and id = any (@ids::uuid[])
			and redeemed_at is not null
		union
		select t.created_at
		from loyalty.voucher v
		join loyalty.transaction t on t.tenant_id = @tenant_id and t.id = v.transaction_id
		where v.tenant_id = @tenant_id
			and v.id = any (@ids::uuid[])
	) x
	returning 1`

	markSaleSQL = `
	insert into loyalty.day_mark (tenant_id, at, id, visits)
	select @tenant_id, created_at, @mark, false
	from loyalty.transaction
	where tenant_id = @tenant_id
		and id = @id
	returning 1`
)

// MarkVouchers queues that the days of redeemed vouchers and of their sales are counted anew. It comes before the vouchers are valid again.
func MarkVouchers(tx *db.Tx, ids []core.ID) error {
	return db.Queue(tx, markVouchersSQL, db.Args{"ids": ids, "mark": core.NewID(tx.Now)})
}

// MarkSale queues that the day of a recorded sale is counted anew, because a voucher is redeemed with it.
func MarkSale(tx *db.Tx, id core.ID) error {
	return db.Queue(tx, markSaleSQL, db.Args{"id": id, "mark": core.NewID(tx.Now)})
}
