package coupon

import (
	"context"
	"errors"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
)

// Refusals of a restore.
var (
	ErrNotRedeemed     = core.Refuse("voucher-not-redeemed", "This voucher has not been redeemed.")
	ErrAlreadyRestored = core.Refuse("voucher-already-restored", "This voucher has already been restored.")
	ErrRestoreExpired  = core.Refuse("voucher-restore-expired", "This voucher was redeemed more than 24 hours ago.")
	ErrUsedAtTill      = core.Refuse("voucher-used-at-till", "This voucher was redeemed at the till, where it can be undone.")
)

// restorable is a voucher and where it was redeemed.
type restorable struct {
	Voucher
	AtTill bool
}

// An item of a checkout has the checkout's ID, which is as old as its vouchers' redemptions. The customer is locked as in
// redeemableSQL.
const restorableSQL = `
	select ` + voucherColumns + `,
		exists (
			select
			from loyalty.checkout_item i
			where i.tenant_id = @tenant_id
				and i.checkout_id >= @since_id
				and i.voucher_id = v.id
				and i.outcome is null
		) as at_till
	from loyalty.voucher v
	join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
	join loyalty.customer k on k.tenant_id = v.tenant_id and k.id = v.customer_id
	where v.tenant_id = @tenant_id
		and v.id = @id
		and k.merged_into is null
	for key share of k`

// findRestorable returns a voucher that can be restored, or the refusal. A fulfilled redemption can't be voided after a
// day (reward.VoidableAfterFulfilment), so neither can a voucher be restored, which may have granted one.
func findRestorable(ctx context.Context, tx *db.Tx, id core.ID) (Voucher, error) {
	since := tx.Now.Add(-reward.VoidableAfterFulfilment)
	args := db.Args{"id": id, "since_id": core.FirstID(since), "now": tx.Now}
	v, err := db.One[restorable](ctx, tx, restorableSQL, args)
	if errors.Is(err, core.ErrNotFound) {
		// Its customer may have been merged during the look-up.
		v, err = db.One[restorable](ctx, tx, restorableSQL, args)
	}
	switch {
	case err != nil:
	case v.RestoredAt != nil:
		err = ErrAlreadyRestored
	case v.Status != VoucherRedeemed:
		err = ErrNotRedeemed
	case v.AtTill:
		err = ErrUsedAtTill
	case !v.RedeemedAt.After(since):
		err = ErrRestoreExpired
	}
	return v.Voucher, err
}

// RestoreTyped restores what FindTyped finds, within 24 hours after it was redeemed by a program or in the panel, and once:
// a payment failed. As with an undo at the till, points and stamps are reversed, even if they were spent, the redemption of
// a reward is voided, and the voucher can be redeemed again; one whose time is over meanwhile has expired.
//
// The order of locks is that of an undo: the reward, then coupon and voucher. The balances come last.
func (s *Service) RestoreTyped(ctx context.Context, by core.Actor, text string, once *core.Once[Voucher]) (core.Reply[Voucher], error) {
	id, err := s.typed(ctx, by, text)
	if err != nil {
		return core.Reply[Voucher]{}, err
	}
	v, err := db.In(ctx, s.db.TenantAs(by, core.Manager), db.Once(ctx, by, once, func(tx *db.Tx) (Voucher, error) {
		return restore(ctx, tx, by, id)
	}))
	return v, ledger.Refusal(err)
}

func restore(ctx context.Context, tx *db.Tx, by core.Actor, id core.ID) (Voucher, error) {
	v, err := findRestorable(ctx, tx, id)
	if err != nil {
		return Voucher{}, err
	}
	if v.RedemptionID != nil {
		// It was at no cost, so there is nothing to refund.
		if _, err := reward.Undo(ctx, tx, by, []core.ID{*v.RedemptionID}, nil); err != nil {
			return Voucher{}, err
		}
	}
	restored, err := undo(ctx, tx, by, []core.ID{id}, &tx.Now)
	switch {
	case err != nil:
		return Voucher{}, err
	case len(restored) == 0:
		return Voucher{}, ErrAlreadyRestored // since it was found; only a restore makes it valid again
	}
	return restored[0].Voucher, restored[0].Reverse(tx, by)
}
