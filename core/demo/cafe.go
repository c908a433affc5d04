package demo

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/fixture"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
)

// cafe is the café during its year.
type cafe struct {
	db      *db.DB
	jobs    *job.Queue
	service *coupon.Service
	r       *rand.Rand
	until   time.Time // now, in the café's zone
	tenant  core.Tenant

	people    []core.Actor // in the order of team
	locations map[int]int64
	types     []int64 // in the order of types
	rewards   []cafeReward
	coupons   []cafeCoupon
	guests    []*guest
	receipts  int
}

const timeZone = "Europe/Stockholm"

// open creates the tenant.
func open(ctx context.Context, d *db.DB) *cafe {
	jobs := fixture.Must(job.New(d, slog.New(slog.DiscardHandler)))
	c := &cafe{
		db: d, jobs: jobs, until: d.Now().In(fixture.Must(core.Zone(timeZone))), locations: map[int]int64{},
		rewards: slices.Clone(rewards), coupons: slices.Clone(coupons),
	}
	c.service = coupon.NewService(d, jobs, nil, link.Maker{}, slog.New(slog.DiscardHandler))
	year, month, day := c.until.Date()
	c.r = rand.New(rand.NewPCG(uint64(year*10_000+int(month)*100+day), 1))
	c.tenant = fixture.AddTenant(ctx, d.At(c.opened()), system(core.Tenant{}), tenant.New{
		Name: new("Café Åro"), Slug: new(Slug), Email: &team[owner].Email, PlanID: new(int64(1)),
		BillingCycle: new("monthly"), PaymentMethod: new("manual"),
		TimeZone: new(timeZone), Currency: new("EUR"), Country: new("SE"),
	})
	return c
}

// ago returns a minute of the day that is a number of days before today.
func (c *cafe) ago(days, minute int) time.Time {
	return clock(c.until.AddDate(0, 0, -days), float64(minute))
}

// opened returns when the café became a tenant: the evening before its first day.
func (c *cafe) opened() time.Time { return c.ago(daysOpen+1, evening) }

// clock returns a minute of a day in local time, because some days don't have 24 hours.
func clock(day time.Time, minute float64) time.Time {
	year, month, date := day.Date()
	return time.Date(year, month, date, 0, 0, 0, int(minute*60_000)*1e6, day.Location())
}

// hire adds the team and the locations.
func (c *cafe) hire(ctx context.Context, password string) (people []staff.Person) {
	opened := c.db.At(c.opened())
	for _, n := range team {
		n.Password = password
		p := fixture.AddPerson(ctx, opened, system(c.tenant), n)
		people = append(people, p)
		c.people = append(c.people, fixture.Actor(c.tenant, p))
	}
	c.people = append(c.people, core.Actor{Kind: core.ByToken, Name: "Ordering app", Tenant: c.tenant})
	for _, cashier := range []int{firstCashier, secondCashier} {
		name := locations[cashier]
		c.locations[cashier] = fixture.Must(location.NewService(opened).Add(ctx, c.people[owner], location.New{Name: &name})).ID
	}
	return people
}

func (c *cafe) sales(at time.Time) *transaction.Service { return transaction.NewService(c.db.At(at)) }

func (c *cafe) redemptions(at time.Time) *reward.Service { return reward.NewService(c.db.At(at)) }

func (c *cafe) addTypes(ctx context.Context) {
	for _, n := range types {
		c.types = append(c.types, fixture.Must(c.sales(c.opened()).AddType(ctx, c.people[owner], n)).ID)
	}
}

func (c *cafe) addRewards(ctx context.Context) {
	for i := range c.rewards {
		r := &c.rewards[i]
		r.from, r.to, r.left = c.opened().Add(time.Duration(i)*time.Minute), c.until, r.stock
		if r.since > 0 {
			r.from = c.ago(r.since, forenoon)
		}
		if r.withdrawn > 0 {
			r.to = c.ago(r.withdrawn, evening)
		}
		var picture *[]byte
		if r.picture != nil {
			picture = new(drawn(r.picture))
		}
		r.Reward = fixture.Must(c.redemptions(r.from).Add(ctx, c.people[owner], reward.New{
			Picture: picture,
			Name:    &r.name, Description: &r.description, PointsCost: optional(r.points), StampsCost: optional(r.stamps), Stock: optional(r.stock), CostCents: &r.cost,
		}))
	}
}

// optional returns nil for 0.
func optional(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

func (c *cafe) addCoupons(ctx context.Context) {
	for i, n := range c.coupons {
		in := coupon.New{
			Name: &n.name, Description: &n.description, BenefitType: new(string(n.benefit)), BenefitValue: optional(n.value),
			VoucherValidDays: optional(n.validDays),
		}
		if n.benefit == coupon.Reward {
			in.BenefitRewardID = new(c.rewards[bunReward].ID.String())
		}
		if n.starts != 0 {
			in.StartsAt = new(c.ago(n.starts, 0))
		}
		if n.expires != 0 {
			in.ExpiresAt = new(c.ago(n.expires, 0))
		}
		c.coupons[i].id = fixture.Must(c.service.At(c.ago(n.created, forenoon)).Add(ctx, c.people[owner], in)).ID
	}
}

// tidyUp deactivates what is no longer offered, and lets a reward and a coupon run low. It comes last because a
// voucher of an inactive coupon can't be redeemed, whatever the clock.
func (c *cafe) tidyUp(ctx context.Context) {
	by, yesterday := c.people[manager], c.ago(1, evening)
	fixture.Must(c.sales(c.ago(openingWeeksEnd, evening)).SetTypeActive(ctx, by, c.types[openingWeeks], false))
	for _, r := range c.rewards {
		if r.withdrawn > 0 {
			fixture.Must(c.redemptions(r.to).SetActive(ctx, by, r.ID, false))
		}
	}
	for _, n := range c.coupons {
		if n.off > 0 {
			fixture.Must(c.service.At(c.ago(n.off, forenoon)).SetActive(ctx, by, n.id, false))
		}
	}
	bun, beans := c.coupons[seasonBun], c.rewards[beanReward]
	fixture.Must(c.service.At(yesterday).Edit(ctx, by, bun.id, coupon.Edit{MaxRedemptions: core.Set(bun.redeemed/10*10 + 10)}))
	fixture.Must(c.redemptions(yesterday).SetStock(ctx, by, beans.ID, reward.StockCount{Stock: new(int64(3)), Seen: &beans.left}))
}

const (
	paidPlanFor = 95 * 24 * time.Hour // since the café left the free plan
	paidAfter   = 9 * 24 * time.Hour  // from an invoice to its payment
)

// addInvoices moves the café to a paid plan some months ago and bills it since then. All invoices but the latest are
// paid.
func (c *cafe) addInvoices(ctx context.Context) {
	by, b := system(core.Tenant{}), billing.NewService(c.db, c.jobs, nil, slog.New(slog.DiscardHandler))
	issuer := billing.Party{
		Name: "Loyalty Platform AB", Address: "Kungsgatan 12\n111 35 Stockholm", TaxNumber: "SE559900112201", Email: "billing@platform.example",
	}
	fixture.Must(0, b.NameIssuer(ctx, by, issuer, "Pay to SE45 5000 0000 0583 9825 7466. Please quote the invoice number."))
	moved := c.until.Add(-paidPlanFor)
	fixture.Must(tenant.NewService(c.db.At(moved), nil).Edit(ctx, by, c.tenant.ID, tenant.Edit{PlanID: core.Set(findOrAddPlan(ctx, b))}))
	invoices := fixture.Must(b.BillSince(ctx, by, c.tenant.ID, moved))
	for n, i := range invoices {
		fixture.Must(b.At(i.CreatedAt).Issue(ctx, by, i.ID))
		paid := i.CreatedAt.Add(paidAfter)
		if n == len(invoices)-1 || paid.After(c.until) {
			continue
		}
		year, month, day := paid.In(i.Zone()).Date()
		fixture.Must(b.At(paid).MarkPaid(ctx, by, i.ID, time.Date(year, month, day, 0, 0, 0, 0, time.UTC)))
	}
}

func findOrAddPlan(ctx context.Context, b *billing.Service) int64 {
	by := system(core.Tenant{})
	const name = "Growth"
	plans := fixture.Must(b.Plans(ctx, by))
	if i := slices.IndexFunc(plans, func(p billing.Plan) bool { return p.Name == name }); i >= 0 {
		return plans[i].ID
	}
	return fixture.Must(b.CreatePlan(ctx, by, billing.PlanInput{
		Name: new(name), MonthlyCents: new(int64(4900)), YearlyCents: new(int64(49000)), Currency: new("EUR"),
		CustomersLimit: new(int64(2000)), StaffLimit: new(int64(10)), SendsLimit: new(int64(20)),
	})).ID
}
