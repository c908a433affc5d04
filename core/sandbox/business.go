package sandbox

import (
	"cmp"
	"context"
	"math"
	"slices"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/sample"
	"example.com/loyalty/core/tenant"
)

// Business is a tenant with what a client's tests need to know of its installation, in the form of a File.
type Business struct {
	File
	Platform *Platform `json:"platform,omitempty"` // none: it is the installation's own
}

// Tenant is the business.
func (b Business) Tenant() Tenant { return b.Tenants[0] }

// MakeBusiness makes one test business, for super-admins. The tenant is added once; if adding its records fails, it stays,
// marked as a test.
func (m Maker) MakeBusiness(ctx context.Context, by core.Actor, once *core.Once[core.Tenant]) (core.Reply[core.Tenant], Business, error) {
	plan, err := m.largestPlan(ctx, by)
	if err != nil {
		return core.Reply[core.Tenant]{}, Business{}, err
	}
	t := m.named("Test business", "test")
	reply, err := db.In(ctx, m.DB.Platform(), db.Once(ctx, by, once, func(tx *db.Tx) (core.Tenant, error) {
		made, err := tenant.Add(ctx, tx, by, t.describe(plan))
		if err != nil {
			return made, err
		}
		return made, tenant.FinishSetup(tx, made.ID)
	}))
	if err != nil || reply.Replayed() {
		return reply, Business{}, err
	}
	err = sample.Do(ctx, func(run sample.Run) { m.fill(run, &t, reply.Result) })
	return reply, Business{File: File{BaseURL: m.BaseURL, CAFile: m.CAFile, TransactionsPostScope: m.PostScope, Tenants: []Tenant{t}}}, err
}

// largestPlan returns the plan with the highest limits, since a test business isn't billed; 0 if none can be chosen.
func (m Maker) largestPlan(ctx context.Context, by core.Actor) (int64, error) {
	plans, err := m.Billing.Plans(ctx, by)
	if err != nil {
		return 0, err
	}
	open := slices.DeleteFunc(plans, func(p billing.Plan) bool { return p.Retired })
	if len(open) == 0 {
		return 0, nil
	}
	limit := func(most *int64) int64 {
		if most == nil {
			return math.MaxInt64
		}
		return *most
	}
	return slices.MaxFunc(open, func(a, b billing.Plan) int {
		return cmp.Or(
			cmp.Compare(limit(a.CustomersLimit), limit(b.CustomersLimit)), cmp.Compare(limit(a.SendsLimit), limit(b.SendsLimit)),
			cmp.Compare(limit(a.StaffLimit), limit(b.StaffLimit)), cmp.Compare(b.ID, a.ID),
		)
	}).ID, nil
}
