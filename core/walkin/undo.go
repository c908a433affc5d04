package walkin

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
)

// Locks the customer as a sale does: a merge either waits, or it has moved everything.
const lockBuyerSQL = `
	select
	from loyalty.customer
	where tenant_id = @tenant_id
		and id = coalesce((
			select customer_id
			from loyalty.transaction
			where tenant_id = @tenant_id
				and id = @id
		), (
			select coalesce(r.customer_id, v.customer_id)
			from loyalty.checkout_item i
			left join loyalty.redemption r on r.tenant_id = @tenant_id and r.id = i.redemption_id
			left join loyalty.voucher v on v.tenant_id = @tenant_id and v.id = i.voucher_id
			where i.tenant_id = @tenant_id
				and i.checkout_id = @id
				and i.place = 1
		))
	for key share`

// Of several undos, the first gets the items. An item that turns out to be left alone is corrected by keptSQL.
const undoItemsSQL = `
	update loyalty.checkout_item
	set outcome = @outcome
	where tenant_id = @tenant_id
		and checkout_id = @id
		and outcome is null
	returning place, kind, redemption_id, voucher_id`

const keptSQL = `
	update loyalty.checkout_item
	set outcome = 'kept'
	where tenant_id = @tenant_id
		and checkout_id = @id
		and place = any (@places::bigint[])`

// item is a reward or a voucher that is being undone.
type item struct {
	Place        int64
	Kind         Kind
	RedemptionID *core.ID
	VoucherID    *core.ID
}

// Undo undoes a checkout as a whole: the sale is voided, its rewards are voided and their cost and stock returned, a
// reward that was redeemed before is pending again, and vouchers are valid again. What was voided meanwhile or used
// more than a day ago is left alone. A checkout that is undone already stays as it is. A
// cashier may undo the last one of their own, within ten minutes (transaction.ErrVoidNotAllowed), a manager any.
//
// The order of locks is that of Complete: each voucher's reward and coupon, then the other rewards, then the sale. The
// balances come last.
func (s *Service) Undo(ctx context.Context, by core.Actor, id core.ID) error {
	_, err := db.In(ctx, s.db.TenantAs(by, core.Cashier), func(tx *db.Tx) (struct{}, error) {
		return struct{}{}, s.undo(ctx, tx, by, id)
	})
	return ledger.Refusal(err)
}

func (s *Service) undo(ctx context.Context, tx *db.Tx, by core.Actor, id core.ID) error {
	if err := db.Queue(tx, lockBuyerSQL, db.Args{"id": id}); err != nil {
		return err
	}
	var c checkoutReading
	if err := db.Together(ctx, tx, c.readings(by, id, tx.Now)...); err != nil {
		return err
	}
	switch {
	case c.Undone():
		return nil
	case !c.MayUndo:
		return transaction.ErrVoidNotAllowed
	}
	redemptions, vouchers, err := undoItems(ctx, tx, by, c.Checkout)
	if err != nil {
		return err
	}
	if c.WithSale && !c.SaleVoided {
		if _, err = transaction.VoidIn(ctx, tx, by, id, nil); err != nil && !errors.Is(err, transaction.ErrAlreadyVoided) {
			return err // ErrAlreadyVoided is no failure: the sale is voided, as the undo wants
		}
	}
	for _, r := range redemptions {
		if r.Status == reward.Voided {
			if err := reward.Refund(tx, by, r); err != nil {
				return err
			}
		}
	}
	for _, v := range vouchers {
		if err := v.Reverse(tx, by); err != nil {
			return err
		}
	}
	return nil
}

// outcome returns what an undo does with rewards and vouchers. After a day a redemption can't be voided, so vouchers,
// which may have granted one, aren't valid again either.
func (c Checkout) outcome(now time.Time) Outcome {
	if now.Sub(c.ID.Time()) >= reward.VoidableAfterFulfilment {
		return Kept
	}
	return Returned
}

// undoItems undoes the rewards and vouchers of a checkout, except for their points and stamps.
func undoItems(ctx context.Context, tx *db.Tx, by core.Actor, c Checkout) ([]reward.Redemption, []coupon.Undone, error) {
	if len(c.Used) == 0 {
		return nil, nil, nil
	}
	items, err := db.All[item](ctx, tx, undoItemsSQL, db.Args{"id": c.ID, "outcome": c.outcome(tx.Now)})
	if err != nil || len(items) == 0 || c.outcome(tx.Now) == Kept {
		return nil, nil, err
	}
	var granted, bought, pending, used []core.ID
	for _, i := range items {
		switch {
		case i.Kind == usedPending:
			pending = append(pending, *i.RedemptionID)
		case i.VoucherID == nil:
			bought = append(bought, *i.RedemptionID)
		default:
			used = append(used, *i.VoucherID)
			if i.RedemptionID != nil {
				granted = append(granted, *i.RedemptionID)
			}
		}
	}
	redemptions, err := reward.Undo(ctx, tx, by, granted, nil)
	if err != nil {
		return nil, nil, err
	}
	vouchers, err := coupon.Undo(ctx, tx, by, used)
	if err != nil {
		return nil, nil, err
	}
	others, err := reward.Undo(ctx, tx, by, bought, pending)
	if err != nil {
		return nil, nil, err
	}
	redemptions = append(redemptions, others...)
	undone := map[core.ID]bool{}
	for _, r := range redemptions {
		undone[r.ID] = true
	}
	var kept []int64
	for _, i := range items {
		if i.VoucherID == nil && !undone[*i.RedemptionID] {
			kept = append(kept, i.Place)
		}
	}
	if len(kept) == 0 {
		return redemptions, vouchers, nil
	}
	return redemptions, vouchers, db.Queue(tx, keptSQL, db.Args{"id": c.ID, "places": kept})
}
