package reward_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
)

func day(text string) *time.Time {
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return &d
}

// termed adds a reward of a point with terms.
func (s shop) termed(t reward.Terms) core.ID {
	s.T.Helper()
	return s.AddReward(reward.New{Name: "Tasting", PointsCost: new(int64(1)), Terms: t})
}

func wantRefusal(t *testing.T, err error, code, message string) {
	t.Helper()
	var refusal *core.Error
	if !errors.As(err, &refusal) || refusal.Code != code || refusal.Message != message {
		t.Errorf("got %v, want %s: %s", err, code, message)
	}
}

// A reward is redeemed from its first local day to its last one.
func TestARewardHasItsDays(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Shop = s.InZone("Pacific/Kiritimati") // 14 hours ahead of UTC
	anna := s.buyer(10, 0)
	offered := s.termed(reward.Terms{StartsOn: day("2027-06-01"), EndsOn: day("2027-06-30")})
	for at, refusal := range map[string]string{
		"2027-05-31T09:59:59Z": "This reward is available from 1 June 2027.", "2027-05-31T10:00:00Z": "",
		"2027-06-30T09:59:59Z": "", "2027-06-30T10:00:00Z": "This reward was available until 30 June 2027.",
	} {
		instant, err := time.Parse(time.RFC3339, at)
		s.Check(err)
		then := shop{s.At(instant)}
		if refusal == "" {
			then.Redeem(anna, offered)
			continue
		}
		_, err = core.Result(then.Rewards.Redeem(t.Context(), then.By, order(anna, offered), nil, nil))
		wantRefusal(t, err, "reward-not-available", refusal)
	}
}

// A reward of Gold is for customers who have Gold now, or a higher level.
func TestARewardOfALevel(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	levels := s.Levels(award.LevelRules{Basis: award.ByVisits, Period: award.ByYear, Drops: true},
		award.Level{Name: "Member"}, award.Level{Name: "Gold", Threshold: 1}, award.Level{Name: "Black", Threshold: 2})
	offered, kind := s.termed(reward.Terms{MinLevelID: &levels[1]}), s.Points(100)
	anna := s.buyer(10, 0)
	redeem := func(s shop) error {
		_, err := core.Result(s.Rewards.Redeem(t.Context(), s.By, order(anna, offered), nil, nil))
		return err
	}
	wantRefusal(t, redeem(s), "reward-not-available", "This reward is for Gold and above.")
	s.Sale(anna, kind, 100)
	s.Check(redeem(s))
	s.Sale(anna, kind, 100)
	s.Check(redeem(s))
	later := shop{s.At(s.DB.Now().AddDate(3, 0, 0))} // the level has ended, also without the job of that day
	wantRefusal(t, redeem(later), "reward-not-available", "This reward is for Gold and above.")
}

// "A limit a customer": of many tills at once only two redeem; a voided redemption counts no more, and neither does a voucher for the reward.
func TestARewardHasALimitForEachCustomer(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	offered := s.AddReward(reward.New{Name: "Tasting", PointsCost: new(int64(1)), Stock: new(int64(100)), Terms: reward.Terms{MaxPerCustomer: new(int64(2))}})
	anna, bilal := s.buyer(100, 0), s.buyer(100, 0)
	var all sync.WaitGroup
	var mu sync.Mutex
	var made []reward.Redemption
	for range 32 {
		all.Go(func() {
			r, err := core.Result(s.Rewards.Redeem(t.Context(), s.By, order(anna, offered), nil, nil))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				made = append(made, r)
				return
			}
			wantRefusal(t, err, "reward-limit-reached", "This customer has already redeemed this reward twice.")
		})
	}
	all.Wait()
	if len(made) != 2 {
		t.Fatalf("%d of 32 tills redeemed it", len(made))
	}
	s.want(anna, offered, 98, 0, new(int64(98)))
	s.Redeem(bilal, offered)
	s.VoidRedemption(made[0].ID)
	s.Redeem(anna, offered)
	_, err := core.Result(s.Rewards.Redeem(t.Context(), s.By, order(anna, offered), nil, nil))
	wantRefusal(t, err, "reward-limit-reached", "This customer has already redeemed this reward twice.")
}

// Terms are edited as the other fields are, and the audit log has them.
func TestTermsAreEdited(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	levels := s.Levels(award.LevelRules{Basis: award.ByVisits, Period: award.AllTime}, award.Level{Name: "Member"}, award.Level{Name: "Gold", Threshold: 1})
	theirs := stranger.Levels(award.LevelRules{Basis: award.ByVisits, Period: award.AllTime}, award.Level{Name: "Member"}, award.Level{Name: "Gold", Threshold: 1})
	offered := s.termed(reward.Terms{MinLevelID: &levels[1], MaxPerCustomer: new(int64(3)), StartsOn: day("2027-06-01"), EndsOn: day("2027-06-30")})
	edit := func(e reward.Edit) (reward.Reward, error) { return s.Rewards.Edit(t.Context(), s.By, offered, e) }
	for name, c := range map[string]struct {
		edit reward.Edit
		want core.Fields
	}{
		"another business's level": {reward.Edit{MinLevelID: core.Set(theirs[1])}, core.Fields{"min_level_id": {core.InvalidChoice}}},
		"no redemption at all":     {reward.Edit{MaxPerCustomer: core.Set[int64](0)}, core.Fields{"max_per_customer": {core.Min(1)}}},
		"an end before its start":  {reward.Edit{EndsOn: core.Set(*day("2027-05-31"))}, core.Fields{"ends_on": {core.AfterOrEqual("starts_on")}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := edit(c.edit)
			shoptest.WantFields(t, err, c.want)
		})
	}
	s.Exec("update loyalty.level set retired_at = now() where id = $1", levels[1])
	r, err := edit(reward.Edit{StartsOn: core.Optional[time.Time]{Set: true}, MaxPerCustomer: core.Optional[int64]{Set: true}})
	if s.Check(err); r.StartsOn != nil || r.MaxPerCustomer != nil || *r.MinLevelID != levels[1] || !r.EndsOn.Equal(*day("2027-06-30")) {
		t.Errorf("edited: %+v", r)
	}
	found, err := s.Rewards.Find(t.Context(), s.By, offered)
	if s.Check(err); *found.MinLevelID != levels[1] || !found.EndsOn.Equal(*day("2027-06-30")) {
		t.Errorf("found: %+v", found)
	}
}
