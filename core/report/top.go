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
	asked, err := s.ranking(by, r)
	if err != nil {
		return nil, err
	}
	leave, err := s.gate.Enter(ctx, by.Tenant.ID)
	if err != nil {
		return nil, err
	}
	defer leave()
	top, known, err := s.topOfLeaders(ctx, by, asked)
	if known || err != nil {
		return top, err
	}
	return s.countTop(ctx, by, asked)
}

// ranking checks the role and what is asked for.
func (s *Service) ranking(by core.Actor, r Ranking) (ranking, error) {
	if err := by.Require(core.Manager); err != nil {
		return ranking{}, err
	}
	check := core.NewCheck(r.Malformed)
	picked := r.days(check, s.db.Now(), by.Tenant.TimeZone)
	asked := ranking{by: Spend, limit: defaultLimit, location: r.Location}
	if r.By != nil {
		asked.by = Measure(*r.By)
		core.OneOf(check, "by", asked.by, Spend, Points, Visits)
	}
	if r.Limit != nil {
		asked.limit = check.Integer("limit", r.Limit, 1, maxLimit)
	}
	asked.first, asked.next = core.FirstID(picked.startOf(picked.from)), core.FirstID(picked.end())
	return asked, check.Err()
}

// ranking is a checked Ranking.
type ranking struct {
	first, next core.ID // from the first ID of the days up to the one after them
	by          Measure
	limit       int64
	location    *int64
}

// args are the arguments of every statement of a ranking.
func (r ranking) args() db.Args {
	args := db.Args{"first_id": r.first, "next_id": r.next, "by": r.by, "limit": r.limit}
	if r.location != nil {
		args["location"] = *r.location
	}
	return args
}

// countTop counts the sales of the range, and keeps the leaders of a large business.
func (s *Service) countTop(ctx context.Context, by core.Actor, r ranking) ([]Customer, error) {
	began, sql, args := s.db.Now(), topSQL, r.args()
	if r.location != nil {
		sql = topAtSQL
	}
	args["leaders"], args["many"] = s.leaders.most, s.manyAccounts
	var top []Customer
	if err := s.read(ctx, by, db.AllInto(&top, sql, args)); err != nil {
		return nil, err
	}
	if n := int64(len(top)); n > r.limit {
		s.leaders.keep(by.Tenant.ID, r, began, top)
		top = top[:r.limit]
	}
	return top, nil
}

const (
	topSQL   = buyers + ofCustomer + ranked + topOrLeaders + shown + ofRanked + inOrder
	topAtSQL = buyers + atLocation + ofCustomer + ranked + topOrLeaders + shown + ofRanked + inOrder

	sums = `count(*) as visits, sum(spend_amount_cents) as spend, coalesce(sum(points_awarded), 0) as points`

	measure = `case when @by::text = 'spend' then spend when @by = 'points' then points else visits end`

	atLocation = `
			and location_id = @location`

	buyers = `
	with buyer as (
		select customer_id, ` + sums + `
		from loyalty.transaction
		where tenant_id = @tenant_id
			and id >= @first_id
			and id < @next_id
			and status = 'completed'`

	ofCustomer = `
		group by customer_id`

	// Customers are ranked by the exact sums; only the displayed ones saturate.
	ranked = `
	), ranked as (
		select *, ` + measure + ` as measure
		from buyer
		order by measure desc, customer_id
		limit `

	// As many as there are leaders if the business is large.
	topOrLeaders = `case when ` + isLarge + ` then greatest(@leaders::bigint, @limit) else @limit end`

	shown = `
	)
	select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
		a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at,
		r.visits as transactions_count, least(r.spend, 9223372036854775807)::bigint as spend_total_cents,
		least(r.points, 9223372036854775807)::bigint as points_awarded, visit.created_at as last_visit`

	ofRanked = `
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
	) visit on true`

	inOrder = `
	order by r.measure desc, r.customer_id`
)
