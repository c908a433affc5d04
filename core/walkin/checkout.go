package walkin

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
)

// Checkout is what a cashier recorded at the till at once: a sale with the rewards and vouchers used, or these
// alone. Its ID is the sale's, if there is one.
type Checkout struct {
	ID         core.ID
	CustomerID core.ID
	WithSale   bool
	SaleVoided bool
	MayUndo    bool   // by the actor, now: cashiers may undo their last one for ten minutes, managers every one
	Used       []Used `db:"-"` // rewards first, in the order of use
}

// Used is a reward or a voucher of a checkout.
type Used struct {
	Kind    Kind
	Outcome *Outcome // of the undo; nil: it wasn't undone

	// Of a redemption, also of one that a voucher granted.
	RedemptionID *core.ID
	RewardName   *string
	Status       *reward.Status // now
	PointsSpent  int64
	StampsSpent  int64

	VoucherID *core.ID
	Voucher   *coupon.ShownVoucher `db:"-"` // as it is now
}

// Kind says how a checkout used a reward or a voucher.
type Kind string

// The kinds.
const (
	usedReward  Kind = "reward"  // redeemed and fulfilled
	usedPending Kind = "pending" // redeemed earlier, and fulfilled
	usedVoucher Kind = "voucher"
)

// Outcome says what an undo did.
type Outcome string

// The outcomes.
const (
	Returned Outcome = "returned" // the cost is returned, the voucher valid again, the redemption pending again
	Kept     Outcome = "kept"     // it was left alone: it had been voided, or was fulfilled too long ago
)

// Earlier reports whether the reward was redeemed before the checkout, which only fulfilled it.
func (u Used) Earlier() bool { return u.Kind == usedPending }

// Voided reports whether the reward, also one that a voucher granted, was voided.
func (u Used) Voided() bool { return u.Status != nil && *u.Status == reward.Voided }

// Undone reports whether nothing of the checkout is left to undo.
func (c Checkout) Undone() bool {
	for _, u := range c.Used {
		if u.Outcome == nil {
			return false
		}
	}
	return c.SaleVoided || !c.WithSale
}

// items writes the rewards and vouchers of a checkout.
type items struct {
	checkout core.ID
	by       core.Actor
	n        int64
}

const insertItemSQL = `
	insert into loyalty.checkout_item (tenant_id, checkout_id, place, kind, redemption_id, voucher_id, actor_id)
	values (@tenant_id, @checkout, @place, @kind, @redemption, @voucher, @actor_id)`

func (i *items) add(tx *db.Tx, kind Kind, redemption, voucher *core.ID) error {
	i.n++
	return db.Queue(tx, insertItemSQL, db.Args{
		"checkout": i.checkout, "place": i.n, "kind": kind, "redemption": redemption, "voucher": voucher, "actor_id": i.by.ID,
	})
}

// A cashier may undo their last sale, as they may void it, and a checkout without a sale if nothing follows it.
const checkoutSQL = `
	select @id::uuid as id, coalesce(t.customer_id, r.customer_id, v.customer_id) as customer_id,
		t.id is not null as with_sale, coalesce(t.status = 'voided', false) as sale_voided,
		@voids_any::boolean or coalesce(@id::uuid = case when t.id is null then ` + lastCheckout + ` else ` + transaction.LastSale + ` end, false) as may_undo
	from (values (1)) as always
	left join loyalty.transaction t on t.tenant_id = @tenant_id and t.id = @id
	left join loyalty.checkout_item i on i.tenant_id = @tenant_id and i.checkout_id = @id and i.place = 1
	left join loyalty.redemption r on r.tenant_id = @tenant_id and r.id = i.redemption_id
	left join loyalty.voucher v on v.tenant_id = @tenant_id and v.id = i.voucher_id
	where t.id is not null
		or i.place is not null`

const lastCheckout = `greatest(` + transaction.LastSale + `, (
			select checkout_id
			from loyalty.checkout_item
			where tenant_id = @tenant_id
				and checkout_id >= @since_id
				and actor_id = @actor_id
			order by checkout_id desc
			limit 1
		))`

const usedSQL = `
	select i.kind, i.outcome, i.redemption_id, i.voucher_id, w.name as reward_name, r.status,
		coalesce(r.points_spent, 0) as points_spent, coalesce(r.stamps_spent, 0) as stamps_spent
	from loyalty.checkout_item i
	left join loyalty.redemption r on r.tenant_id = i.tenant_id and r.id = i.redemption_id
	left join loyalty.reward w on w.tenant_id = r.tenant_id and w.id = r.reward_id
	where i.tenant_id = @tenant_id
		and i.checkout_id = @id
	order by i.kind = 'voucher', i.place`

// checkoutReading reads a checkout.
type checkoutReading struct {
	Checkout
	vouchers []coupon.ShownVoucher
}

func (r *checkoutReading) readings(by core.Actor, id core.ID, now time.Time) []db.Reading {
	args := db.Args{"id": id}
	transaction.AddVoidArgs(by, now, args)
	return []db.Reading{
		db.OneInto(&r.Checkout, checkoutSQL, args), db.AllInto(&r.Used, usedSQL, db.Args{"id": id}),
		db.AllInto(&r.vouchers, usedVouchersSQL, db.Args{"id": id, "now": now}),
	}
}

// whole returns the checkout with its vouchers.
func (r *checkoutReading) whole() Checkout {
	for i := range r.Used {
		for j := range r.vouchers {
			if id := r.Used[i].VoucherID; id != nil && *id == r.vouchers[j].ID {
				r.Used[i].Voucher = &r.vouchers[j]
			}
		}
	}
	return r.Checkout
}

// Checkout returns a checkout, for its receipt, or core.ErrNotFound. A sale that was recorded elsewhere is one without
// rewards and vouchers.
func (s *Service) Checkout(ctx context.Context, by core.Actor, id core.ID) (Checkout, error) {
	if err := by.Require(core.Cashier); err != nil {
		return Checkout{}, err
	}
	var r checkoutReading
	if err := db.Together(ctx, s.db.Tenant(by), r.readings(by, id, s.db.Now())...); err != nil {
		return Checkout{}, err
	}
	return r.whole(), nil
}

const lastCheckoutSQL = `
	select ` + lastCheckout + ` as id`

// LastCheckout returns the ID of what the actor recorded last, if that was within the time in which a cashier may
// undo it, or core.ErrNotFound.
func (s *Service) LastCheckout(ctx context.Context, by core.Actor) (core.ID, error) {
	if err := by.Require(core.Cashier); err != nil {
		return core.ID{}, err
	}
	args := db.Args{}
	transaction.AddRecentArgs(by, s.db.Now(), args)
	last, err := db.One[struct{ ID *core.ID }](ctx, s.db.Tenant(by), lastCheckoutSQL, args)
	if err != nil {
		return core.ID{}, err
	}
	if last.ID == nil {
		return core.ID{}, core.ErrNotFound
	}
	return *last.ID, nil
}
