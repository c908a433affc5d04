package reward_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
)

// The next reward is the cheapest active one in stock that isn't affordable yet, in each unit.
func TestOutlook(t *testing.T) {
	t.Parallel()
	s := shoptest.New(t)
	anna := s.Customer()
	outlook := func(of shoptest.Shop) reward.Outlook {
		t.Helper()
		o, err := of.Rewards.Outlook(t.Context(), of.By, anna.ID, nil)
		s.Check(err)
		return o
	}
	wants := func(what string, got, want reward.Outlook) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	wants("no rewards", outlook(s), reward.Outlook{})
	s.Adjust(anna.ID, ledger.Points, 50)
	s.Reward(40, nil)
	s.Reward(50, new(int64(1)))
	s.Reward(45, new(int64(0))) // none left
	s.Reward(60, new(int64(0)))
	wants("all affordable", outlook(s), reward.Outlook{Affordable: 2})
	s.AddReward(reward.New{Name: "Cake", PointsCost: new(int64(280))})
	s.AddReward(reward.New{Name: "Dinner", PointsCost: new(int64(900))})
	s.AddReward(reward.New{Name: "Coffee", StampsCost: new(int64(10))})
	wants("some", outlook(s), reward.Outlook{
		Affordable: 2, NextForPoints: new("Cake"), PointsCost: new(int64(280)), NextForStamps: new("Coffee"), StampsCost: new(int64(10)),
	})
	wants("another tenant's", outlook(shoptest.New(t)), reward.Outlook{})
}
