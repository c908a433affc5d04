package reward

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Outlook is what a customer's balances can buy now, and what they buy next.
type Outlook struct {
	Affordable int64 // active rewards in stock that the customer can redeem now

	// The cheapest active reward in stock that costs more than the balance; nil: none.
	NextForPoints, NextForStamps *string
	PointsCost, StampsCost       *int64
}

// A business has some dozens of rewards.
const outlookSQL = `
	with offered as (
		select r.name, r.points_cost, r.stamps_cost,
			coalesce(r.points_cost <= a.points, r.stamps_cost <= a.stamps) as affordable
		from loyalty.account a
		join loyalty.reward r on r.tenant_id = a.tenant_id
		where a.tenant_id = @tenant_id
			and a.customer_id = @customer
			and r.active
			and coalesce(r.stock > 0, true)
	), points as (
		select name, points_cost
		from offered
		where not affordable
			and points_cost is not null
		order by points_cost, name
		limit 1
	), stamps as (
		select name, stamps_cost
		from offered
		where not affordable
			and stamps_cost is not null
		order by stamps_cost, name
		limit 1
	)
	select (select count(*) from offered where affordable) as affordable,
		(select name from points) as next_for_points, (select points_cost from points) as points_cost,
		(select name from stamps) as next_for_stamps, (select stamps_cost from stamps) as stamps_cost`

// Outlook returns what a customer can redeem. Another tenant's customer counts as one without a balance.
func (s *Service) Outlook(ctx context.Context, by core.Actor, customer core.ID) (Outlook, error) {
	return db.One[Outlook](ctx, s.db.Tenant(by), outlookSQL, db.Args{"customer": customer})
}
