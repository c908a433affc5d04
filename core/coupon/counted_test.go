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
	"example.com/loyalty/core/report"
)

// counted returns a coupon with counts, found and listed alike.
func (s shop) counted(t *testing.T, id core.ID) coupon.WithCounts {
	t.Helper()
	found, err := s.Find(t.Context(), s.by, id)
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.ListWithCounts(t.Context(), s.by, coupon.Filter{}, core.Page{Size: core.MaxPageSize})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(l.Items, func(c coupon.WithCounts) bool { return c.ID == id })
	if at < 0 {
		t.Fatalf("coupon %s is not listed", id)
	}
	if diff := cmp.Diff(found, l.Items[at]); diff != "" {
		t.Errorf("(-found +listed):\n%s", diff)
	}
	return found
}

// Counts of sends saturate instead of overflowing.
func TestCountsSaturate(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	n.MaxPerCustomer = new(int64(9))
	c := s.coupon(t, n)
	s.customer(t)
	for range 3 {
		s.recordDelivery(t, c, toAll())
	}
	update := func(set string) {
		t.Helper()
		if _, err := dbtest.Owner(s.db).Exec(t.Context(), "update loyalty.coupon_send set "+set+" where tenant_id = $1", s.by.Tenant.ID); err != nil {
			t.Fatal(err)
		}
	}
	update("matched = 9000000000000000000, sent = 9000000000000000000, no_email = 9000000000000000000")
	if got := s.counted(t, c.ID); got.Sent != math.MaxInt64 || got.Pending != math.MaxInt64 {
		t.Errorf("pending: %+v", got)
	}
	update("expires_at = now() - interval '1 day'")
	if got := s.counted(t, c.ID); got.Expired != math.MaxInt64 {
		t.Errorf("expired: %+v", got)
	}
	update("redeemed = sent")
	if got := s.counted(t, c.ID); got.Redeemed != math.MaxInt64 {
		t.Errorf("redeemed: %+v", got)
	}
}

// A coupon has its vouchers sent, pending, redeemed and expired at the moment it is read, as in the
// report.
func TestVouchersAreCountedByStatus(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	n.MaxPerCustomer, n.VoucherValidDays = new(int64(3)), new(int64(1))
	c, quiet := s.coupon(t, n), s.coupon(t, fivePoints())
	guests := s.customers(t, 4)
	want := func(s shop, id core.ID, sent, pending, redeemed, expired int64) {
		t.Helper()
		got := s.counted(t, id)
		if got.Sent != sent || got.Pending != pending || got.Redeemed != redeemed || got.Expired != expired {
			t.Errorf("%d sent, %d pending, %d redeemed, %d expired, want %d, %d, %d, %d",
				got.Sent, got.Pending, got.Redeemed, got.Expired, sent, pending, redeemed, expired)
		}
		reported, err := report.NewService(s.db).Coupons(t.Context(), s.by)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range reported {
			if r.ID == id && (r.Sent != sent || r.Pending != pending || r.Redeemed != redeemed || r.Expired != expired) {
				t.Errorf("the report says %+v", r)
			}
		}
	}
	want(s, c.ID, 0, 0, 0, 0)
	s.confirmed(t, c, toAll())
	want(s, c.ID, 0, 0, 0, 0) // it was not evaluated yet

	s.recordDelivery(t, c, toAll())
	want(s, c.ID, 4, 4, 0, 0)
	s.redeem(t, s.stored(t, c)[0].ID)
	want(s, c.ID, 4, 3, 1, 0)

	later := s.at(t, s.db.Now().AddDate(0, 0, 3)) // the first ones have expired
	want(later, c.ID, 4, 0, 1, 3)
	later.recordDelivery(t, c, to(coupon.Manual, guests[:2]...))
	want(later, c.ID, 6, 2, 1, 3)
	later.redeem(t, later.voucher(t, c, guests[2]))
	want(later, c.ID, 7, 2, 2, 3)
	if _, err := dbtest.Owner(s.db).Exec(t.Context(), "select loyalty.expire_vouchers($1, 10000) from loyalty.enter(0)", later.db.Now()); err != nil {
		t.Fatal(err)
	}
	want(later, c.ID, 7, 2, 2, 3) // the stored status only follows
	want(later, quiet.ID, 0, 0, 0, 0)

	endless := s.coupon(t, fivePoints())
	s.recordDelivery(t, endless, toAll())
	want(s.at(t, s.db.Now().AddDate(50, 0, 0)), endless.ID, 4, 4, 0, 0)
}

// Sends are listed newest first, with their results and who confirmed them.
func TestListSends(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	n.MaxPerCustomer, n.VoucherValidDays = new(int64(3)), new(int64(1))
	c, quiet := s.coupon(t, n), s.coupon(t, fivePoints())
	guests := s.customers(t, 3)
	first := s.recordDelivery(t, c, toAll())
	s.redeem(t, s.stored(t, c)[0].ID)
	dbtest.Tick(s.db)
	second := s.recordDelivery(t, c, to(coupon.Manual, guests[:2]...))
	dbtest.Tick(s.db)
	maja := dbtest.Person(t, s.db, s.by, core.Manager)
	waiting := visit(t, s.db, maja).confirmed(t, c, toAll())
	var got []coupon.SendDetail
	page := core.Page{Size: 2}
	for {
		l, err := s.ListSends(t.Context(), s.by, c.ID, page)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, l.Items...)
		if page.Cursor = l.Next; page.Cursor == nil {
			back, err := s.ListSends(t.Context(), s.by, c.ID, core.Page{Size: 2, Cursor: l.Prev})
			if diff := cmp.Diff(got[:2], back.Items); err != nil || diff != "" {
				t.Errorf("the way back: %v (-want +got):\n%s", err, diff)
			}
			break
		}
	}
	ends := got[len(got)-1].ExpiresAt
	if ends == nil || !ends.After(s.db.Now()) {
		t.Errorf("its vouchers end %v", ends)
	}
	want := []coupon.SendDetail{
		{Sending: waiting, ActorKind: core.ByStaff, ActorName: maja.Name},
		{Sending: second, ExpiresAt: ends, ActorKind: core.ByStaff, ActorName: s.by.Name},
		{Sending: first, Redeemed: 1, ExpiresAt: ends, ActorKind: core.ByStaff, ActorName: s.by.Name},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ListSends (-want +got):\n%s", diff)
	}
	if got := s.counted(t, c.ID).Sends; got != 3 {
		t.Errorf("%d sends are counted, want 3", got)
	}
	if l, err := s.ListSends(t.Context(), s.by, quiet.ID, page); err != nil || len(l.Items) != 0 {
		t.Errorf("of a coupon that was never sent: %+v, %v", l.Items, err)
	}
	bad := core.Page{Size: 2, Malformed: core.Fields{"cursor": {core.MustBeString}}}
	_, err := s.ListSends(t.Context(), s.by, c.ID, bad)
	wantFields(t, err, core.Fields{"cursor": {core.MustBeString}})
}

// Each coupon has one state at a time.
func TestStates(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	yesterday, tomorrow := s.db.Now().AddDate(0, 0, -1), s.db.Now().AddDate(0, 0, 1)
	ids := map[coupon.State][]core.ID{}
	var all []core.ID
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
		made := s.coupon(t, n)
		if c.off {
			if _, err := s.SetActive(t.Context(), s.by, made.ID, false); err != nil {
				t.Fatal(err)
			}
		}
		all, ids[c.state] = slices.Insert(all, 0, made.ID), slices.Insert(ids[c.state], 0, made.ID)
		if got := s.counted(t, made.ID); got.State != c.state {
			t.Errorf("%+v is %s, want %s", got.Coupon, got.State, c.state)
		}
		dbtest.Tick(s.db)
	}
	list := func(state *string) (forward []core.ID) {
		page := core.Page{Size: 2}
		var back []core.ID
		for page.Cursor == nil || !page.Cursor.Back {
			l, err := s.ListWithCounts(t.Context(), s.by, coupon.Filter{State: state}, page)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range l.Items {
				forward = append(forward, c.ID)
			}
			if page.Cursor = l.Next; page.Cursor == nil {
				page.Cursor, back = l.Prev, slices.Clone(forward[len(forward)-len(l.Items):])
				break
			}
		}
		for page.Cursor != nil {
			l, err := s.ListWithCounts(t.Context(), s.by, coupon.Filter{State: state}, page)
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range l.Items {
				back = slices.Insert(back, i, c.ID)
			}
			page.Cursor = l.Prev
		}
		if diff := cmp.Diff(forward, back); diff != "" {
			t.Errorf("the way back (-forward +back):\n%s", diff)
		}
		return forward
	}
	if diff := cmp.Diff(all, list(nil)); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}
	for state, want := range ids {
		if diff := cmp.Diff(want, list(new(string(state)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", state, diff)
		}
	}
	_, err := s.ListWithCounts(t.Context(), s.by, coupon.Filter{State: new("lost")}, core.Page{Size: 2, Malformed: core.Fields{"cursor": {core.MustBeString}}})
	wantFields(t, err, core.Fields{"state": {core.InvalidChoice}, "cursor": {core.MustBeString}})
}

// A coupon has the name of its reward.
func TestACouponNamesItsReward(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	if got := s.counted(t, s.coupon(t, s.coffees(t, nil)).ID); got.RewardName == nil || *got.RewardName != "Espresso" {
		t.Errorf("of a reward: %+v", got)
	}
	if got := s.counted(t, s.coupon(t, fivePoints()).ID); got.RewardName != nil {
		t.Errorf("of points: %+v", got)
	}
}

// A customer's vouchers are listed newest first, with names, current status and whether they can be
// redeemed.
func TestListByCustomer(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer(t)
	s.customer(t)
	yesterday := s.at(t, s.db.Now().AddDate(0, 0, -1))
	short, capped := fivePoints(), fivePoints()
	short.Name, short.ExpiresAt = new("Short"), new(s.db.Now().Add(time.Hour))
	capped.Name, capped.MaxRedemptions, capped.MaxPerCustomer = new("Capped"), new(int64(1)), new(int64(2))
	off := fivePoints()
	off.Name = new("Off")
	coupons := []coupon.Coupon{
		s.coupon(t, short), s.coupon(t, capped), s.coupon(t, off), s.coupon(t, s.coffees(t, nil)),
	}
	var ids []core.ID
	for _, i := range []int{0, 1, 1, 2, 3} {
		ids = slices.Insert(ids, 0, yesterday.voucher(t, coupons[i], anna))
		dbtest.Tick(s.db)
	}
	s.redeem(t, ids[3]) // the first of the capped ones
	if _, err := s.SetActive(t.Context(), s.by, coupons[2].ID, false); err != nil {
		t.Fatal(err)
	}
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
			l, err := s.ListByCustomer(t.Context(), s.by, anna, page)
			if err != nil {
				t.Fatal(err)
			}
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
	if diff := cmp.Diff(want, rows(s.at(t, s.db.Now().Add(2*time.Hour))), exported); diff != "" {
		t.Errorf("later (-want +got):\n%s", diff)
	}
	// What the list says is so.
	for _, r := range want[:4] {
		if err := second(s.Redeem(t.Context(), s.by, r.id)); (err == nil) != r.redeemable {
			t.Errorf("%s, redeemable %v: %v", r.coupon, r.redeemable, err)
		}
	}

	first, err := s.ListByCustomer(t.Context(), s.by, anna, core.Page{Size: 2})
	if err != nil {
		t.Fatal(err)
	}
	next, err := s.ListByCustomer(t.Context(), s.by, anna, core.Page{Size: 2, Cursor: first.Next})
	if err != nil {
		t.Fatal(err)
	}
	back, err := s.ListByCustomer(t.Context(), s.by, anna, core.Page{Size: 2, Cursor: next.Prev})
	if diff := cmp.Diff(first.Items, back.Items); err != nil || diff != "" {
		t.Errorf("back on the first page: %v (-want +got):\n%s", err, diff)
	}
	none, err := s.ListByCustomer(t.Context(), s.by, s.customer(t), core.Page{Size: 2})
	if err != nil || len(none.Items) != 0 {
		t.Errorf("without vouchers: %+v, %v", none, err)
	}
	bad := core.Page{Size: 2, Malformed: core.Fields{"cursor": {core.MustBeString}}}
	wantFields(t, second(s.ListByCustomer(t.Context(), s.by, anna, bad)), core.Fields{"cursor": {core.MustBeString}})
	stranger := newShop(t)
	for _, p := range []core.Page{{Size: 2}, bad} {
		refused(t, second(stranger.ListByCustomer(t.Context(), stranger.by, anna, p)), core.ErrNotFound)
	}
}
