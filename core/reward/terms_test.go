package reward_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/dbtest"
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

// "A retired level asks on": customers who have it, or a higher one, can redeem the reward. Where levels are off, all customers can.
func TestARewardOfALevelThatIsRetired(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	levels := s.Levels(award.LevelRules{Basis: award.ByVisits, Period: award.ByYear, Drops: true},
		award.Level{Name: "Member"}, award.Level{Name: "Gold", Threshold: 1}, award.Level{Name: "Black", Threshold: 3})
	offered, kind := s.termed(reward.Terms{MinLevelID: &levels[1]}), s.Points(100)
	anna, bilal := s.buyer(10, 0), s.buyer(10, 0)
	redeem := func(buyer core.ID) error {
		_, err := core.Result(s.Rewards.Redeem(t.Context(), s.By, order(buyer, offered), nil, nil))
		return err
	}
	s.Sale(anna, kind, 100)
	s.Exec("update loyalty.level set retired_at = now() where id = $1", levels[1])
	s.RulesChanged()
	s.Check(redeem(anna))
	s.Sale(bilal, kind, 100)
	wantRefusal(t, redeem(bilal), "reward-not-available", "This reward is for Gold and above.")
	s.Sale(bilal, kind, 100)
	s.Sale(bilal, kind, 100)
	s.Check(redeem(bilal))

	cleo := s.buyer(10, 0)
	wantRefusal(t, redeem(cleo), "reward-not-available", "This reward is for Gold and above.")
	s.Exec("update loyalty.level_programme set active = false where tenant_id = $1", s.By.Tenant.ID)
	s.RulesChanged()
	s.Check(redeem(cleo))
}

// Pages show for each reward why a customer can't have it, as Redeem would refuse it: with terms about the customer in a round trip.
func TestBarriers(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shopIn(t, d)
	levels := s.Levels(award.LevelRules{Basis: award.ByVisits, Period: award.AllTime}, award.Level{Name: "Member"}, award.Level{Name: "Gold", Threshold: 1})
	today := core.DateOf(s.DB.Now(), s.By.Tenant.TimeZone)
	tomorrow, yesterday := today.AddDate(0, 0, 1), today.AddDate(0, 0, -1)
	anna := s.buyer(10, 0)
	var rewards []reward.Reward
	add := func(terms reward.Terms) {
		r, err := s.Rewards.FindReward(t.Context(), s.By, s.termed(terms))
		s.Check(err)
		rewards = append(rewards, r)
	}
	add(reward.Terms{})
	add(reward.Terms{StartsOn: &tomorrow})
	add(reward.Terms{EndsOn: &yesterday})
	barriers := func(want int) map[core.ID]*reward.Barrier {
		t.Helper()
		s.Must(s.Rewards.Barriers(t.Context(), s.By, anna, rewards)) // prepares its statements
		before := count()
		found, err := s.Rewards.Barriers(t.Context(), s.By, anna, rewards)
		s.Check(err)
		if got := count() - before; got != want {
			t.Errorf("%d round trips, want %d", got, want)
		}
		return found
	}
	if found := barriers(0); len(found) != 2 || !found[rewards[1].ID].From.Equal(tomorrow) || !found[rewards[2].ID].Until.Equal(yesterday) {
		t.Errorf("by days: %+v", found)
	}
	add(reward.Terms{MinLevelID: &levels[1]})
	add(reward.Terms{MaxPerCustomer: new(int64(2))})
	s.Redeem(anna, rewards[4].ID)
	s.Redeem(anna, rewards[4].ID)
	found := barriers(1)
	if len(found) != 4 || found[rewards[3].ID].Level.Name != "Gold" || found[rewards[4].ID].Used != 2 || found[rewards[4].ID].Limit != 2 {
		t.Errorf("of the customer: %+v", found)
	}
	for i, r := range rewards {
		_, err := core.Result(s.Rewards.Redeem(t.Context(), s.By, order(anna, r.ID), nil, nil))
		var refusal *core.Error
		if b := found[r.ID]; b == nil {
			s.Check(err)
		} else if !errors.As(err, &refusal) || refusal.Message != b.Sentence() {
			t.Errorf("reward %d: %v, want %q", i, err, b.Sentence())
		}
	}
}

// A voucher for the reward was promised: it is bound by none of the terms, and counts for no limit.
func TestAVoucherIsBoundByNoTerms(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	levels := s.Levels(award.LevelRules{Basis: award.ByVisits, Period: award.AllTime}, award.Level{Name: "Member"}, award.Level{Name: "Gold", Threshold: 1})
	yesterday := core.DateOf(s.DB.Now(), s.By.Tenant.TimeZone).AddDate(0, 0, -1)
	anna, kind := s.buyer(10, 0), s.Points(100)
	offered := s.termed(reward.Terms{MinLevelID: &levels[1], MaxPerCustomer: new(int64(1)), EndsOn: &yesterday})
	onUs := s.Coupon(coupon.New{Name: "On us", BenefitType: "reward", BenefitRewardID: &offered, MaxPerCustomer: new(int64(2))})
	redeemed := func() {
		s.Must(core.Result(s.Coupons.Redeem(t.Context(), s.By, s.Voucher(onUs.ID, anna), nil)))
	}
	redeemed()
	s.Must(s.Rewards.Edit(t.Context(), s.By, offered, reward.Edit{EndsOn: core.Optional[time.Time]{Set: true}}))
	s.Sale(anna, kind, 100)
	s.Redeem(anna, offered)
	redeemed()
}

// What the pages of a customer suggest leaves out what they can't have.
func TestTheOutlookLeavesOutWhatACustomerCantHave(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	levels := s.Levels(award.LevelRules{Basis: award.ByVisits, Period: award.AllTime}, award.Level{Name: "Member"}, award.Level{Name: "Gold", Threshold: 1})
	today := core.DateOf(s.DB.Now(), s.By.Tenant.TimeZone)
	tomorrow := today.AddDate(0, 0, 1)
	anna, kind := s.buyer(10, 0), s.Points(100)
	s.termed(reward.Terms{StartsOn: &today, EndsOn: &today})
	s.termed(reward.Terms{StartsOn: &tomorrow})
	s.termed(reward.Terms{MinLevelID: &levels[1]})
	s.Redeem(anna, s.termed(reward.Terms{MaxPerCustomer: new(int64(1))}))
	s.AddReward(reward.New{Name: "Dinner for Gold", PointsCost: new(int64(50)), Terms: reward.Terms{MinLevelID: &levels[1]}})
	s.AddReward(reward.New{Name: "Dinner", PointsCost: new(int64(60))})
	affordable := func(want int64, next string) {
		t.Helper()
		rules, err := s.Transactions.RulesNow(t.Context(), s.By)
		s.Check(err)
		held, err := s.Services.Levels.Find(t.Context(), s.By, rules.Levels, anna)
		s.Check(err)
		o, err := s.Rewards.Outlook(t.Context(), s.By, anna, &held)
		if s.Check(err); o.Affordable != want || *o.NextForPoints != next {
			t.Errorf("%d affordable, next %s, want %d and %s", o.Affordable, *o.NextForPoints, want, next)
		}
	}
	affordable(1, "Dinner")
	s.Sale(anna, kind, 100)
	affordable(2, "Dinner for Gold")
}
