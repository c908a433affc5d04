package reward

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/level"
)

// Outlook is what a customer's balances can buy now, and what they buy next.
type Outlook struct {
	Affordable int64 // rewards that the customer can redeem now

	// The cheapest reward that only the balance isn't enough for; nil: none.
	NextForPoints, NextForStamps *string
	PointsCost, StampsCost       *int64
}

// A business has some dozens of rewards.
const outlookSQL = `
	select name, points_cost, stamps_cost, affordable, min_level_id
	from (
		select r.name, coalesce(r.points_cost <= a.points, r.stamps_cost <= a.stamps) as affordable, r.points_cost, r.stamps_cost, ` + TermColumns + `
		from loyalty.account a
		join loyalty.reward r on r.tenant_id = a.tenant_id
		where a.tenant_id = @tenant_id
			and a.customer_id = @customer
			and r.active
			and coalesce(r.stock > 0, true)
			and coalesce(r.starts_on <= @today, true)
			and coalesce(r.ends_on >= @today, true)
	) offered
	where coalesce(used < max_per_customer, true)
	order by coalesce(points_cost, stamps_cost), name`

// Outlook returns what a customer with a level (nil: none) can redeem. Another tenant's customer counts as one without a balance.
func (s *Service) Outlook(ctx context.Context, by core.Actor, customer core.ID, held *level.OfCustomer) (Outlook, error) {
	offers, err := db.All[struct {
		Name                   string
		PointsCost, StampsCost *int64
		Affordable             bool
		MinLevelID             *int64
	}](ctx, s.db.Tenant(by), outlookSQL, db.Args{"customer": customer, "today": core.DateOf(s.db.Now(), by.Tenant.TimeZone)})
	var o Outlook
	for _, r := range offers {
		switch {
		case held.Lacking(r.MinLevelID) != nil:
		case r.Affordable:
			o.Affordable++
		case r.PointsCost != nil && o.PointsCost == nil:
			o.NextForPoints, o.PointsCost = &r.Name, r.PointsCost
		case r.StampsCost != nil && o.StampsCost == nil:
			o.NextForStamps, o.StampsCost = &r.Name, r.StampsCost
		}
	}
	return o, err
}
