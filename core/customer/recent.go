package customer

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Suggestion selects the customers that are suggested before a search.
type Suggestion struct {
	CanRedeem bool // only those who can afford an active reward
}

// recentSales is how many of the newest sales are looked through for suggestions.
const recentSales = 200

// Recent returns the active customers who were here last, the latest first, from the newest 200 sales.
func (s *Service) Recent(ctx context.Context, by core.Actor, of Suggestion, limit int) ([]Row, error) {
	return db.All[Row](ctx, s.db.Tenant(by), recentSQL, db.Args{"can_redeem": of.CanRedeem, "sales": recentSales, "limit": limit})
}

const recentSQL = `
	select ` + rowColumns + `
	from (
		select customer_id, max(created_at) as created_at
		from (
			select customer_id, created_at
			from loyalty.transaction
			where tenant_id = @tenant_id
				and status = 'completed'
			order by id desc
			limit @sales
		) newest
		group by customer_id
	) visit
	join loyalty.customer c on c.tenant_id = @tenant_id and c.id = visit.customer_id
	join loyalty.account a on a.tenant_id = @tenant_id and a.customer_id = c.id` + lastMove + `
	where c.status = 'active'
		and (
			not @can_redeem
			or exists (
				select
				from loyalty.reward r
				where r.tenant_id = @tenant_id
					and r.active
					and (r.stock is null or r.stock > 0)
					and (r.points_cost <= a.points or r.stamps_cost <= a.stamps)
			)
		)
	order by visit.created_at desc, c.id desc
	limit @limit`
