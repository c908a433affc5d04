package coupon_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
)

// restore restores a voucher, as a program does.
func (s shop) restore(id core.ID) (coupon.Voucher, error) {
	s.T.Helper()
	return core.Result(s.Coupons.RestoreTyped(s.T.Context(), s.By, id.String(), nil))
}

// redeemFor redeems a voucher for a sale, as a program does.
func (s shop) redeemFor(id, sale core.ID) (coupon.Voucher, error) {
	s.T.Helper()
	return core.Result(s.Coupons.RedeemWith(s.T.Context(), s.By, id, &sale, nil, nil))
}

// A voucher whose payment failed is as it was before: points, stamps and counts. It can be redeemed again, and isn't
// restored twice.
func TestRestoreTakesTheBenefitBackOnce(t *testing.T) {
	t.Parallel()
	for _, kind := range []coupon.BenefitType{coupon.Points, coupon.Stamps, coupon.Percent, coupon.Amount} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := shop{shoptest.In(t, dbtest.OwnDB(t))}
			anna, n := s.Customer().ID, fivePoints()
			n.BenefitType, n.BenefitValue, n.MaxRedemptions = string(kind), new(int64(7)), new(int64(1))
			c := s.Coupon(n)
			id := s.Voucher(c.ID, anna)
			refused(t, second(s.restore(id)), coupon.ErrNotRedeemed)
			s.RedeemVoucher(id)
			used := s.Account(anna)
			got, err := s.restore(id)
			want := coupon.Voucher{
				ID: id, CouponID: c.ID, CustomerID: anna, Status: coupon.VoucherPending, Benefit: c.Benefit, RestoredAt: got.RestoredAt, CreatedAt: got.CreatedAt,
			}
			if diff := cmp.Diff(want, got); diff != "" || err != nil || got.RestoredAt == nil {
				t.Errorf("restored: %v (-want +got):\n%s", err, diff)
			}
			if a, counted := s.Account(anna), s.find(c.ID).RedemptionsCount; a != (ledger.Account{}) || counted != 0 {
				t.Errorf("Anna has %+v and %d are counted, want nothing", a, counted)
			}
			refused(t, second(s.restore(id)), coupon.ErrAlreadyRestored)
			s.RedeemVoucher(id)
			refused(t, second(s.restore(id)), coupon.ErrAlreadyRestored)
			if a, counted := s.Account(anna), s.find(c.ID).RedemptionsCount; a != used || counted != 1 {
				t.Errorf("redeemed again, Anna has %+v and %d are counted", a, counted)
			}
			s.Verify()
		})
	}
}

// The log has who restored a voucher, beside its redemption.
func TestARestoreIsLogged(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	id := s.Voucher(s.Coupon(fivePoints()).ID, s.Customer().ID)
	s.RedeemVoucher(id)
	dbtest.Tick(s.DB)
	s.Must(s.restore(id))
	want := []string{
		`voucher.redeem {"status": "pending"} {"status": "redeemed"} by A owner`, `voucher.restore {"status": "redeemed"} {"status": "pending"} by A owner`,
	}
	if diff := cmp.Diff(want, s.Log("voucher", id)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The reward of a restored voucher goes back: pending or handed over, its redemption is voided. One that a manager voided
// is left alone. The list of redemptions still names the coupon.
func TestRestoringAVoucherForAReward(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(s shop, redemption core.ID){
		"pending":   func(shop, core.ID) {},
		"fulfilled": func(s shop, id core.ID) { s.Must(core.Result(s.Rewards.Fulfil(s.T.Context(), s.By, id, nil))) },
		"voided":    func(s shop, id core.ID) { s.VoidRedemption(id) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shop{shoptest.In(t, dbtest.OwnDB(t))}
			anna, c := s.Customer().ID, s.Coupon(s.coffees(new(int64(1))))
			id := s.Voucher(c.ID, anna)
			made := *s.RedeemVoucher(id).RedemptionID
			meanwhile(s, made)
			if v, err := s.restore(id); err != nil || v.RedemptionID != nil {
				t.Errorf("restored %+v, %v", v, err)
			}
			l, err := s.Rewards.ListRedemptions(t.Context(), s.By, reward.RedemptionFilter{CustomerID: new(anna.String())}, core.Newest, core.Page{Size: 2})
			s.Check(err)
			if len(l.Items) != 1 || l.Items[0].ID != made || l.Items[0].Status != reward.Voided || l.Items[0].CouponName == nil || *l.Items[0].CouponName != c.Name {
				t.Errorf("the redemption: %+v", l.Items)
			}
			s.Verify()
			// The only coffee is there again.
			if again := s.RedeemVoucher(id); again.RedemptionID == nil || *again.RedemptionID == made {
				t.Errorf("redeemed again: %+v", again)
			}
			s.Verify()
		})
	}
}

// Points that were spent meanwhile are taken back all the same: the balance goes below zero.
func TestARestoreTakesSpentPoints(t *testing.T) {
	t.Parallel()
	s := shop{shoptest.In(t, dbtest.OwnDB(t))}
	anna := s.Customer().ID
	id := s.Voucher(s.Coupon(fivePoints()).ID, anna)
	s.RedeemVoucher(id)
	s.Redeem(anna, s.Reward(5, nil))
	s.Must(s.restore(id))
	if got := s.Account(anna).Points; got != -5 {
		t.Errorf("Anna has %d points, want −5", got)
	}
	s.Verify()
}

// A voucher is restored within 24 hours after it was redeemed. One whose time is over meanwhile has expired.
func TestARestoreComesInTime(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	n.ExpiresAt = new(s.DB.Now().Add(time.Hour))
	brief, lasting := s.Coupon(n), s.Coupon(fivePoints())
	first, next, ended := s.Voucher(lasting.ID, s.Customer().ID), s.Voucher(lasting.ID, s.Customer().ID), s.Voucher(brief.ID, s.Customer().ID)
	for _, id := range []core.ID{first, next, ended} {
		s.RedeemVoucher(id)
	}
	redeemed := *s.shown(next).RedeemedAt
	refused(t, second(s.at(redeemed.Add(24*time.Hour)).restore(next)), coupon.ErrRestoreExpired)
	almost := s.at(redeemed.Add(24*time.Hour - time.Minute))
	s.Must(almost.restore(first))
	if v, err := almost.restore(ended); err != nil || v.Status != coupon.VoucherExpired || v.RestoredAt == nil {
		t.Errorf("restored %+v, %v", v, err)
	}
	refused(t, second(core.Result(almost.Coupons.Redeem(t.Context(), s.By, ended, nil))), coupon.ErrVoucherExpired)
	almost.RedeemVoucher(first)
}

func (s shop) shown(id core.ID) coupon.ShownVoucher {
	s.T.Helper()
	v, err := s.Coupons.FindVoucher(s.T.Context(), s.By, id)
	s.Check(err)
	return v
}

// A voucher is restored by what its customer shows, by managers and programs, and by no other business.
func TestWhoRestores(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	id := s.Voucher(s.Coupon(fivePoints()).ID, s.Customer().ID)
	s.RedeemVoucher(id)
	try := func(s shop, text string) error {
		return second(core.Result(s.Coupons.RestoreTyped(t.Context(), s.By, text, nil)))
	}
	cashier := shop{s.As(core.Cashier)}
	before := s.everything()
	refused(t, try(newShop(t), id.String()), core.ErrNotFound)
	refused(t, try(s, core.NewID(s.DB.Now()).String()), core.ErrNotFound)
	refused(t, try(cashier, id.String()), core.ErrRole)
	if diff := cmp.Diff(before, s.everything()); diff != "" {
		t.Errorf("a refusal changed (-before +after):\n%s", diff)
	}
	token, err := s.Coupons.VoucherToken(s.By.Tenant.ID, s.shown(id))
	s.Check(err)
	s.Check(try(s, "https://shop.example/v/"+strings.ToLower(token)))
}

// Of many restores of a voucher, one succeeds. Beside them, it may be redeemed again, once.
func TestAVoucherIsRestoredOnce(t *testing.T) {
	t.Parallel()
	for _, withReward := range []bool{false, true} {
		s := shop{shoptest.In(t, dbtest.OwnDB(t))}
		n := fivePoints()
		if withReward {
			n = s.coffees(new(int64(3)))
		}
		c := s.Coupon(n)
		id := s.Voucher(c.ID, s.Customer().ID)
		s.RedeemVoucher(id)
		restored := make([]bool, 48)
		dbtest.Race(t, s.DB, s.By.Tenant.ID, "select from loyalty.customer where tenant_id = $1 and id = $2 for update", s.shown(id).CustomerID, len(restored), func(i int) error {
			if i%3 == 0 {
				return second(core.Result(s.Coupons.Redeem(t.Context(), s.By, id, nil)))
			}
			err := second(s.restore(id))
			restored[i] = err == nil
			return err
		}, coupon.ErrAlreadyRedeemed, coupon.ErrAlreadyRestored)
		times := 0
		for _, ok := range restored {
			if ok {
				times++
			}
		}
		v := s.shown(id)
		want := int64(0)
		if v.Status == coupon.VoucherRedeemed {
			want = 1
		}
		if counted := s.find(c.ID).RedemptionsCount; times != 1 || v.RestoredAt == nil || counted != want {
			t.Errorf("restored %d times, %s, counted %d", times, v.Status, counted)
		}
		s.Verify()
	}
}

// A redemption that waits while a voucher is restored counts once, if it is redeemed again, or not at all.
func TestARedemptionBesideARestoreIsCountedOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	made := s.Coupon(fivePoints())
	for round := range 60 {
		id := s.Voucher(made.ID, s.Customer().ID)
		before := s.find(made.ID).RedemptionsCount
		var restored sync.WaitGroup
		err := s.Coupons.RedeemAfter(t.Context(), s.By, id, func() {
			s.RedeemVoucher(id)
			restored.Go(func() {
				if err := second(s.restore(id)); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(time.Duration(round%15) * time.Millisecond / 2)
		})
		restored.Wait()
		want := before
		if err == nil {
			want++
		} else if !errors.Is(err, coupon.ErrAlreadyRedeemed) {
			t.Error(err)
		}
		if got := s.find(made.ID).RedemptionsCount; got != want {
			t.Fatalf("round %d: counted %d, want %d (%v)", round, got, want, err)
		}
	}
}

// A voucher names the sale that a program redeemed it with: a completed one of the same customer. Restored, it names none.
func TestAVoucherNamesItsSale(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, bilal := s.Customer().ID, s.Customer().ID
	made := s.Coupon(fivePoints())
	id := s.Voucher(made.ID, anna)
	hers, voided, his := s.sale(anna), s.sale(anna), s.sale(bilal)
	s.VoidSale(voided)
	stranger := newShop(t)
	theirs := stranger.sale(stranger.Customer().ID)
	before := s.everything()
	for name, sale := range map[string]core.ID{"voided": voided, "another customer's": his, "another business's": theirs, "unknown": core.NewID(s.DB.Now()), "none": {}} {
		t.Run(name, func(t *testing.T) {
			_, err := s.redeemFor(id, sale)
			shoptest.WantFields(t, err, core.Fields{"transaction_ulid": {core.InvalidChoice}})
		})
	}
	refused(t, second(s.redeemFor(core.NewID(s.DB.Now()), his)), core.ErrNotFound)
	if diff := cmp.Diff(before, s.everything()); diff != "" {
		t.Errorf("a refusal changed (-before +after):\n%s", diff)
	}
	if v, err := s.redeemFor(id, hers); err != nil || v.TransactionID == nil || *v.TransactionID != hers {
		t.Errorf("redeemed %+v, %v", v, err)
	}
	refused(t, second(s.redeemFor(id, hers)), coupon.ErrAlreadyRedeemed)
	l, err := s.Coupons.ListRedeemed(t.Context(), s.By, made.ID, core.Page{Size: 1})
	if err != nil || len(l.Items) != 1 || *l.Items[0].TransactionID != hers {
		t.Errorf("listed %+v, %v", l, err)
	}
	if v, err := s.restore(id); err != nil || v.TransactionID != nil {
		t.Errorf("restored %+v, %v", v, err)
	}
}

// A voucher that is looked up says what redeeming it would be refused with.
func TestALookUpSaysWhatRedeemingDoes(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	once, ends := fivePoints(), fivePoints()
	once.MaxRedemptions, ends.ExpiresAt = new(int64(1)), new(s.DB.Now().Add(time.Hour))
	limited, off := s.Coupon(once), s.Coupon(fivePoints())
	good, used, late, ended := s.Voucher(off.ID, s.Customer().ID), s.Voucher(limited.ID, s.Customer().ID), s.Voucher(limited.ID, s.Customer().ID),
		s.Voucher(s.Coupon(ends).ID, s.Customer().ID)
	rich := s.Customer().ID
	full := s.Voucher(off.ID, rich)
	s.Exec("update loyalty.account set points = 9223372036854775803 where tenant_id = $1 and customer_id = $2", s.By.Tenant.ID, rich)
	unsent := s.Voucher(s.Coupon(s.coffees(new(int64(0)))).ID, s.Customer().ID)
	s.RedeemVoucher(used)
	later := s.at(*ends.ExpiresAt)
	for id, want := range map[core.ID]error{good: nil, used: coupon.ErrAlreadyRedeemed, late: coupon.ErrCapReached, full: ledger.ErrTooLarge, unsent: reward.ErrOutOfStock} {
		if got := s.shown(id).RefusalNow(); got != want { //nolint:errorlint // nil is one
			t.Errorf("looked up: %v, want %v", got, want)
		}
		refused(t, second(core.Result(s.Coupons.Redeem(t.Context(), s.By, id, nil))), want)
	}
	refused(t, later.shown(ended).RefusalNow(), coupon.ErrVoucherExpired)
	s.Must(s.Coupons.SetActive(t.Context(), s.By, off.ID, false))
	refused(t, s.shown(full).RefusalNow(), coupon.ErrInactive)
}

// The documented number of round trips.
func TestRoundTripsOfARestore(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shop{shoptest.In(t, d)}
	anna := s.Customer().ID
	coffee := s.coffees(nil)
	for _, x := range []struct {
		name string
		of   coupon.New
		want int
	}{{"points", fivePoints(), 3}, {"a reward", coffee, 4}} {
		trips := 0
		for range 2 { // the first one prepares the statements
			id := s.Voucher(s.Coupon(x.of).ID, anna)
			s.RedeemVoucher(id)
			before := count()
			s.Must(s.restore(id))
			trips = count() - before
		}
		if trips != x.want {
			t.Errorf("%s: %d round trips, want %d", x.name, trips, x.want)
		}
	}
	id := s.Voucher(s.Coupon(fivePoints()).ID, anna)
	s.shown(id)
	before := count()
	s.shown(id)
	if got := count() - before; got != 1 {
		t.Errorf("a look-up: %d round trips, want 1", got)
	}
}
