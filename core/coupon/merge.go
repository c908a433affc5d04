package coupon

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// A link that was mailed stays valid: what its version and the kept customer's differ by is added.
const moveVouchersSQL = `
	update loyalty.voucher v
	set customer_id = k.id,
		link_shift = v.link_shift + m.link_version - k.link_version
	from loyalty.customer m, loyalty.customer k
	where v.tenant_id = @tenant_id
		and v.customer_id = @merged
		and m.tenant_id = @tenant_id
		and m.id = @merged
		and k.tenant_id = @tenant_id
		and k.id = @kept`

// MoveVouchers moves the vouchers of a customer who is being merged, and returns their number. Their links
// and the e-mails that are queued for them stay.
func MoveVouchers(ctx context.Context, tx *db.Tx, merged, kept core.ID) (int64, error) {
	return db.Exec(ctx, tx, moveVouchersSQL, db.Args{"merged": merged, "kept": kept})
}

// Keeps customers from being merged between the choice of a send's members and the creation of their vouchers.
const keepMergesFromSendSQL = `
	select pg_advisory_xact_lock_shared(hashtextextended('merge beside a send ' || @tenant_id::bigint::text, 10))`

const keepSendsFromMergeSQL = `
	select pg_try_advisory_xact_lock(hashtextextended('merge beside a send ' || @tenant_id::bigint::text, 10))`

// ErrSending refuses a merge while the vouchers of a send are created.
var ErrSending = core.Refuse("send-in-progress", "A coupon is being sent to customers. Try again in a minute.")

// KeepSendsOut keeps sends from creating vouchers until the transaction ends, or fails with ErrSending while one
// does: it may take minutes, and tills must not wait for it.
func KeepSendsOut(ctx context.Context, tx *db.Tx) error {
	free, err := db.One[bool](ctx, tx, keepSendsFromMergeSQL, nil)
	if err == nil && !free {
		err = ErrSending
	}
	return err
}
