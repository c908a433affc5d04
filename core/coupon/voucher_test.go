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
)

func (s shop) redeem(t *testing.T, voucher core.ID) coupon.Voucher {
	t.Helper()
	v, err := s.Redeem(t.Context(), s.by, voucher)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

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
			anna, bilal := s.customer(t), s.customer(t)
			n := fivePoints()
			n.BenefitType, n.BenefitValue, n.VoucherValidDays = new(string(c.kind)), new(int64(7)), new(int64(1))
			made := s.coupon(t, n)
			id := s.voucher(t, made, anna)
			s.voucher(t, made, bilal)

			got := s.redeem(t, id)
			want := coupon.Voucher{
				ID: id, CouponID: made.ID, CustomerID: anna, Status: coupon.VoucherRedeemed, Benefit: made.Benefit,
				ExpiresAt: got.ExpiresAt, RedeemedAt: got.RedeemedAt, CreatedAt: got.CreatedAt,
			}
			if diff := cmp.Diff(want, got); diff != "" || got.ExpiresAt == nil || got.RedeemedAt == nil {
				t.Errorf("redeemed (-want +got):\n%s", diff)
			}
			refused(t, second(s.Redeem(t.Context(), s.by, id)), coupon.ErrAlreadyRedeemed)
			if got := s.account(t, anna); got != c.want {
				t.Errorf("Anna has %+v, want %+v", got, c.want)
			}
			if got := s.account(t, bilal); got != (ledger.Account{}) {
				t.Errorf("Bilal has %+v, want nothing", got)
			}
			if got := s.find(t, made.ID).RedemptionsCount; got != 1 {
				t.Errorf("%d redemptions, want 1", got)
			}
		})
	}
}

// coffees describes a coupon for a reward.
func (s shop) coffees(t *testing.T, stock *int64) coupon.New {
	t.Helper()
	return coupon.New{Name: new("Coffee on us"), BenefitType: new("reward"), BenefitRewardID: new(s.espresso(t, stock).String())}
}

// A voucher for a reward makes a pending redemption at no cost and takes stock. Without stock it is
// refused and nothing changes.
func TestAVoucherForAReward(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.coupon(t, s.coffees(t, new(int64(1))))
	anna, bilal := s.customer(t), s.customer(t)
	first, next := s.voucher(t, c, anna), s.voucher(t, c, bilal)

	got := s.redeem(t, first)
	rewards := reward.NewService(s.db)
	if got.RedemptionID == nil {
		t.Fatalf("no redemption: %+v", got)
	}
	made, err := rewards.FindRedemption(t.Context(), s.by, *got.RedemptionID)
	if err != nil || made.Status != reward.Pending || made.CustomerID != anna || made.RewardID != *c.BenefitRewardID ||
		made.PointsSpent != 0 || made.StampsSpent != 0 || !made.TookStock {
		t.Errorf("made %+v, %v", made, err)
	}

	before := s.everything(t)
	refused(t, second(s.Redeem(t.Context(), s.by, next)), reward.ErrOutOfStock)
	if diff := cmp.Diff(before, s.everything(t)); diff != "" {
		t.Errorf("a refusal changed (-before +after):\n%s", diff)
	}
	// Voiding the first one puts a piece back into stock.
	if _, err := rewards.Void(t.Context(), s.by, made.ID); err != nil {
		t.Fatal(err)
	}
	if v := s.redeem(t, next); v.RedemptionID == nil || *v.RedemptionID == made.ID {
		t.Errorf("redeemed %+v", v)
	}
	if got := s.account(t, anna); got != (ledger.Account{}) {
		t.Errorf("Anna has %+v, want nothing: it cost nothing", got)
	}
}

// everything returns what a redemption can change, as text.
func (s shop) everything(t *testing.T) (said string) {
	t.Helper()
	err := dbtest.Owner(s.db).QueryRow(t.Context(), `
		select concat_ws(E'\n',
			(select string_agg(v::text, E'\n' order by id) from loyalty.voucher v where tenant_id = $1),
			(select string_agg(c::text, E'\n' order by id) from loyalty.coupon c where tenant_id = $1),
			(select string_agg(r::text, E'\n' order by id) from loyalty.reward r where tenant_id = $1),
			(select string_agg(r::text, E'\n' order by id) from loyalty.redemption r where tenant_id = $1),
			(select string_agg(a::text, E'\n' order by customer_id) from loyalty.account a where tenant_id = $1),
			(select count(*) || ' entries' from loyalty.ledger_entry where tenant_id = $1),
			(select count(*) || ' lines of log' from loyalty.audit_entry where tenant_id = $1))`, s.by.Tenant.ID).Scan(&said)
	if err != nil {
		t.Fatal(err)
	}
	return said
}

// A reward with unlimited stock isn't counted.
func TestVoucherForUnlimitedReward(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.coupon(t, s.coffees(t, nil))
	for range 3 {
		s.redeem(t, s.voucher(t, c, s.customer(t)))
	}
	if got := s.find(t, c.ID).RedemptionsCount; got != 3 {
		t.Errorf("%d redemptions, want 3", got)
	}
}

// Refusals are checked in the order of decisions §6; each changes nothing.
func TestTheOrderOfRefusals(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	n.MaxRedemptions, n.VoucherValidDays = new(int64(1)), new(int64(1))
	c := s.coupon(t, n)
	used, unused := s.voucher(t, c, s.customer(t)), s.voucher(t, c, s.customer(t))
	later := s.at(t, s.stored(t, c)[0].ExpiresAt.Add(time.Hour))
	wants := func(at shop, voucher core.ID, want error, sentence string) {
		t.Helper()
		before := s.everything(t)
		_, err := at.Redeem(t.Context(), s.by, voucher)
		var refusal *core.Error
		if !errors.Is(err, want) || !errors.As(err, &refusal) || refusal.Message != sentence {
			t.Errorf("got %v, want %q", err, sentence)
		}
		if diff := cmp.Diff(before, s.everything(t)); diff != "" {
			t.Errorf("%q changed (-before +after):\n%s", sentence, diff)
		}
	}
	if _, err := s.SetActive(t.Context(), s.by, c.ID, false); err != nil {
		t.Fatal(err)
	}
	wants(s, used, coupon.ErrInactive, "This coupon is no longer active.")
	if _, err := s.SetActive(t.Context(), s.by, c.ID, true); err != nil {
		t.Fatal(err)
	}
	s.redeem(t, used)
	wants(s, unused, coupon.ErrCapReached, "Maximum redemptions for this coupon have been reached.")
	if _, err := s.SetActive(t.Context(), s.by, c.ID, false); err != nil {
		t.Fatal(err)
	}
	wants(s, unused, coupon.ErrInactive, "This coupon is no longer active.")
	wants(later, unused, coupon.ErrVoucherExpired, "This voucher has expired.")
	wants(later, used, coupon.ErrAlreadyRedeemed, "This voucher has already been redeemed.")
	wants(s, core.NewID(s.db.Now()), core.ErrNotFound, "The requested resource was not found.")
}

// A voucher past its expiry is expired, whatever status is stored.
func TestVoucherIsReadAsExpired(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	n.ExpiresAt = new(s.db.Now().Add(time.Hour))
	c := s.coupon(t, n)
	early, late := s.voucher(t, c, s.customer(t)), s.voucher(t, c, s.customer(t))

	refused(t, second(s.at(t, *n.ExpiresAt).Redeem(t.Context(), s.by, late)), coupon.ErrVoucherExpired)
	for _, v := range s.stored(t, c) {
		if v.Status != coupon.VoucherPending {
			t.Errorf("stored: %+v", v)
		}
	}
	s.at(t, n.ExpiresAt.Add(-time.Minute)).redeem(t, early)
}

// A coupon with more than the largest award can't be redeemed, and the voucher stays.
func TestABenefitBeyondTheLimitOfAnAward(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer(t)
	lavish := s.coupon(t, fivePoints())
	voucher := s.voucher(t, lavish, anna)
	if _, err := dbtest.Owner(s.db).Exec(t.Context(), "update loyalty.coupon set benefit_value = $3 where tenant_id = $1 and id = $2",
		s.by.Tenant.ID, lavish.ID, int64(9e18)); err != nil {
		t.Fatal(err)
	}
	before := s.everything(t)
	refused(t, second(s.Redeem(t.Context(), s.by, voucher)), ledger.ErrTooLarge)
	if diff := cmp.Diff(before, s.everything(t)); diff != "" {
		t.Errorf("a refusal changed (-before +after):\n%s", diff)
	}
}

// An award that would overflow the balance is refused, and the voucher stays.
func TestABenefitThatIsTooLargeChangesNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer(t)
	voucher := s.voucher(t, s.coupon(t, fivePoints()), anna)
	_, err := db.InTenant(t.Context(), s.db, s.by, func(tx *db.Tx) (ledger.Account, error) {
		return ledger.Post(t.Context(), tx, s.by, ledger.Entry{
			Customer: anna, Unit: ledger.Points, Amount: 1<<63 - 5, Kind: ledger.RedemptionRefund, Cause: new(core.NewID(tx.Now)),
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	before := s.everything(t)
	refused(t, second(s.Redeem(t.Context(), s.by, voucher)), ledger.ErrTooLarge)
	if diff := cmp.Diff(before, s.everything(t)); diff != "" {
		t.Errorf("a refusal changed (-before +after):\n%s", diff)
	}
}

// Redeemed vouchers are listed by the time of redemption, newest first.
func TestListRedeemed(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.coupon(t, fivePoints())
	now := s.db.Now()
	want := make([]core.ID, 7)
	for _, at := range []int{3, 0, 6, 1, 5, 2, 4} { // in another order than they were made
		id := s.voucher(t, c, s.customer(t))
		s.at(t, now.Add(-time.Duration(at)*time.Hour)).redeem(t, id)
		want[at] = id
	}
	s.voucher(t, c, s.customer(t)) // never redeemed
	other := s.coupon(t, fivePoints())
	s.redeem(t, s.voucher(t, other, s.customer(t)))

	page := core.Page{Size: 3}
	var pages [][]core.ID
	for _, step := range []string{"next", "next", "prev", "prev"} {
		l, err := s.ListRedeemed(t.Context(), s.by, c.ID, page)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, ids(l.Items))
		page.Cursor = l.Next
		if step == "prev" {
			page.Cursor = l.Prev
		}
	}
	if diff := cmp.Diff([][]core.ID{want[:3], want[3:6], want[6:], want[3:6]}, pages); diff != "" {
		t.Errorf("there and back (-want +got):\n%s", diff)
	}

	_, err := s.ListRedeemed(t.Context(), s.by, c.ID, core.Page{Size: 3, Malformed: core.Fields{"cursor": {core.InvalidChoice}}})
	if !core.IsKind(err, core.KindInvalid) {
		t.Errorf("a bad query = %v", err)
	}
	if l, err := s.ListRedeemed(t.Context(), s.by, s.coupon(t, fivePoints()).ID, core.Page{Size: 3}); err != nil || len(l.Items) != 0 {
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
	c := s.coupon(t, fivePoints())
	var want []core.ID
	for range 5 {
		want = append(want, s.redeem(t, s.voucher(t, c, s.customer(t))).ID)
	}
	if _, err := dbtest.Owner(s.db).Exec(t.Context(), "update loyalty.voucher set redeemed_at = now() where tenant_id = $1", s.by.Tenant.ID); err != nil {
		t.Fatal(err)
	}
	var got []core.ID
	page := core.Page{Size: 2}
	for {
		l, err := s.ListRedeemed(t.Context(), s.by, c.ID, page)
		if err != nil {
			t.Fatal(err)
		}
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
	now := s.db.Now()
	for _, shop := range []shop{s, shopOf(t, s.db)} {
		yesterday := shop.at(t, now.AddDate(0, 0, -1))
		n := fivePoints()
		n.ExpiresAt = new(now.Add(-time.Hour))
		ended := yesterday.coupon(t, n)
		n.ExpiresAt = new(now.Add(time.Hour))
		valid := yesterday.coupon(t, n)
		n.ExpiresAt = nil
		endless := yesterday.coupon(t, n)

		used := yesterday.voucher(t, ended, yesterday.customer(t))
		want[yesterday.redeem(t, used).ID] = coupon.VoucherRedeemed
		want[yesterday.voucher(t, ended, yesterday.customer(t))] = coupon.VoucherExpired
		want[yesterday.voucher(t, valid, yesterday.customer(t))] = coupon.VoucherPending
		want[yesterday.voucher(t, endless, yesterday.customer(t))] = coupon.VoucherPending
	}
	// More than the job takes at a time.
	const many = 12_000
	_, err := dbtest.Owner(s.db).Exec(t.Context(), `
		insert into loyalty.voucher (tenant_id, id, coupon_id, send_id, customer_id, expires_at, created_at)
		select tenant_id, loyalty.new_ulid(created_at), coupon_id, send_id, customer_id, expires_at, created_at
		from (select * from loyalty.voucher where status = 'pending' and expires_at < now() limit 1) due, generate_series(1, $1)`, many)
	if err != nil {
		t.Fatal(err)
	}
	s.work(t)
	s.wait(t, "all that are due are expired", "select not exists (select from loyalty.voucher where status = 'pending' and expires_at < now())")

	for id, status := range want {
		var got coupon.VoucherStatus
		if err := dbtest.Owner(s.db).QueryRow(t.Context(), "select status from loyalty.voucher where id = $1", id).Scan(&got); err != nil || got != status {
			t.Errorf("%s, %v, want %s", got, err, status)
		}
	}
}

const (
	holdCoupon = "select from loyalty.coupon where id = $1 for update"
	holdReward = "select from loyalty.reward where id = $1 for update"
)

// With a limit of five, exactly five of 200 concurrent redemptions succeed.
func TestConcurrentRedemptionsKeepTheLimit(t *testing.T) {
	t.Parallel()
	s := shopOf(t, dbtest.OwnDB(t))
	n := fivePoints()
	n.MaxRedemptions = new(int64(5))
	c := s.coupon(t, n)
	s.customers(t, 200)
	s.recordDelivery(t, c, toAll())
	vouchers := s.stored(t, c)
	won := dbtest.Race(t, s.db, holdCoupon, c.ID, 200, func(i int) error {
		return second(s.Redeem(t.Context(), s.by, vouchers[i].ID))
	}, coupon.ErrCapReached)
	if got := s.find(t, c.ID).RedemptionsCount; won != 5 || got != 5 {
		t.Errorf("%d redeemed, %d counted, want 5", won, got)
	}
	s.sound(t)
}

// Exactly one of 200 concurrent redemptions of a voucher succeeds. The benefit is one that the
// cashier applies: the ledger would refuse to award points twice.
func TestAVoucherIsRedeemedOnce(t *testing.T) {
	t.Parallel()
	for kind, points := range map[coupon.BenefitType]int64{coupon.Points: 5, coupon.Percent: 0} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := shopOf(t, dbtest.OwnDB(t))
			anna := s.customer(t)
			n := fivePoints()
			n.BenefitType = new(string(kind))
			c := s.coupon(t, n)
			voucher := s.voucher(t, c, anna)
			won := dbtest.Race(t, s.db, holdCoupon, c.ID, 200, func(int) error {
				return second(s.Redeem(t.Context(), s.by, voucher))
			}, coupon.ErrAlreadyRedeemed)
			if got, counted := s.account(t, anna).Points, s.find(t, c.ID).RedemptionsCount; won != 1 || got != points || counted != 1 {
				t.Errorf("redeemed %d times, %d points, counted %d", won, got, counted)
			}
			s.sound(t)
		})
	}
}

// With five pieces in stock, exactly five of 200 vouchers for one are redeemed.
func TestConcurrentRedemptionsKeepTheStock(t *testing.T) {
	t.Parallel()
	s := shopOf(t, dbtest.OwnDB(t))
	c := s.coupon(t, s.coffees(t, new(int64(5))))
	s.customers(t, 200)
	s.recordDelivery(t, c, toAll())
	vouchers := s.stored(t, c)
	won := dbtest.Race(t, s.db, holdReward, *c.BenefitRewardID, 200, func(i int) error {
		return second(s.Redeem(t.Context(), s.by, vouchers[i].ID))
	}, reward.ErrOutOfStock)
	if got := s.find(t, c.ID).RedemptionsCount; won != 5 || got != 5 {
		t.Errorf("%d redeemed, %d counted, want 5", won, got)
	}
	s.sound(t)
}
