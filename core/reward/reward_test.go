package reward_test

import (
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a business with rewards and customers who have points.
type shop struct{ shoptest.Shop }

func newShop(t *testing.T) shop { return shop{shoptest.New(t)} }

func shopIn(t *testing.T, d *db.DB) shop { return shop{shoptest.In(t, d)} }

// buyer adds a customer with points and stamps.
func (s shop) buyer(points, stamps int64) core.ID {
	s.T.Helper()
	id := s.Customer().ID
	for unit, amount := range map[ledger.Unit]int64{ledger.Points: points, ledger.Stamps: stamps} {
		if amount != 0 {
			s.Adjust(id, unit, amount)
		}
	}
	return id
}

func order(buyer, offered core.ID) reward.RedeemRequest {
	return reward.RedeemRequest{CustomerID: buyer, RewardID: offered}
}

// want checks a buyer's balances and a reward's stock (nil: unlimited).
func (s shop) want(buyer, offered core.ID, points, stamps int64, stock *int64) {
	s.T.Helper()
	if got, want := s.Account(buyer), (ledger.Account{Points: points, Stamps: stamps}); got != want {
		s.T.Errorf("got %+v, want %+v", got, want)
	}
	l, err := s.Rewards.ListActive(s.T.Context(), s.By, core.Page{Size: 100})
	s.Check(err)
	for _, r := range l.Items {
		if r.ID == offered && ((r.Stock == nil) != (stock == nil) || (stock != nil && *r.Stock != *stock)) {
			s.T.Errorf("stock %v, want %v", show(r.Stock), show(stock))
		}
	}
}

func show(n *int64) any {
	if n == nil {
		return "unlimited"
	}
	return *n
}

func refused(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// "Points are deducted atomically with creation."
func TestRedeemTakesCostAndStock(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.buyer(100, 0)
	offered := s.Reward(30, new(int64(2)))
	r := s.Redeem(anna, offered)
	if r.Status != reward.Pending || r.PointsSpent != 30 || r.StampsSpent != 0 || r.CustomerID != anna || r.RewardID != offered {
		t.Errorf("made %+v", r)
	}
	if found, err := s.Rewards.FindRedemption(t.Context(), s.By, r.ID); err != nil || found != r {
		t.Errorf("found %+v, %v; want %+v", found, err, r)
	}
	s.want(anna, offered, 70, 0, new(int64(1)))
}

// "costs points or stamps, never both."
func TestStampsAreSpentAsPointsAre(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.buyer(0, 10)
	free := s.AddReward(reward.New{Name: "Tenth coffee", StampsCost: new(int64(9))})
	if r := s.Redeem(anna, free); r.StampsSpent != 9 || r.PointsSpent != 0 {
		t.Errorf("made %+v", r)
	}
	s.want(anna, free, 0, 1, nil)
	_, err := core.Result(s.Rewards.Redeem(t.Context(), s.By, order(anna, free), nil, nil))
	refused(t, err, ledger.ErrInsufficientStamps)

	_, err = core.Result(s.Rewards.Add(t.Context(), s.By, reward.New{Name: "Both", StampsCost: new(int64(1)), PointsCost: new(int64(1))}, nil))
	if !core.IsKind(err, core.KindInvalid) {
		t.Errorf("a reward that costs both: %v", err)
	}
}

// "An insufficient balance is reported before an empty stock."
func TestRefusalsInOrder(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	poor, rich := s.buyer(5, 0), s.buyer(500, 0)
	empty := s.Reward(30, new(int64(0)))
	_, err := core.Result(s.Rewards.Redeem(t.Context(), s.By, order(poor, empty), nil, nil))
	refused(t, err, ledger.ErrInsufficientPoints)
	_, err = core.Result(s.Rewards.Redeem(t.Context(), s.By, order(rich, empty), nil, nil))
	refused(t, err, reward.ErrOutOfStock)
	dear := s.Reward(30, new(int64(1)))
	_, err = core.Result(s.Rewards.Redeem(t.Context(), s.By, order(poor, dear), nil, nil))
	refused(t, err, ledger.ErrInsufficientPoints)
	s.want(poor, dear, 5, 0, new(int64(1))) // nothing was taken
}

// "An inactive reward or customer is 422 on the field."
func TestInactiveRewardsAndCustomersAreRefused(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	anna, offered := s.buyer(100, 0), s.Reward(30, nil)
	theirs := other.buyer(100, 0)
	gone := s.buyer(100, 0)
	s.Must(s.Customers.Edit(t.Context(), s.By, gone, customer.Edit{Status: core.Set("inactive")}))
	ended := s.Reward(30, nil)
	s.Must(s.Rewards.SetActive(t.Context(), s.By, ended, false))
	for name, c := range map[string]struct {
		order reward.RedeemRequest
		field string
	}{
		"inactive customer":          {order(gone, offered), "customer_ulid"},
		"another tenant's customer":  {order(theirs, offered), "customer_ulid"},
		"inactive reward":            {order(anna, ended), "reward_ulid"},
		"another tenant's reward":    {order(anna, other.Reward(1, nil)), "reward_ulid"},
		"a reward that is missing":   {reward.RedeemRequest{CustomerID: anna}, "reward_ulid"},
		"a customer that is missing": {reward.RedeemRequest{RewardID: offered}, "customer_ulid"},
	} {
		_, err := core.Result(s.Rewards.Redeem(t.Context(), s.By, c.order, nil, nil))
		var refusal *core.Error
		if !errors.As(err, &refusal) || len(refusal.Fields) != 1 || len(refusal.Fields[c.field]) != 1 {
			t.Errorf("%s: %v, want a refusal of %s", name, err, c.field)
		}
	}
	l, err := s.Rewards.ListActive(t.Context(), s.By, core.Page{Size: 10})
	if err != nil || len(l.Items) != 1 || l.Items[0].ID != offered {
		t.Errorf("on offer: %+v, %v", l.Items, err)
	}
}

// "Voiding a pending one is a panel action: points and stock return once. A fulfilled one can be voided
// within 24 hours by a manager, with a reason (a mistake at the counter): the same, once."
func TestFulfilAndVoid(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, offered := s.buyer(100, 0), s.Reward(30, new(int64(5)))
	handed, taken := s.Redeem(anna, offered), s.Redeem(anna, offered)

	if r, err := core.Result(s.Rewards.Fulfil(t.Context(), s.By, handed.ID, nil)); err != nil || r.Status != reward.Fulfilled || r.FulfilledAt == nil {
		t.Errorf("fulfilled %+v, %v", r, err)
	}
	_, err := core.Result(s.Rewards.Fulfil(t.Context(), s.By, handed.ID, nil))
	refused(t, err, reward.ErrAlreadyFulfilled)

	if r, err := s.Rewards.Void(t.Context(), s.By, taken.ID, "Wrong reward"); err != nil || r.Status != reward.Voided || r.VoidedAt == nil {
		t.Errorf("voided %+v, %v", r, err)
	}
	_, err = s.Rewards.Void(t.Context(), s.By, taken.ID, "Wrong reward")
	refused(t, err, reward.ErrVoided)
	_, err = core.Result(s.Rewards.Fulfil(t.Context(), s.By, taken.ID, nil))
	refused(t, err, reward.ErrVoided)
	s.want(anna, offered, 70, 0, new(int64(4)))

	for _, reason := range []*string{nil, new(""), new("  ")} {
		_, err = s.Rewards.Void(t.Context(), s.By, handed.ID, core.OrZero(reason))
		shoptest.WantFields(t, err, core.Fields{"reason": {core.Required}})
	}
	_, err = s.Rewards.Void(t.Context(), s.As(core.Cashier).By, handed.ID, "Wrong reward")
	refused(t, err, core.ErrRole)
	_, err = s.Later(24*time.Hour).Rewards.Void(t.Context(), s.By, handed.ID, "Wrong reward")
	refused(t, err, reward.ErrAlreadyFulfilled)
	s.want(anna, offered, 70, 0, new(int64(4)))

	late := s.Later(23*time.Hour + 59*time.Minute)
	if r, err := late.Rewards.Void(t.Context(), s.By, handed.ID, " Wrong reward "); err != nil || r.Status != reward.Voided || r.FulfilledAt == nil || r.VoidedAt == nil {
		t.Errorf("voided after it was fulfilled: %+v, %v", r, err)
	}
	_, err = late.Rewards.Void(t.Context(), s.By, handed.ID, "Wrong reward")
	refused(t, err, reward.ErrVoided)
	s.want(anna, offered, 100, 0, new(int64(5)))
	if d, err := s.Rewards.RedemptionDetail(t.Context(), s.By, handed.ID); err != nil || d.VoidReason == nil || *d.VoidReason != "Wrong reward" || d.EndedByName == nil {
		t.Errorf("the detail: %+v, %v", d, err)
	}

	stranger := newShop(t)
	for _, try := range []func() error{
		func() error {
			_, err := stranger.Rewards.FindRedemption(t.Context(), stranger.By, handed.ID)
			return err
		},
		func() error {
			_, err := core.Result(stranger.Rewards.Fulfil(t.Context(), stranger.By, handed.ID, nil))
			return err
		},
		func() error {
			_, err := stranger.Rewards.Void(t.Context(), stranger.By, handed.ID, "Wrong reward")
			return err
		},
		func() error {
			_, err := core.Result(stranger.Rewards.VoidOnce(t.Context(), stranger.By, handed.ID, nil))
			return err
		},
	} {
		refused(t, try(), core.ErrNotFound)
	}
}

// A program voids without a reason, as a manager does with one: cost and stock return once.
func TestVoidByAProgram(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, offered := s.buyer(100, 0), s.Reward(30, new(int64(5)))
	pending, handed := s.Redeem(anna, offered), s.Redeem(anna, offered)
	s.Must(core.Result(s.Rewards.Fulfil(t.Context(), s.By, handed.ID, nil)))
	void := func(s shop, id core.ID) (reward.Redemption, error) {
		return core.Result(s.Rewards.VoidOnce(t.Context(), s.By, id, nil))
	}
	refused(t, second(void(shop{s.As(core.Cashier)}, handed.ID)), core.ErrRole)
	refused(t, second(void(shop{s.Later(24 * time.Hour)}, handed.ID)), reward.ErrAlreadyFulfilled)
	for _, id := range []core.ID{pending.ID, handed.ID} {
		if r, err := void(s, id); err != nil || r.Status != reward.Voided || r.VoidedAt == nil {
			t.Errorf("voided %+v, %v", r, err)
		}
		refused(t, second(void(s, id)), reward.ErrVoided)
	}
	s.want(anna, offered, 100, 0, new(int64(5)))
	d, err := s.Rewards.RedemptionDetail(t.Context(), s.By, handed.ID)
	if err != nil || d.VoidReason != nil || d.EndedByName == nil {
		t.Errorf("the detail: %+v, %v", d, err)
	}
	want := `redemption.void {"status": "fulfilled"} {"status": "voided"} by A owner`
	if log := s.Log("redemption", handed.ID); log[len(log)-1] != want {
		t.Errorf("logged %v", log)
	}
}

// A redemption has what its reward is worth now.
func TestARedemptionHasTheWorthOfItsReward(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.buyer(100, 0)
	offered := s.AddReward(reward.New{Name: "5 off", PointsCost: new(int64(30)), ValueCents: new(int64(500))})
	worth := func(r reward.Redemption, err error) int64 {
		s.Check(err)
		return core.OrZero(r.RewardValueCents)
	}
	made := s.Redeem(anna, offered)
	granted, err := db.In(t.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) (reward.Redemption, error) {
		return reward.Grant(t.Context(), tx, s.By, anna, offered)
	})
	if worth(made, nil) != 500 || worth(granted, err) != 500 {
		t.Errorf("made %+v and %+v, want worth 500", made, granted)
	}
	s.Must(s.Rewards.Edit(t.Context(), s.By, offered, reward.Edit{ValueCents: core.Set(int64(450))}))
	l, err := s.Rewards.ListRedemptions(t.Context(), s.By, reward.RedemptionFilter{}, core.Newest, core.Page{Size: 1})
	s.Check(err)
	if worth(s.Rewards.FindRedemption(t.Context(), s.By, made.ID)) != 450 || worth(l.Items[0].Redemption, nil) != 450 {
		t.Errorf("the worth after an edit: %+v", l.Items[0])
	}
}

// A refund that would overflow the balance is refused, and the redemption stays pending.
func TestARefundThatDoesNotFit(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, offered := s.buyer(100, 0), s.Reward(30, new(int64(5)))
	taken := s.Redeem(anna, offered)
	_, err := db.In(t.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) (ledger.Account, error) {
		return ledger.Post(t.Context(), tx, s.By, ledger.Entry{
			Customer: anna, Unit: ledger.Points, Amount: math.MaxInt64 - 70, Kind: ledger.RedemptionRefund, Cause: new(core.NewID(tx.Now)),
		})
	})
	s.Check(err)
	_, err = s.Rewards.Void(t.Context(), s.By, taken.ID, "Wrong reward")
	refused(t, err, ledger.ErrTooLarge)
	s.want(anna, offered, math.MaxInt64, 0, new(int64(4)))
	if r, err := s.Rewards.FindRedemption(t.Context(), s.By, taken.ID); err != nil || r.Status != reward.Pending {
		t.Errorf("it is %+v, %v, want it pending", r, err)
	}
}

const (
	holdReward     = "select from loyalty.reward where tenant_id = $1 and id = $2 for update"
	holdAccount    = "select from loyalty.account where tenant_id = $1 and customer_id = $2 for update"
	holdRedemption = "select from loyalty.redemption where tenant_id = $1 and id = $2 for update"
)

// Of 200 buyers of five units, exactly five succeed.
func TestTheLastUnitsAreRedeemedOnce(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	offered := s.Reward(10, new(int64(5)))
	buyers := make([]core.ID, 20)
	for i := range buyers {
		buyers[i] = s.buyer(1000, 0)
	}
	won := dbtest.Race(t, s.DB, s.By.Tenant.ID, holdReward, offered, 200, func(i int) error {
		return second(core.Result(s.Rewards.Redeem(t.Context(), s.By, order(buyers[i%len(buyers)], offered), nil, nil)))
	}, reward.ErrOutOfStock)
	if won != 5 {
		t.Errorf("%d redemptions of 5 pieces", won)
	}
	s.Verify()
}

// Of 200 redemptions with points for one, exactly one succeeds.
func TestABalanceIsSpentOnce(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	anna, offered := s.buyer(19, 0), s.Reward(10, nil)
	won := dbtest.Race(t, s.DB, s.By.Tenant.ID, holdAccount, anna, 200, func(int) error {
		return second(core.Result(s.Rewards.Redeem(t.Context(), s.By, order(anna, offered), nil, nil)))
	}, ledger.ErrInsufficientPoints)
	if won != 1 {
		t.Errorf("%d redemptions of a balance for one", won)
	}
	s.want(anna, offered, 9, 0, nil)
	s.Verify()
}

// Of 100 voids and 100 fulfilments of one redemption, one void succeeds, and a fulfilment at most before it.
func TestARedemptionEndsOnce(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	anna, offered := s.buyer(10, 0), s.Reward(10, new(int64(1)))
	r := s.Redeem(anna, offered)
	var voids, fulfilments atomic.Int64
	dbtest.Race(t, s.DB, s.By.Tenant.ID, holdRedemption, r.ID, 200, func(i int) error {
		if i%2 == 0 {
			err := second(core.Result(s.Rewards.Fulfil(t.Context(), s.By, r.ID, nil)))
			if err == nil {
				fulfilments.Add(1)
			}
			return err
		}
		err := second(s.Rewards.Void(t.Context(), s.By, r.ID, "Wrong reward"))
		if err == nil {
			voids.Add(1)
		}
		return err
	}, reward.ErrVoided, reward.ErrAlreadyFulfilled)
	if voids.Load() != 1 || fulfilments.Load() > 1 {
		t.Errorf("voided %d times, fulfilled %d times", voids.Load(), fulfilments.Load())
	}
	s.want(anna, offered, 10, 0, new(int64(1)))
	s.Verify()
}
