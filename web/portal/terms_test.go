package portal_test

import (
	"slices"
	"strings"
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

// A voucher's page, and its row on the card, say for which level it is while its customer lacks it. The code appears once they have risen.
func TestAVoucherSaysForWhichLevelItIs(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	levels := s.Levels(award.LevelRules{Basis: award.ByVisits, Period: award.AllTime}, award.Level{Name: "Member"}, award.Level{Name: "Gold", Threshold: 1})
	n := off()
	n.MinLevelID = &levels[1]
	v := s.sent(n)
	page := s.browser().Get("/v/" + v.token)
	if got := page.Text(".pass-body"); page.Text(".pass-state") != "Not available now" || got != "For Gold and above. You can use it as soon as you have that level." {
		t.Errorf("the page says %q, %q", page.Text(".pass-state"), got)
	}
	who, err := s.Customers.Find(t.Context(), s.By, v.CustomerID)
	s.Check(err)
	token, err := s.Walkins.CardToken(s.By.Tenant.ID, who)
	s.Check(err)
	if got := s.browser().Get("/card/" + token).Text(".row-barred"); !strings.Contains(got, "off your order") || !strings.HasSuffix(got, "For Gold and above") {
		t.Errorf("the card says %q", got)
	}
	s.Sale(v.CustomerID, s.Points(100), 100)
	if page := s.browser().Get("/v/" + v.token); page.Text(".pass-state") != "Valid" || page.Find(".pass-code").Length() != 1 {
		t.Errorf("as Gold: %q", page.Text(".pass-state"))
	}
	if s.browser().Get("/card/"+token).Find(".row-barred").Length() != 0 {
		t.Error("as Gold, the card still greys it")
	}
}
