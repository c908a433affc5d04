package coupon

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// Undone is a voucher that can be redeemed again unless it has expired, in the turn that was undone.
type Undone struct {
	redeemed
	CouponName string
}

// The coupons are locked first, as in redeemSQL, and in a statement of its own: the next one sees what another undo or
// restore has done with the vouchers, so it can count them before it updates them.
const lockCouponsSQL = `
	select
	from loyalty.coupon
	where tenant_id = @tenant_id
		and id in (
			select coupon_id
			from loyalty.voucher
			where tenant_id = @tenant_id
				and id = any (@ids::uuid[])
		)
	order by id
	for no key update`

// A voucher is restored (@restored_at) once; an undo of its checkout doesn't count.
const undoSQL = `
	with c as (
		update loyalty.coupon c
		set redemptions_count = c.redemptions_count - n.vouchers
		from (
			select coupon_id, count(*) as vouchers
			from loyalty.voucher
			where tenant_id = @tenant_id
				and id = any (@ids::uuid[])
				and status = 'redeemed'
				and (restored_at is null or @restored_at::timestamptz is null)
			group by coupon_id
		) n
		where c.tenant_id = @tenant_id
			and c.id = n.coupon_id
		returning c.id, c.name, c.benefit_type, c.benefit_value, c.benefit_reward_id
	), undone as (
		update loyalty.voucher v
		set status = 'pending',
			redeemed_at = null,
			redemption_id = null,
			transaction_id = null,
			restored_at = coalesce(@restored_at::timestamptz, v.restored_at),
			restored_redemption_id = case when @restored_at::timestamptz is null then v.restored_redemption_id else v.redemption_id end,
			turn = v.turn + 1
		from c
		where v.tenant_id = @tenant_id
			and v.id = any (@ids::uuid[])
			and v.coupon_id = c.id
			and v.status = 'redeemed'
			and (v.restored_at is null or @restored_at::timestamptz is null)
		returning v.send_id, ` + voucherColumns + `, v.turn, c.name as coupon_name
	), counted as (
		update loyalty.coupon_send s
		set redeemed = s.redeemed - n.vouchers
		from (
			select send_id, count(*) as vouchers
			from undone
			group by send_id
		) n
		where s.tenant_id = @tenant_id
			and s.id = n.send_id
	)
	select id, coupon_id, customer_id, status, benefit_type, benefit_value, benefit_reward_id,
		redemption_id, transaction_id, expires_at, redeemed_at, restored_at, created_at, (turn - 1)::smallint as turn, coupon_name
	from undone
	order by id`

// Undo makes redeemed vouchers of a till's checkout valid again, in the caller's transaction, and returns them. A
// voucher whose time is over has expired. The caller undoes the rewards that they granted, and reverses their points
// and stamps last, because balances come last everywhere.
func Undo(ctx context.Context, tx *db.Tx, by core.Actor, ids []core.ID) ([]Undone, error) {
	return undo(ctx, tx, by, ids, nil)
}

// undo is Undo, or Restore at an instant.
func undo(ctx context.Context, tx *db.Tx, by core.Actor, ids []core.ID, restoredAt *time.Time) ([]Undone, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	if err := errors.Join(db.Queue(tx, lockCouponsSQL, db.Args{"ids": ids}), daily.MarkVouchers(tx, ids)); err != nil {
		return nil, err
	}
	undone, err := db.All[Undone](ctx, tx, undoSQL, db.Args{"ids": ids, "restored_at": restoredAt, "now": tx.Now})
	if err != nil {
		return nil, err
	}
	action := "voucher.return"
	if restoredAt != nil {
		action = "voucher.restore"
	}
	for _, v := range undone {
		err := audit.Write(tx, by, audit.Entry{
			Action: action, Subject: "voucher", ID: v.ID.String(), Name: v.CouponName, Customer: &v.CustomerID,
			Old: map[string]any{"status": VoucherRedeemed}, New: map[string]any{"status": v.Status},
		})
		if err != nil {
			return nil, err
		}
	}
	return undone, nil
}

// Reverse queues the reversal of a voucher's points or stamps, even if they were spent.
func (v Undone) Reverse(tx *db.Tx, by core.Actor) error {
	return v.postBenefit(tx, by, ledger.Reversal)
}
