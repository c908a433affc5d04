package reward_test

import (
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
)

// walk returns a whole list, and checks its pages forward and backward.
func walk[T any](t *testing.T, id func(T) core.ID, list func(core.Page) (core.List[T], error)) (all []T) {
	t.Helper()
	page := core.Page{Size: 2}
	var forward, back []core.ID
	ids := func(items []T) (ids []core.ID) {
		for _, i := range items {
			ids = append(ids, id(i))
		}
		return ids
	}
	for {
		l, err := list(page)
		if err != nil {
			t.Fatal(err)
		}
		all, forward = append(all, l.Items...), append(forward, ids(l.Items)...)
		if l.Next == nil {
			back, page.Cursor = ids(l.Items), l.Prev
			break
		}
		page.Cursor = l.Next
	}
	for page.Cursor != nil {
		l, err := list(page)
		if err != nil {
			t.Fatal(err)
		}
		back, page.Cursor = append(ids(l.Items), back...), l.Prev
	}
	if diff := cmp.Diff(forward, back); diff != "" {
		t.Errorf("the way back (-forward +back):\n%s", diff)
	}
	return all
}

func idsOf[T any](all []T, id func(T) core.ID) (ids []core.ID) {
	for _, one := range all {
		ids = append(ids, id(one))
	}
	return ids
}

func counted(r reward.WithCounts) core.ID    { return r.ID }
func named(r reward.NamedRedemption) core.ID { return r.ID }

// "Rewards (stock, activate)": all rewards, newest first, with the number of redemptions.
func TestList(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.buyer(t, "070 174 06 05", 1000, 0)
	var ids []core.ID
	for _, stock := range []*int64{nil, new(int64(5)), nil, nil, new(int64(0))} {
		ids = slices.Insert(ids, 0, s.espresso(t, 10, stock))
		dbtest.Tick(s.db)
	}
	for _, id := range []core.ID{ids[1], ids[4]} {
		if _, err := s.SetActive(t.Context(), s.by, id, false); err != nil {
			t.Fatal(err)
		}
	}
	limited := ids[3]
	s.redeem(t, anna, limited)
	fulfilled, voided := s.redeem(t, anna, limited), s.redeem(t, anna, limited)
	s.redeem(t, anna, ids[2])
	if _, err := s.Fulfil(t.Context(), s.by, fulfilled.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Void(t.Context(), s.by, voided.ID); err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		status *string
		want   []core.ID
	}{
		{nil, ids},
		{new("active"), []core.ID{ids[0], ids[2], ids[3]}},
		{new("inactive"), []core.ID{ids[1], ids[4]}},
	} {
		got := walk(t, counted, func(p core.Page) (core.List[reward.WithCounts], error) {
			return s.List(t.Context(), s.by, reward.Filter{Status: c.status}, p)
		})
		if diff := cmp.Diff(c.want, idsOf(got, counted)); diff != "" {
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
			if r.Pending != pending || r.Redeemed != redeemed || r.Name != "Free espresso" {
				t.Errorf("%+v, want %d pending and %d redeemed", r, pending, redeemed)
			}
			if found := s.found(t, r.ID); !cmp.Equal(found, r) {
				t.Errorf("found %+v, listed %+v", found, r)
			}
		}
	}
	_, err := s.List(t.Context(), s.by, reward.Filter{Status: new("gone")}, core.Page{Size: 2, Malformed: core.Fields{"cursor": {core.MustBeString}}})
	wantFields(t, err, core.Fields{"status": {core.InvalidChoice}, "cursor": {core.MustBeString}})
}

// Choices returns all rewards by name, including inactive ones.
func TestNames(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	var want []reward.Choice
	for _, name := range []string{"Espresso", "Cake", "Mug"} {
		want = append(want, reward.Choice{ID: s.add(t, reward.New{Name: &name, PointsCost: new(int64(1))}), Name: name, Active: name != "Mug"})
	}
	if _, err := s.SetActive(t.Context(), s.by, want[2].ID, false); err != nil {
		t.Fatal(err)
	}
	want[0], want[1] = want[1], want[0]
	got, err := s.Choices(t.Context(), s.by)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Names: %v (-want +got):\n%s", err, diff)
	}
}

// "Redemptions (queue of pending …)": pending ones come oldest first.
func TestThePendingQueue(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, id := s.buyer(t, "070 174 06 05", 1000, 0), s.espresso(t, 10, nil)
	var made []core.ID
	for range 7 {
		made = append(made, s.redeem(t, anna, id).ID)
		dbtest.Tick(s.db)
	}
	if _, err := s.Fulfil(t.Context(), s.by, made[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Void(t.Context(), s.by, made[3]); err != nil {
		t.Fatal(err)
	}
	got := walk(t, named, func(p core.Page) (core.List[reward.NamedRedemption], error) {
		return s.ListRedemptions(t.Context(), s.by, reward.RedemptionFilter{Status: new("pending")}, p)
	})
	want := []core.ID{made[1], made[2], made[4], made[5], made[6]}
	if diff := cmp.Diff(want, idsOf(got, named)); diff != "" {
		t.Errorf("the queue (-want +got):\n%s", diff)
	}
	for _, r := range got {
		if r.CustomerName != "Anna Lindqvist" || r.RewardName != "Free espresso" || r.ActorName != "A owner" || r.ActorKind != core.ByStaff || r.CouponName != nil {
			t.Errorf("it names %+v", r)
		}
	}
}

// "Or filter by status, customer, reward", newest first except for pending ones.
func TestListRedemptions(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, bo := s.buyer(t, "070 174 06 05", 1000, 0), s.buyer(t, "070 174 06 06", 1000, 0)
	coffee, cake := s.espresso(t, 10, nil), s.add(t, reward.New{Name: new("Cake"), PointsCost: new(int64(20))})
	var made []core.ID
	for _, o := range [][2]core.ID{{anna, coffee}, {bo, coffee}, {anna, cake}, {bo, cake}, {anna, coffee}} {
		made = append(made, s.redeem(t, o[0], o[1]).ID)
		dbtest.Tick(s.db)
	}
	if _, err := s.Fulfil(t.Context(), s.by, made[1]); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Void(t.Context(), s.by, made[4]); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		f    reward.RedemptionFilter
		want []int
	}{
		{"all", reward.RedemptionFilter{}, []int{4, 3, 2, 1, 0}},
		{"pending", reward.RedemptionFilter{Status: new("pending")}, []int{0, 2, 3}},
		{"pending of a customer", reward.RedemptionFilter{Status: new("pending"), CustomerID: new(anna.String())}, []int{0, 2}},
		{"fulfilled", reward.RedemptionFilter{Status: new("fulfilled")}, []int{1}},
		{"voided", reward.RedemptionFilter{Status: new("voided")}, []int{4}},
		{"customer", reward.RedemptionFilter{CustomerID: new(bo.String())}, []int{3, 1}},
		{"reward", reward.RedemptionFilter{RewardID: new(cake.String())}, []int{3, 2}},
		{"all of it", reward.RedemptionFilter{RewardID: new(coffee.String()), CustomerID: new(anna.String()), Status: new("pending")}, []int{0}},
		{"unknown customer", reward.RedemptionFilter{CustomerID: new(core.NewID(s.db.Now()).String())}, nil},
	} {
		var want []core.ID
		for _, i := range c.want {
			want = append(want, made[i])
		}
		got := walk(t, named, func(p core.Page) (core.List[reward.NamedRedemption], error) {
			return s.ListRedemptions(t.Context(), s.by, c.f, p)
		})
		if diff := cmp.Diff(want, idsOf(got, named)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	_, err := s.ListRedemptions(t.Context(), s.by, reward.RedemptionFilter{Status: new("lost"), CustomerID: new("x"), RewardID: new("y")},
		core.Page{Size: 2, Malformed: core.Fields{"cursor": {core.MustBeString}}})
	wantFields(t, err, core.Fields{
		"status": {core.InvalidChoice}, "customer_ulid": {core.InvalidChoice},
		"reward_ulid": {core.InvalidChoice}, "cursor": {core.MustBeString},
	})
}

// The detail contains who created and who ended a redemption, and its ledger entries.
func TestRedemptionDetail(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	sara, maja := dbtest.Person(t, s.db, s.by, core.Cashier), dbtest.Person(t, s.db, s.by, core.Manager)
	anna, id := s.buyer(t, "070 174 06 05", 100, 0), s.espresso(t, 30, nil)
	detail := func(id core.ID) reward.RedemptionDetail {
		t.Helper()
		d, err := s.RedemptionDetail(t.Context(), s.by, id)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	made, err := s.Redeem(t.Context(), sara, order(anna, id))
	if err != nil {
		t.Fatal(err)
	}
	want := reward.RedemptionDetail{
		NamedRedemption: reward.NamedRedemption{
			Redemption: made, CustomerName: "Anna Lindqvist", ActorKind: core.ByStaff, ActorName: sara.Name,
		},
		Entries: []ledger.Posted{{Kind: ledger.Redemption, Unit: ledger.Points, Amount: -30, BalanceAfter: 70, CreatedAt: made.CreatedAt}},
	}
	if diff := cmp.Diff(want, detail(made.ID)); diff != "" {
		t.Errorf("pending (-want +got):\n%s", diff)
	}
	voided, err := s.Void(t.Context(), maja, made.ID)
	if err != nil {
		t.Fatal(err)
	}
	want.Redemption, want.EndedByKind, want.EndedByName = voided, new(core.ByStaff), &maja.Name
	want.Entries = append(want.Entries, ledger.Posted{
		Kind: ledger.RedemptionRefund, Unit: ledger.Points, Amount: 30, BalanceAfter: 100, CreatedAt: *voided.VoidedAt,
	})
	if diff := cmp.Diff(want, detail(made.ID)); diff != "" {
		t.Errorf("voided (-want +got):\n%s", diff)
	}
	handed := s.redeem(t, anna, id)
	if _, err := s.Fulfil(t.Context(), sara, handed.ID); err != nil {
		t.Fatal(err)
	}
	if d := detail(handed.ID); d.Status != reward.Fulfilled || d.EndedByName == nil || *d.EndedByName != sara.Name || len(d.Entries) != 1 {
		t.Errorf("fulfilled: %+v", d)
	}
}

// Many clicks on one form create one redemption and return it.
func TestADoubleClickRedeemsOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, id := s.buyer(t, "070 174 06 05", 100, 0), s.espresso(t, 30, new(int64(5)))
	const clicks = 12
	answers := make([]string, clicks)
	var all sync.WaitGroup
	for i := range clicks {
		all.Go(func() {
			by := s.by
			by.Idempotency = &core.Idempotency{
				Key: "form-1", Fingerprint: sha256.Sum256([]byte("Anna, espresso")), Wait: true,
				Render: func(result any) (core.Response, error) {
					return core.Response{Status: 303, Body: []byte(result.(reward.Redemption).ID.String())}, nil
				},
			}
			if err := second(s.Redeem(t.Context(), by, order(anna, id))); err != nil && !errors.Is(err, core.ErrReplayed) {
				t.Error(err)
			}
			answers[i] = string(by.Idempotency.Response.Body)
		})
	}
	all.Wait()
	s.want(t, anna, id, 70, 0, new(int64(4)))
	if got := slices.Compact(answers); len(got) != 1 || got[0] == "" {
		t.Errorf("the clicks lead to %v", got)
	}
}

// The documented number of round trips.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shopOf(t, d)
	ctx := t.Context()
	anna, unlimited, counted := s.buyer(t, "070 174 06 05", 10_000, 0), s.espresso(t, 10, nil), s.espresso(t, 10, new(int64(100)))
	last := s.redeem(t, anna, counted).ID
	pending := []core.ID{last, s.redeem(t, anna, counted).ID}
	for _, c := range []struct {
		name string
		want int
		do   func() error
	}{
		{"add", 2, func() error { return second(s.Add(ctx, s.by, reward.New{Name: new("x"), PointsCost: new(int64(1))})) }},
		{"edit", 3, func() error { return second(s.Edit(ctx, s.by, counted, reward.Edit{Name: core.Set("y")})) }},
		{"change stock", 2, func() error {
			return second(s.ChangeStock(ctx, s.by, counted, reward.StockChange{Change: new(int64(1))}))
		}},
		{"set stock", 2, func() error {
			return second(s.SetStock(ctx, s.by, unlimited, reward.StockCount{}))
		}},
		{"switch off and on", 4, func() error {
			if _, err := s.SetActive(ctx, s.by, counted, false); err != nil {
				return err
			}
			return second(s.SetActive(ctx, s.by, counted, true))
		}},
		{"switch on what is on", 3, func() error { return second(s.SetActive(ctx, s.by, counted, true)) }},
		{"list", 1, func() error {
			return second(s.List(ctx, s.by, reward.Filter{Status: new("active")}, core.Page{Size: 3}))
		}},
		{"find", 1, func() error { return second(s.Find(ctx, s.by, counted)) }},
		{"redeem", 3, func() error { return second(s.Redeem(ctx, s.by, order(anna, unlimited))) }},
		{"redeem what is counted", 4, func() error { return second(s.Redeem(ctx, s.by, order(anna, counted))) }},
		{"fulfil", 2, func() error {
			id := pending[0]
			pending = pending[1:]
			return second(s.Fulfil(ctx, s.by, id))
		}},
		{"names", 1, func() error { return second(s.Choices(ctx, s.by)) }},
		{"redemptions", 1, func() error {
			return second(s.ListRedemptions(ctx, s.by, reward.RedemptionFilter{CustomerID: new(anna.String())}, core.Page{Size: 3}))
		}},
		{"redemption", 1, func() error { return second(s.RedemptionDetail(ctx, s.by, last)) }},
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
