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
	facts
	db      *db.DB
	jobs    *job.Queue
	service *coupon.Service
	r       *rand.Rand
	until   time.Time // now, in the café's zone
	tenant  core.Tenant

	people    []core.Actor // in the order of the team
	locations map[int]int64
	typeIDs   []int64 // in the order of the facts
	guests    []*guest
	receipts  int
}

// open creates the tenant.
func open(ctx context.Context, d *db.DB) *cafe {
	jobs := fixture.Must(job.New(d, slog.New(slog.DiscardHandler)))
	c := &cafe{facts: readFacts(), db: d, jobs: jobs, locations: map[int]int64{}}
	c.until = d.Now().In(fixture.Must(core.Zone(*c.Business.TimeZone)))
	c.service = coupon.NewService(d, jobs, nil, link.Maker{}, slog.New(slog.DiscardHandler))
	year, month, day := c.until.Date()
	c.r = rand.New(rand.NewPCG(uint64(year*10_000+int(month)*100+day), 1))
	c.tenant = fixture.AddTenant(ctx, d.At(c.opened()), system(core.Tenant{}), c.Business)
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
	for i, n := range c.Team {
		n.Password = password
		p := fixture.AddPerson(ctx, opened, system(c.tenant), n.New)
		people = append(people, p)
		c.people = append(c.people, fixture.Actor(c.tenant, p))
		if n.Location != "" {
			c.locations[i] = fixture.Must(location.NewService(opened).Add(ctx, c.people[owner], location.New{Name: &n.Location})).ID
		}
	}
	c.people = append(c.people, core.Actor{Kind: core.ByToken, Name: "Ordering app", Tenant: c.tenant})
	return people
}

func (c *cafe) sales(at time.Time) *transaction.Service { return transaction.NewService(c.db.At(at)) }

func (c *cafe) redemptions(at time.Time) *reward.Service { return reward.NewService(c.db.At(at)) }

func (c *cafe) addTypes(ctx context.Context) {
	for _, n := range c.Types {
		c.typeIDs = append(c.typeIDs, fixture.Must(c.sales(c.opened()).AddType(ctx, c.people[owner], n)).ID)
	}
}

func (c *cafe) addRewards(ctx context.Context) {
	for i, r := range c.Rewards {
		r.from, r.to = c.opened().Add(time.Duration(i)*time.Minute), c.until
		if r.Since > 0 {
			r.from = c.ago(r.Since, forenoon)
		}
		if r.Withdrawn > 0 {
			r.to = c.ago(r.Withdrawn, evening)
		}
		if r.Stock != nil {
			r.left = *r.Stock
		}
		if r.Image != "" {
			r.Picture = new(readFile(r.Image))
		}
		r.made = fixture.Must(c.redemptions(r.from).Add(ctx, c.people[owner], r.New))
	}
}

func (c *cafe) addCoupons(ctx context.Context) {
	for _, n := range c.Coupons {
		if i := slices.IndexFunc(c.Rewards, func(r *cafeReward) bool { return *r.Name == n.Reward }); i >= 0 {
			n.BenefitRewardID = new(c.Rewards[i].made.ID.String())
		}
		if n.Starts != 0 {
			n.StartsAt = new(c.ago(n.Starts, 0))
		}
		if n.Expires != 0 {
			n.ExpiresAt = new(c.ago(n.Expires, 0))
		}
		n.id = fixture.Must(c.service.At(c.ago(n.Created, forenoon)).Add(ctx, c.people[owner], n.New)).ID
	}
}

// tidyUp deactivates what is no longer offered, and lets a reward and a coupon run low. It comes last because a
// voucher of an inactive coupon can't be redeemed, whatever the clock.
func (c *cafe) tidyUp(ctx context.Context) {
	by, yesterday := c.people[manager], c.ago(1, evening)
	fixture.Must(c.sales(c.ago(openingWeeksEnd, evening)).SetTypeActive(ctx, by, c.typeIDs[openingWeeks], false))
	for _, r := range c.Rewards {
		if r.Withdrawn > 0 {
			fixture.Must(c.redemptions(r.to).SetActive(ctx, by, r.made.ID, false))
		}
		if r.NearlyGone {
			fixture.Must(c.redemptions(yesterday).SetStock(ctx, by, r.made.ID, reward.StockCount{Stock: new(int64(3)), Seen: &r.left}))
		}
	}
	for _, n := range c.Coupons {
		if n.Off > 0 {
			fixture.Must(c.service.At(c.ago(n.Off, forenoon)).SetActive(ctx, by, n.id, false))
		}
		if n.NearlyUsedUp {
			fixture.Must(c.service.At(yesterday).Edit(ctx, by, n.id, coupon.Edit{MaxRedemptions: core.Set(n.redeemed/10*10 + 10)}))
		}
	}
}

const (
	paidPlanFor = 95 * 24 * time.Hour // since the café left the free plan
	paidAfter   = 9 * 24 * time.Hour  // from an invoice to its payment
)

// addInvoices moves the café to a paid plan some months ago and bills it since then. All invoices but the latest are
// paid.
func (c *cafe) addInvoices(ctx context.Context) {
	by, b := system(core.Tenant{}), billing.NewService(c.db, c.jobs, nil, slog.New(slog.DiscardHandler))
	fixture.Must(0, b.NameIssuer(ctx, by, c.Issuer, "Pay to SE45 5000 0000 0583 9825 7466. Please quote the invoice number."))
	moved := c.until.Add(-paidPlanFor)
	fixture.Must(tenant.NewService(c.db.At(moved), nil).Edit(ctx, by, c.tenant.ID, tenant.Edit{PlanID: core.Set(c.findOrAddPlan(ctx, b))}))
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

func (c *cafe) findOrAddPlan(ctx context.Context, b *billing.Service) int64 {
	by := system(core.Tenant{})
	plans := fixture.Must(b.Plans(ctx, by))
	if i := slices.IndexFunc(plans, func(p billing.Plan) bool { return p.Name == *c.Plan.Name }); i >= 0 {
		return plans[i].ID
	}
	return fixture.Must(b.CreatePlan(ctx, by, c.Plan)).ID
}
