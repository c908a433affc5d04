package demo

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/loyalty"
	"example.com/loyalty/core/sample"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/vault"
)

const (
	firstDay   = 365 // of the year, in days before today
	opens      = 7*60 + 30
	forenoon   = 10*60 + 20
	lastOrders = 17*60 + 45 // leaves time for corrections until 18:00
	evening    = 18*60 + 40
)

// cafe is the café during its year.
type cafe struct {
	facts
	services *loyalty.Services
	db       *db.DB
	r        *rand.Rand
	extras   *rand.Rand // of what sales are about
	until    time.Time  // now, in the café's zone
	tenant   core.Tenant

	people    []core.Actor // in the order of the team
	locations []*int64     // of the people; nil: none
	types     []transaction.Type
	levels    []award.Level
	receipts  int
}

// open creates the tenant.
func open(ctx context.Context, d *db.DB) *cafe {
	jobs := sample.Must(job.New(d, slog.New(slog.DiscardHandler)))
	c := &cafe{facts: readFacts(), services: loyalty.New(d, jobs, nil, vault.Keys{}, loyalty.Options{}), db: d}
	c.until = d.Now().In(sample.Must(core.Zone(c.Business.TimeZone)))
	year, month, day := c.until.Date()
	seed := uint64(year*10_000 + int(month)*100 + day)
	c.r, c.extras = rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
	c.tenant = sample.AddTenant(ctx, d.At(c.ago(firstDay+1, evening)), system(core.Tenant{}), c.Business)
	return c
}

// ago returns a minute of the day that is a number of days before today.
func (c *cafe) ago(days, minute int) time.Time {
	return clock(c.until.AddDate(0, 0, -days), float64(minute))
}

// clock returns a minute of a day in local time, because some days don't have 24 hours.
func clock(day time.Time, minute float64) time.Time {
	year, month, date := day.Date()
	return time.Date(year, month, date, 0, 0, 0, int(minute*60_000)*1e6, day.Location())
}

// hire adds the team, their locations, and what they can record.
func (c *cafe) hire(ctx context.Context, password string) (people []staff.Person) {
	opened := c.ago(firstDay+1, evening)
	for _, n := range c.Team {
		n.Password = password
		p := sample.AddPerson(ctx, c.db.At(opened), system(c.tenant), n.New)
		people, c.people = append(people, p), append(c.people, sample.Actor(c.tenant, p))
		var place *int64
		if n.Location != "" {
			place = new(sample.Must(core.Result(c.services.At(opened).Locations.Add(ctx, c.people[owner], location.New{Name: n.Location}, nil))).ID)
		}
		c.locations = append(c.locations, place)
	}
	c.people = append(c.people, core.Actor{Kind: core.ByToken, Name: "Ordering app", Tenant: c.tenant})
	c.locations = append(c.locations, nil)
	for _, n := range c.Types {
		c.types = append(c.types, sample.Must(core.Result(c.services.At(opened).Transactions.AddType(ctx, c.people[owner], n.NewType, nil))))
	}
	c.launchLevels(ctx, opened)
	return people
}

// changeOffer creates and deactivates what is due on the evening of a day.
func (c *cafe) changeOffer(ctx context.Context, days int, at time.Time) {
	due := func(day int) bool { return day == days && day > 0 }
	adds, ends := c.people[owner], c.people[manager]
	for i, n := range c.Types {
		if due(n.Off) {
			c.types[i] = sample.Must(c.services.At(at).Transactions.SetTypeActive(ctx, ends, c.types[i].ID, false))
		}
	}
	for i, r := range c.Rewards {
		rewards := c.services.At(at.Add(time.Duration(i) * time.Minute)).Rewards // lists have them in this order
		if due(r.Created) {
			if r.Image != "" {
				r.Picture = new(readFile(r.Image))
			}
			r.made = sample.Must(core.Result(rewards.Add(ctx, adds, r.New, nil)))
		}
		if due(r.Off) {
			r.made = sample.Must(rewards.SetActive(ctx, ends, r.made.ID, false))
		}
	}
	for _, n := range c.Coupons {
		if due(n.Created) {
			n.made = sample.Must(core.Result(c.services.At(at).Coupons.Add(ctx, adds, c.complete(n), nil)))
		}
		if due(n.Off) {
			n.made = sample.Must(c.services.At(at).Coupons.SetActive(ctx, ends, n.made.ID, false))
		}
	}
}

// complete adds to a coupon what depends on the demo: its reward, and its days.
func (c *cafe) complete(n *cafeCoupon) coupon.New {
	completed := n.New
	if i := slices.IndexFunc(c.Rewards, func(r *cafeReward) bool { return r.Name == n.Reward }); i >= 0 {
		completed.BenefitRewardID = new(c.Rewards[i].made.ID)
	}
	if n.Starts != 0 {
		completed.StartsAt = new(c.ago(n.Starts, 0))
	}
	if n.Expires != 0 {
		completed.ExpiresAt = new(c.ago(n.Expires, 0))
	}
	return completed
}

// expiryChosen is how many days before the last the café chose how points and stamps end. What guests had before never does.
const expiryChosen = firstDay - 12

// chooseExpiry lets points end half a year after they were earned, and stamps after four months.
func (c *cafe) chooseExpiry(ctx context.Context, at time.Time) {
	for unit, rule := range map[ledger.Unit]core.Expiry{
		ledger.Points: {Rule: core.ExpireAfter, Months: 6, RoundTo: core.ToMonth, GraceDays: 30},
		ledger.Stamps: {Rule: core.ExpireAfter, Months: 4, RoundTo: core.ToDay, GraceDays: 30},
	} {
		c.tenant = sample.Must(sample.SetExpiry(ctx, c.db.At(at), c.people[owner], unit, rule, nil)).Tenant
	}
	for i := range c.people {
		c.people[i].Tenant = c.tenant
	}
}

// daysTakenOver is how many days before the last the café took over the customers of a bakery that closed, each with the
// last day that the bakery had promised.
const daysTakenOver = 3

var takenOver = []struct {
	name, phone string
	points      int
	ends        int // days after today
}{
	{"Alva Nyström", "074-188 80 01", 120, 1}, {"Birk Sandell", "074-188 80 02", 45, 40}, {"Cleo Wiberg", "074-188 80 03", 310, 130},
}

// takeOver imports the bakery's customers.
func (c *cafe) takeOver(ctx context.Context, at time.Time) {
	var rows strings.Builder
	rows.WriteString("Name;Phone;Points;Expires on\n")
	for _, g := range takenOver {
		fmt.Fprintf(&rows, "%s;%s;%d;%s\n", g.name, g.phone, g.points, c.until.AddDate(0, 0, g.ends).Format(time.DateOnly))
	}
	imports, by := c.services.At(at).Imports, c.people[manager]
	i := sample.Must(imports.Upload(ctx, by, importing.File{Name: "bakery.csv", FormKey: "demo bakery", Content: strings.NewReader(rows.String())}))
	i = sample.Must(imports.Check(ctx, by, i.ID, importing.Mapping{Header: 1, Columns: []importing.Field{
		importing.FullNameField, importing.PhoneField, importing.PointsField, importing.ExpiresOnField,
	}}))
	i = sample.Must(imports.Work(ctx, by, i.ID, i.Attempt))
	i = sample.Must(imports.Run(ctx, by, i.ID))
	sample.Must(imports.Work(ctx, by, i.ID, i.Attempt))
}

const balancesSQL = `
	select customer_id, points, stamps
	from loyalty.account
	where tenant_id = @tenant_id`

// expire posts what ended before a night. Guests know it.
func (c *cafe) expire(ctx context.Context, at time.Time) {
	by := system(c.tenant)
	if sample.Must(sample.ExpireDue(ctx, c.db.At(at), by)) == 0 {
		return
	}
	left := map[core.ID]map[ledger.Unit]int64{}
	for _, a := range sample.Must(db.All[struct {
		CustomerID     core.ID
		Points, Stamps int64
	}](ctx, c.db.Tenant(by), balancesSQL, nil)) {
		left[a.CustomerID] = map[ledger.Unit]int64{ledger.Points: a.Points, ledger.Stamps: a.Stamps}
	}
	for _, g := range c.Guests {
		for unit, amount := range g.has {
			g.has[unit] = min(amount, left[g.id][unit])
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
	by, b := system(core.Tenant{}), c.services.Billing
	sample.Must(0, b.NameIssuer(ctx, by, c.Issuer, "Pay to SE45 5000 0000 0583 9825 7466. Please quote the invoice number."))
	moved := c.until.Add(-paidPlanFor)
	sample.Must(c.services.At(moved).Tenants.Edit(ctx, by, c.tenant.ID, tenant.Edit{PlanID: core.Set(c.findOrAddPlan(ctx, b))}))
	invoices := sample.Must(b.BillSince(ctx, by, c.tenant.ID, moved))
	for n, i := range invoices {
		sample.Must(core.Result(b.At(i.CreatedAt).Issue(ctx, by, i.ID, nil)))
		paid := i.CreatedAt.Add(paidAfter)
		if n == len(invoices)-1 || paid.After(c.until) {
			continue
		}
		year, month, day := paid.In(i.Zone()).Date()
		sample.Must(core.Result(b.At(paid).MarkPaid(ctx, by, i.ID, time.Date(year, month, day, 0, 0, 0, 0, time.UTC), nil)))
	}
}

func (c *cafe) findOrAddPlan(ctx context.Context, b *billing.Service) int64 {
	by := system(core.Tenant{})
	plans := sample.Must(b.Plans(ctx, by))
	if i := slices.IndexFunc(plans, func(p billing.Plan) bool { return p.Name == c.Plan.Name }); i >= 0 {
		return plans[i].ID
	}
	return sample.Must(core.Result(b.CreatePlan(ctx, by, c.Plan, nil))).ID
}
