package coupon_test

import (
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/shoptest"
)

// A coupon whose end lies in the past can't be created: nothing could be sent.
func TestACouponEndsInTheFuture(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	now := s.DB.Now()
	for ends, want := range map[time.Duration]core.Fields{
		-24 * time.Hour: {"expires_at": {core.MustBeFuture}}, 0: {"expires_at": {core.MustBeFuture}}, time.Hour: nil,
	} {
		n := fivePoints()
		n.ExpiresAt = new(now.Add(ends))
		_, err := core.Result(s.Coupons.Add(t.Context(), s.By, n, nil))
		if want == nil {
			s.Check(err)
			continue
		}
		shoptest.WantFields(t, err, want)
	}
}

// A coupon whose end is moved to the past is over, and its vouchers keep their own dates, which are told with it.
func TestVouchersOfACouponThatHasEndedKeepTheirDates(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	n.ExpiresAt = new(s.DB.Now().AddDate(0, 1, 0))
	c := s.Coupon(n)
	used, kept := s.Voucher(c.ID, s.Customer().ID), s.Voucher(c.ID, s.Customer().ID)
	s.RedeemVoucher(used)
	s.Must(s.Coupons.Edit(t.Context(), s.By, c.ID, coupon.Edit{ExpiresAt: core.Set(s.DB.Now().AddDate(0, 0, -1))}))
	found := s.counted(c.ID)
	if found.State != coupon.StateExpired || found.Pending != 1 || found.PendingUntil == nil || !found.PendingUntil.Equal(*n.ExpiresAt) || found.PendingOnward {
		t.Errorf("%+v, want one voucher until %v", found, *n.ExpiresAt)
	}
	s.RedeemVoucher(kept)
	if found := s.counted(c.ID); found.PendingUntil != nil {
		t.Errorf("all redeemed: until %v", found.PendingUntil)
	}
}
