package reward_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
)

// "Exports of redemptions beside customers": what the filter shows, newest first, and logged. Cashiers and
// unknown filters are refused.
func TestExportRedemptions(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	stranger.Redeem(stranger.buyer(100, 0), stranger.Reward(10, nil))
	buyer, espresso, bun := s.buyer(100, 0), s.Reward(10, nil), s.Reward(20, nil)
	redeemed := func(offered core.ID) core.ID {
		made := s.Redeem(buyer, offered)
		dbtest.Tick(s.DB)
		return made.ID
	}
	first, voided, last := redeemed(espresso), redeemed(espresso), redeemed(bun)
	s.VoidRedemption(voided)
	export := func(by core.Actor, f reward.RedemptionFilter) (ids []core.ID, err error) {
		err = s.Rewards.ExportRedemptions(t.Context(), by, f, func(n reward.NamedRedemption) error { ids = append(ids, n.ID); return nil })
		return ids, err
	}
	for _, c := range []struct {
		filter reward.RedemptionFilter
		want   []core.ID
	}{
		{reward.RedemptionFilter{}, []core.ID{last, voided, first}},
		{reward.RedemptionFilter{Status: new("pending"), CustomerID: new(buyer.String())}, []core.ID{last, first}},
		{reward.RedemptionFilter{RewardID: new(espresso.String()), Status: new("voided")}, []core.ID{voided}},
	} {
		got, err := export(s.As(core.Manager).By, c.filter)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%+v (-want +got), %v:\n%s", c.filter, err, diff)
		}
	}
	if _, err := export(s.As(core.Cashier).By, reward.RedemptionFilter{}); !errors.Is(err, core.ErrRole) {
		t.Errorf("a cashier's = %v, want ErrRole", err)
	}
	_, err := export(s.By, reward.RedemptionFilter{Status: new("gone")})
	shoptest.WantFields(t, err, core.Fields{"status": {core.InvalidChoice}})
	got := shoptest.QueryAll[string](s.Shop, "select new ->> 'count' from loyalty.audit_entry where tenant_id = $1 and action = 'redemption.export' order by created_at, id", s.By.Tenant.ID)
	if diff := cmp.Diff([]string{"3", "2", "1"}, got); diff != "" {
		t.Errorf("audit log (-want +got):\n%s", diff)
	}
}
