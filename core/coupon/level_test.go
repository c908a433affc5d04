package coupon_test

import (
	"errors"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/shoptest"
)

// golden gives the business a first level and Gold, which a customer reaches with a visit, and returns the ID of Gold.
func (s shop) golden() int64 {
	s.T.Helper()
	return s.Levels(award.LevelRules{Basis: award.ByVisits, Period: award.ByYear, Drops: true},
		award.Level{Name: "Member"}, award.Level{Name: "Gold", Threshold: 1})[1]
}

// forGold describes a coupon of a level.
func forGold(gold int64) coupon.New {
	n := fivePoints()
	n.MinLevelID = &gold
	return n
}

// "A voucher can be redeemed by customers who have the level now": before they rise, and after the level has ended, they are refused.
// Where levels are off, all customers can.
func TestAVoucherOfALevel(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	gold, kind, anna := s.golden(), s.Points(100), s.Customer().ID
	n := forGold(gold)
	n.MaxPerCustomer = new(int64(3))
	c := s.Coupon(n)
	first, second, third := s.Voucher(c.ID, anna), s.Voucher(c.ID, anna), s.Voucher(c.ID, anna)
	refused := func(s shop, voucher core.ID) {
		t.Helper()
		var refusal *core.Error
		const sentence = "This voucher is for Gold and above."
		if _, err := core.Result(s.Coupons.Redeem(t.Context(), s.By, voucher, nil)); !errors.As(err, &refusal) || refusal.Code != "voucher-not-available" || refusal.Message != sentence {
			t.Errorf("got %v, want %s", err, sentence)
		}
		shown, err := s.Coupons.FindVoucher(t.Context(), s.By, voucher)
		if s.Check(err); !errors.As(shown.RefusalNow(), &refusal) || refusal.Message != sentence {
			t.Errorf("its page says %v", shown.RefusalNow())
		}
	}
	redeem := func(s shop, voucher core.ID) {
		t.Helper()
		shown, err := s.Coupons.FindVoucher(t.Context(), s.By, voucher)
		s.Check(err)
		s.Check(shown.RefusalNow())
		s.Must(core.Result(s.Coupons.Redeem(t.Context(), s.By, voucher, nil)))
	}
	refused(s, first)
	s.Sale(anna, kind, 100)
	redeem(s, first)
	later := s.at(s.DB.Now().AddDate(3, 0, 0)) // the level has ended, also without the job of that day
	refused(later, second)

	s.Exec("update loyalty.level set retired_at = now() where id = $1", gold)
	s.RulesChanged()
	redeem(s, second) // who has a retired level keeps it until its end
	refused(later, third)
	s.Exec("update loyalty.level_programme set active = false where tenant_id = $1", s.By.Tenant.ID)
	s.RulesChanged()
	redeem(later, third)
}

// A level that was lost by the void of a sale refuses at once, also at the till in the moment between looking and redeeming.
func TestAVoucherAfterALevelIsLost(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	gold, kind, anna := s.golden(), s.Points(100), s.Customer().ID
	sale := s.Sale(anna, kind, 100)
	voucher := s.Voucher(s.Coupon(forGold(gold)).ID, anna)
	shown, err := s.Coupons.FindVoucher(t.Context(), s.By, voucher)
	s.Check(err)
	s.Check(shown.RefusalNow())
	s.VoidSale(sale.ID)
	if _, err := core.Result(s.Coupons.Redeem(t.Context(), s.By, voucher, nil)); !errors.Is(err, coupon.ErrNotAvailable) {
		t.Errorf("after the void: %v", err)
	}
}

// A coupon asks for a level that customers can rise to. After the first send, the level can only be removed.
func TestTheLevelOfACouponIsEdited(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	levels := s.Levels(award.LevelRules{Basis: award.ByVisits, Period: award.AllTime},
		award.Level{Name: "Member"}, award.Level{Name: "Gold", Threshold: 1}, award.Level{Name: "Black", Threshold: 2})
	theirs := stranger.golden()
	invalid := core.Fields{"min_level_id": {core.InvalidChoice}}
	for _, level := range []int64{theirs, levels[0]} {
		_, err := core.Result(s.Coupons.Add(t.Context(), s.By, forGold(level), nil))
		shoptest.WantFields(t, err, invalid)
	}
	c := s.Coupon(forGold(levels[1]))
	if *c.LevelName != "Gold" {
		t.Errorf("its level is called %q", *c.LevelName)
	}
	edit := func(level core.Optional[int64]) (coupon.Coupon, error) {
		return s.Coupons.Edit(t.Context(), s.By, c.ID, coupon.Edit{MinLevelID: level})
	}
	_, err := edit(core.Set(theirs))
	shoptest.WantFields(t, err, invalid)
	edited, err := edit(core.Set(levels[2]))
	if s.Check(err); *edited.MinLevelID != levels[2] || *edited.LevelName != "Black" {
		t.Errorf("edited: %+v", edited)
	}
	s.Voucher(c.ID, s.Customer().ID)
	fixed := core.Fields{"min_level_id": {{Rule: "fixed_after_sending"}}}
	_, err = edit(core.Set(levels[1]))
	shoptest.WantFields(t, err, fixed)
	s.Exec("update loyalty.level set retired_at = now() where id = $1", levels[2])
	s.Must(s.Coupons.Edit(t.Context(), s.By, c.ID, coupon.Edit{Name: core.Set("Renamed")}))
	edited, err = edit(null[int64]())
	if s.Check(err); edited.MinLevelID != nil || edited.LevelName != nil {
		t.Errorf("removed: %+v", edited)
	}
	_, err = edit(core.Set(levels[1]))
	shoptest.WantFields(t, err, fixed)
}

// A send skips no customer because of the level, and its preview says how many have it now.
func TestAPreviewCountsTheLevel(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	levels := s.Levels(award.LevelRules{Basis: award.ByVisits, Period: award.AllTime},
		award.Level{Name: "Member"}, award.Level{Name: "Gold", Threshold: 1}, award.Level{Name: "Black", Threshold: 2})
	kind := s.Points(100)
	var all []core.ID
	for visits := range 4 { // 0 to 3 visits
		id := s.Customer().ID
		for range visits {
			s.Sale(id, kind, 100)
		}
		all = append(all, id)
	}
	counts := func(level *int64, send coupon.Send, want int64) {
		t.Helper()
		n := fivePoints()
		n.MinLevelID = level
		p, err := s.Coupons.Preview(t.Context(), s.By, s.Coupon(n).ID, send)
		if s.Check(err); want < 0 && p.AtLevel != nil || want >= 0 && (p.AtLevel == nil || *p.AtLevel != want) {
			t.Errorf("%s: %+v, want %d at the level", send.Segment, p, want)
		}
	}
	counts(nil, toAll(), -1)
	counts(&levels[1], toAll(), 3)
	counts(&levels[2], toAll(), 2)
	counts(&levels[1], to(coupon.RecentPurchase), 3)
	counts(&levels[1], to(coupon.LongStanding), 0)
	counts(&levels[1], to(coupon.Manual, all[0], all[1]), 1)
	if sent := s.Send(s.Coupon(forGold(levels[1])).ID, toAll()); sent.Sent != 4 {
		t.Errorf("sent %d vouchers, want all 4", sent.Sent)
	}
	s.Exec("update loyalty.account set level_until = current_date - 2 where tenant_id = $1 and level_id = $2", s.By.Tenant.ID, levels[2])
	counts(&levels[1], toAll(), 1)
	s.Exec("update loyalty.level_programme set active = false where tenant_id = $1", s.By.Tenant.ID)
	counts(&levels[1], toAll(), -1)
}
