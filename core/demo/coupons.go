package demo

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"example.com/loyalty/core/coupon"
)

// What the café sends.
const (
	missedYou = iota
	birthday
	seasonBun
	cheaperLunch
	threeStamps
	earlyBirds
)

// plan is a coupon to be made, and what becomes of it.
type plan struct {
	coupon.New
	reward int // of rewards, where that is its benefit
	made   time.Time
	off    time.Time // zero: it is still active
	keen   float64   // the share of its holders who mean to use it
	least  int64     // the bill it is used with, in cents
	used   int64     // how many vouchers
}

// send is a send to come. It happens in the evening, when no guest is there.
type send struct {
	at      time.Time
	by      int // of team
	coupon  int // of the story's coupons
	segment coupon.Segment
	to      []int // of the story's guests, for a manual segment
}

// formKey names a send for good: what an earlier Fill confirmed is found by it.
func (x send) formKey() string {
	return fmt.Sprintf("demo %d %s", x.coupon, x.at.Format(time.DateOnly))
}

const (
	forenoon = 10*60 + 20 // minutes of the day
	evening  = 18*60 + 40
)

// ago is so many days before the story's last, at a minute of that day.
func (s *story) ago(days, minutes int) time.Time { return clock(s.until.AddDate(0, 0, -days), minutes) }

// planCoupons says which coupons there will be, and when each is sent to whom.
func (s *story) planCoupons() {
	s.coupons = []plan{
		missedYou: {made: s.ago(50, forenoon), keen: .9, New: coupon.New{
			Name: new("We have missed you"), BenefitType: new(string(coupon.Points)), BenefitValue: new(int64(40)),
			Description:      new("It has been a while. Forty points are waiting for you, and so is the coffee."),
			VoucherValidDays: new(int64(30)),
		}},
		birthday: {made: s.ago(daysTold, forenoon), keen: .55, New: coupon.New{
			Name: new("Happy birthday"), BenefitType: new(string(coupon.Percent)), BenefitValue: new(int64(20)),
			Description:      new("Twenty percent off, on any day of your birthday month. Bring whom you like."),
			VoucherValidDays: new(int64(30)),
		}},
		seasonBun: {made: s.ago(35, forenoon), reward: cinnamonBun, keen: .42, New: coupon.New{
			Name: new("A bun for the " + season(s.ago(33, evening))), BenefitType: new(string(coupon.Reward)),
			Description:      new("A new season, a warm cinnamon bun. This one is on us."),
			VoucherValidDays: new(int64(45)),
		}},
		cheaperLunch: {made: s.ago(64, forenoon), keen: .45, least: lunches[0], New: coupon.New{
			Name: new("Two euros off lunch"), BenefitType: new(string(coupon.Amount)), BenefitValue: new(int64(200)),
			Description: new("Thank you for being with us for so long. Stay for lunch and pay two euros less."),
			ExpiresAt:   new(s.ago(27, 0)),
		}},
		threeStamps: {made: s.ago(25, forenoon), off: s.ago(18, forenoon), keen: .3, New: coupon.New{
			Name: new("Three stamps for your card"), BenefitType: new(string(coupon.Stamps)), BenefitValue: new(int64(3)),
			Description:      new("Three stamps at once, to get your coffee card going."),
			VoucherValidDays: new(int64(60)),
		}},
		earlyBirds: {made: s.ago(2, forenoon), New: coupon.New{
			Name: new("Early birds"), BenefitType: new(string(coupon.Percent)), BenefitValue: new(int64(50)),
			Description: new("Before eight, coffee is half the price."),
			StartsAt:    new(s.ago(-10, 0)), ExpiresAt: new(s.ago(-40, 0)),
		}},
	}
	s.sends = []send{
		{at: s.ago(62, evening), by: 1, coupon: cheaperLunch, segment: coupon.LongStanding},
		{at: s.ago(48, evening), by: 0, coupon: missedYou, segment: coupon.Manual},
		{at: s.ago(33, evening), by: 0, coupon: seasonBun, segment: coupon.All},
		{at: s.ago(24, evening), by: 1, coupon: threeStamps, segment: coupon.RecentPurchase},
		{at: s.ago(15, evening), by: 0, coupon: missedYou, segment: coupon.Manual},
		{at: s.ago(6, evening), by: 1, coupon: seasonBun, segment: coupon.RecentPurchase}, // for who is new since
	}
	for days := daysTold - 1; days > 0; days-- {
		if day := s.ago(days, evening); day.Day() == 1 {
			s.sends = append(s.sends, send{at: day, by: 1, coupon: birthday, segment: coupon.Manual})
		}
	}
	slices.SortFunc(s.sends, func(a, b send) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.coupon, b.coupon)) })
}

func season(at time.Time) string {
	return []string{"winter", "spring", "summer", "autumn"}[at.Month()%12/3]
}
