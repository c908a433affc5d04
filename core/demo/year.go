package demo

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/sample"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
)

// simulate simulates the year until now, from the evening before it.
func (c *cafe) simulate(ctx context.Context, progress func(done, total int)) {
	for days := firstDay + 1; days >= 0; days-- {
		if days == expiryChosen {
			c.chooseExpiry(ctx, c.ago(days, opens-60))
		}
		if at := c.ago(days, 10); at.Before(c.until) {
			c.expire(ctx, at)
			c.settleLevels(ctx, days, at)
		}
		for _, v := range c.visits(days) {
			c.serve(ctx, v)
		}
		if at := c.ago(days, evening); at.Before(c.until) {
			c.changeOffer(ctx, days, at)
			c.changeEarning(ctx, days, at.Add(15*time.Minute))
			c.sendCoupons(ctx, days, at)
			c.changeGuests(ctx, days, at.Add(5*time.Minute))
			if days == daysTakenOver {
				c.takeOver(ctx, at.Add(10*time.Minute))
			}
		}
		if progress != nil {
			progress(firstDay-days+2, firstDay+2)
		}
	}
	sample.Must(0, c.services.Transactions.Codes().Write(ctx))
}

// visit is a guest's visit, and what they buy.
type visit struct {
	*guest
	at     time.Time
	by     int // of the people
	kind   int // of the types
	cents  int64
	items  []award.Item // what of them is of which category
	source transaction.Source
}

// mostTime is the most that a visit takes, with corrections.
const mostTime = 15 * time.Minute

// visits returns the visits of a day, in order. If the café is open, the last one was minutes ago, so that a new demo
// looks alive.
func (c *cafe) visits(days int) []visit {
	day := c.ago(days, 0)
	business := c.Months[day.Month()-1] * (.74 + .28*c.r.Float64())
	var all []visit
	for _, g := range c.Guests {
		habit := c.Habits[g.Habit]
		chance := habit.Workday
		if day.Weekday() == time.Saturday || day.Weekday() == time.Sunday {
			chance = habit.Weekend
		}
		comes := c.r.Float64() < min(chance*g.Keen*business, .95)
		if (comes || days == g.From) && days <= g.From && days >= g.Until {
			all = append(all, c.order(g, c.visitTime(day, habit), days))
		}
	}
	all = append(all, c.officeOrders(days)...)
	all = slices.DeleteFunc(all, func(v visit) bool { return v.at.After(c.until.Add(-mostTime)) })
	slices.SortFunc(all, func(a, b visit) int { return a.at.Compare(b.at) })
	if justNow := c.until.Add(-3 * time.Minute); days == 0 && !justNow.Before(clock(day, opens)) && justNow.Before(clock(day, lastOrders)) {
		v := c.order(pick(c.r, c.Guests[:regulars]), justNow, days)
		v.by, v.source = orderingApp, transaction.API // for which nothing is corrected or redeemed later
		all = append(all, v)
	}
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

// order returns a visit with a guest's order.
func (c *cafe) order(g *guest, at time.Time, days int) visit {
	habit := c.Habits[g.Habit]
	ordered := pick(c.r, strings.Fields(habit.Orders))
	v := visit{guest: g, at: at, kind: purchase, source: transaction.POS, by: firstCashier + c.r.IntN(2)}
	for _, course := range ordered {
		price := pick(c.r, c.Menu[string(course)])
		v.cents += price
		v.items = withItem(v.items, c.itemOf(course, price, days))
	}
	switch {
	case ordered == "c" && g.HasCard:
		v.kind = coffeeCard
	case c.types[openingWeeks].Active:
		v.kind = openingWeeks
	}
	switch n := c.r.Float64(); {
	case g.id.IsZero(): // customers join at the till
	case n < habit.ByApp:
		v.source, v.by = transaction.API, orderingApp
	case n > .96:
		v.source, v.by = transaction.Panel, owner+c.r.IntN(2) // entered later
	}
	c.sortOut(&v, days)
	return v
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// after returns a random number of seconds after an instant.
func (c *cafe) after(at time.Time, least, most int) time.Time {
	return at.Add(time.Duration(least+c.r.IntN(most-least)) * time.Second)
}

// serve records a visit's sale, perhaps after a wrong one, and at the till the redemptions with it.
func (c *cafe) serve(ctx context.Context, v visit) {
	if v.id.IsZero() {
		v.id = sample.Must(core.Result(c.services.At(v.at).Customers.Upsert(ctx, c.people[v.by], customer.New{
			FirstName: v.First, LastName: v.Last, Phone: v.Phone, Email: core.OrZero(v.Email), Birthday: v.birthday(),
		}, nil))).ID
		v.at, v.has = v.at.Add(40*time.Second), map[ledger.Unit]int64{}
	}
	if v.source != transaction.API && c.r.IntN(60) == 0 {
		wrong := v
		wrong.kind, wrong.cents, wrong.items = purchase, pick(c.r, c.Menu["l"]), nil
		sold, voided := c.sell(ctx, wrong), c.after(v.at, 90, 540)
		// The manager voids it, because the cashier may have recorded other sales since.
		sample.Must(core.Result(c.services.At(voided).Transactions.Void(ctx, c.people[manager], sold.ID, new("Wrong amount"), nil)))
		v.at = c.after(voided, 15, 60)
	}
	var sold transaction.Transaction
	if use := c.voucherFor(v); use != nil {
		v.at = c.after(v.at, 5, 20)
		sold = c.checkOut(ctx, v, use)
	} else {
		sold = c.sell(ctx, v)
	}
	v.has[sold.RuleType] += sold.Award()
	v.bought = v.at
	if v.source == transaction.POS {
		c.exchange(ctx, v)
	}
}

func (c *cafe) sell(ctx context.Context, v visit) transaction.Transaction {
	return sample.Must(core.Result(c.services.At(v.at).Transactions.Record(ctx, c.people[v.by], c.saleOf(v), nil, nil)))
}

// checkOut records a sale at the till with a voucher, whose discount comes off and whose reward is handed over.
func (c *cafe) checkOut(ctx context.Context, v visit, use *voucher) transaction.Transaction {
	sold := c.saleOf(v)
	receipt := sample.Must(core.Result(c.services.At(v.at).Walkins.Complete(ctx, c.people[v.by], "demo", walkin.Sale{
		CustomerID: v.id, LocationID: c.locations[v.by], Sold: &sold, Vouchers: []core.ID{use.id},
	}, nil, nil)))
	use.wanted = false
	use.made.RedemptionsCount++
	return *receipt.Sale
}

// saleOf is a visit's sale, with its receipt.
func (c *cafe) saleOf(v visit) transaction.Sale {
	c.receipts++
	return transaction.Sale{
		CustomerID: v.id, TransactionTypeID: c.types[v.kind].ID, SpendAmountCents: v.cents,
		ExternalReference: new(fmt.Sprintf("R-%06d", c.receipts)), Items: v.items, Source: v.source, LocationID: c.locations[v.by],
	}
}

// voucherFor returns the voucher that a guest uses with a sale at the till, or nil.
func (c *cafe) voucherFor(v visit) *voucher {
	at := v.at.Add(20 * time.Second)
	i := slices.IndexFunc(v.vouchers, func(held *voucher) bool {
		isLeft := held.made.Active && (held.MaxRedemptions == nil || held.made.RedemptionsCount+held.Kept < *held.MaxRedemptions)
		return isLeft && held.wanted && at.Before(held.expires) && v.cents >= held.MinSpend && c.r.IntN(2) == 0
	})
	if v.source != transaction.POS || i < 0 {
		return nil
	}
	return v.vouchers[i]
}

// exchange redeems a reward if the guest wants one that they can afford.
func (c *cafe) exchange(ctx context.Context, v visit) {
	for _, r := range c.Rewards {
		isLeft := r.made.Active && (r.Stock == nil || *r.made.Stock > r.Kept)
		if c.r.IntN(100) >= r.Share || !isLeft {
			continue
		}
		if unit, cost := r.made.Price(); v.has[unit] >= cost {
			c.redeemReward(ctx, v, r)
			return
		}
	}
}

// redeemReward redeems a reward, which is fulfilled unless the guest changes their mind.
func (c *cafe) redeemReward(ctx context.Context, v visit, wanted *cafeReward) {
	at := c.after(v.at, 25, 45)
	r := sample.Must(core.Result(c.services.At(at).Rewards.Redeem(ctx, c.people[v.by], reward.RedeemRequest{
		CustomerID: v.id, RewardID: wanted.made.ID,
	}, nil, nil)))
	if wanted.Stock == nil && c.r.IntN(20) == 0 {
		sample.Must(c.services.At(c.after(at, 60, 200)).Rewards.Void(ctx, c.people[manager], r.ID, "Changed their mind"))
		return
	}
	if wanted.Stock != nil {
		*wanted.made.Stock--
	}
	unit, cost := wanted.made.Price()
	v.has[unit] -= cost
	done := c.after(at, 40, 200)
	if wanted.Takes > 0 {
		done = clock(at.AddDate(0, 0, wanted.Takes), forenoon+c.r.Float64()*300)
	}
	c.fulfil(ctx, v, r.ID, done)
}

// fulfil fulfils a redemption. Future ones and some of the latest stay pending.
func (c *cafe) fulfil(ctx context.Context, v visit, id core.ID, at time.Time) {
	isPending := at.After(c.ago(14, 0)) && c.r.IntN(2) == 0
	if !isPending && at.Before(c.until) {
		sample.Must(core.Result(c.services.At(at).Rewards.Fulfil(ctx, c.people[v.by], id, nil)))
	}
}

// daysDescribed is how many days before the last the manager writes down what the staff know about guests.
const daysDescribed = 40

// changeGuests makes some customers unsubscribe or become inactive. Sometimes the manager adds points after a mishap.
func (c *cafe) changeGuests(ctx context.Context, days int, at time.Time) {
	by, customers := c.people[manager], c.services.At(at).Customers
	for _, g := range c.Guests {
		switch {
		case g.id.IsZero() || g.gone:
		case days > 0 && days == g.Until && c.r.IntN(5) == 0:
			g.gone = true
			sample.Must(customers.Edit(ctx, by, g.id, customer.Edit{Status: core.Set(string(customer.Inactive))}))
		case g.Email != nil && c.r.IntN(6_000) == 0:
			sample.Must(customers.Unsubscribe(ctx, by, g.id))
		case c.r.IntN(6_000) == 0:
			sample.Must(core.Result(customers.Adjust(ctx, by, g.id, customer.Adjustment{
				Unit: string(ledger.Points), Amount: 20, Reason: pick(c.r, c.Mishaps),
			}, nil)))
		}
		if days == daysDescribed {
			c.describe(ctx, customers, g)
		}
	}
}

// describe notes what the staff know about a guest.
func (c *cafe) describe(ctx context.Context, customers *customer.Service, g *guest) {
	by := c.people[manager]
	if g.Note != "" {
		sample.Must(0, customers.SetNote(ctx, by, g.id, g.Note))
	}
	for _, tag := range g.Tags {
		sample.Must(0, customers.AddTag(ctx, by, g.id, tag))
	}
}

// sendCoupons sends the coupons of an evening.
func (c *cafe) sendCoupons(ctx context.Context, days int, at time.Time) {
	for _, n := range c.Coupons {
		for _, x := range n.Sends {
			if x.Monthly && at.Day() == 1 || !x.Monthly && x.Day == days {
				c.send(ctx, n, c.people[x.By], x.To, at)
			}
		}
	}
}

// chosen are the guests whom the café chooses by hand. Other sends are to the segment that they name.
var chosen = map[string]func(g *guest, at time.Time) bool{
	"lapsed":      func(g *guest, at time.Time) bool { return g.bought.Before(at.AddDate(0, 0, -30)) },
	"celebrating": func(g *guest, at time.Time) bool { return g.Birthday == at.Month() },
}

// send sends a coupon and creates its vouchers.
func (c *cafe) send(ctx context.Context, n *cafeCoupon, by core.Actor, to string, at time.Time) {
	s := coupon.Send{Segment: coupon.Segment(to), FormKey: fmt.Sprintf("demo %s %s", n.made.ID, at.Format(time.DateOnly))}
	if isChosen := chosen[to]; isChosen != nil {
		s.Segment = coupon.Manual
		for _, g := range c.Guests {
			if !g.id.IsZero() && isChosen(g, at) {
				s.Customers = append(s.Customers, g.id.String())
			}
		}
		if len(s.Customers) == 0 {
			return
		}
	}
	sent := sample.Must(c.services.At(at).Coupons.Send(ctx, by, n.made.ID, s))
	later := c.services.At(at.Add(2 * time.Second)).Coupons // after the usual delay of a job
	sample.Must(later.Evaluate(ctx, by, sent.ID))
	sample.Must(0, later.MarkDelivered(ctx, by, sent.ID)) // no e-mails are sent
	vouchers := map[core.ID]*voucher{}
	for _, v := range sample.Must(c.services.Coupons.ListSent(ctx, by, sent.ID, core.Page{Size: len(c.Guests)})).Items {
		vouchers[v.CustomerID] = &voucher{cafeCoupon: n, id: v.ID, expires: *cmp.Or(v.ExpiresAt, &c.until)}
	}
	for _, g := range c.Guests {
		if v := vouchers[g.id]; v != nil {
			v.wanted = c.r.Float64() < n.Keen
			g.vouchers = append(g.vouchers, v)
		}
	}
}
