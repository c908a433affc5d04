package reward_test

import (
	"errors"
	"math"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/verify"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a tenant with rewards and customers who have points.
type shop struct {
	*reward.Service
	db *db.DB
	by core.Actor
}

func newShop(t *testing.T) shop {
	t.Helper()
	return shopOf(t, dbtest.DB(t))
}

func shopOf(t *testing.T, d *db.DB) shop {
	t.Helper()
	return shop{reward.NewService(d), d, dbtest.Tenant(t, d)}
}

func (s shop) buyer(t *testing.T, phone string, points, stamps int64) core.ID {
	t.Helper()
	first, last := "Anna", "Lindqvist"
	c, err := customer.NewService(s.db).Upsert(t.Context(), s.by, customer.New{FirstName: &first, LastName: &last, Phone: &phone})
	if err != nil {
		t.Fatal(err)
	}
	for unit, amount := range map[ledger.Unit]int64{ledger.Points: points, ledger.Stamps: stamps} {
		if amount != 0 {
			s.adjust(t, c.ID, unit, amount)
		}
	}
	return c.ID
}

func (s shop) adjust(t *testing.T, buyer core.ID, unit ledger.Unit, amount int64) {
	t.Helper()
	_, err := db.InTenant(t.Context(), s.db, s.by, func(tx *db.Tx) (ledger.Account, error) {
		return ledger.Post(t.Context(), tx, s.by, ledger.Entry{Customer: buyer, Unit: unit, Amount: amount, Kind: ledger.Adjustment})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (s shop) espresso(t *testing.T, cost int64, stock *int64) core.ID {
	t.Helper()
	return s.add(t, reward.New{Name: new("Free espresso"), PointsCost: &cost, Stock: stock})
}

func (s shop) add(t *testing.T, n reward.New) core.ID {
	t.Helper()
	r, err := s.Add(t.Context(), s.by, n)
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}

func order(buyer, offered core.ID) reward.RedeemRequest {
	return reward.RedeemRequest{CustomerID: new(buyer.String()), RewardID: new(offered.String())}
}

func (s shop) redeem(t *testing.T, buyer, offered core.ID) reward.Redemption {
	t.Helper()
	r, err := s.Redeem(t.Context(), s.by, order(buyer, offered))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// want checks a buyer's balances and a reward's stock (nil: unlimited).
func (s shop) want(t *testing.T, buyer, offered core.ID, points, stamps int64, stock *int64) {
	t.Helper()
	c, err := customer.NewService(s.db).Find(t.Context(), s.by, buyer)
	if err != nil {
		t.Fatal(err)
	}
	if c.PointsBalance != points || c.StampsBalance != stamps {
		t.Errorf("%d points and %d stamps, want %d and %d", c.PointsBalance, c.StampsBalance, points, stamps)
	}
	l, err := s.ListActive(t.Context(), s.by, core.Page{Size: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range l.Items {
		if r.ID == offered && ((r.Stock == nil) != (stock == nil) || (stock != nil && *r.Stock != *stock)) {
			t.Errorf("stock %v, want %v", show(r.Stock), show(stock))
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
	anna := s.buyer(t, "070 174 06 05", 100, 0)
	offered := s.espresso(t, 30, new(int64(2)))
	r := s.redeem(t, anna, offered)
	if r.Status != reward.Pending || r.PointsSpent != 30 || r.StampsSpent != 0 || r.CustomerID != anna || r.RewardID != offered {
		t.Errorf("made %+v", r)
	}
	if found, err := s.FindRedemption(t.Context(), s.by, r.ID); err != nil || found != r {
		t.Errorf("found %+v, %v; want %+v", found, err, r)
	}
	s.want(t, anna, offered, 70, 0, new(int64(1)))
}

// "costs points or stamps, never both."
func TestStampsAreSpentAsPointsAre(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.buyer(t, "070 174 06 05", 0, 10)
	free := s.add(t, reward.New{Name: new("Tenth coffee"), StampsCost: new(int64(9))})
	if r := s.redeem(t, anna, free); r.StampsSpent != 9 || r.PointsSpent != 0 {
		t.Errorf("made %+v", r)
	}
	s.want(t, anna, free, 0, 1, nil)
	_, err := s.Redeem(t.Context(), s.by, order(anna, free))
	refused(t, err, ledger.ErrInsufficientStamps)

	_, err = s.Add(t.Context(), s.by, reward.New{Name: new("Both"), StampsCost: new(int64(1)), PointsCost: new(int64(1))})
	if !core.IsKind(err, core.KindInvalid) {
		t.Errorf("a reward that costs both: %v", err)
	}
}

// "An insufficient balance is reported before an empty stock."
func TestRefusalsInOrder(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	poor, rich := s.buyer(t, "070 174 06 05", 5, 0), s.buyer(t, "070 174 06 06", 500, 0)
	empty := s.espresso(t, 30, new(int64(0)))
	_, err := s.Redeem(t.Context(), s.by, order(poor, empty))
	refused(t, err, ledger.ErrInsufficientPoints)
	_, err = s.Redeem(t.Context(), s.by, order(rich, empty))
	refused(t, err, reward.ErrOutOfStock)
	dear := s.espresso(t, 30, new(int64(1)))
	_, err = s.Redeem(t.Context(), s.by, order(poor, dear))
	refused(t, err, ledger.ErrInsufficientPoints)
	s.want(t, poor, dear, 5, 0, new(int64(1))) // nothing was taken
}

// "An inactive reward or customer is 422 on the field."
func TestOnlyActiveOnesMeet(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	anna, offered := s.buyer(t, "070 174 06 05", 100, 0), s.espresso(t, 30, nil)
	theirs := other.buyer(t, "070 174 06 05", 100, 0)
	gone := s.buyer(t, "070 174 06 06", 100, 0)
	if _, err := customer.NewService(s.db).Edit(t.Context(), s.by, gone, customer.Edit{Status: core.Set("inactive")}); err != nil {
		t.Fatal(err)
	}
	ended := s.espresso(t, 30, nil)
	if _, err := s.SetActive(t.Context(), s.by, ended, false); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		order reward.RedeemRequest
		field string
	}{
		"inactive customer":          {order(gone, offered), "customer_ulid"},
		"another tenant's customer":  {order(theirs, offered), "customer_ulid"},
		"inactive reward":            {order(anna, ended), "reward_ulid"},
		"another tenant's reward":    {order(anna, other.espresso(t, 1, nil)), "reward_ulid"},
		"a reward that is no ULID":   {reward.RedeemRequest{CustomerID: new(anna.String()), RewardID: new("x")}, "reward_ulid"},
		"a customer that is missing": {reward.RedeemRequest{RewardID: new(offered.String())}, "customer_ulid"},
	} {
		_, err := s.Redeem(t.Context(), s.by, c.order)
		var refusal *core.Error
		if !errors.As(err, &refusal) || len(refusal.Fields) != 1 || len(refusal.Fields[c.field]) != 1 {
			t.Errorf("%s: %v, want a refusal of %s", name, err, c.field)
		}
	}
	l, err := s.ListActive(t.Context(), s.by, core.Page{Size: 10})
	if err != nil || len(l.Items) != 1 || l.Items[0].ID != offered {
		t.Errorf("on offer: %+v, %v", l.Items, err)
	}
}

// "Voiding a pending one is a panel action: points and stock return once. A fulfilled
// one cannot be voided."
func TestFulfilAndVoid(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, offered := s.buyer(t, "070 174 06 05", 100, 0), s.espresso(t, 30, new(int64(5)))
	handed, taken := s.redeem(t, anna, offered), s.redeem(t, anna, offered)

	if r, err := s.Fulfil(t.Context(), s.by, handed.ID); err != nil || r.Status != reward.Fulfilled || r.FulfilledAt == nil {
		t.Errorf("fulfilled %+v, %v", r, err)
	}
	_, err := s.Fulfil(t.Context(), s.by, handed.ID)
	refused(t, err, reward.ErrAlreadyFulfilled)
	_, err = s.Void(t.Context(), s.by, handed.ID)
	refused(t, err, reward.ErrAlreadyFulfilled)

	if r, err := s.Void(t.Context(), s.by, taken.ID); err != nil || r.Status != reward.Voided || r.VoidedAt == nil {
		t.Errorf("voided %+v, %v", r, err)
	}
	_, err = s.Void(t.Context(), s.by, taken.ID)
	refused(t, err, reward.ErrVoided)
	_, err = s.Fulfil(t.Context(), s.by, taken.ID)
	refused(t, err, reward.ErrVoided)
	s.want(t, anna, offered, 70, 0, new(int64(4)))

	stranger := newShop(t)
	for _, try := range []func() error{
		func() error { _, err := stranger.FindRedemption(t.Context(), stranger.by, handed.ID); return err },
		func() error { _, err := stranger.Fulfil(t.Context(), stranger.by, handed.ID); return err },
		func() error { _, err := stranger.Void(t.Context(), stranger.by, handed.ID); return err },
	} {
		refused(t, try(), core.ErrNotFound)
	}
}

// A refund that would overflow the balance is refused, and the redemption stays pending.
func TestARefundThatDoesNotFit(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, offered := s.buyer(t, "070 174 06 05", 100, 0), s.espresso(t, 30, new(int64(5)))
	taken := s.redeem(t, anna, offered)
	_, err := db.InTenant(t.Context(), s.db, s.by, func(tx *db.Tx) (ledger.Account, error) {
		return ledger.Post(t.Context(), tx, s.by, ledger.Entry{
			Customer: anna, Unit: ledger.Points, Amount: math.MaxInt64 - 70, Kind: ledger.RedemptionRefund, Cause: new(core.NewID(tx.Now)),
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Void(t.Context(), s.by, taken.ID)
	refused(t, err, ledger.ErrTooLarge)
	s.want(t, anna, offered, math.MaxInt64, 0, new(int64(4)))
	if r, err := s.FindRedemption(t.Context(), s.by, taken.ID); err != nil || r.Status != reward.Pending {
		t.Errorf("it is %+v, %v, want it pending", r, err)
	}
}

const (
	holdReward     = "select from loyalty.reward where id = $1 for update"
	holdAccount    = "select from loyalty.account where customer_id = $1 for update"
	holdRedemption = "select from loyalty.redemption where id = $1 for update"
)

// Of 200 buyers of five units, exactly five succeed.
func TestTheLastPiecesGoOnce(t *testing.T) {
	t.Parallel()
	s := shopOf(t, dbtest.OwnDB(t))
	offered := s.espresso(t, 10, new(int64(5)))
	buyers := make([]core.ID, 20)
	for i := range buyers {
		buyers[i] = s.buyer(t, "070 174 06 "+string(rune('1'+i/10))+string(rune('0'+i%10)), 1000, 0)
	}
	won := dbtest.Race(t, s.db, holdReward, offered, 200, func(i int) error {
		return second(s.Redeem(t.Context(), s.by, order(buyers[i%len(buyers)], offered)))
	}, reward.ErrOutOfStock)
	if won != 5 {
		t.Errorf("%d redemptions of 5 pieces", won)
	}
	s.sound(t)
}

// Of 200 redemptions with points for one, exactly one succeeds.
func TestABalanceIsSpentOnce(t *testing.T) {
	t.Parallel()
	s := shopOf(t, dbtest.OwnDB(t))
	anna, offered := s.buyer(t, "070 174 06 05", 19, 0), s.espresso(t, 10, nil)
	won := dbtest.Race(t, s.db, holdAccount, anna, 200, func(int) error {
		return second(s.Redeem(t.Context(), s.by, order(anna, offered)))
	}, ledger.ErrInsufficientPoints)
	if won != 1 {
		t.Errorf("%d redemptions of a balance for one", won)
	}
	s.want(t, anna, offered, 9, 0, nil)
	s.sound(t)
}

// Of 100 voids and 100 fulfilments of one redemption, exactly one succeeds.
func TestARedemptionEndsOnce(t *testing.T) {
	t.Parallel()
	s := shopOf(t, dbtest.OwnDB(t))
	anna, offered := s.buyer(t, "070 174 06 05", 10, 0), s.espresso(t, 10, new(int64(1)))
	r := s.redeem(t, anna, offered)
	won := dbtest.Race(t, s.db, holdRedemption, r.ID, 200, func(i int) error {
		if i%2 == 0 {
			return second(s.Fulfil(t.Context(), s.by, r.ID))
		}
		return second(s.Void(t.Context(), s.by, r.ID))
	}, reward.ErrVoided, reward.ErrAlreadyFulfilled)
	if won != 1 {
		t.Errorf("ended %d times", won)
	}
	if ended, err := s.FindRedemption(t.Context(), s.by, r.ID); err != nil {
		t.Error(err)
	} else if ended.Status == reward.Voided {
		s.want(t, anna, offered, 10, 0, new(int64(1)))
	} else {
		s.want(t, anna, offered, 0, 0, new(int64(0)))
	}
	s.sound(t)
}

func (s shop) sound(t *testing.T) {
	t.Helper()
	results, err := verify.Run(t.Context(), s.db)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Wrong > 0 {
			t.Errorf("%s: %d wrong: %v", r.Check, r.Wrong, r.Examples)
		}
	}
}
