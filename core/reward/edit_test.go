package reward_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
)

func second[T any](_ T, err error) error { return err }

func (s shop) found(id core.ID) reward.WithCounts {
	s.T.Helper()
	r, err := s.Rewards.Find(s.T.Context(), s.By, id)
	s.Check(err)
	return r
}

// An edit changes only the fields that are set. Earlier redemptions keep their cost, and the stock doesn't
// change.
func TestEdit(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.buyer(100, 100)
	id := s.AddReward(reward.New{Name: "Espresso", Description: "Double.", PointsCost: new(int64(30)), Stock: new(int64(5))})
	before := s.Redeem(anna, id)
	want := s.found(id).Reward
	null := core.Optional[int64]{Set: true}
	for _, c := range []struct {
		name string
		edit reward.Edit
		then func(*reward.Reward)
	}{
		{"nothing", reward.Edit{}, func(*reward.Reward) {}},
		{"name", reward.Edit{Name: core.Set(" Ristretto ")}, func(r *reward.Reward) { r.Name = "Ristretto" }},
		{"description", reward.Edit{Description: core.Optional[string]{Set: true}}, func(r *reward.Reward) { r.Description = nil }},
		{"cost", reward.Edit{PointsCost: core.Set(int64(40))}, func(r *reward.Reward) { r.PointsCost = new(int64(40)) }},
		{"unit", reward.Edit{PointsCost: null, StampsCost: core.Set(int64(9))}, func(r *reward.Reward) { r.PointsCost, r.StampsCost = nil, new(int64(9)) }},
		{"active", reward.Edit{Active: core.Set(false)}, func(r *reward.Reward) { r.Active = false }},
		{"active again", reward.Edit{Active: core.Set(true), Name: core.Set("Espresso")}, func(r *reward.Reward) { r.Active, r.Name = true, "Espresso" }},
	} {
		c.then(&want)
		got, err := s.Rewards.Edit(t.Context(), s.By, id, c.edit)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, err, diff)
		}
		if diff := cmp.Diff(want, s.found(id).Reward); diff != "" {
			t.Errorf("%s, found (-want +got):\n%s", c.name, diff)
		}
	}
	if after := s.Redeem(anna, id); after.StampsSpent != 9 || after.PointsSpent != 0 {
		t.Errorf("redeemed for %+v, want the new cost", after)
	}
	s.Must(s.Rewards.Void(t.Context(), s.By, before.ID, "Wrong reward"))
	s.want(anna, id, 100, 91, new(int64(4)))

	_, err := s.Rewards.Edit(t.Context(), s.By, id, reward.Edit{
		Name: core.Optional[string]{Set: true}, Description: core.Set(strings.Repeat("å", 1001)), PointsCost: core.Set(int64(1)), Active: core.Optional[bool]{Set: true},
	})
	shoptest.WantFields(t, err, core.Fields{
		"name":        {core.Required},
		"description": {core.MaxLength(1000)},
		"stamps_cost": {core.Violation{Rule: "prohibited_with", Other: "points_cost"}},
		"active":      {core.Required},
	})
	_, err = s.Rewards.Edit(t.Context(), s.By, id, reward.Edit{StampsCost: null, Malformed: core.Fields{"name": {core.MustBeString}}})
	shoptest.WantFields(t, err, core.Fields{"name": {core.MustBeString}, "points_cost": {core.Required}})
}

// "Add/remove N" from the current stock, which can't fall below zero.
func TestChangeStock(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	id, none, unlimited := s.Reward(30, new(int64(3))), s.Reward(30, new(int64(0))), s.Reward(30, nil)
	change := func(id core.ID, by int64) (reward.Reward, error) {
		return core.Result(s.Rewards.ChangeStock(t.Context(), s.By, id, reward.StockChange{Change: by}, nil))
	}
	for _, c := range []struct{ by, want int64 }{{4, 7}, {-2, 5}, {-5, 0}, {1, 1}} {
		if got, err := change(id, c.by); err != nil || got.Stock == nil || *got.Stock != c.want || *s.found(id).Stock != c.want {
			t.Errorf("%+d = %+v, %v, want %d", c.by, got, err, c.want)
		}
	}
	for _, c := range []struct {
		of   core.ID
		by   int64
		says core.Violation
	}{
		{id, -2, core.Violation{Rule: "max_removed", Limit: 1}},
		{none, -1, core.Violation{Rule: "max_removed"}},
		{id, 1_000_000_000_000, core.Max(999999999999)},
		{id, 0, core.NotZero},
		{id, 1_000_000_000_001, core.Max(1000000000000)},
		{unlimited, 1, core.Violation{Rule: "unlimited"}},
	} {
		shoptest.WantFields(t, second(change(c.of, c.by)), core.Fields{"units": {c.says}})
	}
	shoptest.WantFields(t, second(core.Result(s.Rewards.ChangeStock(t.Context(), s.By, id, reward.StockChange{Malformed: core.Fields{"units": {core.Required}}}, nil))), core.Fields{"units": {core.Required}})
	shoptest.WantFields(t, second(core.Result(s.Rewards.ChangeStock(t.Context(), s.By, id, reward.StockChange{Malformed: core.Fields{"units": {core.MustBeString}}}, nil))), core.Fields{"units": {core.MustBeString}})
	if got := s.found(id); *got.Stock != 1 {
		t.Errorf("refusals left a stock of %d, want 1", *got.Stock)
	}
}

// "Set to N only with the seen stock as a condition."
func TestSetStock(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.buyer(100, 0)
	id := s.Reward(30, new(int64(3)))
	set := func(seen, to *int64) error {
		return second(core.Result(s.Rewards.SetStock(t.Context(), s.By, id, reward.StockCount{Seen: seen, Stock: to}, nil)))
	}
	n := func(n int64) *int64 { return &n }
	s.Redeem(anna, id)
	refused(t, set(n(3), n(10)), reward.ErrStockChanged) // one was redeemed since
	refused(t, set(nil, n(10)), reward.ErrStockChanged)
	s.want(anna, id, 70, 0, n(2))
	for _, c := range []struct{ seen, to *int64 }{{n(2), n(10)}, {n(10), nil}, {nil, nil}, {nil, n(0)}, {n(0), n(1)}} {
		if err := set(c.seen, c.to); err != nil {
			t.Errorf("from %v to %v: %v", show(c.seen), show(c.to), err)
		}
		s.want(anna, id, 70, 0, c.to)
	}
	refused(t, set(n(0), nil), reward.ErrStockChanged)
	shoptest.WantFields(t, set(n(1), n(-1)), core.Fields{"units": {core.Min(0)}})
	shoptest.WantFields(t, second(core.Result(s.Rewards.SetStock(t.Context(), s.By, id, reward.StockCount{Seen: n(1), Stock: n(2), Malformed: core.Fields{"seen": {core.MustBeString}}}, nil))),
		core.Fields{"seen": {core.MustBeString}})
	s.want(anna, id, 70, 0, n(1))
}

// Managers change a stock and count it while a hundred buyers redeem: no redemption and no change is lost.
func TestStockCorrectionsAgainstBuyers(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	const start = 200
	id := s.Reward(1, new(int64(start)))
	buyers := make([]core.ID, 10)
	for i := range buyers {
		buyers[i] = s.buyer(1000, 0)
	}
	var bought, corrected, counted atomic.Int64
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			switch err := second(core.Result(s.Rewards.Redeem(t.Context(), s.By, order(buyers[i%len(buyers)], id), nil, nil))); {
			case err == nil:
				bought.Add(1)
			case !errors.Is(err, reward.ErrOutOfStock):
				t.Error(err)
			}
		})
		if i%5 == 0 {
			all.Go(func() {
				change := int64(7)
				if i%2 == 1 {
					change = -4
				}
				r, err := core.Result(s.Rewards.ChangeStock(t.Context(), s.By, id, reward.StockChange{Change: change}, nil))
				if err != nil || r.Stock == nil {
					t.Error(r, err)
					return
				}
				corrected.Add(change)
			})
			all.Go(func() {
				// The count sets the stock to one more than the displayed stock.
				seen, err := s.Rewards.Find(t.Context(), s.By, id)
				if err != nil {
					t.Error(err)
					return
				}
				switch err := second(core.Result(s.Rewards.SetStock(t.Context(), s.By, id, reward.StockCount{Seen: seen.Stock, Stock: new(*seen.Stock + 1)}, nil))); {
				case err == nil:
					counted.Add(1)
				case !errors.Is(err, reward.ErrStockChanged):
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	got := s.found(id)
	if want := start + corrected.Load() + counted.Load() - bought.Load(); *got.Stock != want || got.Pending != bought.Load() {
		t.Errorf("a stock of %d after %d bought, corrections of %d and %d counts, want %d; %d pending",
			*got.Stock, bought.Load(), corrected.Load(), counted.Load(), want, got.Pending)
	}
	s.Verify()
}

// An unlimited reward becomes limited during a redemption. A buyer who found it unlimited finishes before the
// change, and a later buyer takes a unit. In the other direction, no buyer is refused because of an empty
// stock that has become unlimited.
func TestCountingBeginsBetweenBuyers(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t)) // its own database, whose waiting connections are counted
	anna, bo := s.buyer(100, 0), s.buyer(100, 0)
	granted := func(tx *db.Tx, offered core.ID) (reward.Redemption, error) {
		return reward.Grant(t.Context(), tx, s.By, bo, offered)
	}

	// The buyer comes first, and waits for another transaction with their account.
	offered := s.Reward(10, nil)
	var bought reward.Redemption
	buyer, counting := make(chan error, 1), make(chan error, 1)
	_, err := db.In(t.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) (int, error) {
		if err := second(ledger.Post(t.Context(), tx, s.By, ledger.Entry{Customer: anna, Unit: ledger.Points, Amount: 1, Kind: ledger.Adjustment})); err != nil {
			return 0, err
		}
		go func() {
			var err error
			bought, err = core.Result(s.Rewards.Redeem(t.Context(), s.By, order(anna, offered), nil, nil))
			buyer <- err
		}()
		s.awaitWaiting(1, buyer)
		go func() { counting <- s.count(offered, 5) }()
		s.awaitWaiting(2, counting)
		if len(counting) > 0 {
			t.Error("for points: counted before the buyer was done")
		}
		return 0, nil
	})
	if err := errors.Join(err, <-buyer, <-counting); err != nil || bought.TookStock {
		t.Fatalf("took a piece: %t, %v", bought.TookStock, err)
	}
	s.want(anna, offered, 91, 0, new(int64(5)))

	promised := s.Reward(10, nil)
	_, err = db.In(t.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) (reward.Redemption, error) {
		r, err := granted(tx, promised)
		go func() { counting <- s.count(promised, 5) }()
		s.awaitWaiting(1, counting)
		if len(counting) > 0 {
			t.Error("by a voucher: counted before the buyer was done")
		}
		return r, err
	})
	s.Check(errors.Join(err, <-counting))
	s.want(bo, promised, 100, 0, new(int64(5)))

	// The stock changes first: to limited, or to unlimited.
	for _, c := range []struct {
		was, is, left *int64
		set           string
	}{
		{nil, new(int64(1)), new(int64(0)), holdAndSetSQL},
		{new(int64(1)), nil, nil, onlySetSQL},
	} {
		for how, buy := range map[string]func(offered core.ID) (reward.Redemption, error){
			"for points": func(offered core.ID) (reward.Redemption, error) {
				return core.Result(s.Rewards.Redeem(t.Context(), s.By, order(bo, offered), nil, nil))
			},
			"by a voucher": func(offered core.ID) (reward.Redemption, error) {
				return db.In(t.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) (reward.Redemption, error) { return granted(tx, offered) })
			},
		} {
			set := s.Reward(10, c.was)
			var later reward.Redemption
			_, err := db.In(t.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) (int, error) {
				_, err := db.Exec(t.Context(), tx, c.set, db.Args{"id": set, "stock": c.is})
				go func() {
					var err error
					later, err = buy(set)
					buyer <- err
				}()
				s.awaitWaiting(1, buyer)
				return 0, err
			})
			if err := errors.Join(err, <-buyer); err != nil || later.TookStock != (c.is != nil) {
				t.Errorf("%s, from %v to %v: took a piece: %t, %v", how, show(c.was), show(c.is), later.TookStock, err)
			}
			if got := s.found(set); show(got.Stock) != show(c.left) {
				t.Errorf("%s, from %v to %v: %v are left, want %v", how, show(c.was), show(c.is), show(got.Stock), show(c.left))
			}
		}
	}
}

// The statements of SetStock, so that a test can stop between them.
const (
	onlySetSQL = `
	update loyalty.reward
	set stock = @stock
	where tenant_id = @tenant_id
		and id = @id`

	holdAndSetSQL = `
	with held as (
		select id
		from loyalty.reward
		where tenant_id = @tenant_id
			and id = @id
		for update
	)
	update loyalty.reward
	set stock = @stock
	where tenant_id = @tenant_id
		and id = (select id from held)`
)

// count sets the stock of an unlimited reward.
func (s shop) count(offered core.ID, stock int64) error {
	return second(core.Result(s.Rewards.SetStock(s.T.Context(), s.By, offered, reward.StockCount{Stock: &stock}, nil)))
}

// awaitWaiting returns when a number of connections wait for a lock, or when done is closed.
func (s shop) awaitWaiting(want int, done <-chan error) {
	s.T.Helper()
	for waiting := 0; waiting < want && len(done) == 0; {
		err := dbtest.Owner(s.DB).QueryRow(s.T.Context(), `
			select count(*) from `+dbtest.Activity(s.T)+`
			where wait_event_type = 'Lock' and datname = current_database()`).Scan(&waiting)
		s.Check(err)
	}
}

// "Nothing happens without its entry", and there is no entry without a change.
func TestChangesOfRewardsAreLogged(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx, maja := t.Context(), s.As(core.Manager).By
	id := s.Reward(30, new(int64(3)))
	for _, do := range []func() error{
		func() error {
			return second(core.Result(s.Rewards.ChangeStock(ctx, maja, id, reward.StockChange{Change: -2}, nil)))
		},
		func() error {
			return second(core.Result(s.Rewards.SetStock(ctx, s.By, id, reward.StockCount{Seen: new(int64(1))}, nil)))
		},
		func() error { return second(s.Rewards.SetActive(ctx, s.By, id, true)) },
		func() error { return second(s.Rewards.SetActive(ctx, s.By, id, false)) },
		func() error { return second(s.Rewards.SetActive(ctx, s.By, id, false)) },
		func() error {
			return second(s.Rewards.Edit(ctx, s.By, id, reward.Edit{Description: core.Set("Double."), PointsCost: core.Set(int64(40))}))
		},
	} {
		dbtest.Tick(s.DB) // the log has one order
		if err := do(); err != nil {
			t.Error(err)
		}
	}
	refused(t, second(core.Result(s.Rewards.SetStock(ctx, s.By, id, reward.StockCount{Seen: new(int64(1))}, nil))), reward.ErrStockChanged)
	want := []string{
		`reward.create - {"name": "Espresso", "stock": 3, "active": true, "picture": null, "cost_cents": null, "description": null, "points_cost": 30, "stamps_cost": null, "value_cents": null} by A owner`,
		`reward.edit {"stock": 3} {"stock": 1} by A manager`,
		`reward.edit {"stock": 1} {"stock": null} by A owner`,
		`reward.edit {"active": true} {"active": false} by A owner`,
		`reward.edit {"name": "Espresso", "stock": null, "active": false, "picture": null, "cost_cents": null, "description": null, "points_cost": 30, "stamps_cost": null, "value_cents": null} ` +
			`{"name": "Espresso", "stock": null, "active": false, "picture": null, "cost_cents": null, "description": "Double.", "points_cost": 40, "stamps_cost": null, "value_cents": null} by A owner`,
	}
	if diff := cmp.Diff(want, s.Log("reward", id)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// "`cashier` (POS, look-up, redeem rewards and vouchers, fulfil …)"; the rest is for managers.
func TestRoles(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, id := s.buyer(1000, 0), s.Reward(1, new(int64(100)))
	ctx := t.Context()
	for _, c := range []struct {
		name  string
		least core.Role
		do    func(by core.Actor) error
	}{
		{"redeem", core.Cashier, func(by core.Actor) error {
			return second(core.Result(s.Rewards.Redeem(ctx, by, order(anna, id), nil, nil)))
		}},
		{"fulfil", core.Cashier, func(by core.Actor) error {
			return second(core.Result(s.Rewards.Fulfil(ctx, by, s.Redeem(anna, id).ID, nil)))
		}},
		{"void", core.Manager, func(by core.Actor) error {
			return second(s.Rewards.Void(ctx, by, s.Redeem(anna, id).ID, "Wrong reward"))
		}},
		{"add", core.Manager, func(by core.Actor) error {
			return second(core.Result(s.Rewards.Add(ctx, by, reward.New{Name: "Cake", PointsCost: new(int64(1))}, nil)))
		}},
		{"edit", core.Manager, func(by core.Actor) error { return second(s.Rewards.Edit(ctx, by, id, reward.Edit{})) }},
		{"switch", core.Manager, func(by core.Actor) error { return second(s.Rewards.SetActive(ctx, by, id, true)) }},
		{"change stock", core.Manager, func(by core.Actor) error {
			return second(core.Result(s.Rewards.ChangeStock(ctx, by, id, reward.StockChange{Change: 1}, nil)))
		}},
		{"set stock", core.Manager, func(by core.Actor) error {
			seen := s.found(id).Stock
			return second(core.Result(s.Rewards.SetStock(ctx, by, id, reward.StockCount{Stock: seen, Seen: seen}, nil)))
		}},
	} {
		guest := s.By
		guest.Role = "guest"
		for _, by := range []core.Actor{
			guest, s.As(core.Cashier).By, s.As(core.Manager).By, s.By, {Kind: core.ByToken, Tenant: s.By.Tenant},
		} {
			if err := c.do(by); !errors.Is(err, by.Require(c.least)) {
				t.Errorf("%s as %s %s: %v", c.name, by.Kind, by.Role, err)
			}
		}
	}
}

// "A resource that belongs to another tenant is reported as nonexistent."
func TestAnotherTenantsRewardsDoNotExist(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	anna, id := s.buyer(100, 0), s.Reward(30, new(int64(3)))
	made := s.Redeem(anna, id)
	ctx := t.Context()
	for name, err := range map[string]error{
		"find":         second(stranger.Rewards.Find(ctx, stranger.By, id)),
		"edit":         second(stranger.Rewards.Edit(ctx, stranger.By, id, reward.Edit{Name: core.Set("Mine")})),
		"edit wrongly": second(stranger.Rewards.Edit(ctx, stranger.By, id, reward.Edit{Name: core.Set("")})),
		"switch off":   second(stranger.Rewards.SetActive(ctx, stranger.By, id, false)),
		"switch on":    second(stranger.Rewards.SetActive(ctx, stranger.By, id, true)),
		"change stock": second(core.Result(stranger.Rewards.ChangeStock(ctx, stranger.By, id, reward.StockChange{Change: 1}, nil))),
		"set stock":    second(core.Result(stranger.Rewards.SetStock(ctx, stranger.By, id, reward.StockCount{Seen: new(int64(2))}, nil))),
		"redemption":   second(stranger.Rewards.RedemptionDetail(ctx, stranger.By, made.ID)),
	} {
		if !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s = %v, want ErrNotFound", name, err)
		}
	}
	rewards, err := stranger.Rewards.List(ctx, stranger.By, reward.Filter{}, core.Page{Size: 5})
	if err != nil || len(rewards.Items) != 0 {
		t.Errorf("a stranger's rewards: %+v, %v", rewards.Items, err)
	}
	for name, f := range map[string]reward.RedemptionFilter{
		"all": {}, "customer": {CustomerID: new(anna.String())}, "reward": {RewardID: new(id.String())}, "status": {Status: new("pending")},
	} {
		if l, err := stranger.Rewards.ListRedemptions(ctx, stranger.By, f, core.Newest, core.Page{Size: 5}); err != nil || len(l.Items) != 0 {
			t.Errorf("a stranger's redemptions by %s: %+v, %v", name, l.Items, err)
		}
	}
	if names, err := stranger.Rewards.Choices(ctx, stranger.By); err != nil || len(names) != 0 {
		t.Errorf("a stranger's names: %+v, %v", names, err)
	}
	s.want(anna, id, 70, 0, new(int64(2)))
}

// "Rewards have a picture and a cost in money": the picture has a new address when it changes, and is found
// by its own hash alone.
func TestPictureAndCost(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	picture := shoptest.Picture()
	made, err := core.Result(s.Rewards.Add(t.Context(), s.By, reward.New{Name: "Espresso", PointsCost: new(int64(30)), CostCents: new(int64(45)), ValueCents: new(int64(350)), Picture: &picture}, nil))
	s.Check(err)
	if made.CostCents == nil || *made.CostCents != 45 || made.ValueCents == nil || *made.ValueCents != 350 || made.PictureHash == nil {
		t.Fatalf("created %+v", made)
	}
	shown, err := s.Rewards.Picture(t.Context(), s.By, made.ID, *made.PictureHash)
	if err != nil || shown.Type != "image/png" {
		t.Errorf("its picture: %s, %v", shown.Type, err)
	}
	edited, err := s.Rewards.Edit(t.Context(), s.By, made.ID, reward.Edit{Name: core.Set("Double espresso")})
	if err != nil || edited.PictureHash == nil || *edited.PictureHash != *made.PictureHash || *edited.CostCents != 45 || *edited.ValueCents != 350 {
		t.Errorf("another name changed %+v, %v", edited, err)
	}
	_, err = s.Rewards.Edit(t.Context(), s.By, made.ID, reward.Edit{Name: core.Set(""), CostCents: core.Set(int64(-1)), ValueCents: core.Set(int64(0)), Picture: core.Set([]byte("GIF89a"))})
	shoptest.WantFields(t, err, core.Fields{"name": {core.Required}, "cost_cents": {core.Min(0)}, "value_cents": {core.Min(1)}, "picture": {core.Violation{Rule: "picture_type"}}})

	stranger := newShop(t)
	_, err = stranger.Rewards.Picture(t.Context(), stranger.By, made.ID, *made.PictureHash)
	refused(t, err, core.ErrNotFound)
	edited, err = s.Rewards.Edit(t.Context(), s.By, made.ID, reward.Edit{
		Picture: core.Optional[[]byte]{Set: true}, CostCents: core.Optional[int64]{Set: true}, ValueCents: core.Optional[int64]{Set: true},
	})
	if err != nil || edited.PictureHash != nil || edited.CostCents != nil || edited.ValueCents != nil {
		t.Errorf("removed: %+v, %v", edited, err)
	}
	for _, hash := range []string{*made.PictureHash, "", "no hash"} {
		_, err = s.Rewards.Picture(t.Context(), s.By, made.ID, hash)
		refused(t, err, core.ErrNotFound)
	}
}
