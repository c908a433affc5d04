package portal_test

import (
	"slices"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/reward"
)

// A card shows what its customer can't have last, with the reason, and never as ready.
func TestACardSaysWhyARewardCantBeHad(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	levels := s.Levels(award.LevelRules{Basis: award.ByVisits, Period: award.AllTime}, award.Level{Name: "Member"}, award.Level{Name: "Gold", Threshold: 9})
	anna := s.anna()
	s.Adjust(anna.ID, "points", 100)
	s.AddReward(reward.New{Name: "Tasting", PointsCost: new(int64(10)), Terms: reward.Terms{MinLevelID: &levels[1]}})
	tote := s.AddReward(reward.New{Name: "Tote bag", PointsCost: new(int64(20)), Terms: reward.Terms{MaxPerCustomer: new(int64(1))}})
	s.AddReward(reward.New{Name: "Coffee", PointsCost: new(int64(30))})
	s.Must(core.Result(s.Rewards.Fulfil(t.Context(), s.By, s.Redeem(anna.ID, tote).ID, nil)))
	token, err := s.Walkins.CardToken(s.By.Tenant.ID, anna)
	s.Check(err)
	card := s.browser().Get("/card/" + token)
	if got := card.Texts(".row:has(.ready) b"); !slices.Equal(got, []string{"Coffee"}) {
		t.Errorf("ready: %q", got)
	}
	want := []string{"Tasting", "10 points", "For Gold and above", "Tote bag", "20 points", "Already redeemed"}
	if got := card.Texts(".row-barred .row-text > *"); !slices.Equal(got, want) {
		t.Errorf("barred: %q, want %q", got, want)
	}
}
