package report

import (
	"context"
	"math"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Coupon is a coupon with the number of its vouchers by status.
type Coupon struct {
	ID       core.ID
	Name     string
	Sent     int64 // all vouchers
	Pending  int64
	Redeemed int64
	Expired  int64
}

// RedemptionRate returns the redeemed share of the sent vouchers, from 0 to 1, to four decimal places.
func (c Coupon) RedemptionRate() float64 {
	if c.Sent == 0 {
		return 0
	}
	return math.Round(float64(c.Redeemed)/float64(c.Sent)*10_000) / 10_000
}

// Coupons returns every coupon, newest first.
func (s *Service) Coupons(ctx context.Context, by core.Actor) ([]Coupon, error) {
	if err := by.Require(core.Manager); err != nil {
		return nil, err
	}
	return count[Coupon](ctx, s, by, couponsSQL, db.Args{"now": s.db.Now()})
}

// SentCoupons returns the coupons that were sent in a range of days, newest first, with the current
// status of those vouchers.
func (s *Service) SentCoupons(ctx context.Context, by core.Actor, r Range) ([]Coupon, error) {
	picked, err := s.resolve(by, r)
	if err != nil {
		return nil, err
	}
	return count[Coupon](ctx, s, by, sentCouponsSQL, db.Args{
		"first_id": core.FirstID(picked.startOf(picked.from)), "next_id": core.FirstID(picked.end()), "now": s.db.Now(),
	})
}

const (
	// A voucher counts as expired after its expiry, whatever its stored status.
	perCoupon = `
	select coupon_id, count(*) as sent,
		count(*) filter (where status = 'pending' and (expires_at is null or expires_at > @now)) as pending,
		count(*) filter (where status = 'redeemed') as redeemed
	from loyalty.voucher
	where tenant_id = @tenant_id`

	newestCouponFirst = `
	order by c.created_at desc, c.id desc`
)

const couponsSQL = `
	select c.id, c.name, coalesce(v.sent, 0) as sent, coalesce(v.pending, 0) as pending,
		coalesce(v.redeemed, 0) as redeemed, coalesce(v.sent - v.pending - v.redeemed, 0) as expired
	from loyalty.coupon c
	left join (` + perCoupon + `
	group by coupon_id
	) v on v.coupon_id = c.id
	where c.tenant_id = @tenant_id` + newestCouponFirst

// A voucher's date is in its ID, like a sale's.
const sentCouponsSQL = `
	select c.id, c.name, v.sent, v.pending, v.redeemed, v.sent - v.pending - v.redeemed as expired
	from (` + perCoupon + `
		and id >= @first_id
		and id < @next_id
	group by coupon_id
	) v
	join loyalty.coupon c on c.tenant_id = @tenant_id and c.id = v.coupon_id` + newestCouponFirst
