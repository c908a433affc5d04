package reward_test

import (
	"crypto/sha256"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
)

func counted(r reward.WithCounts) core.ID    { return r.ID }
func named(r reward.NamedRedemption) core.ID { return r.ID }

// "Rewards (stock, activate)": all rewards, newest first, with the number of redemptions.
func TestList(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.buyer(1000, 0)
	var ids []core.ID
	for _, stock := range []*int64{nil, new(int64(5)), nil, nil, new(int64(0))} {
		ids = slices.Insert(ids, 0, s.Reward(10, stock))
		dbtest.Tick(s.DB)
	}
	for _, id := range []core.ID{ids[1], ids[4]} {
		s.Must(s.Rewards.SetActive(t.Context(), s.By, id, false))
	}
	limited := ids[3]
	s.Redeem(anna, limited)
	fulfilled, voided := s.Redeem(anna, limited), s.Redeem(anna, limited)
	s.Redeem(anna, ids[2])
	s.Must(core.Result(s.Rewards.Fulfil(t.Context(), s.By, fulfilled.ID, nil)))
	s.Must(s.Rewards.Void(t.Context(), s.By, voided.ID, "Wrong reward"))

	for _, c := range []struct {
		status *string
		want   []core.ID
	}{
		{nil, ids},
		{new("active"), []core.ID{ids[0], ids[2], ids[3]}},
		{new("inactive"), []core.ID{ids[1], ids[4]}},
	} {
		got := shoptest.Walk(t, 2, func(p core.Page) (core.List[reward.WithCounts], error) {
			return s.Rewards.List(t.Context(), s.By, reward.Filter{Status: c.status}, p)
		})
		if diff := cmp.Diff(c.want, shoptest.Keys(got, counted)); diff != "" {
			t.Errorf("List (-want +got):\n%s", diff)
		}
		for _, r := range got {
			var pending, redeemed int64
			switch r.ID {
			case limited:
				pending, redeemed = 1, 2
			case ids[2]:
				pending, redeemed = 1, 1
			}
			if r.Pending != pending || r.Redeemed != redeemed || r.Name != "Espresso" {
				t.Errorf("%+v, want %d pending and %d redeemed", r, pending, redeemed)
			}
			if found := s.found(r.ID); !cmp.Equal(found, r) {
				t.Errorf("found %+v, listed %+v", found, r)
			}
		}
	}
	_, err := s.Rewards.List(t.Context(), s.By, reward.Filter{Status: new("gone")}, core.Page{Size: 2, Malformed: core.Fields{"cursor": {core.MustBeString}}})
	shoptest.WantFields(t, err, core.Fields{"status": {core.InvalidChoice}, "cursor": {core.MustBeString}})
}

// Choices returns all rewards by name, including inactive ones.
func TestNames(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	var want []reward.Choice
	for _, name := range []string{"Espresso", "Cake", "Mug"} {
		want = append(want, reward.Choice{ID: s.AddReward(reward.New{Name: name, PointsCost: new(int64(1))}), Name: name, Active: name != "Mug"})
	}
	s.Must(s.Rewards.SetActive(t.Context(), s.By, want[2].ID, false))
	want[0], want[1] = want[1], want[0]
	got, err := s.Rewards.Choices(t.Context(), s.By)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Names: %v (-want +got):\n%s", err, diff)
	}
}

// "Redemptions (queue of pending …)": pending ones come oldest first.
func TestThePendingQueue(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, id := s.buyer(1000, 0), s.Reward(10, nil)
	var made []core.ID
	for range 7 {
		made = append(made, s.Redeem(anna, id).ID)
		dbtest.Tick(s.DB)
	}
	s.Must(core.Result(s.Rewards.Fulfil(t.Context(), s.By, made[0], nil)))
	s.Must(s.Rewards.Void(t.Context(), s.By, made[3], "Wrong reward"))
	got := shoptest.Walk(t, 2, func(p core.Page) (core.List[reward.NamedRedemption], error) {
		return s.Rewards.ListRedemptions(t.Context(), s.By, reward.RedemptionFilter{Status: new("pending")}, core.Oldest, p)
	})
	want := []core.ID{made[1], made[2], made[4], made[5], made[6]}
	if diff := cmp.Diff(want, shoptest.Keys(got, named)); diff != "" {
		t.Errorf("the queue (-want +got):\n%s", diff)
	}
	for _, r := range got {
		if r.CustomerName != "Anna Lindqvist" || r.RewardName != "Espresso" || r.ActorName != "A owner" || r.ActorKind != core.ByStaff || r.CouponName != nil {
			t.Errorf("it names %+v", r)
		}
	}
}

// "Or filter by status, customer, reward", newest or oldest first.
func TestListRedemptions(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, bo := s.buyer(1000, 0), s.buyer(1000, 0)
	coffee, cake := s.Reward(10, nil), s.AddReward(reward.New{Name: "Cake", PointsCost: new(int64(20))})
	var made []core.ID
	for _, o := range [][2]core.ID{{anna, coffee}, {bo, coffee}, {anna, cake}, {bo, cake}, {anna, coffee}} {
		made = append(made, s.Redeem(o[0], o[1]).ID)
		dbtest.Tick(s.DB)
	}
	s.Must(core.Result(s.Rewards.Fulfil(t.Context(), s.By, made[1], nil)))
	s.Must(s.Rewards.Void(t.Context(), s.By, made[4], "Wrong reward"))
	for _, c := range []struct {
		name string
		f    reward.RedemptionFilter
		want []int
	}{
		{"all", reward.RedemptionFilter{}, []int{4, 3, 2, 1, 0}},
		{"pending", reward.RedemptionFilter{Status: new("pending")}, []int{3, 2, 0}},
		{"pending of a customer", reward.RedemptionFilter{Status: new("pending"), CustomerID: new(anna.String())}, []int{2, 0}},
		{"fulfilled", reward.RedemptionFilter{Status: new("fulfilled")}, []int{1}},
		{"voided", reward.RedemptionFilter{Status: new("voided")}, []int{4}},
		{"customer", reward.RedemptionFilter{CustomerID: new(bo.String())}, []int{3, 1}},
		{"reward", reward.RedemptionFilter{RewardID: new(cake.String())}, []int{3, 2}},
		{"all of it", reward.RedemptionFilter{RewardID: new(coffee.String()), CustomerID: new(anna.String()), Status: new("pending")}, []int{0}},
		{"unknown customer", reward.RedemptionFilter{CustomerID: new(core.NewID(s.DB.Now()).String())}, nil},
	} {
		var want []core.ID
		for _, i := range c.want {
			want = append(want, made[i])
		}
		for _, sort := range []core.Sort{core.Newest, core.Oldest} {
			got := shoptest.Walk(t, 2, func(p core.Page) (core.List[reward.NamedRedemption], error) {
				return s.Rewards.ListRedemptions(t.Context(), s.By, c.f, sort, p)
			})
			if diff := cmp.Diff(want, shoptest.Keys(got, named)); diff != "" {
				t.Errorf("%s, %s first (-want +got):\n%s", c.name, sort, diff)
			}
			slices.Reverse(want)
		}
	}
	_, err := s.Rewards.ListRedemptions(t.Context(), s.By, reward.RedemptionFilter{Status: new("lost"), CustomerID: new("x"), RewardID: new("y")}, "name",
		core.Page{Size: 2, Malformed: core.Fields{"cursor": {core.MustBeString}}})
	shoptest.WantFields(t, err, core.Fields{
		"sort": {core.InvalidChoice}, "status": {core.InvalidChoice}, "customer_ulid": {core.InvalidChoice},
		"reward_ulid": {core.InvalidChoice}, "cursor": {core.MustBeString},
	})
}

// The detail contains who created and who ended a redemption, and its ledger entries.
func TestRedemptionDetail(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	sara, maja := s.As(core.Cashier).By, s.As(core.Manager).By
	anna, id := s.buyer(100, 0), s.Reward(30, nil)
	detail := func(id core.ID) reward.RedemptionDetail {
		t.Helper()
		d, err := s.Rewards.RedemptionDetail(t.Context(), s.By, id)
		s.Check(err)
		return d
	}
	made, err := core.Result(s.Rewards.Redeem(t.Context(), sara, order(anna, id), nil, nil))
	s.Check(err)
	want := reward.RedemptionDetail{
		NamedRedemption: reward.NamedRedemption{
			Redemption: made, CustomerName: "Anna Lindqvist", ActorKind: core.ByStaff, ActorName: sara.Name,
		},
		Entries: []ledger.Posted{{Kind: ledger.Redemption, Unit: ledger.Points, Amount: -30, BalanceAfter: 70, CreatedAt: made.CreatedAt}},
	}
	if diff := cmp.Diff(want, detail(made.ID)); diff != "" {
		t.Errorf("pending (-want +got):\n%s", diff)
	}
	voided, err := s.Rewards.Void(t.Context(), maja, made.ID, "Wrong reward")
	s.Check(err)
	want.Redemption, want.VoidReason, want.EndedByName = voided, new("Wrong reward"), &maja.Name
	want.Entries = append(want.Entries, ledger.Posted{
		Kind: ledger.RedemptionRefund, Unit: ledger.Points, Amount: 30, BalanceAfter: 100, CreatedAt: *voided.VoidedAt,
	})
	if diff := cmp.Diff(want, detail(made.ID)); diff != "" {
		t.Errorf("voided (-want +got):\n%s", diff)
	}
	handed := s.Redeem(anna, id)
	s.Must(core.Result(s.Rewards.Fulfil(t.Context(), sara, handed.ID, nil)))
	if d := detail(handed.ID); d.Status != reward.Fulfilled || d.EndedByName == nil || *d.EndedByName != sara.Name || len(d.Entries) != 1 {
		t.Errorf("fulfilled: %+v", d)
	}
}

// Many clicks on one form create one redemption and return it.
func TestADoubleClickRedeemsOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, id := s.buyer(100, 0), s.Reward(30, new(int64(5)))
	const clicks = 12
	answers := make([]string, clicks)
	var all sync.WaitGroup
	for i := range clicks {
		all.Go(func() {
			reply, err := s.Rewards.Redeem(t.Context(), s.By, order(anna, id), nil, &core.Once[reward.Redemption]{
				RequestKey: core.RequestKey{Key: "form-1", Fingerprint: sha256.Sum256([]byte("Anna, espresso")), Wait: true},
				Respond: func(r reward.Redemption) (core.Response, error) {
					return core.Response{Status: 303, Body: []byte(r.ID.String())}, nil
				},
			})
			if err != nil {
				t.Error(err)
				return
			}
			answers[i] = string(reply.Response.Body)
		})
	}
	all.Wait()
	s.want(anna, id, 70, 0, new(int64(4)))
	if got := slices.Compact(answers); len(got) != 1 || got[0] == "" {
		t.Errorf("the clicks lead to %v", got)
	}
}

// The documented number of round trips.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shopIn(t, d)
	ctx := t.Context()
	anna, unlimited, counted := s.buyer(10_000, 0), s.Reward(10, nil), s.Reward(10, new(int64(100)))
	last := s.Redeem(anna, counted).ID
	pending := []core.ID{last, s.Redeem(anna, counted).ID}
	voidable := []core.ID{s.Redeem(anna, counted).ID, s.Redeem(anna, counted).ID}
	for _, c := range []struct {
		name string
		want int
		do   func() error
	}{
		{"add", 2, func() error {
			return second(core.Result(s.Rewards.Add(ctx, s.By, reward.New{Name: "x", PointsCost: new(int64(1))}, nil)))
		}},
		{"edit", 3, func() error { return second(s.Rewards.Edit(ctx, s.By, counted, reward.Edit{Name: core.Set("y")})) }},
		{"change stock", 2, func() error {
			return second(core.Result(s.Rewards.ChangeStock(ctx, s.By, counted, reward.StockChange{Change: 1}, nil)))
		}},
		{"set stock", 2, func() error {
			return second(core.Result(s.Rewards.SetStock(ctx, s.By, unlimited, reward.StockCount{}, nil)))
		}},
		{"switch off and on", 4, func() error {
			if _, err := s.Rewards.SetActive(ctx, s.By, counted, false); err != nil {
				return err
			}
			return second(s.Rewards.SetActive(ctx, s.By, counted, true))
		}},
		{"switch on what is on", 3, func() error { return second(s.Rewards.SetActive(ctx, s.By, counted, true)) }},
		{"list", 1, func() error {
			return second(s.Rewards.List(ctx, s.By, reward.Filter{Status: new("active")}, core.Page{Size: 3}))
		}},
		{"find", 1, func() error { return second(s.Rewards.Find(ctx, s.By, counted)) }},
		{"redeem", 3, func() error {
			return second(core.Result(s.Rewards.Redeem(ctx, s.By, order(anna, unlimited), nil, nil)))
		}},
		{"redeem what is counted", 4, func() error { return second(core.Result(s.Rewards.Redeem(ctx, s.By, order(anna, counted), nil, nil))) }},
		{"fulfil", 2, func() error {
			id := pending[0]
			pending = pending[1:]
			return second(core.Result(s.Rewards.Fulfil(ctx, s.By, id, nil)))
		}},
		{"void by a program", 2, func() error {
			id := voidable[0]
			voidable = voidable[1:]
			return second(core.Result(s.Rewards.VoidOnce(ctx, s.By, id, nil)))
		}},
		{"find without counts", 1, func() error { return second(s.Rewards.FindReward(ctx, s.By, counted)) }},
		{"names", 1, func() error { return second(s.Rewards.Choices(ctx, s.By)) }},
		{"redemptions", 1, func() error {
			return second(s.Rewards.ListRedemptions(ctx, s.By, reward.RedemptionFilter{CustomerID: new(anna.String())}, core.Newest, core.Page{Size: 3}))
		}},
		{"redemption", 1, func() error { return second(s.Rewards.RedemptionDetail(ctx, s.By, last)) }},
	} {
		var trips int
		for range 2 { // the first run prepares the statements
			before := count()
			if err := c.do(); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			trips = count() - before
		}
		if trips != c.want {
			t.Errorf("%s: %d round trips, want %d", c.name, trips, c.want)
		}
	}
}
