package demo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/fixture"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
)

// visit is a guest's visit.
type visit struct {
	*guest
	at time.Time
}

// simulate simulates the year until now.
func (c *cafe) simulate(ctx context.Context, progress func(done, total int)) {
	c.addGuests()
	for days := daysOpen; days >= 0; days-- {
		for _, v := range c.visits(days) {
			c.serve(ctx, v)
		}
		if at := c.ago(days, evening); at.Before(c.until) {
			c.closeDay(ctx, days, at)
		}
		if progress != nil {
			progress(daysOpen-days+1, daysOpen+1)
		}
	}
}

// visits returns the visits of a day, in order. If the café is open, the last one was minutes ago, so that a new demo
// looks alive.
func (c *cafe) visits(days int) []visit {
	day := c.ago(days, 0)
	business := c.Months[day.Month()-1] * (.74 + .28*c.r.Float64())
	var all []visit
	for _, g := range c.guests {
		chance := g.habit.Workday
		if day.Weekday() == time.Saturday || day.Weekday() == time.Sunday {
			chance = g.habit.Weekend
		}
		isFirst := days == g.from
		comes := c.r.Float64() < min(chance*g.keen*business, .95)
		if (comes || isFirst) && days <= g.from && days >= g.until {
			all = append(all, visit{g, c.visitTime(day, g.habit)})
		}
	}
	if justNow := c.until.Add(-3 * time.Minute); days == 0 && !justNow.Before(clock(day, opens)) && justNow.Before(clock(day, lastOrders)) {
		all = append(all, visit{c.guests[c.r.IntN(len(c.Regulars))], justNow})
	}
	all = slices.DeleteFunc(all, func(v visit) bool { return !v.at.Before(c.until) })
	slices.SortFunc(all, func(a, b visit) int { return a.at.Compare(b.at) })
	return all
}

// visitTime returns when a guest with a habit comes on a day.
func (c *cafe) visitTime(day time.Time, h habit) time.Time {
	for {
		if minute := h.Around + h.Spread*c.r.NormFloat64(); minute >= opens && minute < lastOrders {
			return clock(day, minute)
		}
	}
}

// after returns a random number of seconds after an instant.
func (c *cafe) after(at time.Time, least, most int) time.Time {
	return at.Add(time.Duration(least+c.r.IntN(most-least)) * time.Second)
}

// sale is what a guest buys.
type sale struct {
	by     int // of the people
	kind   int // of the types
	cents  int64
	source transaction.Source
}

// serve records a visit's sale, perhaps after a wrong one, and at the till the redemptions with it.
func (c *cafe) serve(ctx context.Context, v visit) {
	s := c.order(v)
	if v.id.IsZero() {
		v.id = fixture.Must(customer.NewService(c.db.At(v.at)).Upsert(ctx, c.people[s.by], customer.New{
			FirstName: &v.first, LastName: &v.last, Phone: &v.phone, Email: v.email,
		})).ID
		v.at = v.at.Add(40 * time.Second)
	}
	if s.source != transaction.API && c.r.IntN(60) == 0 {
		if voided := c.after(v.at, 90, 540); voided.Before(c.until) {
			wrong := c.sell(ctx, v, sale{by: s.by, kind: c.purchase(v.at), cents: pick(c.r, c.Menu["l"]), source: s.source})
			// The manager voids it, because the cashier may have recorded other sales since.
			fixture.Must(c.sales(voided).Void(ctx, c.people[manager], wrong.ID, new("Wrong amount")))
			v.at = c.after(voided, 15, 60)
		}
	}
	if !v.at.Before(c.until) {
		return
	}
	atTill := s.source == transaction.POS
	var use *voucher
	if atTill {
		use = c.voucherFor(v, &s)
	}
	sold := c.sell(ctx, v, s)
	v.has[sold.RuleType] += sold.Award()
	v.bought = v.at
	if use != nil {
		c.redeem(ctx, v, s, use)
	}
	if atTill {
		c.exchange(ctx, v, s)
	}
}

// order returns a guest's order as a sale.
func (c *cafe) order(v visit) sale {
	ordered := pick(c.r, v.habit.Orders)
	s := sale{kind: c.purchase(v.at), source: transaction.POS, by: firstCashier + c.r.IntN(2)}
	for _, course := range ordered {
		s.cents += pick(c.r, c.Menu[string(course)])
	}
	if ordered == "c" && v.hasCard {
		s.kind = coffeeCard
	}
	switch n := c.r.Float64(); {
	case v.id.IsZero(): // customers join at the till
	case n < v.habit.ByApp:
		s.source, s.by = transaction.API, orderingApp
	case n > .96:
		s.source, s.by = transaction.Panel, owner+c.r.IntN(2) // entered later
	}
	return s
}

// purchase returns the type of sales for points at an instant.
func (c *cafe) purchase(at time.Time) int {
	if at.Before(c.ago(openingWeeksEnd, 0)) {
		return openingWeeks
	}
	return purchase
}

func (c *cafe) sell(ctx context.Context, v visit, s sale) transaction.Transaction {
	c.receipts++
	n := transaction.New{
		CustomerID: new(v.id.String()), TransactionTypeID: &c.typeIDs[s.kind], SpendAmountCents: &s.cents,
		ExternalReference: new(fmt.Sprintf("R-%06d", c.receipts)), Source: s.source,
	}
	if at, ok := c.locations[s.by]; ok {
		n.LocationID = &at
	}
	return fixture.Must(c.sales(v.at).Record(ctx, c.people[s.by], n))
}

// voucherFor returns the voucher that a guest uses with a sale, or nil, and reduces the amount by its benefit.
func (c *cafe) voucherFor(v visit, s *sale) *voucher {
	at := v.at.Add(20 * time.Second)
	for _, held := range v.vouchers {
		off := held.Off > 0 && !at.Before(c.ago(held.Off, forenoon))
		if off || !held.wanted || !at.Before(held.expires) || !at.Before(c.until) || s.cents < held.MinSpend || c.r.IntN(2) == 0 {
			continue
		}
		switch coupon.BenefitType(*held.BenefitType) {
		case coupon.Percent:
			s.cents -= s.cents * *held.BenefitValue / 100
		case coupon.Amount:
			s.cents -= *held.BenefitValue
		case coupon.Points, coupon.Stamps, coupon.Reward:
		}
		return held
	}
	return nil
}

// redeem redeems a voucher and fulfils its reward.
func (c *cafe) redeem(ctx context.Context, v visit, s sale, use *voucher) {
	at := c.after(v.at, 5, 20)
	redeemed := fixture.Must(c.service.At(at).Redeem(ctx, c.people[s.by], use.id))
	use.wanted = false
	use.redeemed++
	if redeemed.RedemptionID != nil {
		c.fulfil(ctx, s, *redeemed.RedemptionID, c.after(at, 40, 200))
	}
}

// exchange redeems a random reward if the guest can afford it.
func (c *cafe) exchange(ctx context.Context, v visit, s sale) {
	at := c.after(v.at, 25, 45)
	wanted := c.Rewards[weighted(c.r.IntN(100), c.Rewards, func(r *cafeReward) int { return r.Share })]
	unit, cost := wanted.made.Price()
	if v.has[unit] < cost || wanted.Stock != nil && wanted.left == 0 || at.Before(wanted.from) || !at.Before(wanted.to) {
		return
	}
	r := fixture.Must(c.redemptions(at).Redeem(ctx, c.people[s.by], reward.RedeemRequest{
		CustomerID: new(v.id.String()), RewardID: new(wanted.made.ID.String()),
	}))
	if voided := c.after(at, 60, 200); wanted.Stock == nil && c.r.IntN(40) == 0 && voided.Before(c.until) {
		fixture.Must(c.redemptions(voided).Void(ctx, c.people[manager], r.ID, new("Changed their mind")))
		return
	}
	wanted.left--
	v.has[unit] -= cost
	done := c.after(at, 40, 200)
	if wanted.Takes > 0 {
		done = clock(at.AddDate(0, 0, wanted.Takes), forenoon+c.r.Float64()*300)
	}
	c.fulfil(ctx, s, r.ID, done)
}

// fulfil fulfils a redemption. Future ones and some of the latest stay pending.
func (c *cafe) fulfil(ctx context.Context, s sale, id core.ID, at time.Time) {
	isPending := at.After(c.ago(14, 0)) && c.r.IntN(2) == 0
	if !isPending && at.Before(c.until) {
		fixture.Must(c.redemptions(at).Fulfil(ctx, c.people[s.by], id))
	}
}

// closeDay is the evening: coupons are sent, some customers unsubscribe or become inactive, and sometimes the manager
// adds points after a mishap.
func (c *cafe) closeDay(ctx context.Context, days int, at time.Time) {
	for _, n := range c.Coupons {
		for _, x := range n.Sends {
			if x.Monthly && at.Day() == 1 || !x.Monthly && x.Day == days {
				c.send(ctx, n, x, at)
			}
		}
	}
	by, later := c.people[manager], customer.NewService(c.db.At(at.Add(5*time.Minute)))
	if days == daysDescribed {
		c.describe(ctx, later, by)
	}
	for _, g := range c.guests {
		switch {
		case g.id.IsZero() || g.gone:
		case days > 0 && days == g.until && c.r.IntN(5) == 0:
			g.gone = true
			fixture.Must(later.Edit(ctx, by, g.id, customer.Edit{Status: core.Set(string(customer.Inactive))}))
		case g.email != nil && c.r.IntN(10_000) == 0:
			fixture.Must(later.Unsubscribe(ctx, by, g.id))
		case c.r.IntN(6_000) == 0:
			fixture.Must(later.Adjust(ctx, by, g.id, customer.Adjustment{
				Unit: new(string(ledger.Points)), Amount: new(int64(20)), Reason: new(pick(c.r, c.Mishaps)),
			}))
		}
	}
}

// daysDescribed is how many days before the last the manager writes down who the regulars are.
const daysDescribed = 40

// describe notes what the staff know about the regulars.
func (c *cafe) describe(ctx context.Context, customers *customer.Service, by core.Actor) {
	for i, known := range c.Regulars {
		id := c.guests[i].id
		if known.Note != "" {
			fixture.Must(0, customers.SetNote(ctx, by, id, &known.Note))
		}
		for _, tag := range known.Tags {
			fixture.Must(0, customers.AddTag(ctx, by, id, &tag))
		}
	}
}

// send sends a coupon and creates its vouchers.
func (c *cafe) send(ctx context.Context, n *cafeCoupon, x send, at time.Time) {
	s := coupon.Send{Segment: coupon.Segment(x.To), FormKey: fmt.Sprintf("demo %s %s", n.id, at.Format(time.DateOnly))}
	if x.To == lapsed || x.To == celebrating {
		s.Segment = coupon.Manual
		for _, g := range c.guests {
			isLapsed, celebrates := g.bought.Before(at.AddDate(0, 0, -30)), g.birthday == at.Month()
			if !g.id.IsZero() && (x.To == lapsed && isLapsed || x.To == celebrating && celebrates) {
				s.Customers = append(s.Customers, g.id.String())
			}
		}
		if len(s.Customers) == 0 {
			return
		}
	}
	by := c.people[owner]
	if x.ByManager {
		by = c.people[manager]
	}
	sent := fixture.Must(c.service.At(at).Send(ctx, by, n.id, s))
	fixture.CreateVouchers(ctx, c.service.At(at.Add(2*time.Second)), by, sent.ID) // after the usual delay of a job
	vouchers := map[core.ID]coupon.SentVoucher{}
	for _, v := range fixture.Must(c.service.ListSent(ctx, by, sent.ID, core.Page{Size: guestCount})).Items {
		vouchers[v.CustomerID] = v
	}
	for _, g := range c.guests {
		if got, ok := vouchers[g.id]; ok {
			v := &voucher{cafeCoupon: n, id: got.ID, expires: c.until, wanted: c.r.Float64() < n.Keen}
			if got.ExpiresAt != nil {
				v.expires = *got.ExpiresAt
			}
			g.vouchers = append(g.vouchers, v)
		}
	}
}
