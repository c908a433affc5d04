package reward

import (
	"context"
	"slices"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
)

// A redemption that was voided meanwhile is left alone. What a program redeemed may be pending.
const undoSQL = `
	update loyalty.redemption
	set status = case when id = any (@bought::uuid[]) then 'voided' else 'pending' end,
		voided_at = case when id = any (@bought::uuid[]) then @now::timestamptz end,
		fulfilled_at = case when id = any (@bought::uuid[]) then fulfilled_at end,
		transaction_id = case when id = any (@bought::uuid[]) then transaction_id end,
		location_id = case when id = any (@bought::uuid[]) then location_id end
	where tenant_id = @tenant_id
		and id = any (@ids::uuid[])
		and (status = 'fulfilled' or status = 'pending' and id = any (@bought::uuid[]))
	returning ` + redemptionColumns

// Undo undoes what a till did with redemptions, or a program with a voucher for a reward, in the caller's transaction:
// those that it redeemed (bought) are voided, and those that it only fulfilled (pending) are pending again. It returns the
// undone ones. The caller checks that they may still be voided (VoidableAfterFulfilment), and refunds the voided ones last,
// because balances come last everywhere.
func Undo(ctx context.Context, tx *db.Tx, by core.Actor, bought, pending []core.ID) ([]Redemption, error) {
	if len(bought)+len(pending) == 0 {
		return nil, nil
	}
	undone, err := db.All[Redemption](ctx, tx, undoSQL, db.Args{
		"bought": bought, "ids": slices.Concat(bought, pending), "now": tx.Now,
	})
	if err != nil {
		return nil, err
	}
	for _, r := range undone {
		if r.Status == Voided {
			if err := daily.Mark(tx, r.CreatedAt); err != nil {
				return nil, err
			}
		}
		if r.Status == Voided && r.TookStock {
			if err := db.Queue(tx, returnStockSQL, db.Args{"reward": r.RewardID}); err != nil {
				return nil, err
			}
		}
		action, was := "redemption.void", r.before()
		if r.Status == Pending {
			action, was = "redemption.reopen", Fulfilled
		}
		err := audit.Write(tx, by, audit.Entry{
			Action: action, Subject: "redemption", ID: r.ID.String(), Name: r.RewardName, Customer: &r.CustomerID,
			Old: map[string]any{"status": was}, New: map[string]any{"status": r.Status},
		})
		if err != nil {
			return nil, err
		}
	}
	return undone, nil
}
