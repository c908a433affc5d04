package coupon_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
)

// counted returns a coupon with counts, found and listed alike.
func (s shop) counted(id core.ID) coupon.WithCounts {
	s.T.Helper()
	found, err := s.Coupons.Find(s.T.Context(), s.By, id)
	s.Check(err)
	l, err := s.Coupons.ListWithCounts(s.T.Context(), s.By, coupon.Filter{}, core.Page{Size: core.MaxPageSize})
	s.Check(err)
	at := slices.IndexFunc(l.Items, func(c coupon.WithCounts) bool { return c.ID == id })
	if at < 0 {
		s.T.Fatalf("coupon %s is not listed", id)
	}
	if diff := cmp.Diff(found, l.Items[at]); diff != "" {
		s.T.Errorf("(-found +listed):\n%s", diff)
	}
	return found
}

// Counts of sends saturate instead of overflowing.
func TestCountsSaturate(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	n.MaxPerCustomer = new(int64(9))
	c := s.Coupon(n)
	s.Customer()
	for range 3 {
		s.Send(c.ID, toAll())
	}
	update := func(set string) {
		t.Helper()
		s.Exec("update loyalty.coupon_send set "+set+" where tenant_id = $1", s.By.Tenant.ID)
	}
	update("matched = 9000000000000000000, sent = 9000000000000000000, no_email = 9000000000000000000")
	if got := s.counted(c.ID); got.Sent != math.MaxInt64 || got.Pending != math.MaxInt64 {
		t.Errorf("pending: %+v", got)
	}
	update("expires_at = now() - interval '1 day'")
	if got := s.counted(c.ID); got.Expired != math.MaxInt64 {
		t.Errorf("expired: %+v", got)
	}
	update("redeemed = sent")
	if got := s.counted(c.ID); got.Redeemed != math.MaxInt64 {
		t.Errorf("redeemed: %+v", got)
	}
}

// A coupon has its vouchers sent, pending, redeemed and expired at the moment it is read, as in the
// report.
func TestVouchersAreCountedByStatus(t *testing.T) {
	t.Parallel()
	s := shop{shoptest.In(t, dbtest.OwnDB(t))} // whose vouchers all expire
	n := fivePoints()
	n.MaxPerCustomer, n.VoucherValidDays = new(int64(3)), new(int64(1))
	c, quiet := s.Coupon(n), s.Coupon(fivePoints())
	guests := s.AddCustomers(4)
	want := func(s shop, id core.ID, sent, pending, redeemed, expired int64) {
		t.Helper()
		got := s.counted(id)
		if got.Sent != sent || got.Pending != pending || got.Redeemed != redeemed || got.Expired != expired {
			t.Errorf("%d sent, %d pending, %d redeemed, %d expired, want %d, %d, %d, %d",
				got.Sent, got.Pending, got.Redeemed, got.Expired, sent, pending, redeemed, expired)
		}
		reported, err := s.Reports.Coupons(t.Context(), s.By)
		s.Check(err)
		for _, r := range reported {
			if r.ID == id && (r.Sent != sent || r.Pending != pending || r.Redeemed != redeemed || r.Expired != expired) {
				t.Errorf("the report says %+v", r)
			}
		}
	}
	want(s, c.ID, 0, 0, 0, 0)
	s.confirmed(c, toAll())
	want(s, c.ID, 0, 0, 0, 0) // not evaluated yet

	s.Send(c.ID, toAll())
	want(s, c.ID, 4, 4, 0, 0)
	s.RedeemVoucher(s.stored(c)[0].ID)
	want(s, c.ID, 4, 3, 1, 0)

	later := s.at(s.DB.Now().AddDate(0, 0, 3)) // the first ones have expired
	want(later, c.ID, 4, 0, 1, 3)
	later.Send(c.ID, to(coupon.Manual, guests[:2]...))
	want(later, c.ID, 6, 2, 1, 3)
	later.RedeemVoucher(later.Voucher(c.ID, guests[2]))
	want(later, c.ID, 7, 2, 2, 3)
	s.Exec("select loyalty.expire_vouchers($1, 10000) from loyalty.enter(0)", later.DB.Now())
	want(later, c.ID, 7, 2, 2, 3) // the stored status changes later
	want(later, quiet.ID, 0, 0, 0, 0)

	endless := s.Coupon(fivePoints())
	s.Send(endless.ID, toAll())
	want(s.at(s.DB.Now().AddDate(50, 0, 0)), endless.ID, 4, 4, 0, 0)
}

// Sends are listed newest first, with their results and who confirmed them.
func TestListSends(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	n.MaxPerCustomer, n.VoucherValidDays = new(int64(3)), new(int64(1))
	c, quiet := s.Coupon(n), s.Coupon(fivePoints())
	guests := s.AddCustomers(3)
	first := s.Send(c.ID, toAll())
	s.RedeemVoucher(s.stored(c)[0].ID)
	dbtest.Tick(s.DB)
	second := s.Send(c.ID, to(coupon.Manual, guests[:2]...))
	dbtest.Tick(s.DB)
	maja := s.As(core.Manager).By
	waiting := shop{shoptest.Of(t, s.DB, maja)}.confirmed(c, toAll())
	page := core.Page{Size: 2}
	got := shoptest.Walk(t, 2, func(p core.Page) (core.List[coupon.SendDetail], error) {
		return s.Coupons.ListSends(t.Context(), s.By, c.ID, p)
	})
	ends := got[len(got)-1].ExpiresAt
	if ends == nil || !ends.After(s.DB.Now()) {
		t.Errorf("its vouchers end %v", ends)
	}
	want := []coupon.SendDetail{
		{Sending: waiting, ActorKind: core.ByStaff, ActorID: maja.ID, ActorName: maja.Name},
		{Sending: second, ExpiresAt: ends, ActorKind: core.ByStaff, ActorID: s.By.ID, ActorName: s.By.Name},
		{Sending: first, Redeemed: 1, ExpiresAt: ends, ActorKind: core.ByStaff, ActorID: s.By.ID, ActorName: s.By.Name},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ListSends (-want +got):\n%s", diff)
	}
	if got := s.counted(c.ID).Sends; got != 3 {
		t.Errorf("%d sends are counted, want 3", got)
	}
	if l, err := s.Coupons.ListSends(t.Context(), s.By, quiet.ID, page); err != nil || len(l.Items) != 0 {
		t.Errorf("of a coupon that was never sent: %+v, %v", l.Items, err)
	}
	bad := core.Page{Size: 2, Malformed: core.Fields{"cursor": {core.MustBeString}}}
	_, err := s.Coupons.ListSends(t.Context(), s.By, c.ID, bad)
	shoptest.WantFields(t, err, core.Fields{"cursor": {core.MustBeString}})
}

// Each coupon has one state at a time.
func TestStates(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	yesterday, tomorrow := s.DB.Now().AddDate(0, 0, -1), s.DB.Now().AddDate(0, 0, 1)
	ids := map[coupon.State][]core.ID{}
	var all []core.ID
	before := s.at(s.DB.Now().AddDate(0, 0, -2))
	for _, c := range []struct {
		starts, expires *time.Time
		off             bool
		state           coupon.State
	}{
		{nil, nil, false, coupon.StateActive},
		{&yesterday, &tomorrow, false, coupon.StateActive},
		{nil, &yesterday, false, coupon.StateExpired},
		{nil, &yesterday, true, coupon.StateExpired},
		{&tomorrow, nil, false, coupon.StateUpcoming},
		{&tomorrow, nil, true, coupon.StateInactive},
		{nil, nil, true, coupon.StateInactive},
		{nil, nil, false, coupon.StateActive},
	} {
		n := fivePoints()
		n.StartsAt, n.ExpiresAt = c.starts, c.expires
		made := before.Coupon(n)
		if c.off {
			s.Must(s.Coupons.SetActive(t.Context(), s.By, made.ID, false))
		}
		all, ids[c.state] = slices.Insert(all, 0, made.ID), slices.Insert(ids[c.state], 0, made.ID)
		if got := s.counted(made.ID); got.State != c.state {
			t.Errorf("%+v is %s, want %s", got.Coupon, got.State, c.state)
		}
		dbtest.Tick(s.DB)
	}
	list := func(f coupon.Filter) []core.ID {
		listed := shoptest.Walk(t, 2, func(p core.Page) (core.List[coupon.WithCounts], error) {
			return s.Coupons.ListWithCounts(t.Context(), s.By, f, p)
		})
		return shoptest.Keys(listed, func(c coupon.WithCounts) core.ID { return c.ID })
	}
	if diff := cmp.Diff(all, list(coupon.Filter{})); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}
	for state, want := range ids {
		if diff := cmp.Diff(want, list(coupon.Filter{State: new(string(state))})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", state, diff)
		}
	}
	sendable := slices.DeleteFunc(slices.Clone(all), func(id core.ID) bool { return !s.counted(id).State.CanSend() })
	if diff := cmp.Diff(sendable, list(coupon.Filter{Sendable: new(true)})); diff != "" {
		t.Errorf("that can be sent (-want +got):\n%s", diff)
	}
	_, err := s.Coupons.ListWithCounts(t.Context(), s.By, coupon.Filter{State: new("lost")}, core.Page{Size: 2, Malformed: core.Fields{"cursor": {core.MustBeString}}})
	shoptest.WantFields(t, err, core.Fields{"state": {core.InvalidChoice}, "cursor": {core.MustBeString}})
}

// A coupon has the name of its reward.
func TestACouponNamesItsReward(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	if got := s.counted(s.Coupon(s.coffees(nil)).ID); got.RewardName == nil || *got.RewardName != "Espresso" {
		t.Errorf("of a reward: %+v", got)
	}
	if got := s.counted(s.Coupon(fivePoints()).ID); got.RewardName != nil {
		t.Errorf("of points: %+v", got)
	}
}

// A customer's vouchers are listed newest first, with names, current status and whether they can be
// redeemed.
func TestListByCustomer(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.Customer().ID
	s.Customer()
	yesterday := s.at(s.DB.Now().AddDate(0, 0, -1))
	short, capped := fivePoints(), fivePoints()
	short.Name, short.ExpiresAt = "Short", new(s.DB.Now().Add(time.Hour))
	capped.Name, capped.MaxRedemptions, capped.MaxPerCustomer = "Capped", new(int64(1)), new(int64(2))
	off := fivePoints()
	off.Name = "Off"
	coupons := []coupon.Coupon{
		s.Coupon(short), s.Coupon(capped), s.Coupon(off), s.Coupon(s.coffees(nil)),
	}
	var ids []core.ID
	for _, i := range []int{0, 1, 1, 2, 3} {
		ids = slices.Insert(ids, 0, yesterday.Voucher(coupons[i].ID, anna))
		dbtest.Tick(s.DB)
	}
	s.RedeemVoucher(ids[3]) // the first of the coupon with a limit
	s.Must(s.Coupons.SetActive(t.Context(), s.By, coupons[2].ID, false))
	type row struct {
		id         core.ID
		coupon     string
		reward     string
		status     coupon.VoucherStatus
		redeemable bool
	}
	rows := func(s shop) (rows []row) {
		t.Helper()
		page := core.Page{Size: 2}
		for {
			l, err := s.Coupons.ListByCustomer(t.Context(), s.By, anna, page)
			s.Check(err)
			for _, v := range l.Items {
				r := row{id: v.ID, coupon: v.CouponName, status: v.Status, redeemable: v.Redeemable}
				if v.RewardName != nil {
					r.reward = *v.RewardName
				}
				if v.CustomerID != anna {
					t.Errorf("another customer's: %+v", v)
				}
				rows = append(rows, r)
			}
			if page.Cursor = l.Next; page.Cursor == nil {
				return rows
			}
		}
	}
	want := []row{
		{ids[0], "Coffee on us", "Espresso", coupon.VoucherPending, true},
		{ids[1], "Off", "", coupon.VoucherPending, false},
		{ids[2], "Capped", "", coupon.VoucherPending, false},
		{ids[3], "Capped", "", coupon.VoucherRedeemed, false},
		{ids[4], "Short", "", coupon.VoucherPending, true},
	}
	exported := cmp.AllowUnexported(row{})
	if diff := cmp.Diff(want, rows(s), exported); diff != "" {
		t.Errorf("now (-want +got):\n%s", diff)
	}
	want[4].status, want[4].redeemable = coupon.VoucherExpired, false
	if diff := cmp.Diff(want, rows(s.at(s.DB.Now().Add(2*time.Hour))), exported); diff != "" {
		t.Errorf("later (-want +got):\n%s", diff)
	}
	// Redeeming agrees with the list.
	for _, r := range want[:4] {
		if err := second(core.Result(s.Coupons.Redeem(t.Context(), s.By, r.id, nil))); (err == nil) != r.redeemable {
			t.Errorf("%s, redeemable %v: %v", r.coupon, r.redeemable, err)
		}
	}

	first, err := s.Coupons.ListByCustomer(t.Context(), s.By, anna, core.Page{Size: 2})
	s.Check(err)
	next, err := s.Coupons.ListByCustomer(t.Context(), s.By, anna, core.Page{Size: 2, Cursor: first.Next})
	s.Check(err)
	back, err := s.Coupons.ListByCustomer(t.Context(), s.By, anna, core.Page{Size: 2, Cursor: next.Prev})
	if diff := cmp.Diff(first.Items, back.Items); err != nil || diff != "" {
		t.Errorf("back on the first page: %v (-want +got):\n%s", err, diff)
	}
	none, err := s.Coupons.ListByCustomer(t.Context(), s.By, s.Customer().ID, core.Page{Size: 2})
	if err != nil || len(none.Items) != 0 {
		t.Errorf("without vouchers: %+v, %v", none, err)
	}
	bad := core.Page{Size: 2, Malformed: core.Fields{"cursor": {core.MustBeString}}}
	shoptest.WantFields(t, second(s.Coupons.ListByCustomer(t.Context(), s.By, anna, bad)), core.Fields{"cursor": {core.MustBeString}})
	stranger := newShop(t)
	for _, p := range []core.Page{{Size: 2}, bad} {
		refused(t, second(stranger.Coupons.ListByCustomer(t.Context(), stranger.By, anna, p)), core.ErrNotFound)
	}
}
