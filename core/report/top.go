package report

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Measure is the figure by which customers are ranked.
type Measure string

// The measures of completed sales.
const (
	Spend  Measure = "spend"
	Points Measure = "points" // awarded
	Visits Measure = "visits"
)

const (
	defaultLimit = 10
	maxLimit     = 100
)

// Ranking selects the best customers of a range.
type Ranking struct {
	Range
	By       *string // nil: spend
	Limit    *int64  // nil: 10
	Location *int64  // nil: all
}

// Customer is a customer at present, with their purchases in the range.
type Customer struct {
	ID                core.ID
	FirstName         string
	LastName          string
	Phone             string
	Email             *string
	Status            string
	PointsBalance     int64
	StampsBalance     int64
	CreatedAt         time.Time
	UpdatedAt         time.Time
	TransactionsCount int64
	SpendTotalCents   int64
	PointsAwarded     int64
	LastVisit         *time.Time // the latest completed sale, in the range or after it
}

// Top returns the first customers of a ranking, out of those with a completed sale in its range. Equal ones
// are in order of their ULIDs.
func (s *Service) Top(ctx context.Context, by core.Actor, r Ranking) ([]Customer, error) {
	if err := by.Require(core.Manager); err != nil {
		return nil, err
	}
	check := core.NewCheck(r.Malformed)
	picked := r.days(check, s.db.Now(), by.Tenant.TimeZone)
	measure, limit := Spend, int64(defaultLimit)
	if r.By != nil {
		measure = Measure(*r.By)
		core.OneOf(check, "by", measure, Spend, Points, Visits)
	}
	if r.Limit != nil {
		limit = check.Integer("limit", r.Limit, 1, maxLimit)
	}
	if err := check.Err(); err != nil {
		return nil, err
	}
	sql, args := topSQL, db.Args{
		"first_id": core.FirstID(picked.startOf(picked.from)), "next_id": core.FirstID(picked.end()),
		"by": measure, "limit": limit,
	}
	if r.Location != nil {
		sql, args["location"] = topAtSQL, *r.Location
	}
	return count[Customer](ctx, s, by, sql, args)
}

const (
	topSQL   = buyers + ranked
	topAtSQL = buyers + `
			and location_id = @location` + ranked

	buyers = `
	with buyer as (
		select customer_id, count(*) as visits, sum(spend_amount_cents) as spend,
			coalesce(sum(points_awarded), 0) as points
		from loyalty.transaction
		where tenant_id = @tenant_id
			and id >= @first_id
			and id < @next_id
			and status = 'completed'`

	// Customers are ranked by the exact sums; only the displayed ones saturate.
	ranked = `
		group by customer_id
	), ranked as (
		select *, case when @by::text = 'spend' then spend when @by = 'points' then points else visits end as measure
		from buyer
		order by measure desc, customer_id
		limit @limit
	)
	select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
		a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at,
		r.visits as transactions_count, least(r.spend, 9223372036854775807)::bigint as spend_total_cents,
		least(r.points, 9223372036854775807)::bigint as points_awarded, visit.created_at as last_visit
	from ranked r
	join loyalty.customer c on c.tenant_id = @tenant_id and c.id = r.customer_id
	join loyalty.account a on a.tenant_id = @tenant_id and a.customer_id = r.customer_id
	left join lateral (
		select created_at
		from loyalty.transaction
		where tenant_id = @tenant_id
			and customer_id = r.customer_id
			and status = 'completed'
		order by id desc
		limit 1
	) visit on true
	order by r.measure desc, r.customer_id`
)
