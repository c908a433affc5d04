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
func open(ctx context.Context, d *db.DB) (*cafe, error) {
	jobs, err := job.New(d, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	zone, err := core.Zone(timeZone)
	if err != nil {
		return nil, err
	}
	c := &cafe{db: d, jobs: jobs, until: d.Now().In(zone), locations: map[int]int64{}}
	c.service = coupon.NewService(d, jobs, nil, link.Maker{}, slog.New(slog.DiscardHandler))
	year, month, day := c.until.Date()
	c.r = rand.New(rand.NewPCG(uint64(year*10_000+int(month)*100+day), 1))

	by := system(core.Tenant{})
	c.tenant, err = db.Platform(ctx, c.db.At(c.opened()), by, func(tx *db.Tx) (core.Tenant, error) {
		t, err := tenant.Add(ctx, tx, by, tenant.New{
			Name: new("Café Åro"), Slug: new(Slug), Email: &team[owner].Email, PlanID: new(int64(1)),
			BillingCycle: new("monthly"), PaymentMethod: new("manual"),
			TimeZone: new(timeZone), Currency: new("EUR"), Country: new("SE"),
		})
		if err != nil {
			return t, err
		}
		return t, tenant.FinishSetup(tx, t.ID)
	})
	return c, err
}

// ago is a minute of the day so many days before today.
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
func (c *cafe) hire(ctx context.Context, password string) ([]staff.Person, error) {
	by := system(c.tenant)
	people, err := db.InTenant(ctx, c.db.At(c.opened()), by, func(tx *db.Tx) ([]staff.Person, error) {
		var people []staff.Person
		for _, n := range team {
			n.Password = password
			p, err := staff.Add(ctx, tx, by, n)
			if err != nil {
				return nil, err
			}
			people = append(people, p)
		}
		return people, nil
	})
	if err != nil {
		return nil, err
	}
	for _, p := range people {
		c.people = append(c.people, actor(c.tenant, p))
	}
	c.people = append(c.people, core.Actor{Kind: core.ByToken, Name: "Ordering app", Tenant: c.tenant})
	for _, cashier := range []int{firstCashier, secondCashier} {
		name := locations[cashier]
		l, err := location.NewService(c.db.At(c.opened())).Add(ctx, c.people[owner], location.New{Name: &name})
		if err != nil {
			return nil, err
		}
		c.locations[cashier] = l.ID
	}
	return people, nil
}

func (c *cafe) addTypes(ctx context.Context) error {
	for _, n := range types {
		t, err := transaction.NewService(c.db.At(c.opened())).AddType(ctx, c.people[owner], n)
		if err != nil {
			return err
		}
		c.types = append(c.types, t.ID)
	}
	return nil
}

func (c *cafe) addRewards(ctx context.Context) error {
	for i, n := range rewards {
		from, _ := c.onOffer(i)
		r, err := reward.NewService(c.db.At(from)).Add(ctx, c.people[owner], reward.New{
			Name: &n.name, Description: &n.description, PointsCost: optional(n.points), StampsCost: optional(n.stamps), Stock: optional(n.stock),
		})
		if err != nil {
			return err
		}
		c.rewards = append(c.rewards, r)
		c.stock = append(c.stock, n.stock)
	}
	return nil
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

func (c *cafe) addCoupons(ctx context.Context) error {
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
		made, err := c.service.At(c.ago(n.made, forenoon)).Add(ctx, c.people[owner], in)
		if err != nil {
			return err
		}
		c.coupons = append(c.coupons, &madeCoupon{newCoupon: n, id: made.ID})
	}
	return nil
}

// tidyUp ends what is no longer on offer, as of when that was, and lets a reward and a coupon run
// short. It comes last because a voucher of a coupon that ended can't be redeemed, whatever the
// clock says.
func (c *cafe) tidyUp(ctx context.Context) error {
	by := c.people[manager]
	ended := transaction.NewService(c.db.At(c.ago(openingWeeksEnd, evening)))
	if _, err := ended.SetTypeActive(ctx, by, c.types[openingWeeks], false); err != nil {
		return err
	}
	for i, r := range rewards {
		if r.withdrawn == 0 {
			continue
		}
		_, to := c.onOffer(i)
		if _, err := reward.NewService(c.db.At(to)).SetActive(ctx, by, c.rewards[i].ID, false); err != nil {
			return err
		}
	}
	for _, n := range c.coupons {
		if n.off == 0 {
			continue
		}
		if _, err := c.service.At(c.ago(n.off, forenoon)).SetActive(ctx, by, n.id, false); err != nil {
			return err
		}
	}
	yesterday := c.ago(1, evening)
	bun := c.coupons[seasonBun]
	few := coupon.Edit{MaxRedemptions: core.Set(bun.used/10*10 + 10)}
	if _, err := c.service.At(yesterday).Edit(ctx, by, bun.id, few); err != nil {
		return err
	}
	shelf := reward.NewService(c.db.At(yesterday))
	_, err := shelf.SetStock(ctx, by, c.rewards[beanReward].ID, reward.StockCount{Stock: new(int64(3)), Seen: &c.stock[beanReward]})
	return err
}
