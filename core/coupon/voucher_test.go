package coupon_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
)

// Redeeming grants points and stamps through the ledger, once.
func TestRedeemGivesTheBenefitOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind coupon.BenefitType
		want ledger.Account
	}{
		{coupon.Points, ledger.Account{Points: 7}},
		{coupon.Stamps, ledger.Account{Stamps: 7}},
		{coupon.Percent, ledger.Account{}},
		{coupon.Amount, ledger.Account{}},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			anna, bilal := s.Customer().ID, s.Customer().ID
			n := fivePoints()
			n.BenefitType, n.BenefitValue, n.VoucherValidDays = string(c.kind), new(int64(7)), new(int64(1))
			made := s.Coupon(n)
			id := s.Voucher(made.ID, anna)
			s.Voucher(made.ID, bilal)

			got := s.RedeemVoucher(id)
			want := coupon.Voucher{
				ID: id, CouponID: made.ID, CustomerID: anna, Status: coupon.VoucherRedeemed, Benefit: made.Benefit,
				ExpiresAt: got.ExpiresAt, RedeemedAt: got.RedeemedAt, CreatedAt: got.CreatedAt,
			}
			if diff := cmp.Diff(want, got); diff != "" || got.ExpiresAt == nil || got.RedeemedAt == nil {
				t.Errorf("redeemed (-want +got):\n%s", diff)
			}
			refused(t, second(core.Result(s.Coupons.Redeem(t.Context(), s.By, id, nil))), coupon.ErrAlreadyRedeemed)
			if got := s.Account(anna); got != c.want {
				t.Errorf("Anna has %+v, want %+v", got, c.want)
			}
			if got := s.Account(bilal); got != (ledger.Account{}) {
				t.Errorf("Bilal has %+v, want nothing", got)
			}
			if got := s.find(made.ID).RedemptionsCount; got != 1 {
				t.Errorf("%d redemptions, want 1", got)
			}
		})
	}
}

// coffees describes a coupon for a reward.
func (s shop) coffees(stock *int64) coupon.New {
	s.T.Helper()
	return coupon.New{Name: "Coffee on us", BenefitType: "reward", BenefitRewardID: new(s.Reward(1000, stock))}
}

// A voucher for a reward makes a pending redemption at no cost and takes stock. Without stock it is
// refused and nothing changes.
func TestAVoucherForAReward(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.Coupon(s.coffees(new(int64(1))))
	anna, bilal := s.Customer().ID, s.Customer().ID
	first, next := s.Voucher(c.ID, anna), s.Voucher(c.ID, bilal)

	got := s.RedeemVoucher(first)
	if got.RedemptionID == nil {
		t.Fatalf("no redemption: %+v", got)
	}
	made, err := s.Rewards.FindRedemption(t.Context(), s.By, *got.RedemptionID)
	if err != nil || made.Status != reward.Pending || made.CustomerID != anna || made.RewardID != *c.BenefitRewardID ||
		made.PointsSpent != 0 || made.StampsSpent != 0 || !made.TookStock {
		t.Errorf("made %+v, %v", made, err)
	}

	before := s.everything()
	refused(t, second(core.Result(s.Coupons.Redeem(t.Context(), s.By, next, nil))), reward.ErrOutOfStock)
	if diff := cmp.Diff(before, s.everything()); diff != "" {
		t.Errorf("a refusal changed (-before +after):\n%s", diff)
	}
	// Voiding the first one puts a piece back into stock.
	s.Must(s.Rewards.Void(t.Context(), s.By, made.ID, "Wrong reward"))
	if v := s.RedeemVoucher(next); v.RedemptionID == nil || *v.RedemptionID == made.ID {
		t.Errorf("redeemed %+v", v)
	}
	if got := s.Account(anna); got != (ledger.Account{}) {
		t.Errorf("Anna has %+v, want nothing: it cost nothing", got)
	}
}

// everything returns what a redemption can change, as text.
func (s shop) everything() string {
	s.T.Helper()
	return shoptest.Query[string](s.Shop, `
		select concat_ws(E'\n',
			(select string_agg(v::text, E'\n' order by id) from loyalty.voucher v where tenant_id = $1),
			(select string_agg(c::text, E'\n' order by id) from loyalty.coupon c where tenant_id = $1),
			(select string_agg(r::text, E'\n' order by id) from loyalty.reward r where tenant_id = $1),
			(select string_agg(r::text, E'\n' order by id) from loyalty.redemption r where tenant_id = $1),
			(select string_agg(a::text, E'\n' order by customer_id) from loyalty.account a where tenant_id = $1),
			(select count(*) || ' entries' from loyalty.ledger_entry where tenant_id = $1),
			(select count(*) || ' lines of log' from loyalty.audit_entry where tenant_id = $1))`, s.By.Tenant.ID)
}

// A reward with unlimited stock isn't counted.
func TestVoucherForUnlimitedReward(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.Coupon(s.coffees(nil))
	for range 3 {
		s.RedeemVoucher(s.Voucher(c.ID, s.Customer().ID))
	}
	if got := s.find(c.ID).RedemptionsCount; got != 3 {
		t.Errorf("%d redemptions, want 3", got)
	}
}

// Refusals are checked in the order of decisions §6; each changes nothing.
func TestTheOrderOfRefusals(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	n.MaxRedemptions, n.VoucherValidDays = new(int64(1)), new(int64(1))
	c := s.Coupon(n)
	used, unused := s.Voucher(c.ID, s.Customer().ID), s.Voucher(c.ID, s.Customer().ID)
	later := s.at(s.stored(c)[0].ExpiresAt.Add(time.Hour))
	wants := func(at shop, voucher core.ID, want error, sentence string) {
		t.Helper()
		before := s.everything()
		_, err := core.Result(at.Coupons.Redeem(t.Context(), s.By, voucher, nil))
		var refusal *core.Error
		if !errors.Is(err, want) || !errors.As(err, &refusal) || refusal.Message != sentence {
			t.Errorf("got %v, want %q", err, sentence)
		}
		if diff := cmp.Diff(before, s.everything()); diff != "" {
			t.Errorf("%q changed (-before +after):\n%s", sentence, diff)
		}
	}
	s.Must(s.Coupons.SetActive(t.Context(), s.By, c.ID, false))
	wants(s, used, coupon.ErrInactive, "This coupon is no longer active.")
	s.Must(s.Coupons.SetActive(t.Context(), s.By, c.ID, true))
	s.RedeemVoucher(used)
	wants(s, unused, coupon.ErrCapReached, "Maximum redemptions for this coupon have been reached.")
	s.Must(s.Coupons.SetActive(t.Context(), s.By, c.ID, false))
	wants(s, unused, coupon.ErrInactive, "This coupon is no longer active.")
	wants(later, unused, coupon.ErrVoucherExpired, "This voucher has expired.")
	wants(later, used, coupon.ErrAlreadyRedeemed, "This voucher has already been redeemed.")
	wants(s, core.NewID(s.DB.Now()), core.ErrNotFound, "The requested resource was not found.")
}

// A voucher past its expiry is expired, whatever status is stored.
func TestVoucherIsReadAsExpired(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	n.ExpiresAt = new(s.DB.Now().Add(time.Hour))
	c := s.Coupon(n)
	early, late := s.Voucher(c.ID, s.Customer().ID), s.Voucher(c.ID, s.Customer().ID)

	refused(t, second(core.Result(s.at(*n.ExpiresAt).Coupons.Redeem(t.Context(), s.By, late, nil))), coupon.ErrVoucherExpired)
	for _, v := range s.stored(c) {
		if v.Status != coupon.VoucherPending {
			t.Errorf("stored: %+v", v)
		}
	}
	s.at(n.ExpiresAt.Add(-time.Minute)).RedeemVoucher(early)
}

// A coupon with more than the largest award can't be redeemed, and the voucher stays.
func TestABenefitBeyondTheLimitOfAnAward(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.Customer().ID
	lavish := s.Coupon(fivePoints())
	voucher := s.Voucher(lavish.ID, anna)
	s.Exec("update loyalty.coupon set benefit_value = $3 where tenant_id = $1 and id = $2",
		s.By.Tenant.ID, lavish.ID, int64(9e18))
	before := s.everything()
	refused(t, second(core.Result(s.Coupons.Redeem(t.Context(), s.By, voucher, nil))), ledger.ErrTooLarge)
	if diff := cmp.Diff(before, s.everything()); diff != "" {
		t.Errorf("a refusal changed (-before +after):\n%s", diff)
	}
}

// An award that would overflow the balance is refused, and the voucher stays.
func TestABenefitThatIsTooLargeChangesNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.Customer().ID
	voucher := s.Voucher(s.Coupon(fivePoints()).ID, anna)
	_, err := db.In(t.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) (ledger.Account, error) {
		return ledger.Post(t.Context(), tx, s.By, ledger.Entry{
			Customer: anna, Unit: ledger.Points, Amount: 1<<63 - 5, Kind: ledger.RedemptionRefund, Cause: new(core.NewID(tx.Now)),
		})
	})
	s.Check(err)
	before := s.everything()
	refused(t, second(core.Result(s.Coupons.Redeem(t.Context(), s.By, voucher, nil))), ledger.ErrTooLarge)
	if diff := cmp.Diff(before, s.everything()); diff != "" {
		t.Errorf("a refusal changed (-before +after):\n%s", diff)
	}
}

// Redeemed vouchers are listed by the time of redemption, newest first.
func TestListRedeemed(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.Coupon(fivePoints())
	now := s.DB.Now()
	want := make([]core.ID, 7)
	for _, at := range []int{3, 0, 6, 1, 5, 2, 4} { // not in the order of their creation
		id := s.Voucher(c.ID, s.Customer().ID)
		s.at(now.Add(-time.Duration(at) * time.Hour)).RedeemVoucher(id)
		want[at] = id
	}
	s.Voucher(c.ID, s.Customer().ID) // never redeemed
	other := s.Coupon(fivePoints())
	s.RedeemVoucher(s.Voucher(other.ID, s.Customer().ID))

	page := core.Page{Size: 3}
	var pages [][]core.ID
	for _, step := range []string{"next", "next", "prev", "prev"} {
		l, err := s.Coupons.ListRedeemed(t.Context(), s.By, c.ID, page)
		s.Check(err)
		pages = append(pages, ids(l.Items))
		page.Cursor = l.Next
		if step == "prev" {
			page.Cursor = l.Prev
		}
	}
	if diff := cmp.Diff([][]core.ID{want[:3], want[3:6], want[6:], want[3:6]}, pages); diff != "" {
		t.Errorf("there and back (-want +got):\n%s", diff)
	}

	_, err := s.Coupons.ListRedeemed(t.Context(), s.By, c.ID, core.Page{Size: 3, Malformed: core.Fields{"cursor": {core.InvalidChoice}}})
	if !core.IsKind(err, core.KindInvalid) {
		t.Errorf("a bad query = %v", err)
	}
	if l, err := s.Coupons.ListRedeemed(t.Context(), s.By, s.Coupon(fivePoints()).ID, core.Page{Size: 3}); err != nil || len(l.Items) != 0 {
		t.Errorf("of none: %+v, %v", l.Items, err)
	}
}

// ids returns the ids of vouchers, all of Anna Lindqvist.
func ids(vouchers []coupon.RedeemedVoucher) (ids []core.ID) {
	for _, v := range vouchers {
		if v.CustomerName == "Anna Lindqvist" {
			ids = append(ids, v.ID)
		}
	}
	return ids
}

// Vouchers redeemed at the same instant are ordered by id, so none is lost between pages.
func TestVouchersRedeemedAtOneInstant(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.Coupon(fivePoints())
	var want []core.ID
	for range 5 {
		want = append(want, s.RedeemVoucher(s.Voucher(c.ID, s.Customer().ID)).ID)
	}
	s.Exec("update loyalty.voucher set redeemed_at = now() where tenant_id = $1", s.By.Tenant.ID)
	var got []core.ID
	page := core.Page{Size: 2}
	for {
		l, err := s.Coupons.ListRedeemed(t.Context(), s.By, c.ID, page)
		s.Check(err)
		got = append(got, ids(l.Items)...)
		if page.Cursor = l.Next; page.Cursor == nil {
			break
		}
	}
	if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
}

// The job marks expired vouchers of all tenants, and no others.
func TestTheExpiryJob(t *testing.T) {
	t.Parallel()
	s := queueShop(t)
	want := map[core.ID]coupon.VoucherStatus{}
	now := s.DB.Now()
	for _, shop := range []shop{s, {shoptest.In(t, s.DB)}} {
		yesterday := shop.at(now.AddDate(0, 0, -1))
		n := fivePoints()
		n.ExpiresAt = new(now.Add(-time.Hour))
		ended := yesterday.Coupon(n)
		n.ExpiresAt = new(now.Add(time.Hour))
		valid := yesterday.Coupon(n)
		n.ExpiresAt = nil
		endless := yesterday.Coupon(n)

		used := yesterday.Voucher(ended.ID, yesterday.Customer().ID)
		want[yesterday.RedeemVoucher(used).ID] = coupon.VoucherRedeemed
		want[yesterday.Voucher(ended.ID, yesterday.Customer().ID)] = coupon.VoucherExpired
		want[yesterday.Voucher(valid.ID, yesterday.Customer().ID)] = coupon.VoucherPending
		want[yesterday.Voucher(endless.ID, yesterday.Customer().ID)] = coupon.VoucherPending
	}
	// More than a batch.
	const many = 12_000
	s.Exec(`
		insert into loyalty.voucher (tenant_id, id, coupon_id, send_id, customer_id, expires_at, created_at)
		select tenant_id, loyalty.new_ulid(created_at), coupon_id, send_id, customer_id, expires_at, created_at
		from (select * from loyalty.voucher where status = 'pending' and expires_at < now() limit 1) due, generate_series(1, $1)`, many)
	s.work()
	s.Wait("all that are due are expired", "select count(*) = 0 from loyalty.voucher where status = 'pending' and expires_at < now()")

	for id, status := range want {
		if got := shoptest.Query[coupon.VoucherStatus](s.Shop, "select status from loyalty.voucher where id = $1", id); got != status {
			t.Errorf("got %s, want %s", got, status)
		}
	}
}

const (
	holdCoupon = "select from loyalty.coupon where tenant_id = $1 and id = $2 for update"
	holdReward = "select from loyalty.reward where tenant_id = $1 and id = $2 for update"
)

// With a limit of five, exactly five of 200 concurrent redemptions succeed.
func TestConcurrentRedemptionsKeepTheLimit(t *testing.T) {
	t.Parallel()
	s := shop{shoptest.In(t, dbtest.OwnDB(t))}
	n := fivePoints()
	n.MaxRedemptions = new(int64(5))
	c := s.Coupon(n)
	s.AddCustomers(200)
	s.Send(c.ID, toAll())
	vouchers := s.stored(c)
	won := dbtest.Race(t, s.DB, s.By.Tenant.ID, holdCoupon, c.ID, 200, func(i int) error {
		return second(core.Result(s.Coupons.Redeem(t.Context(), s.By, vouchers[i].ID, nil)))
	}, coupon.ErrCapReached)
	if got := s.find(c.ID).RedemptionsCount; won != 5 || got != 5 {
		t.Errorf("%d redeemed, %d counted, want 5", won, got)
	}
	s.Verify()
}

// Exactly one of 200 concurrent redemptions of a voucher succeeds. The benefit is one that the
// cashier applies: the ledger would refuse to award points twice.
func TestAVoucherIsRedeemedOnce(t *testing.T) {
	t.Parallel()
	for kind, points := range map[coupon.BenefitType]int64{coupon.Points: 5, coupon.Percent: 0} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := shop{shoptest.In(t, dbtest.OwnDB(t))}
			anna := s.Customer().ID
			n := fivePoints()
			n.BenefitType = string(kind)
			c := s.Coupon(n)
			voucher := s.Voucher(c.ID, anna)
			won := dbtest.Race(t, s.DB, s.By.Tenant.ID, holdCoupon, c.ID, 200, func(int) error {
				return second(core.Result(s.Coupons.Redeem(t.Context(), s.By, voucher, nil)))
			}, coupon.ErrAlreadyRedeemed)
			if got, counted := s.Account(anna).Points, s.find(c.ID).RedemptionsCount; won != 1 || got != points || counted != 1 {
				t.Errorf("redeemed %d times, %d points, counted %d", won, got, counted)
			}
			s.Verify()
		})
	}
}

// With five pieces in stock, exactly five of 200 vouchers for one are redeemed.
func TestConcurrentRedemptionsKeepTheStock(t *testing.T) {
	t.Parallel()
	s := shop{shoptest.In(t, dbtest.OwnDB(t))}
	c := s.Coupon(s.coffees(new(int64(5))))
	s.AddCustomers(200)
	s.Send(c.ID, toAll())
	vouchers := s.stored(c)
	won := dbtest.Race(t, s.DB, s.By.Tenant.ID, holdReward, *c.BenefitRewardID, 200, func(i int) error {
		return second(core.Result(s.Coupons.Redeem(t.Context(), s.By, vouchers[i].ID, nil)))
	}, reward.ErrOutOfStock)
	if got := s.find(c.ID).RedemptionsCount; won != 5 || got != 5 {
		t.Errorf("%d redeemed, %d counted, want 5", won, got)
	}
	s.Verify()
}
