package api_test

import (
	"strconv"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
)

// gold returns the ID of the level that levels gives the business.
func (s *shop) gold() int64 {
	s.T.Helper()
	return shoptest.Query[int64](s.Shop, "select id from loyalty.level where tenant_id = $1 and name = 'Gold'", s.By.Tenant.ID)
}

// A reward says what it asks for, and is refused with the reason: in the order of days, tier, limit and balance.
func TestARewardSaysWhatItAsksFor(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.fill("{anna} {espresso} {points}")
	s.levels()
	edit := func(e reward.Edit) { s.T.Helper(); s.must(s.Rewards.Edit(t.Context(), s.By, s.id("{espresso}"), e)) }
	redeem := func() answer {
		return s.call("POST", "/api/v1/redemptions", s.token, `{"customer_ulid":"{anna}","reward_ulid":"{espresso}"}`)
	}
	gold, today := s.gold(), core.DateOf(s.db.Now(), s.By.Tenant.TimeZone)
	tomorrow := today.AddDate(0, 0, 1)
	edit(reward.Edit{MinLevelID: core.Set(gold), MaxPerCustomer: core.Set[int64](1), StartsOn: core.Set(tomorrow)})
	s.call("GET", "/api/v1/rewards", s.token, "").has(t, 200,
		`"min_tier_id":`+strconv.FormatInt(gold, 10)+`,"max_per_customer":1,"starts_on":"`+tomorrow.Format(time.DateOnly)+`","ends_on":null`)
	redeem().is(t, 422, refused("reward-not-available", "This reward is available from "+tomorrow.Format("2 January 2006")+"."))

	edit(reward.Edit{StartsOn: core.Set(today), EndsOn: core.Set(today)})
	redeem().is(t, 422, refused("reward-not-available", "This reward is for Gold and above."))

	s.call("POST", "/api/v1/transactions", s.token, soldToAnna).has(t, 201, `"points_awarded":12`)
	s.call("POST", "/api/v1/transactions", s.token, soldToAnna).has(t, 201, `"points_awarded":12`)
	redeem().has(t, 201, `"status":"pending"`)
	redeem().is(t, 422, refused("reward-limit-reached", "This customer has already redeemed this reward once."))

	edit(reward.Edit{StartsOn: core.Optional[time.Time]{Set: true}, EndsOn: core.Set(today.AddDate(0, 0, -1))})
	redeem().is(t, 422, refused("reward-not-available", "This reward was available until "+today.AddDate(0, 0, -1).Format("2 January 2006")+"."))
}

// A voucher is refused to customers below the tier of its coupon, after it could have expired and before the coupon's limit. Looking it up says so.
func TestAVoucherOfATier(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.fill("{anna} {points}")
	s.levels()
	gold := s.gold()
	of := func(most *int64) (coupon.Coupon, string) {
		made := s.Coupon(coupon.New{Name: "Gold days", BenefitType: "points", BenefitValue: new(int64(5)), MinLevelID: &gold, MaxRedemptions: most})
		return made, "/api/v1/vouchers/" + s.Voucher(made.ID, s.id("{anna}")).String()
	}
	redeem := func(path string) answer {
		return s.call("POST", "/api/v1/coupons/"+path[len("/api/v1/vouchers/"):]+"/redeem", s.token, "")
	}
	made, path := of(nil)
	const sentence = "This voucher is for Gold and above."
	s.call("GET", "/api/v1/coupons/"+made.ID.String(), s.token, "").has(t, 200, `"min_tier_id":`+strconv.FormatInt(gold, 10))
	s.call("GET", path, s.token, "").has(t, 200, `"redeemable":false`, `"not_redeemable":{"code":"voucher-not-available","detail":"`+sentence+`"}`)
	redeem(path).is(t, 422, refused("voucher-not-available", sentence))
	s.must(s.Coupons.SetActive(t.Context(), s.By, made.ID, false))
	redeem(path).has(t, 422, `"coupon-inactive"`)
	s.must(s.Coupons.SetActive(t.Context(), s.By, made.ID, true))

	_, full := of(new(int64(1)))
	s.Exec("update loyalty.coupon set redemptions_count = 1 where tenant_id = $1 and max_redemptions = 1", s.By.Tenant.ID)
	redeem(full).has(t, 422, `"voucher-not-available"`)

	s.call("POST", "/api/v1/transactions", s.token, soldToAnna).has(t, 201, `"points_awarded":12`)
	s.call("POST", "/api/v1/transactions", s.token, soldToAnna).has(t, 201, `"points_awarded":12`)
	redeem(full).has(t, 422, `"coupon-cap-reached"`)
	s.call("GET", path, s.token, "").has(t, 200, `"redeemable":true,"not_redeemable":null`)
	redeem(path).has(t, 200, `"status":"redeemed"`)
	redeem(path).has(t, 422, `"voucher-redeemed"`)
}
