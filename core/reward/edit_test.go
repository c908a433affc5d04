package reward_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
)

func second[T any](_ T, err error) error { return err }

func wantFields(t *testing.T, err error, want core.Fields) {
	t.Helper()
	var refusal *core.Error
	if !errors.As(err, &refusal) || refusal.Kind != core.KindInvalid {
		t.Fatalf("%v, want a refusal of fields", err)
	}
	if diff := cmp.Diff(want, refusal.Fields); diff != "" {
		t.Errorf("refused fields (-want +got):\n%s", diff)
	}
}

func (s shop) found(t *testing.T, id core.ID) reward.WithCounts {
	t.Helper()
	r, err := s.Find(t.Context(), s.by, id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// log returns a record's entries in the audit log, in order.
func (s shop) log(t *testing.T, subject core.ID) []string {
	t.Helper()
	rows, err := dbtest.Owner(s.db).Query(t.Context(), `
		select concat_ws(' ', action, coalesce(old::text, '-'), coalesce(new::text, '-'), 'by', actor_name)
		from loyalty.audit_entry
		where tenant_id = $1 and subject_id = $2
		order by created_at, id`, s.by.Tenant.ID, subject.String())
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// An edit changes only the fields that are set. Earlier redemptions keep their cost, and the stock doesn't
// change.
func TestEdit(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.buyer(t, "070 174 06 05", 100, 100)
	id := s.add(t, reward.New{Name: new("Espresso"), Description: new("Double."), PointsCost: new(int64(30)), Stock: new(int64(5))})
	before := s.redeem(t, anna, id)
	want := s.found(t, id).Reward
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
		got, err := s.Edit(t.Context(), s.by, id, c.edit)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, err, diff)
		}
		if diff := cmp.Diff(want, s.found(t, id).Reward); diff != "" {
			t.Errorf("%s, found (-want +got):\n%s", c.name, diff)
		}
	}
	if after := s.redeem(t, anna, id); after.StampsSpent != 9 || after.PointsSpent != 0 {
		t.Errorf("redeemed for %+v, want the new cost", after)
	}
	if _, err := s.Void(t.Context(), s.by, before.ID); err != nil {
		t.Fatal(err)
	}
	s.want(t, anna, id, 100, 91, new(int64(4)))

	_, err := s.Edit(t.Context(), s.by, id, reward.Edit{
		Name: core.Optional[string]{Set: true}, Description: core.Set(strings.Repeat("å", 1001)), PointsCost: core.Set(int64(1)), Active: core.Optional[bool]{Set: true},
	})
	wantFields(t, err, core.Fields{
		"name":        {core.Required},
		"description": {core.MaxLength(1000)},
		"stamps_cost": {core.Violation{Rule: "prohibited_with", Other: "points_cost"}},
		"active":      {core.Required},
	})
	_, err = s.Edit(t.Context(), s.by, id, reward.Edit{StampsCost: null, Malformed: core.Fields{"name": {core.MustBeString}}})
	wantFields(t, err, core.Fields{"name": {core.MustBeString}, "points_cost": {core.Required}})
}

// "Add/remove N" from the current stock, which can't fall below zero.
func TestChangeStock(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	id, none, unlimited := s.espresso(t, 30, new(int64(3))), s.espresso(t, 30, new(int64(0))), s.espresso(t, 30, nil)
	change := func(id core.ID, by int64) (reward.Reward, error) {
		return s.ChangeStock(t.Context(), s.by, id, reward.StockChange{Change: &by})
	}
	for _, c := range []struct{ by, want int64 }{{4, 7}, {-2, 5}, {-5, 0}, {1, 1}} {
		if got, err := change(id, c.by); err != nil || got.Stock == nil || *got.Stock != c.want || *s.found(t, id).Stock != c.want {
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
		wantFields(t, second(change(c.of, c.by)), core.Fields{"change": {c.says}})
	}
	wantFields(t, second(s.ChangeStock(t.Context(), s.by, id, reward.StockChange{})), core.Fields{"change": {core.Required}})
	wantFields(t, second(s.ChangeStock(t.Context(), s.by, id, reward.StockChange{Malformed: core.Fields{"change": {core.MustBeString}}})), core.Fields{"change": {core.MustBeString}})
	if got := s.found(t, id); *got.Stock != 1 {
		t.Errorf("refusals left a stock of %d, want 1", *got.Stock)
	}
}

// "Set to N only with the seen stock as a condition."
func TestSetStock(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.buyer(t, "070 174 06 05", 100, 0)
	id := s.espresso(t, 30, new(int64(3)))
	set := func(seen, to *int64) error {
		return second(s.SetStock(t.Context(), s.by, id, reward.StockCount{Seen: seen, Stock: to}))
	}
	n := func(n int64) *int64 { return &n }
	s.redeem(t, anna, id)
	refused(t, set(n(3), n(10)), reward.ErrStockChanged) // one was redeemed since
	refused(t, set(nil, n(10)), reward.ErrStockChanged)
	s.want(t, anna, id, 70, 0, n(2))
	for _, c := range []struct{ seen, to *int64 }{{n(2), n(10)}, {n(10), nil}, {nil, nil}, {nil, n(0)}, {n(0), n(1)}} {
		if err := set(c.seen, c.to); err != nil {
			t.Errorf("from %v to %v: %v", show(c.seen), show(c.to), err)
		}
		s.want(t, anna, id, 70, 0, c.to)
	}
	refused(t, set(n(0), nil), reward.ErrStockChanged)
	wantFields(t, set(n(1), n(-1)), core.Fields{"stock": {core.Min(0)}})
	wantFields(t, second(s.SetStock(t.Context(), s.by, id, reward.StockCount{Seen: n(1), Stock: n(2), Malformed: core.Fields{"seen": {core.MustBeString}}})),
		core.Fields{"seen": {core.MustBeString}})
	s.want(t, anna, id, 70, 0, n(1))
}

// Managers change a stock and count it while a hundred buyers redeem: no redemption and no change is lost.
func TestStockCorrectionsAgainstBuyers(t *testing.T) {
	t.Parallel()
	s := shopOf(t, dbtest.OwnDB(t))
	const start = 200
	id := s.espresso(t, 1, new(int64(start)))
	buyers := make([]core.ID, 10)
	for i := range buyers {
		buyers[i] = s.buyer(t, "070 174 06 0"+string(rune('0'+i)), 1000, 0)
	}
	var bought, corrected, counted atomic.Int64
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			switch err := second(s.Redeem(t.Context(), s.by, order(buyers[i%len(buyers)], id))); {
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
				r, err := s.ChangeStock(t.Context(), s.by, id, reward.StockChange{Change: &change})
				if err != nil || r.Stock == nil {
					t.Error(r, err)
					return
				}
				corrected.Add(change)
			})
			all.Go(func() {
				// The count sets the stock to one more than the displayed stock.
				seen, err := s.Find(t.Context(), s.by, id)
				if err != nil {
					t.Error(err)
					return
				}
				switch err := second(s.SetStock(t.Context(), s.by, id, reward.StockCount{Seen: seen.Stock, Stock: new(*seen.Stock + 1)})); {
				case err == nil:
					counted.Add(1)
				case !errors.Is(err, reward.ErrStockChanged):
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	got := s.found(t, id)
	if want := start + corrected.Load() + counted.Load() - bought.Load(); *got.Stock != want || got.Pending != bought.Load() {
		t.Errorf("a stock of %d after %d bought, corrections of %d and %d counts, want %d; %d pending",
			*got.Stock, bought.Load(), corrected.Load(), counted.Load(), want, got.Pending)
	}
	s.sound(t)
}

// An unlimited reward becomes limited during a redemption. A buyer who found it unlimited finishes before the
// change, and a later buyer takes a unit. In the other direction, no buyer is refused because of an empty
// stock that has become unlimited.
func TestCountingBeginsBetweenBuyers(t *testing.T) {
	t.Parallel()
	s := shopOf(t, dbtest.OwnDB(t)) // its own database, whose waiting connections are counted
	anna, bo := s.buyer(t, "070 174 06 05", 100, 0), s.buyer(t, "070 174 06 06", 100, 0)
	granted := func(tx *db.Tx, offered core.ID) (reward.Redemption, error) {
		return reward.Grant(t.Context(), tx, s.by, bo, offered)
	}

	// The buyer comes first, and waits for another transaction with their account.
	offered := s.espresso(t, 10, nil)
	var bought reward.Redemption
	buyer, counting := make(chan error, 1), make(chan error, 1)
	_, err := db.InTenant(t.Context(), s.db, s.by, func(tx *db.Tx) (int, error) {
		if err := second(ledger.Post(t.Context(), tx, s.by, ledger.Entry{Customer: anna, Unit: ledger.Points, Amount: 1, Kind: ledger.Adjustment})); err != nil {
			return 0, err
		}
		go func() {
			var err error
			bought, err = s.Redeem(t.Context(), s.by, order(anna, offered))
			buyer <- err
		}()
		s.awaitWaiting(t, 1, buyer)
		go func() { counting <- s.count(t, offered, 5) }()
		s.awaitWaiting(t, 2, counting)
		if len(counting) > 0 {
			t.Error("for points: counted before the buyer was done")
		}
		return 0, nil
	})
	if err := errors.Join(err, <-buyer, <-counting); err != nil || bought.TookStock {
		t.Fatalf("took a piece: %t, %v", bought.TookStock, err)
	}
	s.want(t, anna, offered, 91, 0, new(int64(5)))

	promised := s.espresso(t, 10, nil)
	_, err = db.InTenant(t.Context(), s.db, s.by, func(tx *db.Tx) (reward.Redemption, error) {
		r, err := granted(tx, promised)
		go func() { counting <- s.count(t, promised, 5) }()
		s.awaitWaiting(t, 1, counting)
		if len(counting) > 0 {
			t.Error("by a voucher: counted before the buyer was done")
		}
		return r, err
	})
	if err := errors.Join(err, <-counting); err != nil {
		t.Fatal(err)
	}
	s.want(t, bo, promised, 100, 0, new(int64(5)))

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
				return s.Redeem(t.Context(), s.by, order(bo, offered))
			},
			"by a voucher": func(offered core.ID) (reward.Redemption, error) {
				return db.InTenant(t.Context(), s.db, s.by, func(tx *db.Tx) (reward.Redemption, error) { return granted(tx, offered) })
			},
		} {
			set := s.espresso(t, 10, c.was)
			var later reward.Redemption
			_, err := db.InTenant(t.Context(), s.db, s.by, func(tx *db.Tx) (int, error) {
				_, err := db.Exec(t.Context(), tx, c.set, db.Args{"id": set, "stock": c.is})
				go func() {
					var err error
					later, err = buy(set)
					buyer <- err
				}()
				s.awaitWaiting(t, 1, buyer)
				return 0, err
			})
			if err := errors.Join(err, <-buyer); err != nil || later.TookStock != (c.is != nil) {
				t.Errorf("%s, from %v to %v: took a piece: %t, %v", how, show(c.was), show(c.is), later.TookStock, err)
			}
			if got := s.found(t, set); show(got.Stock) != show(c.left) {
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
func (s shop) count(t *testing.T, offered core.ID, stock int64) error {
	return second(s.SetStock(t.Context(), s.by, offered, reward.StockCount{Stock: &stock}))
}

// awaitWaiting returns when a number of connections wait for a lock, or when done is closed.
func (s shop) awaitWaiting(t *testing.T, want int, done <-chan error) {
	t.Helper()
	for waiting := 0; waiting < want && len(done) == 0; {
		err := dbtest.Owner(s.db).QueryRow(t.Context(), `
			select count(*) from pg_stat_activity
			where wait_event_type = 'Lock' and datname = current_database()`).Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// "Nothing happens without its entry", and there is no entry without a change.
func TestTheLogTellsOfRewards(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx, maja := t.Context(), dbtest.Person(t, s.db, s.by, core.Manager)
	id := s.espresso(t, 30, new(int64(3)))
	for _, do := range []func() error{
		func() error { return second(s.ChangeStock(ctx, maja, id, reward.StockChange{Change: new(int64(-2))})) },
		func() error { return second(s.SetStock(ctx, s.by, id, reward.StockCount{Seen: new(int64(1))})) },
		func() error { return second(s.SetActive(ctx, s.by, id, true)) },
		func() error { return second(s.SetActive(ctx, s.by, id, false)) },
		func() error { return second(s.SetActive(ctx, s.by, id, false)) },
		func() error {
			return second(s.Edit(ctx, s.by, id, reward.Edit{Description: core.Set("Double."), PointsCost: core.Set(int64(40))}))
		},
	} {
		dbtest.Tick(s.db) // the log has one order
		if err := do(); err != nil {
			t.Error(err)
		}
	}
	refused(t, second(s.SetStock(ctx, s.by, id, reward.StockCount{Seen: new(int64(1))})), reward.ErrStockChanged)
	want := []string{
		`reward.create - {"name": "Free espresso", "stock": 3, "active": true, "description": null, "points_cost": 30, "stamps_cost": null} by A owner`,
		`reward.edit {"stock": 3} {"stock": 1} by A manager`,
		`reward.edit {"stock": 1} {"stock": null} by A owner`,
		`reward.edit {"active": true} {"active": false} by A owner`,
		`reward.edit {"name": "Free espresso", "stock": null, "active": false, "description": null, "points_cost": 30, "stamps_cost": null} ` +
			`{"name": "Free espresso", "stock": null, "active": false, "description": "Double.", "points_cost": 40, "stamps_cost": null} by A owner`,
	}
	if diff := cmp.Diff(want, s.log(t, id)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// "`cashier` (POS, look-up, redeem rewards and vouchers, fulfil …)"; the rest is for managers.
func TestRoles(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, id := s.buyer(t, "070 174 06 05", 1000, 0), s.espresso(t, 1, new(int64(100)))
	ctx := t.Context()
	for _, c := range []struct {
		name  string
		least core.Role
		do    func(by core.Actor) error
	}{
		{"redeem", core.Cashier, func(by core.Actor) error { return second(s.Redeem(ctx, by, order(anna, id))) }},
		{"fulfil", core.Cashier, func(by core.Actor) error { return second(s.Fulfil(ctx, by, s.redeem(t, anna, id).ID)) }},
		{"void", core.Manager, func(by core.Actor) error { return second(s.Void(ctx, by, s.redeem(t, anna, id).ID)) }},
		{"add", core.Manager, func(by core.Actor) error {
			return second(s.Add(ctx, by, reward.New{Name: new("Cake"), PointsCost: new(int64(1))}))
		}},
		{"edit", core.Manager, func(by core.Actor) error { return second(s.Edit(ctx, by, id, reward.Edit{})) }},
		{"switch", core.Manager, func(by core.Actor) error { return second(s.SetActive(ctx, by, id, true)) }},
		{"change stock", core.Manager, func(by core.Actor) error {
			return second(s.ChangeStock(ctx, by, id, reward.StockChange{Change: new(int64(1))}))
		}},
		{"set stock", core.Manager, func(by core.Actor) error {
			seen := s.found(t, id).Stock
			return second(s.SetStock(ctx, by, id, reward.StockCount{Stock: seen, Seen: seen}))
		}},
	} {
		guest := s.by
		guest.Role = "guest"
		for _, by := range []core.Actor{
			guest, dbtest.Person(t, s.db, s.by, core.Cashier), dbtest.Person(t, s.db, s.by, core.Manager), s.by, {Kind: core.ByToken, Tenant: s.by.Tenant},
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
	anna, id := s.buyer(t, "070 174 06 05", 100, 0), s.espresso(t, 30, new(int64(3)))
	made := s.redeem(t, anna, id)
	ctx := t.Context()
	for name, err := range map[string]error{
		"find":         second(stranger.Find(ctx, stranger.by, id)),
		"edit":         second(stranger.Edit(ctx, stranger.by, id, reward.Edit{Name: core.Set("Mine")})),
		"edit wrongly": second(stranger.Edit(ctx, stranger.by, id, reward.Edit{Name: core.Set("")})),
		"switch off":   second(stranger.SetActive(ctx, stranger.by, id, false)),
		"switch on":    second(stranger.SetActive(ctx, stranger.by, id, true)),
		"change stock": second(stranger.ChangeStock(ctx, stranger.by, id, reward.StockChange{Change: new(int64(1))})),
		"set stock":    second(stranger.SetStock(ctx, stranger.by, id, reward.StockCount{Seen: new(int64(2))})),
		"redemption":   second(stranger.RedemptionDetail(ctx, stranger.by, made.ID)),
	} {
		if !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s = %v, want ErrNotFound", name, err)
		}
	}
	rewards, err := stranger.List(ctx, stranger.by, reward.Filter{}, core.Page{Size: 5})
	if err != nil || len(rewards.Items) != 0 {
		t.Errorf("a stranger's rewards: %+v, %v", rewards.Items, err)
	}
	for name, f := range map[string]reward.RedemptionFilter{
		"all": {}, "customer": {CustomerID: new(anna.String())}, "reward": {RewardID: new(id.String())}, "status": {Status: new("pending")},
	} {
		if l, err := stranger.ListRedemptions(ctx, stranger.by, f, core.Page{Size: 5}); err != nil || len(l.Items) != 0 {
			t.Errorf("a stranger's redemptions by %s: %+v, %v", name, l.Items, err)
		}
	}
	if names, err := stranger.Choices(ctx, stranger.by); err != nil || len(names) != 0 {
		t.Errorf("a stranger's names: %+v, %v", names, err)
	}
	s.want(t, anna, id, 70, 0, new(int64(2)))
}
