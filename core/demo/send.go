package demo

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/reward"
)

// holder is a customer as somebody who holds a voucher of a coupon.
type holder struct {
	customer core.ID
	coupon   int // of the story's
}

// issued is a voucher as it stands after its send.
type issued struct {
	ID               core.ID
	CustomerID       core.ID
	Status           coupon.VoucherStatus
	RedemptionID     *core.ID
	RedemptionStatus *reward.Status
}

// untilEvaluated is how long a send waits for its evaluation.
const untilEvaluated = 2 * time.Second

// send confirms a send and has it evaluated, each unless an earlier Fill did, and
// notes its vouchers. The job that confirming queues finds nothing left to do.
func (f *filling) send(ctx context.Context, x send) error {
	id, err := f.confirm(ctx, x)
	if err != nil {
		return err
	}
	coupons, err := f.couponsAt(x.at.Add(untilEvaluated))
	if err != nil {
		return err
	}
	by := f.people[x.by]
	if _, err := coupons.Evaluate(ctx, by, id); err != nil {
		return err
	}
	if err := coupons.MarkDelivered(ctx, by, id); err != nil {
		return err
	}
	vouchers, err := db.ReadAll[issued](ctx, f.db, by, vouchersSQL, db.Args{"send": id, "until": f.story.until})
	for _, v := range vouchers {
		f.vouchers[holder{v.CustomerID, x.coupon}] = v
	}
	return err
}

// confirm does not confirm again what is confirmed: its coupon may be switched off by now.
func (f *filling) confirm(ctx context.Context, x send) (core.ID, error) {
	if id, ok := f.done.sends[x.formKey()]; ok {
		return id, nil
	}
	coupons, err := f.couponsAt(x.at)
	if err != nil {
		return core.ID{}, err
	}
	confirmed, err := coupons.Send(ctx, f.people[x.by], f.coupons[x.coupon].ID, coupon.Send{
		Segment: x.segment, Customers: f.members(x), FormKey: x.formKey(),
	})
	return confirmed.ID, err
}

// members are the customers whom a manual send names.
func (f *filling) members(x send) []string {
	ids := make([]string, len(x.to))
	for i, guest := range x.to {
		ids[i] = f.served[guest].id.String()
	}
	return ids
}
