package demo

import (
	"math/rand/v2"
	"slices"
	"time"

	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/transaction"
)

// redemption is what a guest asks for after a sale.
type redemption struct {
	reward    int // of rewards
	at        time.Time
	fulfilled time.Time // zero: not yet
	voided    time.Time // zero: it stands
}

// voucher is a guest's copy of a coupon, redeemed with a sale.
type voucher struct {
	coupon    int // of the story's coupons
	at        time.Time
	fulfilled time.Time // of what it was good for, a reward; zero: not yet
}

// counter is where guests spend what they have earned.
type counter struct {
	*story
	r      *rand.Rand
	purses []purse       // of the story's guests
	stock  map[int]int64 // of the rewards whose pieces are counted
}

// purse is what a guest has. What a voucher adds is not counted on, so that every
// redemption can be paid for without it.
type purse struct {
	has      map[ledger.Unit]int64
	wants    map[ledger.Unit]int // of rewards
	bought   time.Time           // the last time
	birthday time.Month
	holds    []held
}

// held is a voucher that was sent to a guest.
type held struct {
	coupon  int
	expires time.Time
	means   bool // to use it, and has not yet
}

// visit is a sale and whose it is.
type visit struct {
	guest int // of the story's guests
	sale  *sale
}

// spend goes through the visits in order of time: vouchers are sent and redeemed, and
// what was earned is exchanged for rewards. The last mug goes to whoever asks first.
func (s *story) spend(r *rand.Rand, visits []visit) {
	c := counter{story: s, r: r, purses: make([]purse, len(s.guests)), stock: map[int]int64{}}
	for i := range c.purses {
		c.purses[i] = purse{has: map[ledger.Unit]int64{}, wants: map[ledger.Unit]int{}, birthday: time.Month(1 + r.IntN(12))}
	}
	for i, offered := range rewards {
		if offered.Stock != nil {
			c.stock[i] = *offered.Stock
		}
	}
	toSend := s.sends
	for _, v := range visits {
		for ; len(toSend) > 0 && toSend[0].at.Before(v.sale.at); toSend = toSend[1:] {
			c.send(&toSend[0])
		}
		c.serve(&c.purses[v.guest], v.sale)
	}
	for i := range toSend {
		c.send(&toSend[i])
	}
	bun := &s.coupons[seasonBun]
	bun.MaxRedemptions = new(bun.used/10*10 + 10) // the next ten come to the end of it
}

// send sends vouchers to a segment's members. Nobody gets a second one.
func (c *counter) send(x *send) {
	for i, g := range c.guests {
		p := &c.purses[i]
		if !g.left.IsZero() || !g.joined.Before(x.at) || !p.belongs(g, x) {
			continue
		}
		if slices.ContainsFunc(p.holds, func(h held) bool { return h.coupon == x.coupon }) {
			continue
		}
		if x.segment == coupon.Manual {
			x.to = append(x.to, i)
		}
		plan := c.coupons[x.coupon]
		h := held{coupon: x.coupon, means: c.r.Float64() < plan.keen}
		if plan.ExpiresAt != nil {
			h.expires = *plan.ExpiresAt
		} else {
			h.expires = clock(x.at.AddDate(0, 0, int(*plan.VoucherValidDays)+1), 0)
		}
		p.holds = append(p.holds, h)
	}
}

// belongs reports whether a guest is of the segment (specification §2); a manual one
// names those whose birthday it is, or who did not come lately.
func (p *purse) belongs(g guest, x *send) bool {
	cameLately := p.bought.After(x.at.Add(-30 * 24 * time.Hour))
	switch x.segment {
	case coupon.LongStanding:
		return g.joined.Before(clock(x.at.AddDate(0, 0, -90), 0))
	case coupon.RecentPurchase:
		return cameLately
	case coupon.Manual:
		return x.coupon == birthday && p.birthday == x.at.Month() || x.coupon == missedYou && !cameLately
	case coupon.All:
	}
	return true
}

// serve is what happens at a visit.
func (c *counter) serve(p *purse, x *sale) {
	if !x.voided.IsZero() {
		return // and rung up again
	}
	atTill := x.source == transaction.POS
	if atTill {
		c.redeem(p, x)
	}
	p.has[types[x.kind].RuleType] += x.award()
	p.bought = x.at
	if atTill {
		c.ask(p, x)
	}
}

// redeem has a guest who thinks of it use a voucher.
func (c *counter) redeem(p *purse, x *sale) {
	at := x.at.Add(c.seconds(5, 20))
	for i, h := range p.holds {
		plan := &c.coupons[h.coupon]
		gone := !at.Before(h.expires) || !plan.off.IsZero() && !at.Before(plan.off) || !at.Before(c.until)
		if gone || !h.means || x.cents < plan.least || c.r.IntN(2) == 0 {
			continue
		}
		v := voucher{coupon: h.coupon, at: at}
		switch coupon.BenefitType(*plan.BenefitType) {
		case coupon.Percent:
			x.cents -= x.cents * *plan.BenefitValue / 100
		case coupon.Amount:
			x.cents -= *plan.BenefitValue
		case coupon.Reward:
			v.fulfilled = c.handOver(plan.reward, at)
		case coupon.Points, coupon.Stamps:
		}
		x.voucher = &v
		plan.used++
		p.holds[i].means = false
		return
	}
}

// ask has a guest who can afford what they save for ask for it.
func (c *counter) ask(p *purse, x *sale) {
	at := x.at.Add(c.seconds(25, 45))
	if !at.Before(c.until) {
		return
	}
	for _, unit := range []ledger.Unit{ledger.Stamps, ledger.Points} {
		wish := c.wish(p, unit, at)
		_, cost := price(wish)
		if p.has[unit] < cost || c.r.IntN(2) == 0 {
			continue
		}
		x.redemption = &redemption{reward: wish, at: at}
		if _, counted := c.stock[wish]; counted {
			c.stock[wish]--
		} else if voided := at.Add(c.seconds(60, 200)); c.r.IntN(40) == 0 && voided.Before(c.until) {
			// The wrong one was tapped.
			x.redemption.voided = voided
			return
		}
		x.redemption.fulfilled = c.handOver(wish, at)
		p.has[unit] -= cost
		delete(p.wants, unit)
		return
	}
}

// award is what a sale earns.
func (s sale) award() int64 {
	t := types[s.kind]
	award, _ := transaction.Type{RuleType: t.RuleType, Rule: t.Rule}.Award(s.cents)
	return award
}

// wish is what a guest saves for: if it is gone, something else.
func (c *counter) wish(p *purse, unit ledger.Unit, at time.Time) int {
	wish, decided := p.wants[unit]
	for !decided || !c.offers(wish, at) {
		wish = c.r.IntN(len(rewards))
		of, _ := price(wish)
		decided = of == unit && c.r.IntN(100) < rewards[wish].share
	}
	p.wants[unit] = wish
	return wish
}

func (c *counter) offers(reward int, at time.Time) bool {
	stock, counted := c.stock[reward]
	from, to := c.onOffer(reward)
	return !at.Before(from) && at.Before(to) && (!counted || stock > 0)
}

// handOver is when a reward is fulfilled; zero: not yet, or somebody forgot to say so.
func (c *counter) handOver(reward int, at time.Time) time.Time {
	done := at.Add(c.seconds(40, 200))
	if days := rewards[reward].takes; days > 0 {
		done = clock(at.AddDate(0, 0, days), forenoon+c.r.IntN(300))
	}
	if !done.Before(c.until) || c.r.IntN(30) == 0 {
		return time.Time{}
	}
	return done
}

func (c *counter) seconds(least, most int) time.Duration {
	return time.Duration(least+c.r.IntN(most-least)) * time.Second
}

func (s *story) count(visits []visit) {
	s.Counts = Counts{Customers: len(s.guests), Sales: len(visits), Sends: len(s.sends)}
	for _, v := range visits {
		if !v.sale.voided.IsZero() {
			s.Voided++
		}
		if v.sale.voucher != nil {
			s.Vouchers++
		}
		if v.sale.redemption != nil {
			s.Redemptions++
		}
	}
}
