package demo

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
)

// cafe is the café while its year goes by.
type cafe struct {
	db      *db.DB
	jobs    *job.Queue
	service *coupon.Service
	r       *rand.Rand
	until   time.Time // now, in the café's zone
	tenant  core.Tenant

	people    []core.Actor // as in team
	locations map[int]int64
	types     []int64 // as in types
	rewards   []reward.Reward
	coupons   []*madeCoupon
	guests    []*guest
	stock     []int64 // of rewards; counts below zero where it is unlimited
	receipts  int
}

// madeCoupon is a coupon and how often it was redeemed.
type madeCoupon struct {
	newCoupon
	id   core.ID
	used int64
}

const timeZone = "Europe/Stockholm"

// open makes the tenant.
func open(ctx context.Context, d *db.DB) *cafe {
	jobs := must(job.New(d, slog.New(slog.DiscardHandler)))
	c := &cafe{db: d, jobs: jobs, until: d.Now().In(must(core.Zone(timeZone))), locations: map[int]int64{}}
	c.service = coupon.NewService(d, jobs, nil, link.Maker{}, slog.New(slog.DiscardHandler))
	year, month, day := c.until.Date()
	c.r = rand.New(rand.NewPCG(uint64(year*10_000+int(month)*100+day), 1))

	by := system(core.Tenant{})
	c.tenant = must(db.Platform(ctx, d.At(c.opened()), by, func(tx *db.Tx) (core.Tenant, error) {
		t, err := tenant.Add(ctx, tx, by, tenant.New{
			Name: new("Café Åro"), Slug: new(Slug), Email: &team[owner].Email, PlanID: new(int64(1)),
			BillingCycle: new("monthly"), PaymentMethod: new("manual"),
			TimeZone: new(timeZone), Currency: new("EUR"), Country: new("SE"),
		})
		if err != nil {
			return t, err
		}
		return t, tenant.FinishSetup(tx, t.ID)
	}))
	return c
}

// ago returns a minute of the day that was that number of days before today.
func (c *cafe) ago(days, minute int) time.Time {
	return clock(c.until.AddDate(0, 0, -days), float64(minute))
}

// opened is when the café became a tenant: the evening before its first day.
func (c *cafe) opened() time.Time { return c.ago(daysOpen+1, evening) }

// clock is a minute of a day by the clock on the wall: not every midnight is followed by 24 hours.
func clock(day time.Time, minute float64) time.Time {
	year, month, date := day.Date()
	return time.Date(year, month, date, 0, 0, 0, int(minute*60_000)*1e6, day.Location())
}

// hire makes the team and the locations.
func (c *cafe) hire(ctx context.Context, password string) (people []staff.Person) {
	by, opened := system(c.tenant), c.db.At(c.opened())
	for _, n := range team {
		n.Password = password
		p := must(db.InTenant(ctx, opened, by, func(tx *db.Tx) (staff.Person, error) { return staff.Add(ctx, tx, by, n) }))
		people = append(people, p)
		c.people = append(c.people, actor(c.tenant, p))
	}
	c.people = append(c.people, core.Actor{Kind: core.ByToken, Name: "Ordering app", Tenant: c.tenant})
	for _, cashier := range []int{firstCashier, secondCashier} {
		name := locations[cashier]
		c.locations[cashier] = must(location.NewService(opened).Add(ctx, c.people[owner], location.New{Name: &name})).ID
	}
	return people
}

func (c *cafe) addTypes(ctx context.Context) {
	for _, n := range types {
		t := must(transaction.NewService(c.db.At(c.opened())).AddType(ctx, c.people[owner], n))
		c.types = append(c.types, t.ID)
	}
}

func (c *cafe) addRewards(ctx context.Context) {
	for i, n := range rewards {
		from, _ := c.onOffer(i)
		c.rewards = append(c.rewards, must(reward.NewService(c.db.At(from)).Add(ctx, c.people[owner], reward.New{
			Name: &n.name, Description: &n.description, PointsCost: optional(n.points), StampsCost: optional(n.stamps), Stock: optional(n.stock),
		})))
		c.stock = append(c.stock, n.stock)
	}
}

// optional is nil for 0.
func optional(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

// onOffer is from when to when guests can ask for a reward.
func (c *cafe) onOffer(reward int) (from, to time.Time) {
	from, to = c.opened().Add(time.Duration(reward)*time.Minute), c.until
	if days := rewards[reward].since; days > 0 {
		from = c.ago(days, forenoon)
	}
	if days := rewards[reward].withdrawn; days > 0 {
		to = c.ago(days, evening)
	}
	return from, to
}

func (c *cafe) addCoupons(ctx context.Context) {
	for _, n := range newCoupons {
		in := coupon.New{
			Name: &n.name, Description: &n.description, BenefitType: new(string(n.benefit)), BenefitValue: optional(n.value),
			VoucherValidDays: optional(n.validDays),
		}
		if n.benefit == coupon.Reward {
			in.BenefitRewardID = new(c.rewards[bunReward].ID.String())
		}
		if n.begins != 0 {
			in.StartsAt = new(c.ago(n.begins, 0))
		}
		if n.ends != 0 {
			in.ExpiresAt = new(c.ago(n.ends, 0))
		}
		made := must(c.service.At(c.ago(n.made, forenoon)).Add(ctx, c.people[owner], in))
		c.coupons = append(c.coupons, &madeCoupon{newCoupon: n, id: made.ID})
	}
}

// tidyUp ends what is no longer on offer, as of when that was, and lets a reward and a coupon run
// short. It comes last because a voucher of a coupon that ended can't be redeemed, whatever the
// clock says.
func (c *cafe) tidyUp(ctx context.Context) {
	by := c.people[manager]
	must(transaction.NewService(c.db.At(c.ago(openingWeeksEnd, evening))).SetTypeActive(ctx, by, c.types[openingWeeks], false))
	for i, r := range rewards {
		if _, to := c.onOffer(i); r.withdrawn > 0 {
			must(reward.NewService(c.db.At(to)).SetActive(ctx, by, c.rewards[i].ID, false))
		}
	}
	for _, n := range c.coupons {
		if n.off > 0 {
			must(c.service.At(c.ago(n.off, forenoon)).SetActive(ctx, by, n.id, false))
		}
	}
	yesterday, bun := c.ago(1, evening), c.coupons[seasonBun]
	must(c.service.At(yesterday).Edit(ctx, by, bun.id, coupon.Edit{MaxRedemptions: core.Set(bun.used/10*10 + 10)}))
	counted := reward.StockCount{Stock: new(int64(3)), Seen: &c.stock[beanReward]}
	must(reward.NewService(c.db.At(yesterday)).SetStock(ctx, by, c.rewards[beanReward].ID, counted))
}
