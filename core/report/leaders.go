package report

import (
	"context"
	"math"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// leaders are the first customers of a ranking when it was counted. Since then, sums of customers grew by sales and by merges alone. So it
// follows from the later sales who can be first now: only the sales of these customers are counted, and what is shown is exact.
type leaders struct {
	since core.ID // the first ID of later sales and merges
	ids   []core.ID
	sums  []int64
	all   bool // no other customer had a sale
}

// More than a transaction takes. What is counted twice only makes a customer one who can be first.
const lateSales = 10 * time.Minute

// keptLeaders are the leaders of rankings that were asked for, of large businesses.
type keptLeaders struct {
	of    *lru.Cache[leadersKey, leaders]
	most  int64 // of a ranking
	spare int64 // how many are counted more than asked for, because voids may have made their sums smaller
}

func newKeptLeaders() keptLeaders {
	of, _ := lru.New[leadersKey, leaders](1_000) // 12 MB; it fails without room only
	return keptLeaders{of: of, most: 500, spare: 50}
}

type leadersKey struct {
	tenant      core.TenantID
	first, next core.ID
	by          Measure
	location    int64 // 0: all
}

func (r ranking) key(tenant core.TenantID) leadersKey {
	key := leadersKey{tenant: tenant, first: r.first, next: r.next, by: r.by}
	if r.location != nil {
		key.location = *r.location
	}
	return key
}

// keep keeps the first customers of a ranking, which were counted from an instant on.
func (k keptLeaders) keep(tenant core.TenantID, r ranking, began time.Time, ranked []Customer) {
	l := leaders{since: core.FirstID(began.Add(-lateSales)), all: int64(len(ranked)) < k.most}
	for _, c := range ranked {
		l.ids, l.sums = append(l.ids, c.ID), append(l.sums, r.by.of(c))
	}
	if l.sums[0] < math.MaxInt64 { // else it is less than the sum
		k.of.Add(r.key(tenant), l)
	}
}

// of is the figure by which a customer is ranked.
func (m Measure) of(c Customer) int64 {
	switch m {
	case Points:
		return c.PointsAwarded
	case Visits:
		return c.TransactionsCount
	default:
		return c.SpendTotalCents
	}
}

// provenRow says of a customer whether all who were not counted come after them.
type provenRow struct {
	Customer
	Proven bool
	All    bool // everybody was counted
}

// topOfLeaders returns the first customers of a ranking with leaders. It doesn't know them without leaders, or if too much has changed.
func (s *Service) topOfLeaders(ctx context.Context, by core.Actor, r ranking) (top []Customer, known bool, err error) {
	l, found := s.leaders.of.Get(r.key(by.Tenant.ID))
	if !found {
		return nil, false, nil
	}
	sql, args := topOfLeadersSQL, r.args()
	if r.location != nil {
		sql = topOfLeadersAtSQL
	}
	args["ids"], args["sums"], args["since_id"], args["counted"] = l.ids, l.sums, l.since, r.limit+s.leaders.spare
	args["others_id"], args["others_sum"] = l.others()
	var rows []provenRow
	if err := s.read(ctx, by, db.AllInto(&rows, sql, args)); err != nil {
		return nil, false, err
	}
	for _, row := range rows {
		top, known = append(top, row.Customer), row.Proven && (row.All || int64(len(rows)) == r.limit)
	}
	return top, known, nil
}

// others returns what all others come after: the last leader. It returns nil if there were no others.
func (l leaders) others() (id *core.ID, sum *int64) {
	if l.all {
		return nil, nil
	}
	last := len(l.ids) - 1
	return &l.ids[last], &l.sums[last]
}

const (
	topOfLeadersSQL   = boughtSince + ofCustomer + mostOf + ofThem + ranked + `@limit` + shown + proven + ofRanked + behind + inOrder
	topOfLeadersAtSQL = boughtSince + atLocation + ofCustomer + mostOf + atLocation + ofThem + ranked + `@limit` + shown + proven + ofRanked + behind + inOrder

	boughtSince = `
	with since as (
		select customer_id, ` + sums + `
		from loyalty.transaction
		where tenant_id = @tenant_id
			and id >= greatest(@since_id::uuid, @first_id::uuid)
			and id < @next_id
			and status = 'completed'`

	// What each customer has at most. Equal ones are in order of their IDs, as in the ranking.
	mostOf = `
	), front as materialized (
		select most, id, row_number() over (order by most desc, id) > @counted as behind
		from (
			select coalesce(l.sum, @others_sum::bigint, 0) + coalesce(` + measure + `, 0) as most, coalesce(l.id, s.customer_id) as id
			from unnest(@ids::uuid[], @sums::bigint[]) l (id, sum)
			full join since s on s.customer_id = l.id
			order by most desc, id
			limit @counted + 1
		) m
	), behind as materialized (
		select most, id
		from (
			select most, id
			from front
			where behind
			union all
			select @others_sum, @others_id::uuid
			where @others_id is not null
		) o
		order by most desc, id
		limit 1
	), candidate as materialized (
		select id
		from front
		where not behind
		union
		select kept_id
		from loyalty.customer_merge
		where tenant_id = @tenant_id
			and id >= @since_id
	), buyer as (
		select c.id as customer_id, b.*
		from candidate c
		cross join lateral (
			select ` + sums + `
			from loyalty.transaction
			where tenant_id = @tenant_id
				and customer_id = c.id
				and id >= @first_id
				and id < @next_id
				and status = 'completed'`

	ofThem = ofCustomer + `
		) b`

	behind = `
	left join behind o on true`

	proven = `,
		coalesce(r.measure > o.most or r.measure = o.most and r.customer_id <= o.id, true) as proven, o.id is null as "all"`
)
