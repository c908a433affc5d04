package walkin_test

import (
	"errors"
	"fmt"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
)

// voucher sends a coupon to a customer.
func (s shop) voucher(c customer.Customer, benefit coupon.BenefitType, value *int64, rewardID *core.ID) core.ID {
	s.T.Helper()
	welcome := coupon.New{Name: "Welcome back", BenefitType: string(benefit), BenefitValue: value, BenefitRewardID: rewardID}
	return s.Voucher(s.Coupon(welcome).ID, c.ID)
}

// to is a sale to a customer without a PIN.
func (s shop) to(c customer.Customer, cents int64) walkin.Sale {
	return walkin.Sale{CustomerID: c.ID, Sold: &transaction.Sale{TransactionTypeID: s.kind.ID, SpendAmountCents: cents}}
}

// At the till, rewards and vouchers are redeemed with the sale and fulfilled at once. The card no longer lists
// them afterwards.
func TestASaleWithRewardsAndVouchers(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.Customer()
	s.Must(core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", s.to(c, 100_00), nil, nil)))
	coffee, cake := s.Reward(80, nil), s.Reward(500, new(int64(1)))
	off, slice := s.voucher(c, coupon.Amount, new(int64(500)), nil), s.voucher(c, coupon.Reward, nil, &cake)
	w, err := s.Walkins.Customer(t.Context(), s.cashier, c.ID)
	if err != nil || len(w.Rewards) != 2 || !w.Rewards[0].Affordable || w.Rewards[1].Affordable || len(w.Vouchers) != 2 {
		t.Fatalf("%+v, %v", w, err)
	}
	if next, missing, ok := w.Next(); !ok || next.ID != cake || missing != 400 {
		t.Errorf("next is %+v, %d missing", next, missing)
	}
	sale := s.to(c, 24_50)
	sale.Rewards, sale.Vouchers = []core.ID{coffee}, []core.ID{off, slice}
	receipt, err := core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", sale, nil, nil))
	if err != nil || receipt.Sale == nil || receipt.ID != receipt.Sale.ID {
		t.Fatalf("%+v, %v", receipt, err)
	}
	used, err := s.Walkins.Checkout(t.Context(), s.cashier, receipt.ID)
	if err != nil || len(used.Used) != 3 || used.CustomerID != c.ID || !used.WithSale || !used.MayUndo || used.Undone() {
		t.Fatalf("%+v, %v", used, err)
	}
	if got := s.Account(c.ID).Points; got != 100-80+19 {
		t.Errorf("%d points, want 39: the sale is what was paid after € 5.00 off", got)
	}
	if n := s.Count("redemption where status = 'fulfilled'"); n != 2 {
		t.Errorf("%d fulfilled redemptions, want the coffee and the cake", n)
	}
	if w, err = s.Walkins.Customer(t.Context(), s.cashier, c.ID); err != nil || len(w.Vouchers) != 0 || len(w.Rewards) != 1 {
		t.Errorf("afterwards %+v, %v", w, err)
	}
}

// Discounts are taken off before the sale is recorded. An amount that can't be recorded is refused as it was typed.
func TestDiscountsComeOffTheSale(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.Customer()
	voucher := func(kind coupon.BenefitType, value int64) core.ID { return s.voucher(c, kind, &value, nil) }
	for _, v := range []struct {
		cents    int64
		vouchers []core.ID
		spend    int64
	}{
		{10_00, []core.ID{voucher(coupon.Amount, 300), voucher(coupon.Percent, 20)}, 5_00},
		{10_00, []core.ID{voucher(coupon.Amount, 15_00)}, 0},
		{10_00, []core.ID{voucher(coupon.Points, 3)}, 10_00},
		{10_05, []core.ID{voucher(coupon.Percent, 50)}, 5_02},
	} {
		sale := s.to(c, v.cents)
		sale.Vouchers = v.vouchers
		receipt, err := core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", sale, nil, nil))
		if err != nil {
			t.Fatal(err)
		}
		detail, err := s.Sales.Detail(t.Context(), s.By, receipt.Sale.ID)
		if err != nil || receipt.Sale.SpendAmountCents != v.spend || detail.SpendAmountCents != v.spend || detail.DiscountCents != v.cents-v.spend {
			t.Errorf("of %d, %d is recorded with %d off, %v; want %d", v.cents, receipt.Sale.SpendAmountCents, detail.DiscountCents, err, v.spend)
		}
	}
	for _, cents := range []int64{-1, transaction.MaxSpendCents + 1} {
		sale := s.to(c, cents)
		sale.Vouchers = []core.ID{voucher(coupon.Percent, 100)}
		_, err := core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", sale, nil, nil))
		if fields := shoptest.Fields(t, err); len(fields["spend_amount_cents"]) != 1 {
			t.Errorf("a sale of %d: %v", cents, err)
		}
	}
}

// An earlier redemption is fulfilled at the till once, and only for its customer.
func TestFulfillingWhatWasRedeemedBefore(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	a, b := s.Customer(), s.Customer()
	s.Must(core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", s.to(a, 100_00), nil, nil)))
	coffee := s.Reward(80, nil)
	before, err := core.Result(s.Rewards.Redeem(t.Context(), s.By, reward.RedeemRequest{CustomerID: a.ID, RewardID: coffee}, nil, nil))
	s.Check(err)
	w, err := s.Walkins.Customer(t.Context(), s.cashier, a.ID)
	if err != nil || len(w.Pending) != 1 || w.Pending[0].ID != before.ID || w.Pending[0].RewardName != "Espresso" {
		t.Fatalf("%+v, %v", w, err)
	}
	only := func(c customer.Customer) error {
		_, err := core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", walkin.Sale{CustomerID: c.ID, Pending: []core.ID{before.ID}}, nil, nil))
		return err
	}
	if err := only(b); !core.IsKind(err, core.KindInvalid) {
		t.Errorf("another customer's: %v", err)
	}
	if err := only(a); err != nil || s.Account(a.ID).Points != 20 {
		t.Errorf("%v, %d points", err, s.Account(a.ID).Points)
	}
	if err := only(a); !errors.Is(err, reward.ErrAlreadyFulfilled) {
		t.Errorf("again: %v", err)
	}
	if w, err = s.Walkins.Customer(t.Context(), s.cashier, a.ID); err != nil || len(w.Pending) != 0 {
		t.Errorf("%+v, %v", w.Pending, err)
	}
}

// A sale is complete or not at all: with an unaffordable reward, no sale is recorded, no voucher is redeemed,
// and the PIN can still be completed.
func TestARefusedRewardLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.Customer()
	dear := s.Reward(5000, nil)
	v := s.voucher(c, coupon.Points, new(int64(5)), nil)
	held := s.take("till", s.card(c))
	sale := s.sale(held.PIN, 24_50)
	sale.Rewards, sale.Vouchers = []core.ID{dear}, []core.ID{v}
	if _, err := core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", sale, nil, nil)); !errors.Is(err, ledger.ErrInsufficientPoints) {
		t.Fatalf("refused with %v", err)
	}
	if s.Account(c.ID).Points != 0 || s.Count("transaction") != 0 || s.Count("voucher where status = 'redeemed'") != 0 {
		t.Error("something was left behind")
	}
	sale.Rewards = nil
	if _, err := core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", sale, nil, nil)); err != nil || s.Account(c.ID).Points != 29 {
		t.Errorf("corrected: %v, %d points", err, s.Account(c.ID).Points)
	}
}

// Rewards alone need no amount. An empty sale and another customer's voucher are refused.
func TestRedeemingWithoutASale(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	a, b := s.Customer(), s.Customer()
	s.Must(core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", s.to(a, 100_00), nil, nil)))
	coffee := s.Reward(80, nil)
	only := walkin.Sale{CustomerID: a.ID, Rewards: []core.ID{coffee}}
	receipt, err := core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", only, nil, nil))
	if err != nil || receipt.Sale != nil || s.Account(a.ID).Points != 20 {
		t.Errorf("%+v, %v", receipt, err)
	}
	only.Rewards = nil
	if _, err := core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", only, nil, nil)); !core.IsKind(err, core.KindInvalid) {
		t.Errorf("nothing at all: %v", err)
	}
	theirs := s.to(a, 100)
	theirs.Vouchers = []core.ID{s.voucher(b, coupon.Points, new(int64(5)), nil)}
	if _, err := core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", theirs, nil, nil)); !core.IsKind(err, core.KindInvalid) || s.Account(b.ID).Points != 0 {
		t.Errorf("another customer's voucher: %v", err)
	}
}

// Forty tills redeem the same rewards and vouchers in every order: nothing is spent twice and no call waits
// forever.
func TestTillsThatUseTheSameRewards(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	rewards := []core.ID{s.Reward(10, new(int64(1000))), s.Reward(10, new(int64(1000)))}
	buyers := make([]customer.Customer, 40)
	for i := range buyers {
		buyers[i] = s.Customer()
		s.Must(core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", s.to(buyers[i], 25_00), nil, nil)))
	}
	won := dbtest.Race(t, s.DB, s.By.Tenant.ID, "select from loyalty.reward where tenant_id = $1 and id = $2 for update", rewards[0], 80, func(i int) error {
		sale := s.to(buyers[i/2], 1_00)
		sale.Rewards = []core.ID{rewards[i%2], rewards[(i+1)%2]}
		_, err := core.Result(s.Walkins.Complete(t.Context(), s.cashier, fmt.Sprint("till ", i), sale, nil, nil))
		return err
	}, ledger.ErrInsufficientPoints)
	if won != 40 { // 25 points pay for two rewards once
		t.Errorf("%d sales with both rewards, want 40", won)
	}
	clean(t, s)
}
