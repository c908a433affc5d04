package coupon_test

import (
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/daily"
)

// A send to an audience is for exactly those who are in it when the send is confirmed: also for those who come before its vouchers are
// created, and not for those who are in the list only then. Inactive customers are skipped.
func TestAudienceIsThatOfTheConfirmation(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	now := s.DB.Now()
	long, soon := s.At(now.Add(-70*24*time.Hour)), s.At(now.Add(-59*24*time.Hour))
	lapsed, gone, young := long.Customer().ID, long.Customer().ID, soon.Customer().ID
	long.Sale(lapsed, s.Points(1), 500)
	long.Sale(gone, s.Points(1), 500)
	soon.Sale(young, s.Points(1), 500)
	s.Customer() // who never came
	s.leave(gone)
	c := s.Coupon(fivePoints())
	send := coupon.Send{Segment: coupon.Manual, Audience: "lapsed_60", FormKey: "once"}

	p, err := s.Coupons.Preview(t.Context(), s.By, c.ID, send)
	s.Check(err)
	if p.Matched != 2 || p.Sent != 1 || p.SkippedInactive != 1 {
		t.Errorf("preview: %+v", p.Counts)
	}
	confirmed := s.confirmed(c, send)
	s.Sale(lapsed, s.Points(1), 500)
	later := s.At(now.Add(3 * 24 * time.Hour))
	sent, err := later.Coupons.Evaluate(t.Context(), s.By, confirmed.ID)
	s.Check(err)
	wantCounts(t, sent, 2, 1, 1, 0)
	s.wantHolders(c, lapsed)
	if sent.Audience == nil || *sent.Audience != "lapsed_60" || sent.Segment != coupon.Manual {
		t.Errorf("sent to %v of %s", sent.Audience, sent.Segment)
	}

	stranger := other.Coupon(fivePoints())
	p, err = other.Coupons.Preview(t.Context(), other.By, stranger.ID, send)
	s.Check(err)
	if p.Matched != 0 {
		t.Errorf("another business's preview: %+v", p.Counts)
	}
	if _, err := other.Coupons.Send(t.Context(), other.By, c.ID, send); !core.IsKind(err, core.KindNotFound) {
		t.Errorf("another business's coupon = %v", err)
	}
	send.Audience = "everyone"
	if _, err := s.Coupons.Send(t.Context(), s.By, c.ID, send); !core.IsKind(err, core.KindInvalid) {
		t.Errorf("an unknown audience = %v", err)
	}
}

// A send to a group is for the customers of the group as it was counted last.
func TestGroupIsSentToAsItWasCounted(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	past := s.At(s.DB.Now().Add(-3 * 24 * time.Hour))
	once := past.Customer().ID
	past.Sale(once, s.Points(1), 500)
	c := s.Coupon(fivePoints())
	send := coupon.Send{Segment: coupon.Manual, Audience: daily.Audience(daily.New), FormKey: "early"}
	wantCounts(t, s.evaluated(s.confirmed(c, send).ID), 0, 0, 0, 0)
	s.Check(s.Days.Count(t.Context(), daily.Counting{Tenant: s.By.Tenant.ID}))
	send.FormKey = "counted"
	wantCounts(t, s.evaluated(s.confirmed(c, send).ID), 1, 1, 0, 0)
	s.wantHolders(c, once)
}
