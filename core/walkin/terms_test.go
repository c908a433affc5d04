package walkin_test

import (
	"errors"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/walkin"
)

// The till and the card know in the one round trip of a customer which rewards they can't have, and why. Rewards that are over are left out.
func TestRewardsThatACustomerCantHave(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	levels := s.Levels(award.LevelRules{Basis: award.ByVisits, Period: award.AllTime}, award.Level{Name: "Member"}, award.Level{Name: "Gold", Threshold: 2})
	today := core.DateOf(s.DB.Now(), s.By.Tenant.TimeZone)
	tomorrow, yesterday := today.AddDate(0, 0, 1), today.AddDate(0, 0, -1)
	c := s.Customer()
	s.Adjust(c.ID, "points", 10)
	add := func(name string, cost int64, terms reward.Terms) core.ID {
		return s.AddReward(reward.New{Name: name, PointsCost: &cost, Terms: terms})
	}
	once := add("once", 1, reward.Terms{MaxPerCustomer: new(int64(1))})
	gold := add("gold", 2, reward.Terms{MinLevelID: &levels[1]})
	add("soon", 3, reward.Terms{StartsOn: &tomorrow})
	add("over", 4, reward.Terms{EndsOn: &yesterday})
	add("dear for gold", 20, reward.Terms{MinLevelID: &levels[1]})
	add("dear", 100, reward.Terms{})

	shown := func() (why map[string]*reward.Barrier, next string) {
		t.Helper()
		w, err := s.Walkins.Customer(t.Context(), s.cashier, c.ID)
		s.Check(err)
		why = map[string]*reward.Barrier{}
		for _, r := range w.Rewards {
			why[r.Name] = r.Barrier
		}
		closest, _, _ := w.Next()
		return why, closest.Name
	}
	why, next := shown()
	if len(why) != 5 || why["once"] != nil || why["gold"].Level.Name != "Gold" || !why["soon"].From.Equal(tomorrow) || why["dear"] != nil || next != "dear" {
		t.Errorf("at first: %+v, next %s", why, next)
	}
	sale := s.to(c, 100)
	sale.Rewards = []core.ID{once}
	s.Must(core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", sale, nil, nil)))
	for id, code := range map[core.ID]string{once: "reward-limit-reached", gold: "reward-not-available"} {
		var refusal *core.Error
		_, err := core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", walkin.Sale{CustomerID: c.ID, Rewards: []core.ID{id}}, nil, nil))
		if !errors.As(err, &refusal) || refusal.Code != code {
			t.Errorf("at the till: %v, want %s", err, code)
		}
	}
	s.Must(core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", s.to(c, 100), nil, nil)))
	why, next = shown()
	if why["once"].Used != 1 || why["once"].Limit != 1 || why["gold"] != nil || next != "dear for gold" {
		t.Errorf("as Gold: %+v, next %s", why, next)
	}
}
